//! Host data that is nowhere in memory as a whole: handed over piece by piece, by a file for
//! example.

use core::fmt;

use crate::dtype::DType;
use crate::error::Result;
use crate::shape::Shape;

/// Hands over the bytes of a tensor, row-major.
pub(crate) trait Supply: fmt::Debug + Send + Sync {
    fn dtype(&self) -> DType;

    fn shape(&self) -> &Shape;

    /// Fills `out` with the bytes from byte `first` on. Both are whole elements. Mostly asked in
    /// order, each once.
    fn read(&self, first: u64, out: &mut [u8]) -> Result<()>;
}
