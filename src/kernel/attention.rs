//! Attention: scores, softmax and weighted values in one kernel, without a matrix of scores.

use std::sync::Arc;

use super::core::{Core, Head, Launch, Reach, Tail};
use super::{Held, Operand, mistake, reindex, small};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::exec::{Bound, Value};
use crate::layout::Layout;
use crate::wgsl::catalog;
use crate::wgsl::params::fold;
use crate::wgsl::{Target, attention};

/// The most quads of a query or a value that stay in registers.
pub(crate) const QUADS_MAX: usize = 64;

/// Attention of `[batch, heads, queries, d]` to `[batch, shared heads, keys, d or e]`, all f32;
/// `d` and `e` are multiples of four. A fourth input is added to the scores.
#[derive(Debug)]
pub(crate) struct Attention {
    pub(crate) scale: f32,
    pub(crate) causal: bool,
}

impl Core for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn record(
        &self,
        engine: &Engine,
        target: Target,
        inputs: &[Head],
        tail: &Tail,
    ) -> Result<Arc<Value>> {
        let heads: Vec<Head> = (inputs.iter().enumerate())
            .map(|(i, head)| reachable(engine, target, head, i == 3))
            .collect::<Result<_>>()?;
        let mut sources = Vec::new();
        for (i, head) in heads.iter().enumerate() {
            sources.push(Reach::raw(head, i == 3)?.ok_or_else(astray)?);
        }
        let plain = Tail::identity(tail.shape, tail.given());
        let carried = match tail.reach(false)? {
            Some(_) => tail,
            None => &plain,
        };
        let reach = carried.reach(false)?.ok_or_else(astray)?;
        let avoid: Vec<u64> = sources.iter().flat_map(Reach::ids).chain(reach.ids()).collect();
        let bytes = Engine::bytes_of(&tail.shape, carried.dtype)?;
        let value = Value::new(engine.allocate(bytes, &avoid)?);
        let held = Held::new(&value, Layout::dense(tail.shape), carried.dtype)?;
        let [piece] = &*held.pieces else { return Err(astray()) };
        let workgroup = if target == Target::Gpu { 64 } else { target.workgroup() };
        let (job, groups) = self.job(&heads, workgroup);
        let dims = |i: usize| heads[i].shape.dims();
        let regions = attention::regions(dims(1)[3] / 4, dims(2)[3] / 4, heads.len() > 3);
        let regions: Vec<(&str, &str)> = regions.iter().map(|(n, text)| (*n, &**text)).collect();
        let launch = Launch {
            entry: catalog::find("attention").ok_or_else(astray)?,
            heads: sources,
            tail: reach,
            output: (Bound::from(piece), 0),
            written: Arc::downgrade(&value),
            by_element: false,
            regions: &regions,
            constants: &[("workgroup", f64::from(workgroup))],
            job,
            groups: fold(groups),
        };
        launch.record(engine, target)?;
        if core::ptr::eq(carried, tail) {
            return Ok(value);
        }
        tail.apply(engine, target, value)
    }
}

impl Attention {
    /// The kernel's parameters, and how many groups there are.
    fn job(&self, heads: &[Head], workgroup: u32) -> (Vec<u32>, u32) {
        let dims = |i: usize| heads[i].shape.dims();
        let strides = |i: usize, unit: isize| {
            let layout = heads[i].plain().map(|operand| operand.layout);
            let layout = layout.unwrap_or(Layout::dense(heads[i].shape));
            // Two's complement wraps to the same address.
            layout.strides().iter().map(|s| (s / unit) as u32).collect::<Vec<u32>>()
        };
        let [batch, count, queries] = [0, 1, 2].map(|axis| small(dims(0)[axis]));
        let (shared, keys) = (small(dims(1)[1]), small(dims(1)[2]));
        let per_head = queries.div_ceil(workgroup);
        let mut job = vec![batch * count, queries, keys, per_head];
        job.extend([count, count / shared.max(1), u32::from(self.causal), self.scale.to_bits()]);
        for i in 0..3 {
            job.extend(&strides(i, 4)[..3]);
            job.push(0);
        }
        job.extend(if heads.len() > 3 { strides(3, 1) } else { vec![0; 4] });
        (job, batch * count * per_head)
    }
}

/// An input that the kernel can walk by its own strides - by quads, or the mask by elements - or a
/// copy that it can.
fn reachable(engine: &Engine, target: Target, head: &Head, by_element: bool) -> Result<Head> {
    let operand = head.realise(engine, target)?;
    let held = Held::new(&operand.value, operand.layout, operand.dtype)?;
    let layout = &operand.layout;
    let (inner, outer) = layout.strides().split_last().map_or((1, &[][..]), |(&s, o)| (s, o));
    let quads = inner == 1
        && layout.offset().is_multiple_of(4)
        && outer.iter().all(|s| s.unsigned_abs().is_multiple_of(4));
    if held.is_in_one_segment() && (by_element || quads) {
        return Ok(Head::view(operand));
    }
    let value = reindex::gather(engine, target, &operand)?;
    let layout = Layout::dense(*layout.shape());
    Ok(Head::view(Operand { value, layout, dtype: operand.dtype }))
}

/// What was to lie in one segment does not.
fn astray() -> Error {
    mistake("attention", "an operand came in several segments")
}
