//! A file, or several that belong together, known by header.

use core::fmt;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::cause::FileCause;
use super::file::Pieces;
use crate::dtype::DType;
use crate::error::Result;
use crate::host::supply::Supply;
use crate::set::Shipment;
use crate::shape::{RANK_MAX, Shape};

/// Tensors by name in a file, or in several that belong together: what their headers say. No value
/// has been read yet.
#[derive(Clone, Debug)]
pub struct Archive {
    tensors: Vec<FileTensor>,
}

/// A tensor in a file.
#[derive(Clone)]
pub struct FileTensor {
    pub(super) name: Arc<str>,
    pub(super) shape: Shape,
    /// As the file spells it.
    pub(super) dtype_name: Arc<str>,
    pub(super) bytes: u64,
    /// `None` where wharf has no such dtype.
    pub(super) supply: Option<Arc<dyn Supply>>,
}

impl FileTensor {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its shape.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Its dtype; `None` where wharf has no such dtype.
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        self.supply.as_ref().map(|supply| supply.dtype())
    }

    /// Its dtype as the file spells it.
    #[must_use]
    pub fn dtype_name(&self) -> &str {
        &self.dtype_name
    }

    /// The bytes that it takes in the file.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Debug for FileTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {} {}", self.name, self.dtype_name, self.shape)
    }
}

/// The first bytes of a format, and what opens it.
struct Format {
    begins: fn(&[u8]) -> bool,
    open: fn(&Arc<Pieces>, &Path) -> Result<Vec<FileTensor>>,
}

/// By their first bytes, the most distinct first.
const FORMATS: &[Format] = &[
    #[cfg(feature = "npy")]
    Format { begins: super::npy::begins, open: super::npy::open },
    #[cfg(feature = "gguf")]
    Format { begins: super::gguf::begins, open: super::gguf::open },
    #[cfg(feature = "safetensors")]
    Format { begins: super::shards::begins, open: super::shards::open },
    #[cfg(feature = "safetensors")]
    Format { begins: super::safetensors::begins, open: super::safetensors::open },
];

impl Archive {
    /// Opens a file by what it begins with: safetensors, the index of several of these
    /// (`model.safetensors.index.json`), whose files lie beside it, npy, or GGUF; of what is
    /// compiled in.
    ///
    /// All of the header is checked; no tensor is read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let opened = Pieces::open(path).map(Arc::new).and_then(|file| {
            let mut begin = [0; 16];
            let len = begin.len().min(usize::try_from(file.len).unwrap_or(usize::MAX));
            let begin = &mut begin[..len];
            file.read(0, begin)?;
            let format = FORMATS.iter().find(|format| (format.begins)(begin)).ok_or_else(|| {
                let begins = format!("{:?}", begin.escape_ascii().to_string());
                FileCause::Format { begins }
            })?;
            (format.open)(&file, path)
        });
        let tensors = opened.map_err(|error| error.during(path.to_string_lossy()))?;
        Ok(Self { tensors })
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
        self.shipment_as(|_| None)
    }

    /// [`Archive::shipment`], where a tensor for which `to` names a dtype is converted to it while
    /// it is staged, as by [`Shipment::add_as`].
    pub fn shipment_as(
        &self,
        to: impl Fn(&FileTensor) -> Option<DType>,
    ) -> Result<Shipment<'static>> {
        let foreign: Vec<&FileTensor> =
            self.tensors.iter().filter(|tensor| tensor.supply.is_none()).collect();
        if !foreign.is_empty() {
            return Err(self.refusal(&foreign).into());
        }
        let mut shipment = Shipment::new();
        for tensor in &self.tensors {
            if let Some(supply) = &tensor.supply {
                shipment.insert_stream(&tensor.name, Arc::clone(supply), to(tensor))?;
            }
        }
        Ok(shipment)
    }

    fn refusal(&self, foreign: &[&FileTensor]) -> FileCause {
        const NAMED: usize = 3;
        let mut names: Vec<String> =
            foreign.iter().take(NAMED).map(|tensor| format!("{:?}", tensor.name)).collect();
        names.extend((foreign.len() > NAMED).then(|| "..".into()));
        let dtypes: BTreeSet<&str> = foreign.iter().map(|tensor| &*tensor.dtype_name).collect();
        let dtype = dtypes.into_iter().collect::<Vec<_>>().join(", ");
        let (count, of) = (foreign.len(), self.tensors.len());
        FileCause::Foreign { dtype, count, of, names: names.join(", ") }
    }
}

/// A shape as a file spells it.
pub(super) fn shape(dims: &[u64]) -> Result<Shape> {
    let small = dims.iter().map(|&dim| usize::try_from(dim).ok()).collect::<Option<Vec<_>>>();
    match small {
        // Too many axes are no mistake of the file.
        Some(small) if small.len() > RANK_MAX => Shape::new(small),
        small => small
            .and_then(|dims| Shape::new(dims).ok())
            .ok_or_else(|| FileCause::Shape { dims: dims.to_vec() }.into()),
    }
}
