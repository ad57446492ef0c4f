//! One tensor of a file, as its header has it.

use core::fmt;
use std::sync::Arc;

use super::cause::ArchiveCause;
use super::remark::Remarked;
use crate::dtype::DType;
use crate::error::Result;
use crate::host::blocks::Blocks;
use crate::host::supply::Supply;
use crate::layout::Layout;
use crate::shape::{RANK_MAX, Shape};

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
    /// The form of the blocks of which it is a part.
    pub(super) blocks: Option<Blocks>,
}

impl FileTensor {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its shape; of more than [`RANK_MAX`] axes, of which wharf has no tensors, the first are one.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Its dtype; `None` where wharf has no such dtype.
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        self.supply.as_ref().map(|supply| supply.dtype())
    }

    /// How it lies in the file, row-major or column-major, and kept as it is also on a device;
    /// `None` where wharf has no such dtype.
    #[must_use]
    pub fn layout(&self) -> Option<Layout> {
        self.supply.as_ref().map(|supply| supply.layout())
    }

    /// Its dtype as the file spells it, and how many axes it has, if those are too many.
    #[must_use]
    pub fn dtype_name(&self) -> &str {
        &self.dtype_name
    }

    /// The form of the blocks whose values or scales it is, in a GGUF. It arrives as it is,
    /// whatever [`Archive::shipment_as`] is told: other numbers would be no blocks.
    ///
    /// [`Archive::shipment_as`]: super::Archive::shipment_as
    #[must_use]
    pub const fn blocks(&self) -> Option<Blocks> {
        self.blocks
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

/// The tensors of a file, and where the remarks are: in the first of several.
pub(super) type Opened = (Vec<FileTensor>, Option<Remarked>);

/// A shape as a file spells it.
pub(super) fn shape(dims: &[u64]) -> Result<Shape> {
    let small = dims.iter().map(|&dim| usize::try_from(dim).ok()).collect::<Option<Vec<_>>>();
    match small {
        // Too many axes are no mistake of the file.
        Some(small) if small.len() > RANK_MAX => Shape::new(small),
        small => small
            .and_then(|dims| Shape::new(dims).ok())
            .ok_or_else(|| ArchiveCause::Shape { dims: dims.to_vec() }.into()),
    }
}
