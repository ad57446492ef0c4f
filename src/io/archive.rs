//! A file, or several that belong together, known by header.

use core::fmt;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::cause::ArchiveCause;
use super::entry::{FileTensor, Opened};
use super::file::Pieces;
use super::remark::{Remark, Remarked};
use crate::error::{Error, Result};
use crate::host::blocks::Share;
use crate::set::{Arrival, Shipment};

/// Tensors by name in a file, or in several that belong together: what their headers say. No value
/// has been read yet.
#[derive(Clone)]
pub struct Archive {
    tensors: Vec<FileTensor>,
    remarked: Option<Remarked>,
    /// What it was opened by.
    name: Arc<str>,
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("tensors", &self.tensors).finish_non_exhaustive()
    }
}

/// The first bytes of a format, and what opens it.
struct Format {
    begins: fn(&[u8]) -> bool,
    /// Of an open file, and where it lies.
    open: fn(&Arc<Pieces>, Option<&Path>) -> Result<Opened>,
}

/// By their first bytes, the most distinct first.
const FORMATS: &[Format] = &[
    #[cfg(feature = "npy")]
    Format { begins: super::npy::begins, open: super::npy::open },
    #[cfg(feature = "npz")]
    Format { begins: super::npz::begins, open: super::npz::open },
    #[cfg(feature = "gguf")]
    Format { begins: super::gguf::begins, open: super::gguf::open },
    #[cfg(feature = "safetensors")]
    Format { begins: super::shards::begins, open: super::shards::open },
    #[cfg(feature = "safetensors")]
    Format { begins: super::safetensors::begins, open: super::safetensors::open },
];

impl Archive {
    /// Opens a file by what it begins with: safetensors, the index of several of these
    /// (`model.safetensors.index.json`), whose files lie beside it, npy, npz, or GGUF, with the
    /// other shards beside it if it is one of several; of what is compiled in.
    ///
    /// All of the header is checked; no tensor is read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = Pieces::open(path);
        Self::of(file, Some(path), path.to_string_lossy())
    }

    /// [`Archive::open`] of a file that is in memory: fetched by a page, or part of the program.
    /// Its bytes stay there as long as the archive and what is shipped of it. An index is refused,
    /// and so is a shard of GGUF: no file lies beside it.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::io::Archive;
    ///
    /// let header = br#"{"bias":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    /// let length = (header.len() as u64).to_le_bytes();
    /// let fetched = [&length[..], header, &[3, 4]].concat();
    ///
    /// let (set, _) = device.upload_set(&Archive::from_bytes(fetched)?.shipment()?)?;
    /// assert_eq!(set.get("bias").unwrap().read_now::<u8>()?, [3, 4]);
    /// # Ok(()) });
    /// ```
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self> {
        Self::of(Ok(Pieces::in_memory(bytes.into())), None, "a file in memory".into())
    }

    fn of(file: Result<Pieces>, path: Option<&Path>, name: Cow<'_, str>) -> Result<Self> {
        let opened = file.and_then(|file| opened(file, path));
        let (tensors, remarked) = opened.map_err(|error| error.during(name.as_ref()))?;
        Ok(Self { tensors, remarked, name: name.into() })
    }

    /// What it holds, in the order in which it lies there.
    #[must_use]
    pub fn tensors(&self) -> &[FileTensor] {
        &self.tensors
    }

    /// What its header says of the tensor of a name, if it holds one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&FileTensor> {
        self.tensors.iter().find(|tensor| &*tensor.name == name)
    }

    /// What the file says besides, under the names for which `keep` says so: of a GGUF its typed
    /// values, such as the counts of heads and the vocabulary, of safetensors the texts of
    /// `__metadata__`; 65 536 of them at most. Of several files those of the first; npy and npz
    /// have none.
    ///
    /// An archive holds nothing of it: each call reads the header again.
    ///
    /// ```
    /// use wharf::io::{Archive, Remark};
    ///
    /// // A GGUF without tensors, and with one remark, which is of type 4: u32.
    /// let name = b"llama.attention.head_count";
    /// let length = name.len() as u64;
    /// let numbers = [0u64, 1, length].map(u64::to_le_bytes).concat();
    /// let value = [4u32, 32].map(u32::to_le_bytes).concat();
    /// let file = [b"GGUF\x03\0\0\0", &*numbers, name, &value].concat();
    /// let archive = Archive::from_bytes(file)?;
    ///
    /// let remarks = archive.remarks(|name| !name.starts_with("tokenizer."))?;
    /// assert_eq!(remarks["llama.attention.head_count"], Remark::Integer(32));
    /// # Ok::<(), wharf::Error>(())
    /// ```
    #[doc(alias("metadata", "kv"))]
    pub fn remarks(&self, mut keep: impl FnMut(&str) -> bool) -> Result<BTreeMap<String, Remark>> {
        let Some(Remarked { file, shard, read }) = &self.remarked else {
            return Ok(BTreeMap::new());
        };
        let within = |error: Error| match shard {
            Some(shard) => error.during(format!("shard {shard:?}")),
            None => error,
        };
        read(file, &mut keep).map_err(|error| within(error).during(&*self.name))
    }

    /// Leaves out all tensors but those for which `keep` says so.
    #[must_use]
    pub fn keep(mut self, keep: impl FnMut(&FileTensor) -> bool) -> Self {
        self.tensors.retain(keep);
        self
    }

    /// Its tensors as a set that goes to a device: see [`Device::upload_set`].
    ///
    /// [`Device::upload_set`]: crate::Device::upload_set
    pub fn shipment(&self) -> Result<Shipment<'static>> {
        self.shipment_as(|_| None::<Arrival>)
    }

    /// [`Archive::shipment`], where a tensor for which `to` names a dtype, or
    /// [`Arrival::Blocks`], becomes that while it is staged, as by [`Shipment::add_as`]. What is a
    /// part of [blocks](FileTensor::blocks) stays as it is. Blocks of `name` beside another tensor
    /// that is called `name.values` or `name.scales` are an error.
    pub fn shipment_as<A: Into<Arrival>>(
        &self,
        to: impl Fn(&FileTensor) -> Option<A>,
    ) -> Result<Shipment<'static>> {
        let foreign: Vec<&FileTensor> =
            self.tensors.iter().filter(|tensor| tensor.supply.is_none()).collect();
        if !foreign.is_empty() {
            return Err(self.refusal(&foreign).into());
        }
        let arrival =
            |tensor: &FileTensor| to(tensor).filter(|_| tensor.blocks.is_none()).map(A::into);
        let goods: Vec<(&FileTensor, Option<Arrival>)> =
            self.tensors.iter().map(|tensor| (tensor, arrival(tensor))).collect();
        unclaimed(&goods)?;
        let mut shipment = Shipment::new();
        for (tensor, arrival) in goods {
            if let Some(supply) = &tensor.supply {
                shipment.insert_stream(&tensor.name, Arc::clone(supply), arrival)?;
            }
        }
        Ok(shipment)
    }

    fn refusal(&self, foreign: &[&FileTensor]) -> ArchiveCause {
        const NAMED: usize = 3;
        let mut names: Vec<String> =
            foreign.iter().take(NAMED).map(|tensor| format!("{:?}", tensor.name)).collect();
        names.extend((foreign.len() > NAMED).then(|| "..".into()));
        let dtypes: BTreeSet<&str> = foreign.iter().map(|tensor| &*tensor.dtype_name).collect();
        let dtype = dtypes.into_iter().collect::<Vec<_>>().join(", ");
        let (count, of) = (foreign.len(), self.tensors.len());
        ArchiveCause::Foreign { dtype, count, of, names: names.join(", ") }
    }
}

/// What a file holds, by what it begins with.
fn opened(file: Pieces, path: Option<&Path>) -> Result<Opened> {
    let mut begin = [0; 16];
    let len = begin.len().min(usize::try_from(file.len).unwrap_or(usize::MAX));
    let begin = &mut begin[..len];
    file.read(0, begin)?;
    let format = FORMATS.iter().find(|format| (format.begins)(begin)).ok_or_else(|| {
        let begins = format!("{:?}", begin.escape_ascii().to_string());
        ArchiveCause::Format { begins }
    })?;
    (format.open)(&Arc::new(file), path)
}

/// No part of blocks has the name of a tensor that arrives under its own.
fn unclaimed(goods: &[(&FileTensor, Option<Arrival>)]) -> Result<()> {
    let in_blocks = |arrival: &Option<Arrival>| matches!(arrival, Some(Arrival::Blocks(_)));
    let (blocks, numbers): (Vec<_>, Vec<_>) =
        goods.iter().partition(|(_, arrival)| in_blocks(arrival));
    let names: BTreeSet<&str> = numbers.iter().map(|(tensor, _)| &*tensor.name).collect();
    for (tensor, _) in blocks {
        for part in Share::BOTH.map(|share| share.of(&tensor.name)) {
            if names.contains(&*part) {
                let whole = format!("tensor {:?}", tensor.name);
                return Err(Error::from(ArchiveCause::Wanted { part }).during(whole));
            }
        }
    }
    Ok(())
}
