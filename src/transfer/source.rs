//! The bytes of an upload, as the device wants them: gathered and converted block by block.

use crate::count::index;
use crate::dtype::DType;
use crate::error::{Error, Result, mistake};
use crate::host::Tally;
use crate::host::bytes::ByteView;
use crate::host::cause::CarriageCause;
use crate::host::convert::{Convert, converter};
use crate::host::place::{CACHED, SHARED_COPY_MIN};

mod blocks;
mod shared;
mod stream;

pub(crate) use blocks::BlockSource;
pub(crate) use stream::StreamSource;

/// A chunk that is converted may be filled by two threads from this size on.
const SHARED_MIN: usize = 1 << 20;

/// What a conversion may not do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    /// No value may change.
    pub(crate) lossless: bool,
    /// No finite value may become infinite.
    pub(crate) finite: bool,
}

/// Values that fill what is staged for the device.
pub(crate) trait Fill: core::fmt::Debug {
    /// The dtype that they have there.
    fn to(&self) -> DType;

    /// Fills `out` with the `bytes` bytes of the values from `first` on, and the rest of it with
    /// zeros.
    fn fill(
        &self,
        first: usize,
        out: wgpu::WriteOnly<'_, [u8]>,
        bytes: u64,
        tally: &mut Tally,
    ) -> Result<()>;
}

/// Host values on their way to the device as `to`.
#[derive(Debug)]
pub(crate) struct UploadSource<'a> {
    view: ByteView<'a>,
    to: DType,
    convert: Option<Convert>,
    rules: Rules,
    /// Index of the view's first value in its tensor, for tallies and messages.
    base: u64,
}

impl<'a> UploadSource<'a> {
    pub(crate) fn new(view: ByteView<'a>, to: DType, rules: Rules) -> Result<Self> {
        let from = view.dtype;
        let convert = if from == to {
            None
        } else {
            Some(converter(from, to).ok_or(CarriageCause::NoConversion { from, to })?)
        };
        Ok(Self { view, to, convert, rules, base: 0 })
    }

    /// This source as a part of a tensor: its first value is the tensor's value `base`.
    pub(crate) const fn within(self, base: u64) -> Self {
        Self { base, ..self }
    }

    /// Gathers and converts block by block.
    pub(super) fn fill_blocks(
        &self,
        first: usize,
        mut out: wgpu::WriteOnly<'_, [u8]>,
        tally: &mut Tally,
    ) -> Result<()> {
        let (width, count) = (self.to.width(), out.len() / self.to.width());
        let mut converted = [0u64; CACHED];
        let mut gathered = vec![0u64; self.gathered_words(count)];
        let mut at = 0;
        while at < count {
            let (strip, together) = self.strip(first + at, count - at, &mut gathered);
            let step = if self.convert.is_some() { CACHED } else { together };
            for block in strip.chunks(step * self.view.dtype.width()) {
                let n = block.len() / self.view.dtype.width();
                let block = match self.convert {
                    None => {
                        tally.exact += n as u64;
                        block
                    }
                    Some(convert) => {
                        let to = &mut bytemuck::cast_slice_mut(&mut converted)[..n * width];
                        self.convert(convert, block, first + at, to, tally)?;
                        to
                    }
                };
                out.slice(at * width..at * width + block.len()).copy_from_slice(block);
                at += n;
            }
        }
        Ok(())
    }

    /// Room for what is gathered at once.
    fn gathered_words(&self, count: usize) -> usize {
        if self.view.layout.is_dense() {
            return 0;
        }
        let n = self.view.strip().unwrap_or(CACHED).min(count);
        (n * self.view.dtype.width()).div_ceil(size_of::<u64>())
    }

    /// The next values in one run, as the host has them, and how many: where they lie, or gathered.
    fn strip<'b>(
        &'b self,
        first: usize,
        count: usize,
        scratch: &'b mut [u64],
    ) -> (&'b [u8], usize) {
        if let Some(slice) = self.view.slice(first, count) {
            return (slice, count);
        }
        let width = self.view.dtype.width();
        let scratch: &mut [u8] = bytemuck::cast_slice_mut(scratch);
        let n = (scratch.len() / width).min(count);
        let scratch = &mut scratch[..n * width];
        self.view.gather(first, scratch);
        (scratch, n)
    }

    fn convert(
        &self,
        convert: Convert,
        from: &[u8],
        first: usize,
        to: &mut [u8],
        tally: &mut Tally,
    ) -> Result<()> {
        let overflowed = tally.overflowed;
        let done = convert(from, self.base + first as u64, to, tally);
        let (from_dtype, to_dtype) = (self.view.dtype, self.to);
        if let Err(at) = done {
            let (index, value) = (at.index, self.value(at.index));
            return Err(
                CarriageCause::OutOfRange { from: from_dtype, to: to_dtype, index, value }.into()
            );
        }
        if let Some(index) = tally.first_changed.filter(|_| self.rules.lossless) {
            let value = self.value(index);
            return Err(
                CarriageCause::Changed { from: from_dtype, to: to_dtype, index, value }.into()
            );
        }
        if self.rules.finite && tally.overflowed > overflowed {
            return Err(self.overflow(convert, from, first));
        }
        Ok(())
    }

    /// The error for the first value of a block that overflows.
    fn overflow(&self, convert: Convert, from: &[u8], first: usize) -> Error {
        let width = self.view.dtype.width();
        let mut one = [0u64; 1];
        let overflows = |value: &[u8]| {
            let mut tally = Tally::default();
            let to = &mut bytemuck::cast_slice_mut(&mut one)[..self.to.width()];
            convert(value, 0, to, &mut tally).is_ok() && tally.overflowed > 0
        };
        let offset = from.chunks_exact(width).position(overflows).unwrap_or(0);
        let index = self.base + (first + offset) as u64;
        let (from, to, value) = (self.view.dtype, self.to, self.value(index));
        CarriageCause::Overflow { from, to, index, value }.into()
    }

    /// The value at an index, for a message.
    fn value(&self, index: u64) -> String {
        let mut bytes = [0u64; 1];
        let width = self.view.dtype.width();
        let raw = &mut bytemuck::cast_slice_mut(&mut bytes)[..width];
        self.view.gather((index - self.base) as usize, raw);
        self.view.dtype.format(raw)
    }
}

impl Fill for UploadSource<'_> {
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
        let bytes = index(bytes)?;
        if bytes > out.len() {
            return Err(mistake("upload", format!("{bytes} bytes for {} staged ones", out.len())));
        }
        out.slice(bytes..).fill(0);
        let mut out = out.into_slice(..bytes);
        let count = bytes / self.to.width();
        // Staged chunks are smaller: during these the second core is busy with the driver's own
        // copy.
        if bytes < SHARED_COPY_MIN
            && self.convert.is_none()
            && let Some(slice) = self.view.slice(first, count)
        {
            tally.exact += count as u64;
            out.copy_from_slice(slice);
            return Ok(());
        }
        let done = if bytes < SHARED_MIN { 0 } else { self.fill_shared(first, &mut out, tally)? };
        self.fill_blocks(first + done / self.to.width(), out.into_slice(done..), tally)
    }
}
