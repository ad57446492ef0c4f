//! How an operand of a product lies in memory.

use core::ops::Range;

use crate::count::wrapped;
use crate::error::Result;
use crate::kernel::matmul::text::tile::Along;
use crate::layout::Layout;
use crate::shape::Shape;

/// Makes batches that share one B more rows of A, where A's strides allow it.
pub(crate) fn folded(sides: [Layout; 2]) -> Result<[Layout; 2]> {
    let [a, b] = sides;
    let (dims, rank) = (a.shape().dims(), a.shape().rank());
    let shared = b.strides()[..rank - 2].iter().zip(dims).all(|(&s, &d)| s == 0 || d == 1);
    let is_empty = dims[..rank - 2].contains(&0);
    if rank == 2 || is_empty || !shared {
        return Ok(sides);
    }
    let Ok(a) = a.reshape([dims[..rank - 1].iter().product(), dims[rank - 1]]) else {
        return Ok(sides);
    };
    let mut b = part(&b, &(0..1), full(&b))?;
    while b.shape().rank() > 2 {
        b = b.squeeze(0)?;
    }
    Ok([a, b])
}

/// All of the two last axes.
pub(super) fn full(layout: &Layout) -> [Range<usize>; 2] {
    let dims = layout.shape().dims();
    [0..dims[dims.len() - 2], 0..dims[dims.len() - 1]]
}

/// The batches of one step along the first axis on which so many have more than one place.
pub(super) fn batch_unit(batches: &[usize], count: usize) -> usize {
    let units = (0..batches.len()).map(|axis| batches[axis + 1..].iter().product());
    units.into_iter().find(|&unit: &usize| unit < count).unwrap_or(1)
}

/// A part of an operand: a range of batches, along one axis with all of those after it, and of its
/// two last axes.
pub(crate) fn part(
    layout: &Layout,
    batch: &Range<usize>,
    axes: [Range<usize>; 2],
) -> Result<Layout> {
    let rank = layout.shape().rank();
    let mut part = *layout;
    let mut step = 1;
    for axis in (0..rank - 2).rev() {
        let dim = layout.shape().dims()[axis];
        let begin = batch.start / step % dim;
        part = part.slice(axis, begin..begin + (batch.len() / step).clamp(1, dim))?;
        step *= dim;
    }
    for (axis, range) in axes.into_iter().enumerate() {
        part = part.slice(rank - 2 + axis, range)?;
    }
    Ok(part)
}

/// The view with its axis along k in parts, which are its outermost batches.
pub(super) fn parted(layout: &Layout, side: usize, parts: usize) -> Result<Layout> {
    let (mut dims, mut strides) = (layout.shape().dims().to_vec(), layout.strides().to_vec());
    let k = dims.len() - 1 - side;
    dims[k] /= parts;
    let step = strides[k] * dims[k].cast_signed();
    dims.insert(0, parts);
    strides.insert(0, step);
    Layout::strided(Shape::new(dims)?, &strides, layout.offset())
}

/// Along which axis an operand can be read by quads. `side` 0 is A, whose rows come in fours where
/// it is read along them.
pub(crate) fn along(layout: &Layout, side: usize, rows: u32) -> Along {
    let (dims, strides) = (layout.shape().dims(), layout.strides());
    let rank = dims.len();
    let whole = |axis: usize| dims[axis] == 1 || strides[axis] % 4 == 0;
    if !layout.offset().is_multiple_of(4) || !(0..rank - 2).all(whole) {
        return Along::Neither;
    }
    let (outer, k) = if side == 0 { (rank - 2, rank - 1) } else { (rank - 1, rank - 2) };
    if strides[k] == 1 && whole(outer) {
        Along::K
    } else if strides[outer] == 1 && whole(k) && (side == 1 || rows.is_multiple_of(4)) {
        Along::Outer
    } else {
        Along::Neither
    }
}

/// Whether neighbours lie along k rather than along the other axis.
pub(crate) fn is_near_k(layout: &Layout, side: usize) -> bool {
    let (dims, strides) = (layout.shape().dims(), layout.strides());
    let rank = dims.len();
    let (outer, k) = if side == 0 { (rank - 2, rank - 1) } else { (rank - 1, rank - 2) };
    let reach =
        |axis: usize| if dims[axis] == 1 { usize::MAX } else { strides[axis].unsigned_abs() };
    reach(k) < reach(outer)
}

/// Whether an operand is dense along k, and everything in it falls on whole units of so many
/// elements.
fn is_in_units(layout: &Layout, side: usize, unit: usize) -> bool {
    let (dims, strides) = (layout.shape().dims(), layout.strides());
    let k = dims.len() - 1 - side;
    let whole = |axis: usize| {
        axis == k || dims[axis] == 1 || strides[axis].unsigned_abs().is_multiple_of(unit)
    };
    strides[k] == 1
        && dims[k].is_multiple_of(unit)
        && layout.offset().is_multiple_of(unit)
        && (0..dims.len()).all(whole)
}

/// Whether both sides are so.
pub(in crate::kernel::matmul) fn are_in_units(sides: &[Layout; 2], unit: usize) -> bool {
    (0..2).all(|i| is_in_units(&sides[i], i, unit))
}

/// The view with every `per` elements along k taken as a wider one.
pub(super) fn widened(layout: &Layout, side: usize, per: usize) -> Result<Layout> {
    let mut dims = layout.shape().dims().to_vec();
    let k = dims.len() - 1 - side;
    dims[k] /= per;
    let mut strides: Vec<isize> =
        layout.strides().iter().map(|stride| stride / per.cast_signed()).collect();
    strides[k] = 1;
    Layout::strided(Shape::new(dims)?, &strides, layout.offset() / per)
}

/// A stride in the unit in which an operand is read.
pub(super) fn unit(stride: isize, along: Along) -> u32 {
    wrapped(if along == Along::Neither { stride } else { stride / 4 })
}

/// The step from batch to batch of both operands, if all batches lie one step apart.
pub(super) fn batch_steps(sides: &[Layout; 2]) -> Option<[isize; 2]> {
    let dims = sides[0].shape().dims();
    let mut steps = None;
    let mut count = 1;
    for axis in (0..dims.len() - 2).rev().filter(|&axis| dims[axis] != 1) {
        let strides = sides.each_ref().map(|side| side.strides()[axis]);
        let of = steps.get_or_insert(strides).map(|step| step * count);
        if strides != of {
            return None;
        }
        count *= dims[axis].cast_signed();
    }
    Some(steps.unwrap_or([0; 2]))
}

/// The strides of the two last axes, in the unit in which it is read.
pub(super) fn steps(layout: &Layout, along: Along) -> [u32; 2] {
    let rank = layout.shape().rank();
    let of = |axis: usize| {
        let alone = layout.shape().dims()[axis] == 1;
        if alone { 0 } else { unit(layout.strides()[axis], along) }
    };
    [of(rank - 2), of(rank - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_falls_on_whole_units_is_loaded_several_quads_at_once() {
        let dense = Layout::dense(Shape::new([4, 3, 16]).expect("small"));
        let left = |layout: Layout, unit| is_in_units(&layout, 0, unit);
        assert!(left(dense, 16) && left(dense, 8), "dense along k, by whole units");
        assert!(!left(dense, 32), "k ends inside a unit");
        let cut = |from, to| dense.slice(2, from..to).expect("a slice");
        assert!(left(cut(8, 16), 8), "one half of every row");
        assert!(!left(cut(4, 12), 8), "begun inside a unit");
        let odd = Layout::dense(Shape::new([3, 20]).expect("small"));
        let odd = odd.slice(1, 0..16).expect("a slice");
        assert!(!left(odd, 16) && left(odd, 4), "rows that do not begin at whole units");
        assert!(left(odd.slice(0, 1..2).expect("a slice"), 4), "a single row, at 20");
        let turned = dense.t().expect("two axes");
        assert!(!left(turned, 4) && is_in_units(&turned, 1, 4), "as the right side");
    }
}
