//! What kernels by strips read: the left side copied into strips of rows, the right one by whole
//! quads of columns; and what those by sheets do: the right one copied into sheets of columns. A
//! side that batches share is copied once.

use core::ops::Range;
use std::sync::Arc;

use super::assign::Assignment;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::kernel::{Held, Operand, moves};
use crate::layout::Layout;
use crate::shape::Shape;

/// The left side `[batch .., m, k]`, copied into strips: `[batch .., strips, k]`, from whose
/// elements on so many rows lie side by side. Those past the last row are whatever was there.
pub(in crate::kernel) fn left(site: Site<'_>, side: &Operand, rows: usize) -> Result<Operand> {
    let alone = alone(&side.layout)?;
    let (dims, axis) = (alone.shape().dims(), alone.shape().rank() - 2);
    let whole = dims[axis] / rows;
    let rest = whole * rows..dims[axis];
    let shape = [&dims[..axis], &[dims[axis].div_ceil(rows), dims[axis + 1], rows]].concat();
    let mut parts = Vec::new();
    if whole > 0 {
        parts.push((0..whole, alone.windows(axis, rows, rows)?));
    }
    if !rest.is_empty() {
        let windows = alone.slice(axis, rest.clone())?.windows(axis, rest.len(), rest.len())?;
        parts.push((whole..whole + 1, windows));
    }
    let parts = parts.into_iter().map(|(strips, from)| {
        let mut ranges = all(from.shape());
        ranges[axis] = strips;
        (ranges, from)
    });
    let shape = Shape::new(shape)?;
    let value = put_together(site, &shape, side, parts.collect())?;
    let first = Layout::dense(shape).slice(axis + 2, 0..1)?.squeeze(axis + 2)?;
    shared(side, value, &first)
}

/// The right side `[batch .., k, n]`, copied into sheets: `[batch .., k, sheets]`, from whose
/// elements on so many columns lie side by side.
pub(in crate::kernel) fn sheets(site: Site<'_>, side: &Operand, columns: usize) -> Result<Operand> {
    let turned = left(site, &side.under(side.layout.t()?), columns)?;
    Ok(turned.under(turned.layout.t()?))
}

/// The right side `[batch .., k, n]`, copied so that it can be read by quads of columns.
pub(in crate::kernel) fn right(site: Site<'_>, side: &Operand) -> Result<Operand> {
    let alone = alone(&side.layout)?;
    let (mut dims, last) = (alone.shape().dims().to_vec(), alone.shape().rank() - 1);
    dims[last] = dims[last].next_multiple_of(4);
    let shape = Shape::new(dims)?;
    let value = put_together(site, &shape, side, vec![(all(alone.shape()), alone)])?;
    let columns = Layout::dense(shape).slice(last, 0..alone.shape().dims()[last])?;
    shared(side, value, &columns)
}

/// Without the batches that repeat others.
fn alone(layout: &Layout) -> Result<Layout> {
    let mut alone = *layout;
    for axis in 0..layout.shape().rank() - 2 {
        if layout.strides()[axis] == 0 && layout.shape().dims()[axis] > 1 {
            alone = alone.slice(axis, 0..1)?;
        }
    }
    Ok(alone)
}

/// A copy, for all batches of the side that it is of.
fn shared(side: &Operand, value: Arc<Value>, copy: &Layout) -> Result<Operand> {
    let (axis, mut dims) = (copy.shape().rank() - 2, copy.shape().dims().to_vec());
    dims[..axis].copy_from_slice(&side.layout.shape().dims()[..axis]);
    Ok(Operand { value, layout: copy.broadcast_to(dims)?, dtype: side.dtype })
}

fn all(shape: &Shape) -> Vec<Range<usize>> {
    shape.dims().iter().map(|&dim| 0..dim).collect()
}

/// A dense value of these parts, which are views of the side. What none of them covers is left as
/// it is.
fn put_together(
    site: Site<'_>,
    shape: &Shape,
    side: &Operand,
    parts: Vec<(Vec<Range<usize>>, Layout)>,
) -> Result<Arc<Value>> {
    if let [(ranges, from)] = &*parts
        && *ranges == all(shape)
    {
        return moves::contiguous(site, &side.under(*from));
    }
    let (value, _) = Held::fresh(site, shape, side.dtype, &side.value.buffer_ids())?;
    for (ranges, from) in &parts {
        Assignment { value: &value, shape, ranges }.assign(site, &side.under(*from))?;
    }
    Ok(value)
}
