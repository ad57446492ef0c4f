//! Reductions: many elements become one, over any set of axes.
//!
//! The axes are put in the order [outer.., reduced.., inner..], where `inner` are the kept axes
//! that memory walks fastest; that is the index space of the head. Where the fastest axis is
//! reduced the space is one of rows, otherwise one of columns.
//!
//! ```text
//! elements -> head -> chunks -> parts -> .. -> one -> tail -> result
//! ```
//!
//! The elements are of a dtype that is computed in: narrower ones are cast by the head, and back
//! by the tail. What lies in several segments is reduced part by part, and the tail is left to a
//! kernel of its own.

use std::sync::{Arc, Weak};

use super::core::{Core, Head, Launch, Reach, Tail};
use super::{Held, Operand};
use crate::caps::Feature;
use crate::count::word;
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::{Error, Result, mistake};
use crate::exec::{Bound, Value};
use crate::layout::Layout;
use crate::op::Kind;
use crate::shape::Shape;
use crate::store::Pinned;
use crate::wgsl::subgroups;
use text::{Pass, Reduce};

mod parts;
mod plan;
pub mod text;

pub(in crate::kernel) use plan::Extent;
use plan::Plan;

/// A reduction over a set of axes of its input, which arrives in the order of memory.
#[derive(Debug)]
pub(crate) struct Reduction {
    pub(crate) name: &'static str,
    pub(crate) how: Reduce,
    /// Whether each axis of the input is reduced.
    pub(crate) reduced: Vec<bool>,
}

/// The order of axes in which a reduction walks its input: outer, reduced, inner.
fn order(reduced: &[bool]) -> Vec<usize> {
    let inner = reduced.iter().rposition(|&r| r).map_or(0, |last| last + 1);
    let axes = || 0..inner;
    let outer = axes().filter(|&axis| !reduced[axis]);
    let middle = axes().filter(|&axis| reduced[axis]);
    outer.chain(middle).chain(inner..reduced.len()).collect()
}

impl Reduction {
    fn extent(&self, shape: &Shape) -> Extent {
        let last = self.reduced.iter().rposition(|&r| r);
        let mut extent = Extent { outer: 1, length: 1, inner: 1, ragged: false };
        for (axis, (&dim, &reduced)) in shape.dims().iter().zip(&self.reduced).enumerate() {
            let part = match (reduced, last.is_some_and(|last| axis < last)) {
                (true, _) => &mut extent.length,
                (false, true) => &mut extent.outer,
                (false, false) => &mut extent.inner,
            };
            *part *= dim;
        }
        extent.ragged = !extent.inner.is_multiple_of(4);
        extent
    }

    /// In one go, with the tail on board if it can be; `None` if an operand lies in several
    /// segments.
    fn at_once(
        &self,
        site: Site<'_>,
        head: &Head,
        tail: &Tail,
        extent: Extent,
    ) -> Result<Option<Arc<Value>>> {
        let by_element = extent.by_element();
        let Head { expr, operands, scalars, shape, .. } = head;
        let Some(source) = Reach::over(expr, operands, scalars, shape, by_element)? else {
            return Ok(None);
        };
        let stores_elements = extent.inner == 1 || by_element;
        let plain = Tail::identity(tail.shape, tail.given());
        let mut carried = tail;
        let mut reach = tail.reach(stores_elements)?;
        let fits = |reach: &Reach<'_>| {
            (!stores_elements || tail.dtype.width() >= 4)
                && !(source.is_strided() && reach.is_strided())
        };
        if !reach.as_ref().is_some_and(fits) {
            carried = &plain;
            reach = plain.reach(stores_elements)?;
        }
        let Some(tail_reach) = reach else { return Ok(None) };
        let avoid: Vec<u64> = source.ids().chain(tail_reach.ids()).collect();
        let bytes = Engine::bytes_of(&tail.shape, carried.dtype)?;
        let value = Value::new(site.engine.allocate(bytes, &avoid)?);
        let held = Held::new(&value, Layout::dense(tail.shape), carried.dtype)?;
        let [piece] = &*held.pieces else { return Ok(None) };
        let run = Run { site, how: self.how, written: Arc::downgrade(&value) };
        let into = Into { tail: tail_reach, bound: Bound::from(piece), first: 0 };
        if !run.reduce(source, extent, 0, into)? {
            return Ok(None);
        }
        if core::ptr::eq(carried, tail) {
            return Ok(Some(value));
        }
        tail.apply(site, value).map(Some)
    }
}

impl Core for Reduction {
    fn name(&self) -> &'static str {
        self.name
    }

    fn takes_heads(&self) -> bool {
        true
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let extent = self.extent(&inputs[0].shape);
        let order = order(&self.reduced);
        let head = inputs[0].map(|layout| layout.permute(&order))?;
        if let Some(value) = self.at_once(site, &head, tail, extent)? {
            return Ok(value);
        }
        let value = parts::reduce(site, self.how, &head, extent)?;
        tail.apply(site, value)
    }
}

/// The dtype of a computing kind.
pub(in crate::kernel) const fn dtype_of(kind: Kind) -> DType {
    match kind {
        Kind::F32 => DType::F32,
        Kind::I32 => DType::I32,
        Kind::U32 => DType::U32,
        Kind::I64 => DType::I64,
        Kind::U64 => DType::U64,
        Kind::F64 => DType::F64,
        Kind::Bool => DType::Bool,
    }
}

/// Where a result goes.
#[derive(Debug)]
struct Into<'a> {
    tail: Reach<'a>,
    bound: Bound,
    /// The first element there.
    first: usize,
}

/// A reduction being recorded.
#[derive(Debug)]
struct Run<'a> {
    site: Site<'a>,
    how: Reduce,
    written: Weak<Value>,
}

impl Run<'_> {
    /// Reduces a source in one segment, whose elements have the places from `index` on. `false` if
    /// what the chunks leave would not fit one segment.
    fn reduce(
        &self,
        source: Reach<'_>,
        extent: Extent,
        index: usize,
        into: Into<'_>,
    ) -> Result<bool> {
        let plan = Plan::of(extent, self.site.target, source.trips(), false)?;
        if plan.chunks == 1 {
            self.launch(&plan, source, extent, (index, false, false), into)?;
            return Ok(true);
        }
        let parts = Extent { length: plan.chunks, ..extent };
        // Apart from what is read with them, and from what is made of them.
        let avoid = source.ids().chain([into.bound.buffer_id]).collect();
        let Some(slots) = Slots::new(self, parts, avoid)? else { return Ok(false) };
        slots.fill(self, &plan, source, extent, index, 0)?;
        slots.combine(self, into)?;
        Ok(true)
    }

    /// One dispatch; `(index, from_parts, to_parts)`.
    fn launch(
        &self,
        plan: &Plan,
        source: Reach<'_>,
        extent: Extent,
        (index, from_parts, to_parts): (usize, bool, bool),
        into: Into<'_>,
    ) -> Result<()> {
        let reads_elements = extent.by_element();
        let stores_elements = extent.inner == 1 || reads_elements;
        let pass = Pass { from_parts, to_parts, reads_elements, stores_elements };
        let state = self.how.state(pass);
        let mut regions = vec![("state", state)];
        if plan.kernel.name == text::REDUCE_GROUP.name
            && self.site.engine.gpu.caps().has(Feature::Subgroup)
        {
            regions.extend(self.how.joined().into_iter().flat_map(subgroups::regions));
        }
        let regions: Vec<(&str, &str)> = regions.iter().map(|(n, text)| (*n, &**text)).collect();
        let Into { tail, bound, first } = into;
        let unit = if stores_elements { first } else { first / 4 };
        let launch = Launch {
            entry: plan.kernel,
            heads: vec![source],
            tail,
            output: (bound, 0),
            written: self.written.clone(),
            by_element: stores_elements,
            regions: &regions,
            workgroup: None,
            job: plan.job(word(index)?, word(unit)?),
            groups: plan.groups,
        };
        launch.record(self.site)
    }
}

/// What chunks leave: a state for each of them, of each row or column.
#[derive(Debug)]
struct Slots {
    value: Arc<Value>,
    head: Head,
    bound: Bound,
    extent: Extent,
    /// Keeps them in place.
    _pinned: Pinned,
}

impl Slots {
    /// Room for a state per element of the extent; `None` if that is more than a segment.
    fn new(run: &Run<'_>, extent: Extent, avoid: Vec<u64>) -> Result<Option<Self>> {
        let words = if run.how.index { 2 } else { 1 };
        let shape = Shape::new([extent.outer, extent.length, extent.inner, words])?;
        let dtype = dtype_of(run.how.held());
        let bytes = Engine::bytes_of(&shape, dtype)?;
        let value = Value::new(run.site.engine.allocate(bytes, &avoid)?);
        let layout = Layout::dense(shape);
        let held = Held::new(&value, layout, dtype)?;
        let [piece] = &*held.pieces else { return Ok(None) };
        let bound = Bound::from(piece);
        let head = Head::view(Operand { value: Arc::clone(&value), layout, dtype });
        Ok(Some(Self { value, head, bound, extent, _pinned: held.pinned }))
    }

    /// Lets the chunks of a plan leave their states from the slot `first` on; there is one row, or
    /// they fill all slots.
    fn fill(
        &self,
        run: &Run<'_>,
        plan: &Plan,
        source: Reach<'_>,
        extent: Extent,
        index: usize,
        first: usize,
    ) -> Result<()> {
        let by_element = extent.inner == 1 || extent.by_element();
        let plain = Tail::identity(self.head.shape, self.head.dtype);
        let tail = plain.reach(by_element)?.ok_or_else(astray)?;
        let into = Into { tail, bound: self.bound.clone(), first: first * extent.inner };
        let written = Arc::downgrade(&self.value);
        let run = Run { written, ..*run };
        run.launch(plan, source, extent, (index, false, true), into)
    }

    /// Makes one of all states of each row or column.
    fn combine(&self, run: &Run<'_>, into: Into<'_>) -> Result<()> {
        let extent = self.extent;
        let source = Reach::raw(&self.head, extent.by_element())?.ok_or_else(astray)?;
        let plan = Plan::of(extent, run.site.target, 0, true)?;
        if plan.chunks == 1 {
            return run.launch(&plan, source, extent, (0, true, false), into);
        }
        let parts = Extent { length: plan.chunks, ..extent };
        let avoid = source.ids().chain([into.bound.buffer_id]).collect();
        let fewer = Self::new(run, parts, avoid)?.ok_or_else(astray)?;
        let by_element = extent.inner == 1 || extent.by_element();
        let plain = Tail::identity(fewer.head.shape, fewer.head.dtype);
        let tail = plain.reach(by_element)?.ok_or_else(astray)?;
        let between = Into { tail, bound: fewer.bound.clone(), first: 0 };
        let written = Arc::downgrade(&fewer.value);
        let first = Run { written, ..*run };
        first.launch(&plan, source, extent, (0, true, true), between)?;
        fewer.combine(run, into)
    }
}

/// What was made to lie in one segment does not: a mistake, and no result.
fn astray() -> Error {
    mistake("a reduction", "its parts are not where they were put")
}
