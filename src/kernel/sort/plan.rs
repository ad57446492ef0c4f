//! How rows are sorted: by ranks or in rounds, by digits of how many bits, and how rows are cut
//! into chunks.

use super::choice::{SortChoice, SortSize};
use super::text::RANKED_MAX;
use crate::count::product;
use crate::kernel::choice::size::distinct;
use crate::shape::Shape;
use crate::wgsl::Target;
use crate::wgsl::rig::Rig;

/// Rows that are sorted at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SortedRows {
    /// How many there are.
    pub(crate) count: usize,
    /// Items of each.
    pub(crate) length: usize,
    /// What was tuned for them.
    pub(crate) by: Option<SortChoice>,
}

impl SortedRows {
    /// So many of this length.
    pub(crate) const fn new(count: usize, length: usize) -> Self {
        Self { count, length, by: None }
    }

    /// Those of a shape, along its last axis.
    pub(crate) fn of(shape: &Shape) -> Self {
        let length = shape.dims().last().copied().unwrap_or(1);
        Self::new(shape.elements() / length.max(1), length)
    }

    /// What to tune for.
    pub(crate) const fn size(self) -> SortSize {
        SortSize::new(self.count, self.length)
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
        let by = |digit: u32, each: usize| Self::by(digit, rows, bits, each);
        let is_gpu = target == Target::Gpu;
        if let Some(SortChoice { bits: digit, each }) = rows.by
            && (!is_gpu || digit == TILE_BITS)
        {
            return by(digit, each.clamp(1 << digit, WALKED_MAX));
        }
        if is_gpu {
            return by(TILE_BITS, TILE);
        }
        let busy = |digit: u32| by(digit, (rows.items() / BUSY).clamp(1 << digit, WALKED_MAX));
        let (few, many) = (busy(4), busy(8));
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
    fn effort(&self) -> u64 {
        product([self.count as usize, self.chunks, self.each + (2 << self.bits)])
    }
}

impl SortSize {
    /// What is worth timing.
    pub(crate) fn candidates(&self, on: Rig<'_>) -> Vec<SortChoice> {
        let rows = SortedRows::new(self.rows, self.length);
        if rows.are_ranked() {
            return Vec::new();
        }
        let digits = if on.target == Target::Gpu { &[TILE_BITS][..] } else { &[4, 8] };
        let all = digits.iter().flat_map(|&bits| EACH.map(|each| SortChoice { bits, each }));
        distinct(all, |choice| {
            let rows = SortedRows { by: Some(choice), ..rows };
            let rounds = SortRounds::of(rows, u32::BITS, on.target);
            // Counters of more chunks than this take longer than the items.
            let few = rounds.chunks << choice.bits <= self.length.max(1 << choice.bits);
            few.then_some(rounds)
        })
    }
}

/// Items of a chunk that are tried.
const EACH: [usize; 7] = [512, 1024, 2048, 4096, 8192, 16_384, WALKED_MAX];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgsl::entry::CORE_TRIPS;

    #[test]
    fn chunks_cover_rows_and_loop_seldom() {
        for target in [Target::Cpu, Target::Gpu] {
            for length in [1, 129, 4096, 65_537, 1_000_000, 10_000_000, 1 << 29] {
                for (count, bits) in [(1, 32), (3, 17), (4096, 8), (1, 1)] {
                    let rounds = SortRounds::of(SortedRows::new(count, length), bits, target);
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
            SortRounds::of(SortedRows::new(count, length), bits, Target::Cpu).bits
        };
        assert_eq!(bits(10_000, 200, 32), 4);
        assert_eq!(bits(100, 4096, 32), 8);
        assert_eq!(bits(1, 10_000_000, 32), 8);
        assert_eq!(bits(1, 10_000_000, 8), 8);
    }
}
