//! Elementwise operations: any expression over any views, into a dense result.

use std::sync::Arc;

use super::window::Operation;
use super::{Held, Make, Operand, reindex};
use crate::caps::Feature;
use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::exec::{Fault, Value};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::wgsl::{Expr, Target};

/// Records an expression over views of `shape`. The result is dense.
pub(crate) fn fused(
    engine: &Engine,
    target: Target,
    shape: &Shape,
    expr: &Expr,
    operands: &[Operand],
    scalars: &[u32],
    dtype: DType,
) -> Result<Arc<Value>> {
    let f16_native = engine.gpu.caps().has(Feature::ShaderF16);
    let make = |ways: &[_], rank, target| {
        expr.assemble(ways, f16_native, rank, target).map_err(Error::from)
    };
    record(engine, target, shape, operands, dtype, &make, scalars)
}

/// Records `make`'s kernel over `shape`; the layouts of the inputs are views of that shape. The
/// result is dense.
pub(crate) fn record(
    engine: &Engine,
    target: Target,
    shape: &Shape,
    inputs: &[Operand],
    dtype: DType,
    make: &Make<'_>,
    scalars: &[u32],
) -> Result<Arc<Value>> {
    record_noting(engine, target, shape, inputs, dtype, make, (scalars, None))
}

/// The same for a kernel that may note elements at fault, in the row-major order of `shape`.
pub(super) fn record_noting(
    engine: &Engine,
    target: Target,
    shape: &Shape,
    inputs: &[Operand],
    dtype: DType,
    make: &Make<'_>,
    (scalars, fault): (&[u32], Option<&Fault>),
) -> Result<Arc<Value>> {
    // Views that windows cannot be cut through are copied first; the copies live until the command
    // is recorded.
    let inputs: Vec<Operand> =
        inputs.iter().map(|input| reachable(engine, target, input)).collect::<Result<_>>()?;
    let held = inputs.iter().map(|i| Held::new(&i.value, i.layout, i.dtype));
    let held: Vec<Held> = held.collect::<Result<_>>()?;
    let avoid: Vec<u64> = held.iter().flat_map(Held::ids).collect();
    let value = Value::new(engine.allocate(Engine::bytes_of(shape, dtype)?, &avoid)?);
    let output = Held::new(&value, Layout::dense(*shape), dtype)?;
    let written = Arc::downgrade(&value);
    let operation =
        Operation { engine, target, inputs: &held, output: &output, written, make, scalars, fault };
    // Half of an operation is no result: nobody sees the value unless all of it was recorded.
    operation.record(shape)?;
    Ok(value)
}

/// The operand itself, or a dense copy if its view spans segments in a way that windows cannot
/// follow.
fn reachable(engine: &Engine, target: Target, operand: &Operand) -> Result<Operand> {
    let held = Held::new(&operand.value, operand.layout, operand.dtype)?;
    if held.is_dense() || held.is_in_one_segment() {
        return Ok(operand.clone());
    }
    let value = reindex::gather(engine, target, operand)?;
    Ok(Operand { value, layout: Layout::dense(*operand.layout.shape()), dtype: operand.dtype })
}
