//! Transpositions in whole tiles.

use std::sync::Arc;

use super::plan::Transpose;
use super::text::TRANSPOSE;
use crate::engine::{Engine, Site};
use crate::error::Result;
use crate::exec::{Bound, Job, Value};
use crate::kernel::{Held, Operand};
use crate::wgsl::{Form, Slot, Space, Way, kept};

/// The copy by tiles, where the view is a transposition in whole tiles and both sides lie in one
/// segment; in none of the buffers in `avoid`.
pub(in crate::kernel) fn transposed(
    site: Site<'_>,
    from: &Operand,
    avoid: &[u64],
) -> Result<Option<Arc<Value>>> {
    let held = from.hold()?;
    let shape = from.layout.shape();
    let bytes = Engine::bytes_of(shape, from.dtype)?;
    if shape.is_empty() || !held.is_in_one_segment() || bytes > held.pinned.segment_bytes {
        return Ok(None);
    }
    let (view, input) = held.view()?;
    let space = Space::of(shape.dims(), &[view]);
    let Some(tiles) = space.as_ref().and_then(Transpose::of) else { return Ok(None) };
    from.tell_copied(site, "a transposition, by tiles");
    let avoid: Vec<u64> = held.ids().chain(avoid.iter().copied()).collect();
    let (value, output) = Held::fresh(site, shape, from.dtype, &avoid)?;
    let [into] = &*output.pieces else { return Ok(None) };
    let form = Form::moving(from.dtype.width());
    let slots = [Slot::read(form, Way::Dense), Slot::write(form)];
    let kernel = kept::kernel(&TRANSPOSE, &slots, tiles.rank(), site.target);
    let grid = tiles.grid(site.target);
    site.dispatch(Job {
        kernel: &kernel,
        bindings: vec![input, Bound::from(into)],
        params: tiles.job(grid).words(),
        groups: grid.groups(),
        outputs: vec![Arc::downgrade(&value)],
    })?;
    Ok(Some(value))
}
