//! From texts to embeddings: tokens, batches of similar length, and what has gone by.

use std::path::Path;
use std::time::{Duration, Instant};

use tokenizers::{Tokenizer, TruncationParams};
use wharf::io::Archive;
use wharf::ledger::Crossings;
use wharf::set::{Arrival, Progress, SetReceipt};
use wharf::tensor::Blocks;
use wharf::{DType, Device, Result};

use super::model::{self, Model, TOKENS_MAX, WIDTH};

/// What the weights are stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Numbers(DType),
    /// Matrices in blocks.
    Blocks(Blocks),
}

impl Storage {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Numbers(dtype) => dtype.name(),
            Self::Blocks(form) => form.name(),
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        let float = DType::parse(name).filter(|dtype| dtype.is_float());
        let blocks = || Blocks::parse(name).filter(|form| form.is_made());
        float.map(Self::Numbers).or_else(|| blocks().map(Self::Blocks))
    }
}

/// The model, its tokens, and counts of what was embedded.
pub(crate) struct Embedder {
    device: Device,
    model: Model,
    tokenizer: Tokenizer,
    pub(crate) receipt: SetReceipt,
    /// Sequences of a batch, at most.
    pub(crate) batch_max: usize,
    pub(crate) tokens: usize,
    pub(crate) elapsed: Duration,
}

/// Why the tokens cannot be read.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

impl Embedder {
    /// Loads the model of a folder, as `scripts/fetch-model` makes one.
    pub(crate) fn open(
        device: &Device,
        folder: &Path,
        storage: Storage,
        progress: impl FnMut(Progress<'_>),
    ) -> Result<Self, Failure> {
        let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json"))?;
        let cut = TruncationParams { max_length: TOKENS_MAX, ..TruncationParams::default() };
        tokenizer.with_padding(None).with_truncation(Some(cut))?;
        // The file has a list of positions too, and a pooler, which an embedding does not need.
        let archive = Archive::open(folder.join("model.safetensors"))?.keep(|tensor| {
            tensor.dtype().is_some_and(DType::is_float) && !tensor.name().starts_with("pooler.")
        });
        let shipment = archive.shipment_as(|tensor| match storage {
            // Matrices are what takes the memory; vectors stay as they are.
            Storage::Numbers(dtype) if tensor.shape().rank() == 2 => Some(Arrival::from(dtype)),
            Storage::Blocks(form) if model::is_matrix(tensor.name()) => Some(form.into()),
            _ => None,
        })?;
        let (set, receipt) = device.upload_set_with(&shipment, progress)?;
        let model = Model::of(&set)?;
        let (device, elapsed) = (device.clone(), Duration::ZERO);
        Ok(Self { device, model, tokenizer, receipt, batch_max: 32, tokens: 0, elapsed })
    }

    /// An embedding of each text, in their order. Texts of similar length go together, so that
    /// little padding is computed.
    pub(crate) fn embed<T: AsRef<str>>(&mut self, texts: &[T]) -> Result<Vec<Vec<f32>>, Failure> {
        let began = Instant::now();
        let mut sequences = Vec::with_capacity(texts.len());
        for (place, text) in texts.iter().enumerate() {
            let encoding = self.tokenizer.encode(text.as_ref(), true)?;
            sequences.push((place, encoding.get_ids().to_vec()));
        }
        sequences.sort_by_key(|(_, ids)| ids.len());
        let mut embeddings = vec![Vec::new(); texts.len()];
        let mut rest = &sequences[..];
        while let Some((_, shortest)) = rest.first() {
            // At most a fifth of a batch is padding.
            let alike = |(_, ids): &&(usize, Vec<u32>)| 4 * ids.len() <= 5 * shortest.len();
            let count = rest.iter().take(self.batch_max).take_while(alike).count();
            let (batch, later) = rest.split_at(count.max(1));
            rest = later;
            let values = self.batch(batch)?;
            for ((place, ids), vector) in batch.iter().zip(values.chunks(WIDTH)) {
                embeddings[*place] = vector.to_vec();
                self.tokens += ids.len();
            }
        }
        self.elapsed += began.elapsed();
        Ok(embeddings)
    }

    /// One forward pass, in which nothing crosses.
    fn batch(&self, batch: &[(usize, Vec<u32>)]) -> Result<Vec<f32>> {
        let longest = batch.iter().map(|(_, ids)| ids.len()).max().unwrap_or(0);
        let shape = [batch.len(), longest];
        let (mut ids, mut there) = (Vec::new(), Vec::new());
        for (_, sequence) in batch {
            let padding = longest - sequence.len();
            ids.extend(sequence.iter().copied().chain(core::iter::repeat_n(0, padding)));
            there.extend((0..longest).map(|i| i < sequence.len()));
        }
        let (ids, _) = self.device.upload(&ids, shape)?;
        let (there, _) = self.device.upload(&there, shape)?;
        let guard = self.device.guard(Crossings::Deny);
        let embeddings = self.model.embed(&ids, &there)?;
        embeddings.compute()?;
        drop(guard);
        embeddings.to_vec()
    }
}
