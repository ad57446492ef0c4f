//! A file, or several that belong together, known by header.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::cause::ArchiveCause;
use super::entry::FileTensor;
use super::file::Pieces;
use crate::error::{Error, Result};
use crate::host::blocks::Share;
use crate::set::{Arrival, Shipment};

/// Tensors by name in a file, or in several that belong together: what their headers say. No value
/// has been read yet.
#[derive(Clone, Debug)]
pub struct Archive {
    tensors: Vec<FileTensor>,
}

/// The first bytes of a format, and what opens it.
struct Format {
    begins: fn(&[u8]) -> bool,
    /// Of an open file, and where it lies.
    open: fn(&Arc<Pieces>, Option<&Path>) -> Result<Vec<FileTensor>>,
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
        let opened = Pieces::open(path).and_then(|file| Self::of(file, Some(path)));
        opened.map_err(|error| error.during(path.to_string_lossy()))
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
    /// assert_eq!(set.get("bias").unwrap().to_vec::<u8>()?, [3, 4]);
    /// # Ok(()) });
    /// ```
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self> {
        let opened = Self::of(Pieces::in_memory(bytes.into()), None);
        opened.map_err(|error| error.during("a file in memory"))
    }

    fn of(file: Pieces, path: Option<&Path>) -> Result<Self> {
        let mut begin = [0; 16];
        let len = begin.len().min(usize::try_from(file.len).unwrap_or(usize::MAX));
        let begin = &mut begin[..len];
        file.read(0, begin)?;
        let format = FORMATS.iter().find(|format| (format.begins)(begin)).ok_or_else(|| {
            let begins = format!("{:?}", begin.escape_ascii().to_string());
            ArchiveCause::Format { begins }
        })?;
        Ok(Self { tensors: (format.open)(&Arc::new(file), path)? })
    }

    /// What it holds, in the order in which it lies there.
    #[must_use]
    pub fn tensors(&self) -> &[FileTensor] {
        &self.tensors
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
