//! Panels: a product cut into parts whose operands lie in one segment each. Pure arithmetic.
//!
//! An operand is cut along the axis over which memory is walked in the largest steps. A row that
//! lies across the end of a segment becomes a panel of its own, and is copied; so is what would be
//! larger than a segment.

use core::ops::Range;

use super::view::{batch_unit, full, part};
use crate::kernel::matmul::choice::scheme::Size;
use crate::kernel::plan::fours;
use crate::layout::Layout;

/// How an operand lies: its layout, elements per segment, and whether one segment holds it all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lie {
    pub(crate) layout: Layout,
    pub(crate) segment: usize,
    pub(crate) whole: bool,
}

impl Lie {
    /// The lengths of its axes of batches.
    pub(crate) fn batches(&self) -> &[usize] {
        let dims = self.layout.shape().dims();
        &dims[..dims.len() - 2]
    }

    /// These batches, if they lie across the end of a segment.
    fn across(&self, batch: &Range<usize>) -> Option<Layout> {
        let layout = part(&self.layout, batch, full(&self.layout)).ok().filter(|_| !self.whole)?;
        let span = layout.span();
        (span.start / self.segment != span.end.saturating_sub(1) / self.segment).then_some(layout)
    }
}

/// A part of a product: ranges of all four axes. Parts of one place of the result that differ in k
/// are added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panel {
    pub(crate) batch: Range<usize>,
    pub(crate) rows: Range<usize>,
    pub(crate) columns: Range<usize>,
    pub(crate) k: Range<usize>,
    /// Which range of k.
    pub(crate) pass: usize,
}

impl Panel {
    /// The ranges of the two last axes of A (0) or B (1).
    pub(crate) fn ranges(&self, side: usize) -> [Range<usize>; 2] {
        if side == 0 {
            [self.rows.clone(), self.k.clone()]
        } else {
            [self.k.clone(), self.columns.clone()]
        }
    }
}

/// Cuts a product; along k at least as it is told.
pub(crate) fn cut(size: Size, sides: &[Lie; 2], mut ks: Vec<Range<usize>>) -> Vec<Panel> {
    let Size { batch, m, n, .. } = size;
    let batches = in_segments(sides, 0..batch);
    let mut others = Vec::with_capacity(batches.len());
    for batch in &batches {
        let mut cuts = [one(m), one(n)];
        for (side, lie) in sides.iter().enumerate().filter(|(_, lie)| !lie.whole) {
            let Some(layout) = lie.across(batch) else { continue };
            let [rows, columns] = axes(&layout, lie.segment);
            let (own, along_k) = if side == 0 { (rows, columns) } else { (columns, rows) };
            cuts[side] = both(&cuts[side], &own);
            // All batches have the same passes, so cuts of k add up.
            ks = both(&ks, &along_k);
        }
        others.push(cuts);
    }
    let mut panels = Vec::new();
    for (pass, k) in ks.iter().enumerate() {
        for (batch, [rows, columns]) in batches.iter().zip(&others) {
            for rows in rows {
                panels.extend(columns.iter().map(|columns| {
                    let (batch, rows) = (batch.clone(), rows.clone());
                    Panel { batch, rows, columns: columns.clone(), k: k.clone(), pass }
                }));
            }
        }
    }
    panels
}

/// Ranges of batches that lie in one segment of either side, and single ones that do not.
fn in_segments(sides: &[Lie; 2], batch: Range<usize>) -> Vec<Range<usize>> {
    if batch.len() <= 1 || sides.iter().all(|side| side.across(&batch).is_none()) {
        return vec![batch];
    }
    let parts = halves(&batch, batch_unit(sides[0].batches(), batch.len()));
    parts.flat_map(|batch| in_segments(sides, batch)).collect()
}

/// Panels cut further, to at most so many columns each.
pub(crate) fn narrowed(panels: Vec<Panel>, columns_max: usize) -> Vec<Panel> {
    if panels.iter().all(|panel| panel.columns.len() <= columns_max) {
        return panels;
    }
    let parts = panels.into_iter().flat_map(|panel| {
        let each = blocks(&panel.columns, columns_max);
        each.map(move |columns| Panel { columns, ..panel.clone() })
    });
    parts.collect()
}

/// Panels cut further, until a segment holds a copy of either side, in units of so many rows of the
/// left one and columns of the right one. Batches first, then the longer side.
pub(crate) fn fitted(
    panels: Vec<Panel>,
    batches: &[usize],
    units: [usize; 2],
    segment: usize,
) -> Vec<Panel> {
    panels.into_iter().flat_map(|panel| panel.fitted(batches, units, segment)).collect()
}

impl Panel {
    fn fitted(self, batches: &[usize], units: [usize; 2], segment: usize) -> Vec<Self> {
        let depth = self.batch.len() * self.k.len();
        let left = depth * self.rows.len().next_multiple_of(units[0]);
        let right = depth * self.columns.len().next_multiple_of(units[1]);
        let parts: Vec<Self> = if left.max(right) <= segment {
            return vec![self];
        } else if self.batch.len() > 1 {
            let each = halves(&self.batch, batch_unit(batches, self.batch.len()));
            each.map(|batch| Self { batch, ..self.clone() }).collect()
        } else if left > right {
            let each = halves(&self.rows, units[0]);
            each.map(|rows| Self { rows, ..self.clone() }).collect()
        } else {
            let each = halves(&self.columns, units[1]);
            each.map(|columns| Self { columns, ..self.clone() }).collect()
        };
        match parts.len() {
            // No smaller ones: whoever copies will say that there is no room.
            1 => parts,
            _ => fitted(parts, batches, units, segment),
        }
    }
}

/// A range in parts of so many.
pub(super) fn blocks(
    range: &Range<usize>,
    most: usize,
) -> impl Iterator<Item = Range<usize>> + use<> {
    let end = range.end;
    range.clone().step_by(most).map(move |begin| begin..(begin + most).min(end))
}

/// The two halves of a range, in whole units.
fn halves(range: &Range<usize>, unit: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    blocks(range, range.len().div_ceil(2).next_multiple_of(unit))
}

/// An axis uncut.
fn one(dim: usize) -> Vec<Range<usize>> {
    core::iter::once(0..dim).collect()
}

/// An axis cut wherever one of two lists cuts it.
fn both(a: &[Range<usize>], b: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut ends: Vec<usize> = a.iter().chain(b).map(|range| range.end).collect();
    ends.sort_unstable();
    ends.dedup();
    let begins = [0].into_iter().chain(ends.iter().copied());
    begins.zip(ends.iter().copied()).filter(|(b, e)| b < e).map(|(b, e)| b..e).collect()
}

/// The cuts of the two last axes.
fn axes(layout: &Layout, segment: usize) -> [Vec<Range<usize>>; 2] {
    let rank = layout.shape().rank();
    let (dims, strides) = (layout.shape().dims(), layout.strides());
    let reach = |axis: usize| strides[axis].unsigned_abs() * usize::from(dims[axis] > 1);
    let (rows, columns) = (rank - 2, rank - 1);
    // What is copied - four of the outer axis - must fit into a segment of its own.
    let block = (segment / 16 * 4).max(4);
    let blocks = |axis: usize| blocks(&(0..dims[axis]), block).collect();
    if reach(rows) >= reach(columns) {
        [along_segments(layout, rows, columns, segment), blocks(columns)]
    } else {
        [blocks(rows), along_segments(layout, columns, rows, segment)]
    }
}

/// The longest ranges of an axis that lie in one segment each. Four indices across the end of a
/// segment are a range of their own.
fn along_segments(layout: &Layout, axis: usize, inner: usize, segment: usize) -> Vec<Range<usize>> {
    let (dim, strides) = (layout.shape().dims()[axis], layout.strides());
    let far = strides[inner] * (layout.shape().dims()[inner].cast_signed() - 1);
    let place = |i: usize| layout.offset().cast_signed() + strides[axis] * i.cast_signed();
    // The segment that holds four indices, if one does.
    let held = |fours: Range<usize>| {
        let ends = [place(fours.start), place(fours.end - 1)];
        let ends = [ends[0], ends[1], ends[0] + far, ends[1] + far];
        let index = |end: isize| end.unsigned_abs() / segment;
        let low = ends.iter().map(|&end| index(end)).min();
        let high = ends.iter().map(|&end| index(end)).max();
        low.filter(|_| low == high)
    };
    fours(dim, dim, held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::matmul::text::tile;
    use crate::shape::Shape;

    const K_MAX: usize = tile::K_MAX as usize;

    fn lie(dims: &[usize], strides: &[isize], segment: usize) -> Lie {
        let shape = Shape::new(dims).unwrap();
        let layout = Layout::strided(shape, strides, 0).unwrap();
        let whole = layout.span().end <= segment;
        Lie { layout, segment, whole }
    }

    /// Every product of an element of A and one of B belongs to exactly one panel, and what a panel
    /// reads lies in one segment or fits into one.
    fn check(size: Size, sides: &[Lie; 2], passes: usize) -> Vec<Panel> {
        let each = size.k.div_ceil(passes).next_multiple_of(4);
        let panels = cut(size, sides, blocks(&(0..size.k), each).collect());
        let volume = |p: &Panel| p.batch.len() * p.rows.len() * p.columns.len() * p.k.len();
        let Size { batch, m, n, k } = size;
        assert_eq!(panels.iter().map(volume).sum::<usize>(), batch * m * n * k, "all of it, once");
        for panel in &panels {
            assert!(panel.k.len() <= K_MAX && panel.k.start % 4 == 0, "{panel:?}");
            for (side, lie) in sides.iter().enumerate() {
                let part = part(&lie.layout, &panel.batch, panel.ranges(side)).unwrap();
                let span = part.span();
                let inside = span.start / lie.segment == (span.end - 1) / lie.segment;
                let copied = part.shape().elements() <= lie.segment;
                assert!(inside || copied, "{panel:?} of {lie:?}");
            }
        }
        panels
    }

    #[test]
    fn what_lies_in_one_segment_is_one_panel() {
        let size = Size { batch: 3, m: 5, n: 7, k: 9 };
        let sides = [lie(&[3, 5, 9], &[45, 9, 1], 1000), lie(&[3, 9, 7], &[0, 7, 1], 1000)];
        assert_eq!(check(size, &sides, 1).len(), 1);
        assert_eq!(check(size, &sides, 2).len(), 2, "k is cut into passes");
    }

    #[test]
    fn segments_cut_rows_columns_and_k() {
        for (a, b) in [([63, 1], [33, 1]), ([1, 40], [1, 63]), ([63, 1], [1, 63])] {
            let size = Size { batch: 1, m: 40, n: 33, k: 63 };
            let sides = [lie(&[40, 63], &a, 512), lie(&[63, 33], &b, 512)];
            assert!(check(size, &sides, 1).len() > 8, "many segments");
        }
        let size = Size { batch: 2, m: 8, n: 8, k: 2000 };
        let sides =
            [lie(&[2, 8, 2000], &[16_000, 2000, 1], 512), lie(&[2, 2000, 8], &[0, 8, 1], 512)];
        check(size, &sides, 1);
    }

    #[test]
    fn two_gib_times_two_gib_is_planned() {
        // f32, segments just below 128 MiB.
        let segment = ((128 << 20) - (64 << 10)) / 4;
        let n = 1 << 14;
        let size = Size { batch: 1, m: 2 * n, n: 2 * n, k: n };
        let wide = n as isize;
        let sides =
            [lie(&[2 * n, n], &[wide, 1], segment), lie(&[n, 2 * n], &[2 * wide, 1], segment)];
        let panels = check(size, &sides, 1);
        assert!(panels.len() < 2000, "{} panels", panels.len());
    }

    #[test]
    fn a_deep_k_is_cut_below_the_loop_limit() {
        let k = 3 * K_MAX + 5;
        let size = Size { batch: 1, m: 1, n: 4, k };
        let sides = [lie(&[1, k], &[k as isize, 1], usize::MAX), lie(&[k, 4], &[4, 1], usize::MAX)];
        assert_eq!(check(size, &sides, k.div_ceil(K_MAX)).len(), 4);
    }

    #[test]
    fn copies_of_both_sides_fit_into_a_segment() {
        for (batch, m, n, k) in
            [(1, 1001, 3, 64), (1, 5, 1000, 64), (7, 20, 20, 60), (1, 9, 9, 128)]
        {
            let all = |dims: &[usize]| lie(dims, &[0; 3], usize::MAX);
            let sides = [all(&[batch, m, k]), all(&[batch, k, n])];
            let panels = cut(Size { batch, m, n, k }, &sides, one(k));
            let fitted = fitted(panels, &[batch], [8, 4], 1024);
            let volume = |p: &Panel| p.batch.len() * p.rows.len() * p.columns.len() * p.k.len();
            assert_eq!(fitted.iter().map(volume).sum::<usize>(), batch * m * n * k);
            for panel in &fitted {
                let depth = panel.batch.len() * panel.k.len();
                assert!(panel.rows.start % 8 == 0 && panel.columns.start % 4 == 0, "{panel:?}");
                assert!(depth * panel.rows.len().next_multiple_of(8) <= 1024, "{panel:?}");
                assert!(depth * panel.columns.len().next_multiple_of(4) <= 1024, "{panel:?}");
            }
        }
    }
}
