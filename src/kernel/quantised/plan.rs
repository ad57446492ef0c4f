//! How a product with quantised weights is cut: tiles by the number of rows, ranges by segments.
//! Measured in `docs/measured/quantised.md`.

use core::ops::Range;

use super::text::SHARERS;
use crate::host::blocks::BLOCK;
use crate::kernel::matmul::fours;
use crate::layout::Layout;
use crate::wgsl::Target;
use crate::wgsl::entry::CORE_TRIPS;

/// The deepest k: a trip per block, far below what llvmpipe survives.
pub(crate) const K_MAX: usize = BLOCK * CORE_TRIPS as usize;

/// Groups along one dimension of a dispatch.
const GROUPS_MAX: usize = crate::wgsl::grid::GROUPS_MAX as usize;

/// Up to so many rows of X, a tile of so many, where lanes load X together.
const TILES: &[(usize, u32)] = &[(1, 1), (2, 2), (4, 4), (64, 8), (usize::MAX, 16)];

/// The most where each lane loads all of X.
const ROWS_ALONE: u32 = 4;

/// How a product is computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuantisedPlan {
    /// Rows of a tile.
    pub(super) rows: u32,
    /// Whether the lanes of a workgroup load X together.
    pub(super) shared: bool,
    /// Invocations of a workgroup, each with four columns.
    pub(super) lanes: u32,
}

impl QuantisedPlan {
    /// For so many rows of X, where every subgroup has just so many lanes, if that is known.
    pub(super) fn of(m: usize, target: Target, subgroup: Option<u64>) -> Self {
        let lanes = match target {
            Target::Cpu | Target::Cpu64 => 8,
            Target::Gpu => 64,
        };
        // Lanes can share only if the workgroup is one subgroup.
        let shared = target != Target::Gpu && subgroup == Some(u64::from(SHARERS));
        let tile = TILES.iter().find(|(most, _)| m <= *most).map_or(1, |(_, rows)| *rows);
        Self { rows: if shared { tile } else { tile.min(ROWS_ALONE) }, shared, lanes }
    }

    /// Groups for so many rows and columns.
    pub(super) const fn groups(self, rows: usize, columns: usize) -> [usize; 3] {
        [rows.div_ceil(self.rows as usize), columns.div_ceil(4 * self.lanes as usize), 1]
    }

    /// The most rows and columns of one dispatch.
    pub(super) const fn most(self) -> [usize; 2] {
        [GROUPS_MAX * self.rows as usize, GROUPS_MAX * 4 * self.lanes as usize]
    }
}

/// Rows of the result in one of its segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResultRows {
    pub(super) rows: Range<usize>,
    /// Elements of a row.
    pub(super) pitch: usize,
    /// The segment.
    pub(super) index: usize,
}

impl ResultRows {
    /// These rows of the result, by its segments.
    pub(super) fn by_segment(
        rows: &Range<usize>,
        pitch: usize,
        segment: usize,
    ) -> impl Iterator<Item = Self> {
        let (begin, end) = (rows.start * pitch, rows.end * pitch);
        (begin / segment..=(end - 1) / segment).map(move |index| {
            let low = (index * segment).max(begin) / pitch;
            let high = ((index + 1) * segment).min(end).div_ceil(pitch);
            Self { rows: low..high, pitch, index }
        })
    }
}

/// The longest ranges of the first axis - whole fours but for the last, and no more than `most` -
/// that lie in one segment of each side, and fours that do not.
pub(super) fn cut(dim: usize, sides: &[(&Layout, usize)], most: usize) -> Vec<Range<usize>> {
    let held = |range: Range<usize>| -> Option<Vec<usize>> {
        let segment = |(layout, segment): &(&Layout, usize)| {
            let span = layout.slice(0, range.clone(), 1).ok()?.span();
            let ends = [span.start, span.end.saturating_sub(1).max(span.start)];
            let [low, high] = ends.map(|end| end / segment);
            (low == high).then_some(low)
        };
        sides.iter().map(segment).collect()
    };
    if dim <= most && held(0..dim).is_some() {
        return core::iter::once(0..dim).collect();
    }
    fours(dim, most, held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    #[test]
    fn tiles_grow_with_the_rows_and_stay_small_where_lanes_load_alone() {
        let rows = |m, target, subgroup| QuantisedPlan::of(m, target, subgroup).rows;
        assert_eq!([1, 2, 3, 64, 65].map(|m| rows(m, Target::Cpu, Some(8))), [1, 2, 4, 8, 16]);
        assert_eq!([1, 64, 65].map(|m| rows(m, Target::Cpu, None)), [1, 4, 4]);
        assert_eq!(rows(65, Target::Gpu, Some(8)), 4);
    }

    #[test]
    fn ranges_are_cut_at_segments() {
        let layout = Layout::dense(Shape::new([12, 10]).expect("a shape"));
        let ends = |segment, most| {
            let cuts = cut(12, &[(&layout, segment)], most).into_iter();
            cuts.map(|range| range.end).collect::<Vec<_>>()
        };
        assert_eq!(ends(120, 100), [12]);
        assert_eq!(ends(80, 100), [8, 12]);
        assert_eq!(ends(60, 100), [4, 8, 12], "one four lies in both");
        assert_eq!(ends(120, 8), [8, 12]);
    }

    #[test]
    fn rows_across_a_segment_belong_to_both() {
        let parts: Vec<_> = ResultRows::by_segment(&(1..4), 4, 10).map(|r| r.rows).collect();
        assert_eq!(parts, [1..3, 2..4]);
    }
}
