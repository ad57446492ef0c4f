//! Outputs put together from sources: where an element comes from is decided by its place along an
//! axis (concatenation and what is made of it) or by an index (gather and what is made of it).
//!
//! A pass moves bits from one segment of a source to one segment of the output, for the elements
//! whose source lies there, and leaves the others alone; so nothing has to be copied beforehand,
//! however views and segments lie. Passes are limited to the part of the output that they can
//! touch. What is joined is written by itself where its part can be walked alone.

use core::ops::Range;
use std::sync::Arc;

use super::moves::assign::Assignment;
use super::{Operand, fill};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::shape::Shape;
pub(crate) use onto::{Onto, Which};
pub(crate) use plan::Course;

mod onto;
mod plan;
pub mod text;

/// Operands of one dtype one after the other along an axis, as a value of this shape.
pub(crate) fn joined(
    site: Site<'_>,
    shape: Shape,
    axis: usize,
    sources: &[Operand],
) -> Result<Arc<Value>> {
    let values = sources.iter().map(|source| &source.value);
    let onto = Onto::new(site, shape, sources[0].dtype, values)?;
    let dims = shape.dims();
    let inner: usize = dims[axis + 1..].iter().product();
    let outer: usize = dims[..axis].iter().product();
    let mut strides = vec![0; dims.len()];
    strides[axis] = 1;
    let mut ranges: Vec<Range<usize>> = dims.iter().map(|&dim| 0..dim).collect();
    let mut stop = 0;
    for source in sources {
        let start = stop;
        stop += source.layout.shape().dims()[axis];
        ranges[axis] = start..stop;
        // Nothing else is walked.
        let part = Assignment { value: &onto.value, shape: &shape, ranges: &ranges };
        if source.layout.shape().is_empty() || part.by_rows(site, source)? {
            continue;
        }
        let mut course = Course::of(&source.layout);
        course.offset -= (start as i64).wrapping_mul(course.strides[axis]);
        let range = start as i64..stop as i64;
        let which = Which::Places { strides: strides.clone(), range };
        let end = outer.saturating_sub(1) * dims[axis] * inner + stop * inner;
        onto.take(source, &course, &which, start * inner..end)?;
    }
    Ok(onto.value)
}

/// The elements whose column less row lies in a range; zeros elsewhere.
pub(crate) fn band(site: Site<'_>, from: &Operand, diagonals: Range<i64>) -> Result<Arc<Value>> {
    let shape = *from.layout.shape();
    let onto = Onto::new(site, shape, from.dtype, [&from.value])?;
    fill::into(site, &onto.value, [0; 2])?;
    let mut strides = vec![0; shape.rank()];
    strides[shape.rank() - 2..].copy_from_slice(&[-1, 1]);
    let which = Which::Places { strides, range: diagonals };
    onto.take(from, &Course::of(&from.layout), &which, 0..shape.elements())?;
    Ok(onto.value)
}

/// The elements that an index names, in the shape of the index. It stays below `bound`, and counts
/// in steps of `stride` elements of the source.
pub(crate) fn picked(
    site: Site<'_>,
    from: &Operand,
    course: &Course,
    index: &Operand,
    (stride, bound): (i64, usize),
) -> Result<Arc<Value>> {
    let shape = *index.layout.shape();
    let onto = Onto::new(site, shape, from.dtype, [&from.value, &index.value])?;
    let which = Which::Index { index, stride, bound };
    onto.take(from, course, &which, 0..shape.elements())?;
    Ok(onto.value)
}

/// A value that holds just this view, in one piece and in no buffer of `other`'s: the view's own
/// value if it is like that, otherwise a copy.
pub(super) fn apart(site: Site<'_>, own: Operand, other: &Arc<Value>) -> Result<Arc<Value>> {
    let (pinned, theirs) = (own.value.pin()?, other.pin()?.pieces());
    let bytes = own.layout.shape().elements() as u64 * own.dtype.width() as u64;
    let whole = own.layout.is_dense() && own.layout.offset() == 0 && pinned.bytes == bytes;
    if let ([piece], true) = (&*pinned.pieces(), whole)
        && theirs.iter().all(|p| p.buffer_id != piece.buffer_id)
    {
        return Ok(own.value);
    }
    let onto = Onto::whole(site, *own.layout.shape(), own.dtype, [&own.value, other])?;
    onto.take_all(&own)?;
    Ok(onto.value)
}
