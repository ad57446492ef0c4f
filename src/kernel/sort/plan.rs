//! How rows are sorted: by ranks or in rounds, by digits of how many bits, and how rows are cut
//! into chunks.

use super::text::RANKED_MAX;
use crate::shape::Shape;
use crate::wgsl::Target;

/// Rows that are sorted at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SortedRows {
    /// How many there are.
    pub(crate) count: usize,
    /// Items of each.
    pub(crate) length: usize,
}

impl SortedRows {
    /// Those of a shape, along its last axis.
    pub(crate) fn of(shape: &Shape) -> Self {
        let length = shape.dims().last().copied().unwrap_or(1);
        Self { count: shape.elements() / length.max(1), length }
    }

    pub(super) const fn items(self) -> usize {
        self.count * self.length
    }

    /// Whether every item is ranked among those of its row, which is one step, but one in which all
    /// are compared with all.
    pub(super) const fn are_ranked(self) -> bool {
        let most = RANKED_MAX as usize;
        self.length <= SHORT || self.items().saturating_mul(self.length) <= most * most
    }
}

/// The longest rows that are ranked however many there are.
const SHORT: usize = 128;

/// The rounds of a sort: as many as there are digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SortRounds {
    /// Bits of a digit.
    pub(super) bits: u32,
    pub(super) count: u32,
    /// Chunks of a row.
    pub(super) chunks: usize,
    /// Items of a chunk.
    pub(super) each: usize,
}

/// Chunks that keep a CPU adapter busy.
const BUSY: usize = 64;
/// The most items of a chunk there: an invocation may loop only so often.
const WALKED_MAX: usize = 1 << 15;
/// Words of a cache line.
const LINE: usize = 16;
/// Items of a chunk on a GPU: 16 to a lane.
const TILE: usize = 4096;
/// Bits of a digit on a GPU, where counters are in workgroup memory.
const TILE_BITS: u32 = 4;

impl SortRounds {
    /// Those of so many bits of a key.
    pub(super) fn of(rows: SortedRows, bits: u32, target: Target) -> Self {
        if target == Target::Gpu {
            return Self::by(TILE_BITS, rows, bits, TILE);
        }
        let by = |digit: u32| {
            let each = (rows.items() / BUSY).clamp(1 << digit, WALKED_MAX);
            Self::by(digit, rows, bits, each)
        };
        let (few, many) = (by(4), by(8));
        if few.effort() < many.effort() { few } else { many }
    }

    fn by(digit: u32, rows: SortedRows, bits: u32, each: usize) -> Self {
        let each = rows.length.div_ceil(rows.length.div_ceil(each));
        // Whole cache lines, of which four items are read at once. An odd number of them, because
        // chunks that lie an even number of lines apart share few of a cache's sets.
        let each = (each.div_ceil(LINE) | 1) * LINE;
        let chunks = rows.length.div_ceil(each);
        Self { bits: digit, count: bits.div_ceil(digit), chunks, each }
    }

    /// What a row costs, in items that are moved: a counter costs as much as two.
    fn effort(&self) -> usize {
        self.count as usize * self.chunks * (self.each + (2 << self.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgsl::entry::CORE_TRIPS;

    #[test]
    fn chunks_cover_rows_and_loop_seldom() {
        for target in [Target::Cpu, Target::Gpu] {
            for length in [1, 129, 4096, 65_537, 1_000_000, 10_000_000, 1 << 29] {
                for (count, bits) in [(1, 32), (3, 17), (4096, 8), (1, 1)] {
                    let rounds = SortRounds::of(SortedRows { count, length }, bits, target);
                    let SortRounds { chunks, each, .. } = rounds;
                    let place = format!("{count} rows of {length}: {rounds:?}");
                    assert!(chunks * each >= length && (chunks - 1) * each < length, "{place}");
                    assert!(rounds.bits * rounds.count >= bits, "{place}");
                    assert!(each + (1 << rounds.bits) <= CORE_TRIPS as usize, "{place}");
                    assert!(target != Target::Gpu || each < 1 << 16, "{place}");
                }
            }
        }
    }

    #[test]
    fn digits_are_as_long_as_rows_are() {
        let bits = |count, length, bits| {
            SortRounds::of(SortedRows { count, length }, bits, Target::Cpu).bits
        };
        assert_eq!(bits(10_000, 200, 32), 4);
        assert_eq!(bits(100, 4096, 32), 8);
        assert_eq!(bits(1, 10_000_000, 32), 8);
        assert_eq!(bits(1, 10_000_000, 8), 8);
    }
}
