//! Moves: a view copied to dense, as bits. The width of an element matters, its dtype does not.
//!
//! ```text
//! contiguous -> by tiles         a transposition in whole tiles, both sides in one segment
//!            -> copied           any other view: the elementwise kernel without an operation
//!                 -> across      first, if it spans segments: one pass per segment of the source
//! assign                         into a part of a value that nobody else holds
//!        -> framed               of one that has the same bits everywhere else
//! ```

use std::sync::Arc;

use super::Operand;
use super::elementwise::operation::Work;
use super::elementwise::text::TextShape;
use super::elementwise::{self, Destination};
use crate::engine::Site;
use crate::error::{Result, mistake};
use crate::exec::Value;
use crate::layout::Layout;
use crate::wgsl::{Form, Way};
pub(super) use across::gather;
use tiles::transposed;

pub(super) mod across;
pub(crate) mod assign;
mod plan;
pub(super) mod strips;
pub mod text;
pub(super) mod tiles;

/// A dense, row-major copy of a view.
pub(crate) fn contiguous(site: Site<'_>, from: &Operand) -> Result<Arc<Value>> {
    match transposed(site, from, &[])? {
        Some(value) => Ok(value),
        None => copied(site, from, &[]),
    }
}

/// A view; or, if it lies in several segments, a copy of it, which one segment holds.
pub(super) fn in_one_segment(site: Site<'_>, from: Operand) -> Result<Operand> {
    if from.hold()?.is_in_one_segment() {
        return Ok(from);
    }
    Ok(Operand::dense(contiguous(site, &from)?, *from.layout.shape(), from.dtype))
}

/// A view in one segment that a kernel can walk; or a copy of it, which has what is broadcast once
/// if that can be walked.
pub(super) fn reachable(
    site: Site<'_>,
    from: Operand,
    is_walked: impl Fn(&Layout) -> bool,
) -> Result<Operand> {
    if from.hold()?.is_in_one_segment() && is_walked(&from.layout) {
        return Ok(from);
    }
    let once = from.once()?;
    let copied = Layout::dense(*once.layout.shape()).broadcast_to(from.layout.shape())?;
    if !is_walked(&copied) {
        return gather(site, &from, &[]);
    }
    Ok(gather(site, &once, &[])?.under(copied))
}

/// A copy in none of these buffers, made even if the view is dense already.
pub(crate) fn copied(site: Site<'_>, from: &Operand, avoid: &[u64]) -> Result<Arc<Value>> {
    from.tell_copied(site, "it is needed dense, and apart");
    let form = Form::moving(from.dtype.width());
    let make = |ways: &[Way], shape: TextShape| {
        let [way] = *ways else { return Err(mistake("a copy", "not of one view")) };
        Ok(text::reindex(form, way, shape.rank, shape.target))
    };
    let work = Work { make: &make, paces: &[], scalars: &[], single: false, fault: None };
    let (inputs, to) = (core::slice::from_ref(from), Destination::Apart(avoid));
    elementwise::record(site, from.layout.shape(), inputs, to, from.dtype, &work)
}
