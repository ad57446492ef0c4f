//! From texts to embeddings: tokens, batches of similar length, and what has gone by.

use std::path::Path;
use std::time::{Duration, Instant};

use tokenizers::{Tokenizer, TruncationParams};
use wharf::io::Archive;
use wharf::ledger::Crossings;
use wharf::set::{Progress, SetReceipt};
use wharf::{Device, Result};

use super::batch;
use super::model::{Model, TOKENS_MAX, WIDTH};
use super::weights::{self, Storage};

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

/// What makes tokens of a text, no more than the model has positions for.
pub(crate) fn tokenizer(folder: &Path) -> Result<Tokenizer, Failure> {
    let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json"))?;
    let cut = TruncationParams { max_length: TOKENS_MAX, ..TruncationParams::default() };
    tokenizer.with_padding(None).with_truncation(Some(cut))?;
    Ok(tokenizer)
}

impl Embedder {
    /// Loads the model of a folder, as `scripts/fetch-model` makes one.
    pub(crate) fn open(
        device: &Device,
        folder: &Path,
        storage: Storage,
        progress: impl FnMut(Progress<'_>),
    ) -> Result<Self, Failure> {
        let tokenizer = tokenizer(folder)?;
        let archive = Archive::open(folder.join("model.safetensors"))?;
        // The same bits for a text, whatever it is embedded with.
        let device = device.with_batch_invariance();
        let (model, receipt) = weights::load(&device, archive, storage, progress)?;
        let elapsed = Duration::ZERO;
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
        while !rest.is_empty() {
            let count = batch::alike(rest.iter().map(|(_, ids)| &**ids), self.batch_max);
            let (batch, later) = rest.split_at(count);
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
        let sequences: Vec<&[u32]> = batch.iter().map(|(_, ids)| &**ids).collect();
        let (ids, there) = batch::padded(&self.device, &sequences)?;
        let guard = self.device.guard(Crossings::Deny);
        let embeddings = self.model.embed(&ids, &there)?;
        embeddings.compute()?;
        drop(guard);
        embeddings.read_now()
    }
}
