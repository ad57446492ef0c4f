//! Operations that make a row of each row: softmax and its logarithm, layer and root-mean-square
//! norm.
//!
//! On a CPU a lane takes a row, on a GPU a group does, unless rows are short. Rows that are not
//! whole quads are reached element by element.

use std::sync::Arc;

use super::core::{Core, Head, Launch, Reach, Tail};
use super::{Held, Operand, moves};
use crate::caps::Feature;
use crate::count::word;
use crate::engine::{Engine, Site};
use crate::error::{Error, Result, mistake};
use crate::exec::{Bound, Value};
use crate::layout::Layout;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::grid::fold;
use crate::wgsl::{Entry, Target, subgroups};

pub mod text;

use text::{NormJob, SoftmaxJob};

/// An operation on rows of f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rowwise {
    Softmax,
    LogSoftmax,
    LayerNorm { eps: f32 },
    RmsNorm { eps: f32 },
}

/// What is written of softmax.
const SOFTMAX: &str = "\
fn value(x: vec4<f32>, m: f32, s: f32) -> vec4<f32> {
    return exp_below(x - m) * (1.0 / s);
}
";
const LOG_SOFTMAX: &str = "\
fn value(x: vec4<f32>, m: f32, s: f32) -> vec4<f32> {
    return (x - m) - ln_f32(vec4<f32>(s));
}
";

/// Elements from which on a CPU finds no row of its own in a cache, if other rows lie between.
/// A lane to a quad of columns was tried for those and lost: softmax over the first axis of 4096 x
/// 4096 takes 2.1 to 2.9 times as long as over the last by reductions, and twice as long again by
/// columns, whose elements share a few sets of a cache.
const SCATTERED: usize = 1 << 18;
/// Units of a row that a lane of a GPU takes by itself.
const SHORT: usize = 32;

impl Rowwise {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Softmax => "softmax",
            Self::LogSoftmax => "log_softmax",
            Self::LayerNorm { .. } => "layer_norm",
            Self::RmsNorm { .. } => "rms_norm",
        }
    }

    /// Whether the kernels are the best that can be done with so many rows of this length; if not,
    /// reductions and elementwise operations are: they share a row among all cores, and walk large
    /// tensors in the order of memory where rows are not `dense`.
    pub(crate) fn takes(rows: usize, length: usize, dense: bool, target: Target) -> bool {
        if !dense && target != Target::Gpu && rows * length >= SCATTERED {
            return false;
        }
        let units = if length.is_multiple_of(4) { length / 4 } else { length };
        match target {
            Target::Gpu => units <= 1 << 16 && (units <= 4096 || rows >= 16),
            _ => units <= 8192 && (units <= 256 || rows >= 16),
        }
    }

    const fn kernel(self, group: bool) -> &'static Entry {
        match (self, group) {
            (Self::Softmax | Self::LogSoftmax, false) => &text::SOFTMAX_ROWS,
            (Self::Softmax | Self::LogSoftmax, true) => &text::SOFTMAX_GROUP,
            (_, false) => &text::NORM_ROWS,
            (_, true) => &text::NORM_GROUP,
        }
    }

    fn job(self, rows: usize, units: usize, quads: bool) -> Result<Vec<u32>> {
        let (rows, units) = (word(rows)?, word(units)?);
        let norm = |about_zero, eps| NormJob { rows, units, quads, about_zero, eps }.words();
        Ok(match self {
            Self::Softmax | Self::LogSoftmax => SoftmaxJob { rows, units, quads }.words(),
            Self::LayerNorm { eps } => norm(false, eps),
            Self::RmsNorm { eps } => norm(true, eps),
        })
    }

    /// How the lanes of a subgroup become one.
    const fn joined(self) -> &'static str {
        match self {
            Self::Softmax | Self::LogSoftmax => subgroups::SOFTMAX,
            Self::LayerNorm { .. } | Self::RmsNorm { .. } => subgroups::SUM,
        }
    }

    const fn regions(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Softmax => &[("write", SOFTMAX)],
            Self::LogSoftmax => &[("write", LOG_SOFTMAX)],
            _ => &[],
        }
    }
}

/// An operation along the last axis of its input.
#[derive(Debug)]
pub(crate) struct Rows(pub(crate) Rowwise);

impl Core for Rows {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn takes_heads(&self) -> bool {
        true
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let length = tail.shape.dims().last().copied().unwrap_or(1);
        let by_element = !length.is_multiple_of(4);
        if let Some(value) = self.at_once(site, &inputs[0], tail, by_element)? {
            return Ok(value);
        }
        // A view across segments, or one that takes too long to follow.
        let operand = inputs[0].realise(site)?;
        let value = moves::gather(site, &operand)?;
        let layout = Layout::dense(*operand.layout.shape());
        let head = Head::view(Operand { value, layout, dtype: operand.dtype });
        self.at_once(site, &head, tail, by_element)?.ok_or_else(in_pieces)
    }
}

impl Rows {
    fn at_once(
        &self,
        site: Site<'_>,
        head: &Head,
        tail: &Tail,
        by_element: bool,
    ) -> Result<Option<Arc<Value>>> {
        let Head { expr, operands, scalars, shape, .. } = head;
        let Some(source) = Reach::over(expr, operands, scalars, shape, by_element)? else {
            return Ok(None);
        };
        let length = shape.dims().last().copied().unwrap_or(1);
        let (rows, units) =
            (shape.elements() / length.max(1), if by_element { length } else { length / 4 });
        let group = site.target == Target::Gpu && units > SHORT;
        let looped = units * (1 + 3 * source.trips() as usize) / if group { 256 } else { 1 };
        if looped > CORE_TRIPS as usize {
            return Ok(None);
        }
        let plain = Tail::identity(tail.shape, tail.given());
        let mut carried = tail;
        let mut reach = tail.reach(by_element)?;
        // What is stored may be wider than what a row is computed in.
        let one_segment = Engine::bytes_of(&tail.shape, tail.dtype)? <= site.engine.segment_bytes();
        let fits = |reach: &Reach<'_>| {
            one_segment
                && (!by_element || tail.dtype.width() >= 4)
                && !(source.is_strided() && reach.is_strided())
        };
        if !reach.as_ref().is_some_and(fits) {
            carried = &plain;
            reach = plain.reach(by_element)?;
        }
        let Some(reach) = reach else { return Ok(None) };
        let avoid: Vec<u64> = source.ids().chain(reach.ids()).collect();
        let bytes = Engine::bytes_of(&tail.shape, carried.dtype)?;
        let value = Value::new(site.engine.allocate(bytes, &avoid)?);
        let held = Held::new(&value, Layout::dense(tail.shape), carried.dtype)?;
        let [piece] = &*held.pieces else { return Ok(None) };
        let groups = if group { rows } else { rows.div_ceil(site.target.workgroup() as usize) };
        let mut regions = self.0.regions().to_vec();
        let shared = group && site.engine.gpu.caps().has(Feature::Subgroup);
        let subgroups = if shared { subgroups::regions(self.0.joined()) } else { Vec::new() };
        regions.extend(subgroups.iter().map(|(name, text)| (*name, &**text)));
        let launch = Launch {
            entry: self.0.kernel(group),
            heads: vec![source],
            tail: reach,
            output: (Bound::from(piece), 0),
            written: Arc::downgrade(&value),
            by_element,
            regions: &regions,
            workgroup: None,
            job: self.0.job(rows, units, !by_element)?,
            groups: fold(word(groups)?),
        };
        launch.record(site)?;
        if core::ptr::eq(carried, tail) {
            return Ok(Some(value));
        }
        tail.apply(site, value).map(Some)
    }
}

/// Memory came in smaller segments than the adapter's limits say.
fn in_pieces() -> Error {
    mistake("rows", "a result came in several segments")
}
