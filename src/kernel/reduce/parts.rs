//! Reductions of what lies in several segments, or is larger than 32 bits reach.
//!
//! ```text
//! reduce(block) = in one segment:             in one go
//!               | several rows of `outer`:    those before, at, and after the first boundary
//!               | small enough to be copied:  a copy, in one go
//!               | long:                       slots for each part of its length, then one of them
//!               | wide:                       the columns in halves
//! ```

use std::sync::Arc;

use super::plan::{Extent, Plan};
use super::{Into, Run, Slots, astray, dtype_of};
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::Result;
use crate::exec::{Bound, Value};
use crate::kernel::core::{Head, Reach, Tail};
use crate::kernel::reduce::text::Reduce;
use crate::kernel::{Held, Operand, moves};
use crate::layout::Layout;
use crate::shape::Shape;

/// The reduction of a head over `extent`, which is its index space, without a tail.
pub(super) fn reduce(
    site: Site<'_>,
    how: Reduce,
    head: &Head,
    extent: Extent,
) -> Result<Arc<Value>> {
    let Extent { outer, length, inner, ragged } = extent;
    let operand = head.realise(site)?;
    let shape = Shape::new([outer, length, inner])?;
    let is_dense = operand.layout.is_dense() && operand.layout.offset().is_multiple_of(4);
    let (value, offset) = if is_dense {
        (operand.value, operand.layout.offset())
    } else {
        (moves::gather(site, &operand)?, 0)
    };
    let strides = [length * inner, inner, 1].map(usize::cast_signed);
    let layout = Layout::strided(shape, &strides, offset)?;
    let dtype = dtype_of(how.result());
    let shape = Shape::new([outer, inner])?;
    let ids: Vec<u64> = Held::new(&value, layout, operand.dtype)?.ids().collect();
    let result = Value::new(site.engine.allocate(Engine::bytes_of(&shape, dtype)?, &ids)?);
    let output = Held::new(&result, Layout::dense(shape), dtype)?;
    let run = Run { site, how, written: Arc::downgrade(&result) };
    let parts = Parts { run, value, dtype: operand.dtype, output, ragged };
    parts.block(layout, 0)?;
    Ok(result)
}

struct Parts<'a> {
    run: Run<'a>,
    value: Arc<Value>,
    dtype: DType,
    output: Held,
    ragged: bool,
}

impl Parts<'_> {
    fn extent(&self, layout: &Layout) -> Extent {
        let ragged = self.ragged;
        match *layout.shape().dims() {
            [outer, length, inner] => Extent { outer, length, inner, ragged },
            _ => Extent { outer: 0, length: 0, inner: 0, ragged },
        }
    }

    fn held(&self, layout: Layout) -> Result<Held> {
        Held::new(&self.value, layout, self.dtype)
    }

    fn operand(&self, layout: Layout) -> Operand {
        Operand { value: Arc::clone(&self.value), layout, dtype: self.dtype }
    }

    /// A part in memory of its own, apart from where results go.
    fn copy(&self, layout: Layout) -> Result<Operand> {
        let site = self.run.site;
        let avoid: Vec<u64> = self.output.ids().collect();
        let value = moves::gather_apart(site, &self.operand(layout), &avoid)?;
        Ok(Operand { value, layout: Layout::dense(*layout.shape()), dtype: self.dtype })
    }

    /// Reduces a block whose results go to `at` and after.
    fn block(&self, layout: Layout, at: usize) -> Result<()> {
        let extent = self.extent(&layout);
        let Extent { outer, length, inner, .. } = extent;
        if layout.shape().is_empty() {
            return Ok(());
        }
        // Results of one block go to one segment.
        let room = self.output.segment - at % self.output.segment;
        if outer * inner > room {
            return if outer > 1 {
                self.cut(&layout, 0, (room / inner).max(1), at, inner)
            } else {
                self.cut(&layout, 2, room.min(inner - 1), at, 1)
            };
        }
        let held = self.held(layout)?;
        let (offset, each) = (layout.offset(), length * inner);
        if held.is_in_one_segment() && layout.shape().elements() < 1 << 31 {
            return self.whole(&self.operand(layout), extent, at);
        }
        let left = (held.segment - offset % held.segment).min(1 << 30);
        if outer > 1 {
            return self.cut(&layout, 0, (left / each).clamp(1, outer - 1), at, inner);
        }
        let limit = held.segment.min(1 << 28);
        if each <= limit {
            return self.whole(&self.copy(layout)?, extent, at);
        }
        if inner > limit / 64 {
            let half = (inner / 2).next_multiple_of(4);
            return self.cut(&layout, 2, half.min(inner - 1), at, 1);
        }
        self.long(&layout, at)
    }

    /// A block as what is before `n` on an axis and what is not; `step` results per index of it.
    fn cut(&self, layout: &Layout, axis: usize, n: usize, at: usize, step: usize) -> Result<()> {
        let dim = layout.shape().dims()[axis];
        self.block(layout.slice(axis, 0..n, 1)?, at)?;
        self.block(layout.slice(axis, n..dim, 1)?, at + n * step)
    }

    /// Where results from `at` on go.
    fn into<'b>(&self, tail: &'b Tail, by_element: bool, at: usize) -> Result<Into<'b>> {
        let tail = tail.reach(by_element)?.ok_or_else(astray)?;
        let (index, first) = (at / self.output.segment, at % self.output.segment);
        Ok(Into { tail, bound: Bound::from(&self.output.pieces[index]), first })
    }

    fn plain(&self, extent: Extent) -> Result<Tail> {
        let shape = Shape::new([extent.outer, extent.inner])?;
        Ok(Tail::identity(shape, dtype_of(self.run.how.result())))
    }

    /// A block in one segment.
    fn whole(&self, operand: &Operand, extent: Extent, at: usize) -> Result<()> {
        let head = Head::view(operand.clone());
        let Head { expr, operands, scalars, shape, .. } = &head;
        let by_element = extent.by_element();
        let reach = Reach::over(expr, operands, scalars, shape, by_element)?;
        let plain = self.plain(extent)?;
        let into = self.into(&plain, extent.inner == 1 || by_element, at)?;
        let done = self.run.reduce(reach.ok_or_else(astray)?, extent, 0, into)?;
        if done { Ok(()) } else { Err(astray()) }
    }

    /// One row, or some columns, of several segments: a slot or more for what lies in each.
    fn long(&self, layout: &Layout, at: usize) -> Result<()> {
        let extent = self.extent(layout);
        let Extent { length, inner, .. } = extent;
        let by_element = extent.by_element();
        let mut pieces: Vec<(Operand, Extent, usize, Plan)> = Vec::new();
        let mut from = 0;
        while from < length {
            let rest = layout.slice(1, from..length, 1)?;
            let held = self.held(rest)?;
            let left = (held.segment - rest.offset() % held.segment).min(1 << 30);
            let pitch = layout.strides()[1].unsigned_abs();
            // As many as begin and end in this segment; one that does not is copied.
            let fit = if left < inner { 0 } else { (left - inner) / pitch + 1 };
            let to = from + fit.clamp(1, length - from);
            let part = layout.slice(1, from..to, 1)?;
            let operand = if fit == 0 { self.copy(part)? } else { self.operand(part) };
            let extent = Extent { length: to - from, ..extent };
            let trips = if inner == 1 { 0 } else { 2 };
            pieces.push((
                operand,
                extent,
                from,
                Plan::of(extent, self.run.site.target, trips, false)?,
            ));
            from = to;
        }
        let length = pieces.iter().map(|(_, _, _, plan)| plan.chunks).sum();
        let mut ids: Vec<u64> = self.output.ids().collect();
        for (operand, ..) in &pieces {
            ids.extend(Held::new(&operand.value, operand.layout, operand.dtype)?.ids());
        }
        let slots = Slots::new(&self.run, Extent { length, ..extent }, ids)?.ok_or_else(astray)?;
        let mut first = 0;
        for (operand, extent, index, plan) in pieces {
            let head = Head::view(operand);
            let Head { expr, operands, scalars, shape, .. } = &head;
            let reach = Reach::over(expr, operands, scalars, shape, by_element)?;
            slots.fill(&self.run, &plan, reach.ok_or_else(astray)?, extent, index, first)?;
            first += plan.chunks;
        }
        let plain = self.plain(extent)?;
        let into = self.into(&plain, inner == 1 || by_element, at)?;
        slots.combine(&self.run, into)
    }
}
