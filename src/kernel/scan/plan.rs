//! How rows are cut into chunks, each of which one lane scans: pure arithmetic.

use crate::shape::Shape;
use crate::wgsl::Target;
use crate::wgsl::entry::CORE_TRIPS;

/// The most elements of a chunk: sums of more would be rounded too often.
const CHUNK_MAX: usize = 4096;

/// Chunks of equal length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    pub(super) rows: usize,
    pub(super) length: usize,
    /// Chunks of a row.
    pub(super) count: usize,
    /// Elements of a chunk.
    pub(super) each: usize,
}

impl Chunks {
    /// Enough to keep a target busy, none longer than an invocation may loop where finding an
    /// element takes so many trips.
    pub(super) fn of(shape: &Shape, target: Target, trips: usize) -> Self {
        let length = shape.dims().last().copied().unwrap_or(1);
        let rows = shape.elements() / length.max(1);
        let lanes = if target == Target::Gpu { 16_384 } else { 1024_usize };
        let most = (CORE_TRIPS as usize / (2 + trips)).min(CHUNK_MAX);
        let wanted = lanes.div_ceil(rows.max(1)).min(length / 64).max(length.div_ceil(most)).max(1);
        let each = length.div_ceil(wanted);
        Self { rows, length, count: length.div_ceil(each), each }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_rows_and_loop_seldom() {
        for target in [Target::Cpu, Target::Gpu] {
            for length in [1, 2, 63, 64, 65, 4096, 65_537, 1 << 24, 1 << 29] {
                for (rows, trips) in [(1, 0), (3, 7), (4096, 56)] {
                    let shape = Shape::new([rows, length]).expect("a shape");
                    let Chunks { count, each, .. } = Chunks::of(&shape, target, trips);
                    assert!(count * each >= length && (count - 1) * each < length, "{length}");
                    let looped = each + each / 64 + 2 + each * trips;
                    assert!(looped <= CORE_TRIPS as usize, "{length}: {looped} trips");
                }
            }
        }
    }
}
