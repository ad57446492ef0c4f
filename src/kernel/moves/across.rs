//! Copies of views that span several segments: one pass per source segment, each of which writes
//! the elements that lie in it and leaves the others as they are.

use std::sync::Arc;

use super::text::gather_part;
use crate::engine::Site;
use crate::error::Result;
use crate::kernel::elementwise::operation::{Operation, Work};
use crate::kernel::elementwise::text::TextShape;
use crate::kernel::limits::Ceiling;
use crate::kernel::{Held, Operand};
use crate::wgsl::{Form, Way};

const REACH: Ceiling = Ceiling {
    what: "a view across segments",
    limit: "the reach of an index",
    unit: "elements",
    available: 1 << 32,
};

/// The dense copy, in none of the buffers in `avoid`.
pub(in crate::kernel) fn gather(site: Site<'_>, from: &Operand, avoid: &[u64]) -> Result<Operand> {
    from.tell_copied(site, "it lies in several segments");
    let source = from.hold()?;
    let (shape, form) = (from.layout.shape(), Form::moving(from.dtype.width()));
    let avoid: Vec<u64> = source.ids().chain(avoid.iter().copied()).collect();
    let (value, output) = Held::fresh(site, shape, from.dtype, &avoid)?;
    let make = |_: &[Way], shape: TextShape| Ok(gather_part(form, shape.rank, shape.target));
    let span = from.layout.span();
    REACH.check(span.len() as u128)?;
    for index in span.start / source.segment..=(span.end - 1) / source.segment {
        let scalars = source.reach(index)?;
        let work = Work { make: &make, paces: &[], scalars: &scalars, single: false, fault: None };
        let part = Held { part: Some(index), ..from.hold()? };
        let written = Arc::downgrade(&value);
        let (inputs, output) = (&[part], &output);
        Operation { site, inputs, own: None, output, written, work: &work }.record(shape)?;
    }
    Ok(Operand::dense(value, *shape, from.dtype))
}
