//! A constant into every element, as bits, made on the device.

use std::sync::Arc;

use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::Result;
use crate::exec::{Bound, Job, Value};
use crate::shape::Shape;
use crate::wgsl::params::{Fill, fill_bits};
use crate::wgsl::{Form, Grid, Slot, Target, assemble, catalog};

/// Bytes that the kernel writes at once: four words.
const QUAD_BYTES: u64 = 16;

/// A new value whose elements all have these little-endian bytes.
pub(crate) fn full(
    engine: &Engine,
    target: Target,
    shape: &Shape,
    dtype: DType,
    element: &[u8],
) -> Result<Arc<Value>> {
    let value = Value::new(engine.allocate(Engine::bytes_of(shape, dtype)?, &[])?);
    into(engine, target, &value, fill_bits(element))?;
    Ok(value)
}

/// These eight bytes again and again, into all of a value.
pub(crate) fn into(
    engine: &Engine,
    target: Target,
    value: &Arc<Value>,
    bits: [u32; 2],
) -> Result<()> {
    let pinned = value.pin()?;
    let Some(entry) = catalog::find("fill") else { return Ok(()) };
    let kernel = assemble::kernel(entry, &[Slot::write(Form::W32)], 0, target);
    for piece in &pinned.pieces() {
        // A piece is padded to more than a quad, so the last one may write past the tensor's end.
        let quads = u32::try_from(piece.bytes / QUAD_BYTES).unwrap_or(u32::MAX);
        let grid = Grid::new(quads, target);
        engine.dispatch(Job {
            kernel: &kernel,
            bindings: vec![Bound::from(piece)],
            params: Fill { grid, offset: 0, bits }.words(),
            groups: grid.groups(),
            output: Arc::downgrade(value),
        })?;
    }
    Ok(())
}
