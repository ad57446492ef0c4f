//! Moves: a view copied to dense, as bits. The width of an element matters, its dtype does not.

use std::sync::Arc;

use plan::Transpose;

use super::elementwise::window::Operation;
use super::elementwise::{Into, Text};
use super::{Held, Operand, elementwise};
use crate::count::word;
use crate::engine::{Engine, Site};
use crate::error::Result;
use crate::exec::{Bound, Job, Value};
use crate::gpu::cause::DeviceCause;
use crate::layout::Layout;
use crate::wgsl::{Form, Slot, Space, TextShape, View, Way, assemble};

pub(crate) mod assign;
mod plan;
pub mod text;

/// A dense, row-major copy of a view.
pub(crate) fn contiguous(site: Site<'_>, from: &Operand) -> Result<Arc<Value>> {
    match transposed(site, from, &[])? {
        Some(value) => Ok(value),
        None => copied(site, from, &[]),
    }
}

/// The same, in none of these buffers, and even if the view is dense already.
pub(crate) fn copied(site: Site<'_>, from: &Operand, avoid: &[u64]) -> Result<Arc<Value>> {
    let form = Form::moving(from.dtype.width());
    let make = |ways: &[Way], shape: TextShape| {
        let way = ways.first().copied().unwrap_or(Way::Dense);
        Ok(text::reindex(form, way, shape.rank, shape.target))
    };
    let (shape, inputs) = (from.layout.shape(), core::slice::from_ref(from));
    let (into, text) =
        (Into::New(avoid), Text { make: &make, paces: &[], scalars: &[], fault: None });
    elementwise::record(site, shape, inputs, into, from.dtype, &text)
}

/// The copy by tiles, where the view is a transposition in whole tiles and both sides lie in one
/// segment; in none of the buffers in `avoid`.
pub(super) fn transposed(
    site: Site<'_>,
    from: &Operand,
    avoid: &[u64],
) -> Result<Option<Arc<Value>>> {
    let held = Held::new(&from.value, from.layout, from.dtype)?;
    let shape = from.layout.shape();
    let bytes = Engine::bytes_of(shape, from.dtype)?;
    if shape.is_empty() || !held.is_in_one_segment() || bytes > held.pinned.segment_bytes {
        return Ok(None);
    }
    let index = from.layout.span().start / held.segment;
    let offset = word(from.layout.offset() - index * held.segment)?;
    let strides = from.layout.strides().iter().map(|&s| s as i64).collect();
    let space = Space::of(shape.dims(), &[View { offset, strides }]);
    let Some(tiles) = space.as_ref().and_then(Transpose::of) else { return Ok(None) };
    let avoid: Vec<u64> = held.ids().chain(avoid.iter().copied()).collect();
    let value = Value::new(site.engine.allocate(bytes, &avoid)?);
    let output = Held::new(&value, Layout::dense(*shape), from.dtype)?;
    let [into] = &*output.pieces else { return Ok(None) };
    let form = Form::moving(from.dtype.width());
    let slots = [Slot::read(form, Way::Dense), Slot::write(form)];
    let kernel = assemble::kernel(&text::TRANSPOSE, &slots, tiles.rank(), site.target);
    let grid = tiles.grid(site.target);
    site.engine.dispatch(Job {
        kernel: &kernel,
        bindings: vec![Bound::from(&held.pieces[index]), Bound::from(into)],
        params: tiles.words(&grid, 0),
        groups: grid.groups(),
        output: Arc::downgrade(&value),
    })?;
    Ok(Some(value))
}

/// A dense copy of a view that spans several segments: one pass per source segment, each of which
/// writes the elements that lie in it and leaves the others as they are.
pub(super) fn gather(site: Site<'_>, from: &Operand) -> Result<Arc<Value>> {
    gather_apart(site, from, &[])
}

/// The same, in none of the buffers in `avoid`.
pub(super) fn gather_apart(site: Site<'_>, from: &Operand, avoid: &[u64]) -> Result<Arc<Value>> {
    let source = Held::new(&from.value, from.layout, from.dtype)?;
    let (shape, form) = (from.layout.shape(), Form::moving(from.dtype.width()));
    let bytes = Engine::bytes_of(shape, from.dtype)?;
    let avoid: Vec<u64> = source.ids().chain(avoid.iter().copied()).collect();
    let value = Value::new(site.engine.allocate(bytes, &avoid)?);
    let output = Held::new(&value, Layout::dense(*shape), from.dtype)?;
    let make = |_: &[Way], shape: TextShape| Ok(text::gather_part(form, shape.rank, shape.target));
    let span = from.layout.span();
    let reach = (u32::MAX as usize).saturating_add(1);
    if span.len() > reach {
        let (what, limit, unit) = ("a view across segments", "the reach of an index", "elements");
        let (requested, available) = (span.len() as u128, reach as u64);
        return Err(DeviceCause::TooLarge { what, requested, limit, available, unit }.into());
    }
    for index in span.start / source.segment..=(span.end - 1) / source.segment {
        let mut part = Held::new(&from.value, from.layout, from.dtype)?;
        part.part = Some(index);
        let segment = word(source.segment)?;
        let pass = Operation {
            site,
            inputs: &[part],
            own: None,
            output: &output,
            written: Arc::downgrade(&value),
            text: &Text { make: &make, paces: &[], scalars: &[segment], fault: None },
        };
        pass.record(shape)?;
    }
    Ok(value)
}
