//! An array written as numpy writes it.

use std::io::Write;
use std::path::Path;

use super::{DESCRIBED, MAGIC};
use crate::dtype::DType;
use crate::error::Result;
use crate::gpu::Drive;
use crate::io::cause::ArchiveCause;
use crate::io::unfinished::{unwritten, whole};
use crate::ledger::{CallSite, Direction};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::transfer::Receipt;

impl Tensor {
    /// Writes it to a file of numpy's (npy), bit for bit, as numpy does. It comes down chunk by
    /// chunk and is on the host nowhere as a whole; the file has its name only once it is whole and
    /// on the disk.
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
    #[track_caller]
    pub fn save_npy(&self, path: impl AsRef<Path>) -> Result<Receipt> {
        let site = CallSite::of("save_npy");
        self.device().engine.books.admit(Direction::Down, site)?;
        let header = header_of(self.dtype(), self.shape())?;
        whole(path.as_ref(), |file| {
            file.write_all(&header).map_err(|error| unwritten(&error))?;
            let mut take =
                |chunk: &[u8]| Ok(file.write_all(chunk).map_err(|error| unwritten(&error))?);
            pollster::block_on(self.pour(Drive::Block, site, &mut take))
        })
    }
}

/// The header of an array, as numpy writes it.
pub(in crate::io) fn header_of(dtype: DType, shape: &Shape) -> Result<Vec<u8>> {
    let known = DESCRIBED.iter().find(|(_, known)| *known == dtype);
    let (descr, _) = known.ok_or(ArchiveCause::Undescribed { dtype })?;
    let dims: Vec<String> = shape.dims().iter().map(ToString::to_string).collect();
    let comma = if dims.len() == 1 { "," } else { "" };
    let dims = dims.join(", ");
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}{comma}), }}");
    // All of it is filled up to a multiple of 64 bytes, and ends a line.
    let before = MAGIC.len() + 4;
    let length = (before + text.len() + 1).next_multiple_of(64) - before;
    text.extend(core::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let [low, high, ..] = length.to_le_bytes();
    Ok([MAGIC, &[1, 0, low, high], text.as_bytes()].concat())
}
