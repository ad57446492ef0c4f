//! An array written as numpy writes it.

use std::io::Write;
use std::path::Path;

use super::{DESCRIBED, MAGIC};
use crate::dtype::DType;
use crate::error::Result;
use crate::gpu::Drive;
use crate::io::cause::ArchiveCause;
use crate::io::unfinished::{unwritten, whole};
use crate::layout::Layout;
use crate::ledger::{CallSite, Direction};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::transfer::{Drain, Receipt};

impl Tensor {
    /// Writes it to a file of numpy's (npy), bit for bit, as numpy does. It comes down chunk by
    /// chunk and is on the host nowhere as a whole; the file has its name only once it is whole and
    /// on the disk.
    ///
    /// What lies column by column - `x.t()` of a dense matrix, or an array that was loaded so - is
    /// written as it lies, without a copy on the device: in Fortran's order, as numpy has it. Any
    /// other view is written row by row.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let path = std::env::temp_dir().join(format!("wharf-{}.npy", std::process::id()));
    /// device.ones([3, 2], wharf::DType::F32)?.save_npy(&path)?;
    /// let (set, _) = device.upload_set(&wharf::io::Archive::open(&path)?.shipment()?)?;
    /// assert_eq!(set.iter().map(|(_, x)| x.shape().elements()).sum::<usize>(), 6);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok(()) });
    /// ```
    #[doc(alias = "write_npy")]
    #[track_caller]
    pub fn save_npy(&self, path: impl AsRef<Path>) -> Result<Receipt> {
        let site = CallSite::of("save_npy");
        self.device().engine.books.admit(Direction::Down, site)?;
        let array = SavedArray::of(self)?;
        whole(path.as_ref(), |file| {
            file.write_all(&array.header).map_err(unwritten)?;
            let mut take = |chunk: &[u8]| file.write_all(chunk).map_err(unwritten);
            array.pour(site, &mut take)
        })
    }
}

/// An array on its way to a file: the header, and the view whose elements, in order, come after it.
pub(in crate::io) struct SavedArray {
    pub(in crate::io) header: Vec<u8>,
    view: Tensor,
    /// As the tensor lies, and as the file has it.
    layouts: [Layout; 2],
}

impl SavedArray {
    pub(in crate::io) fn of(tensor: &Tensor) -> Result<Self> {
        let (layout, shape) = (*tensor.layout(), *tensor.shape());
        let backwards = tensor.permute((0..shape.rank()).rev())?;
        // What is both, such as a row, is none of Fortran's to numpy.
        let fortran = !layout.is_dense() && backwards.layout().is_dense();
        let (view, saved) = if fortran {
            (backwards, Layout::column_major(shape))
        } else {
            (tensor.clone(), Layout::dense(shape))
        };
        let header = header_of(tensor.dtype(), &shape, fortran)?;
        Ok(Self { header, view, layouts: [layout, saved] })
    }

    /// Hands its values over, as they come after the header.
    pub(in crate::io) fn pour(&self, site: CallSite, drain: &mut impl Drain) -> Result<Receipt> {
        let receipt = pollster::block_on(self.view.pour(Drive::Block, site, drain))?;
        let [layout_from, layout_to] = self.layouts;
        Ok(Receipt { layout_from, layout_to, ..receipt })
    }
}

/// The header of an array, as numpy writes it.
fn header_of(dtype: DType, shape: &Shape, fortran: bool) -> Result<Vec<u8>> {
    let known = DESCRIBED.iter().find(|(_, known)| *known == dtype);
    let (descr, _) = known.ok_or(ArchiveCause::Undescribed { dtype })?;
    let dims: Vec<String> = shape.dims().iter().map(ToString::to_string).collect();
    let comma = if dims.len() == 1 { "," } else { "" };
    let dims = dims.join(", ");
    let order = if fortran { "True" } else { "False" };
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({dims}{comma}), }}");
    // All of it is filled up to a multiple of 64 bytes, and ends a line.
    let before = MAGIC.len() + 4;
    let length = (before + text.len() + 1).next_multiple_of(64) - before;
    text.extend(core::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let [low, high, ..] = length.to_le_bytes();
    Ok([MAGIC, &[1, 0, low, high], text.as_bytes()].concat())
}
