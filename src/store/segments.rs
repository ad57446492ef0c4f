//! How a tensor is cut into segments: pure arithmetic on the adapter's limits.

use crate::caps::Caps;
use crate::error::Result;
use crate::gpu::cause::DeviceCause;

/// Segments begin at multiples of this. So a boundary of one tensor is aligned for a binding of
/// another, whatever their element widths (256 bytes at most, times 8 for the ratio of widths).
const GRAIN: u64 = 64 << 10;

/// Kernels hold the position of an element in its segment in a word.
const REACH: u64 = 1 << 32;

/// Below this, a lack of memory is not due to fragmentation, and smaller segments do not help.
const HALVING_MIN: u64 = 8 << 20;

/// A tensor's bytes are padded to this, so that a shader may load and store whole quads of any
/// dtype.
pub(crate) const PAD: u64 = 32;

/// The most segments of a tensor: more of them are a mistake.
const COUNT_MAX: u64 = 1 << 20;

/// The segment size of an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segments {
    /// The largest segment.
    pub(crate) bytes_max: u64,
}

impl Segments {
    /// One grain below the binding limit, so that a window may begin before and end after what it
    /// needs. Where that is nothing, a power of two: a slot for that many bytes is no longer.
    pub(crate) fn new(caps: &Caps) -> Self {
        let largest = caps.limits.binding_bytes_max.min(caps.limits.buffer_bytes_max);
        let largest = largest.min(REACH);
        let bytes_max = match largest / GRAIN {
            0 | 1 => largest.checked_ilog2().map_or(0, |power| 1 << power),
            grains => (grains - 1) * GRAIN,
        };
        Self { bytes_max }
    }

    /// That a tensor is not so large that what is noted of its segments fills the host's memory.
    pub(crate) fn check(self, bytes: u64) -> Result<()> {
        let count = bytes.div_ceil(self.bytes_max);
        if count <= COUNT_MAX {
            return Ok(());
        }
        let (what, unit, requested) = ("the tensor", "segments", count.into());
        let (limit, available) = ("the largest number", COUNT_MAX);
        Err(DeviceCause::TooLarge { what, requested, limit, available, unit }.into())
    }

    /// The next smaller segment size to try when memory is fragmented; `None` when that would not
    /// help.
    pub(crate) fn halved(segment_bytes: u64) -> Option<u64> {
        let half = segment_bytes / 2 / GRAIN * GRAIN;
        (half >= HALVING_MIN).then_some(half)
    }

    /// Whether segments hold whole rows of so many bytes, however small they become.
    pub(crate) fn hold_whole(self, row: u64) -> bool {
        let mut sizes = core::iter::successors(Some(self.bytes_max), |&bytes| Self::halved(bytes));
        sizes.all(|bytes| bytes.is_multiple_of(row))
    }

    /// The sizes of the segments of a tensor.
    pub(crate) fn sizes(self, bytes: u64, segment_bytes: u64) -> impl Iterator<Item = u64> + use<> {
        let count = bytes.div_ceil(segment_bytes);
        (0..count)
            .map(move |i| (bytes - i * segment_bytes).min(segment_bytes).next_multiple_of(PAD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::Limit;

    #[test]
    fn rows_are_whole_in_segments_of_every_size() {
        let caps = Caps::webgpu_baseline().with_limit(Limit::BindingBytes, 128 << 20);
        let segments = Segments::new(&caps);
        for (row, in_largest, in_all) in [
            (4, true, true),
            (GRAIN, true, true),
            // 2047 grains are 23 times 89, and half of them are 1023.
            (92, true, false),
            (20, false, false),
            (2 * GRAIN, false, false),
            (0, false, false),
        ] {
            assert_eq!(segments.bytes_max.is_multiple_of(row), in_largest, "rows of {row}");
            assert_eq!(segments.hold_whole(row), in_all, "rows of {row}");
        }
    }

    #[test]
    fn segments_cover_the_tensor_and_stay_below_the_binding() {
        for binding in [1 << 16, 1 << 20, 134_217_728, 1 << 31, 1 << 40] {
            let caps = Caps::webgpu_baseline().with_limit(Limit::BindingBytes, binding);
            let segments = Segments::new(&caps);
            assert!(segments.bytes_max <= binding, "within {binding}");
            assert!(u32::try_from(segments.bytes_max).is_ok(), "words reach all of {binding}");
            for bytes in [0, 1, 31, 33, 65_535, 65_536, 200 << 20, (5 << 30) + 4] {
                let sizes: Vec<u64> = segments.sizes(bytes, segments.bytes_max).collect();
                assert_eq!(sizes.iter().sum::<u64>(), bytes.next_multiple_of(PAD), "{bytes}");
                assert!(sizes.iter().all(|&s| s <= segments.bytes_max), "{bytes} of {binding}");
            }
        }
    }
}
