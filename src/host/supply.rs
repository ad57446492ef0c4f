//! Host data that is nowhere in memory as a whole: handed over piece by piece, by a file or by an
//! array with gaps.

use core::fmt;

use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;

/// Hands over the bytes of a tensor.
pub(crate) trait Supply: fmt::Debug + Send + Sync {
    fn dtype(&self) -> DType;

    /// As it is handed over: dense, or column-major; and so it lies on the device.
    fn layout(&self) -> Layout;

    /// Fills `out` with the bytes from byte `first` on. Both are whole elements. Mostly asked in
    /// order, each once.
    fn read(&self, first: u64, out: &mut [u8]) -> Result<()>;
}
