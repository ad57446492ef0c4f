//! Elementwise operations: any expression over any views, into a dense result.

use std::sync::Arc;

use super::moves::across::gather;
use super::moves::tiles::transposed;
use super::{Held, Operand};
use crate::caps::Feature;
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::{Error, Result};
use crate::exec::Value;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::store::Pinned;
use crate::wgsl::kept::{Details, Recipe};
use crate::wgsl::{Assembled, Edge, Expr, Form, Target, Way};

pub(crate) mod checked;
pub(super) mod operation;
pub mod plan;
pub mod text;

use operation::{Operation, Work};
use plan::tiles_min;
use text::{ELEMENTWISE, TextShape};

/// An expression and what it is applied to.
pub(crate) struct Fused<'a> {
    pub(crate) expr: &'a Expr,
    pub(crate) operands: &'a [Operand],
    pub(crate) scalars: &'a [u32],
}

impl Fused<'_> {
    /// Records it over `shape`; the result is dense. It may be stored in place of one of the
    /// operands that are `ending`: dense, of this shape, and read by nobody else.
    pub(crate) fn record(
        &self,
        site: Site<'_>,
        shape: &Shape,
        dtype: DType,
        ending: &[usize],
    ) -> Result<Arc<Value>> {
        let f16_native = site.engine.gpu.caps().has(Feature::ShaderF16);
        let make = text_of(site.engine, self.expr);
        let dtypes = self.expr.dtypes()?;
        let by_words = site.streaming().target == Target::Cpu64;
        let paces = if by_words { plan::paces(self.expr, &dtypes) } else { Vec::new() };
        let same_quads = |i: usize| {
            // In place, the operand is loaded through the output's binding.
            let quad = |dtype| Form::of(dtype, f16_native).quad();
            quad(self.operands[i].dtype) == quad(dtype)
        };
        let free = |&i: &usize| same_quads(i) && self.is_free(i);
        let free: Vec<usize> = ending.iter().copied().filter(free).collect();
        // In place until all is recorded, so that no other moves to where the result lies.
        let kept = if free.is_empty() { &[] } else { self.operands };
        let _kept: Vec<Pinned> =
            kept.iter().map(|operand| operand.value.pin()).collect::<Result<_>>()?;
        let own = free.into_iter().find(|&i| self.lies_apart(i));
        let to = own.map_or(Destination::New, Destination::Own);
        let identity = &site.engine.gpu.caps().identity;
        let single = self.expr.loops() && identity.loop_trips_max().is_some();
        let work = Work { make: &make, paces: &paces, scalars: self.scalars, single, fault: None };
        record(site, shape, self.operands, to, dtype, &work)
    }

    /// Whether nobody else reads an operand. Whoever reads the memory right now holds a share of
    /// it, so that it has several owners.
    fn is_free(&self, index: usize) -> bool {
        let operand = &self.operands[index];
        operand.layout.is_dense() && operand.value.is_sole_owner()
    }

    /// Whether no other operand lies in a buffer of this one's, which is written.
    fn lies_apart(&self, index: usize) -> bool {
        let own = &self.operands[index].value;
        let others = self.operands.iter().enumerate().filter(|&(i, _)| i != index);
        others.into_iter().all(|(_, other)| !other.value.shares_buffers(own))
    }
}

/// The text of an expression: written once for each structure.
pub(crate) fn text_of(
    engine: &Engine,
    expr: &Expr,
) -> impl Fn(&[Way], TextShape) -> Result<Arc<Assembled>> {
    let f16_native = engine.gpu.caps().has(Feature::ShaderF16);
    move |ways, shape| {
        let TextShape { rank, target, pace } = shape;
        let (workgroup, by_element) = (None, false);
        let details = Details { rank, target, workgroup, by_element, f16_native };
        let edges = &[Edge { expr, ways }];
        let (kernel, wording) = (ELEMENTWISE.name, &pace);
        let recipe = Recipe { kernel, edges, slots: &[], wording, details };
        recipe.kept(|| text::fused(expr, ways, f16_native, shape)).map_err(Error::from)
    }
}

/// Where a result goes.
#[derive(Clone, Copy)]
pub(crate) enum Destination<'a> {
    /// New memory, in none of the operands' buffers.
    New,
    /// New memory, in none of these buffers either, and in one piece if one segment holds it.
    Apart(&'a [u64]),
    /// The memory of this operand.
    Own(usize),
}

/// Records a kernel over `shape`; the layouts of the inputs are views of that shape. The result is
/// dense.
pub(crate) fn record(
    site: Site<'_>,
    shape: &Shape,
    inputs: &[Operand],
    to: Destination<'_>,
    dtype: DType,
    work: &Work<'_>,
) -> Result<Arc<Value>> {
    let site = site.streaming();
    // Views that windows cannot be cut through are copied first; the copies live until the command
    // is recorded, in no buffer that it writes.
    let tiles = inputs.len() > 1;
    let written = match to {
        Destination::Own(own) => inputs[own].value.buffer_ids(),
        Destination::New | Destination::Apart(_) => Vec::new(),
    };
    let inputs: Vec<Operand> =
        inputs.iter().map(|input| cuttable(site, input, tiles, &written)).collect::<Result<_>>()?;
    let held: Vec<Held> = inputs.iter().map(Operand::hold).collect::<Result<_>>()?;
    let (bytes, mut avoid) = (Engine::bytes_of(shape, dtype)?, Vec::new());
    avoid.extend(held.iter().flat_map(Held::ids));
    let (own, value) = match to {
        Destination::Own(own) => (Some(own), inputs[own].value.replaced()),
        Destination::New => (None, Value::new(site.engine.allocate(bytes, &avoid)?)),
        Destination::Apart(others) => {
            avoid.extend(others);
            (None, Value::new(site.engine.allocate_whole(bytes, &avoid)?))
        }
    };
    let output = Held::new(&value, Layout::dense(*shape), dtype)?;
    let written = Arc::downgrade(&value);
    let operation = Operation { site, inputs: &held, own, output: &output, written, work };
    // If that fails the value is dropped: nobody sees half of a result.
    operation.record(shape)?;
    Ok(value)
}

/// The operand itself; or a dense copy, in none of the buffers in `avoid`, if its view spans
/// segments in a way that windows cannot follow or is a large transposition.
fn cuttable(site: Site<'_>, operand: &Operand, tiles: bool, avoid: &[u64]) -> Result<Operand> {
    let held = operand.hold()?;
    if held.is_dense() {
        return Ok(operand.clone());
    }
    let shape = *operand.layout.shape();
    if tiles
        && shape.elements() >= tiles_min(site.target)
        && let Some(value) = transposed(site, operand, avoid)?
    {
        return Ok(Operand::dense(value, shape, operand.dtype));
    }
    if held.is_in_one_segment() {
        return Ok(operand.clone());
    }
    gather(site, operand, avoid)
}
