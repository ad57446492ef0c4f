//! What is handed over piece by piece, as the device wants it: through a small buffer that stays in
//! the second-level cache.

use std::sync::Arc;

use super::{Fill, Rules, UploadSource};
use crate::count::index;
use crate::dtype::DType;
use crate::error::Result;
use crate::host::Tally;
use crate::host::bytes::ByteView;
use crate::host::erased::check_truth;
use crate::host::supply::Supply;

/// Bytes that are asked for at once.
const STRIP_BYTES: usize = 512 << 10;

/// A tensor that is handed over piece by piece, on its way to the device as `to`.
#[derive(Debug)]
pub(crate) struct StreamSource<'s> {
    supply: Arc<dyn Supply + 's>,
    to: DType,
    rules: Rules,
}

impl<'s> StreamSource<'s> {
    pub(crate) fn new(supply: Arc<dyn Supply + 's>, to: DType, rules: Rules) -> Result<Self> {
        let source = Self { supply, to, rules };
        // Whether there is such a conversion is known before anything is read.
        source.of(&[]).map(drop)?;
        Ok(source)
    }

    fn of<'a>(&self, bytes: &'a [u8]) -> Result<UploadSource<'a>> {
        UploadSource::new(ByteView::dense(self.supply.dtype(), bytes)?, self.to, self.rules)
    }
}

impl Fill for StreamSource<'_> {
    fn to(&self) -> DType {
        self.to
    }

    fn fill(
        &self,
        first: usize,
        mut out: wgpu::WriteOnly<'_, [u8]>,
        bytes: u64,
        tally: &mut Tally,
    ) -> Result<()> {
        let (from, width) = (self.supply.dtype(), self.to.width());
        let (mut at, count) = (0, index(bytes)? / width);
        // Not kept: a set has many tensors, all of which wait for the last.
        let whole = (count * from.width()).min(STRIP_BYTES).div_ceil(size_of::<u64>());
        let mut strip = vec![0u64; whole];
        let strip: &mut [u8] = bytemuck::cast_slice_mut(&mut strip);
        while at < count {
            let n = (strip.len() / from.width()).min(count - at);
            let values = &mut strip[..n * from.width()];
            let begin = (first + at) as u64;
            self.supply.read(begin * from.width() as u64, values)?;
            check_truth(from, values, begin)?;
            // The last part is filled up with zeros to the end of what is staged.
            let end = if at + n == count { out.len() } else { (at + n) * width };
            let source = self.of(values)?.within(begin);
            source.fill(0, out.slice(at * width..end), (n * width) as u64, tally)?;
            at += n;
        }
        Ok(())
    }
}
