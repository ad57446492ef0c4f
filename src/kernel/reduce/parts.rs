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

use super::plan::{Extent, ReducePlan};
use super::record::{Feed, Goal, Passes, misplaced};
use crate::error::Result;
use crate::exec::{Bound, Value};
use crate::kernel::cores::{Head, Reach, Sink};
use crate::kernel::{Held, Operand, moves};
use crate::layout::Layout;
use crate::shape::Shape;

/// The reduction of a head over `extent`, which is its index space, without a tail.
pub(super) fn reduce(passes: Passes<'_>, head: &Head, extent: Extent) -> Result<Arc<Value>> {
    let Extent { outer, length, inner, ragged } = extent;
    let site = passes.site;
    let mut operand = head.realise(site)?;
    if !(operand.layout.is_dense() && operand.layout.offset().is_multiple_of(4)) {
        operand = moves::gather(site, &operand, &[])?;
    }
    let shape = Shape::new([outer, length, inner])?;
    let strides = [length * inner, inner, 1].map(usize::cast_signed);
    let layout = Layout::strided(shape, &strides, operand.layout.offset())?;
    let dtype = passes.how.result().dtype();
    let shape = Shape::new([outer, inner])?;
    // In place until all is recorded, so that it does not move to where the result lies.
    let held = operand.hold()?;
    let apart: Vec<u64> = held.ids().collect();
    let (result, output) = Held::fresh(site, &shape, dtype, &apart)?;
    let keep = Reach::identity(dtype);
    let input = operand.under(layout);
    Parts { passes, input, result: &result, output, keep, ragged }.block(layout, 0)?;
    Ok(result)
}

struct Parts<'a> {
    passes: Passes<'a>,
    input: Operand,
    result: &'a Arc<Value>,
    output: Held,
    keep: Reach<'static>,
    ragged: bool,
}

impl Parts<'_> {
    fn extent(&self, layout: &Layout) -> Result<Extent> {
        let [outer, length, inner] = *layout.shape().dims() else { return Err(misplaced()) };
        Ok(Extent { outer, length, inner, ragged: self.ragged && inner > 1 })
    }

    /// A part in memory of its own, apart from where results go.
    fn copy(&self, layout: Layout) -> Result<Operand> {
        let apart: Vec<u64> = self.output.ids().collect();
        moves::gather(self.passes.site, &self.input.under(layout), &apart)
    }

    /// Reduces a block whose results go to `at` and after.
    fn block(&self, layout: Layout, at: usize) -> Result<()> {
        let extent = self.extent(&layout)?;
        let Extent { outer, length, inner, .. } = extent;
        // Results of one block go to one segment.
        let room = self.output.segment - at % self.output.segment;
        if outer * inner > room {
            return if outer > 1 {
                self.cut(&layout, 0, (room / inner).max(1), at, inner)
            } else {
                self.cut(&layout, 2, room.min(inner - 1), at, 1)
            };
        }
        let held = self.input.under(layout).hold()?;
        let (offset, each) = (layout.offset(), length * inner);
        if held.is_in_one_segment() && layout.shape().elements() < 1 << 31 {
            return self.whole(self.input.under(layout), extent, at);
        }
        let left = (held.segment - offset % held.segment).min(1 << 30);
        if outer > 1 {
            return self.cut(&layout, 0, (left / each).clamp(1, outer - 1), at, inner);
        }
        let limit = held.segment.min(1 << 28);
        if each <= limit {
            return self.whole(self.copy(layout)?, extent, at);
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
        self.block(layout.slice(axis, 0..n)?, at)?;
        self.block(layout.slice(axis, n..dim)?, at + n * step)
    }

    /// Where results from `at` on go.
    fn goal(&self, extent: Extent, at: usize) -> Goal<'_> {
        let (index, first) = (at / self.output.segment, at % self.output.segment);
        let bound = Bound::from(&self.output.pieces[index]);
        let (written, by_element) = (Arc::downgrade(self.result), extent.stores_elements());
        let sink = Sink { bound, first: 0, written, by_element };
        Goal { tail: &self.keep, sink, first, is_states: false }
    }

    /// A block in one segment.
    fn whole(&self, operand: Operand, extent: Extent, at: usize) -> Result<()> {
        let head = Head::view(operand);
        let reach = &head.reach(extent.reads_elements())?.ok_or_else(misplaced)?;
        let feed = Feed { reach, extent, first: 0, is_states: false };
        landed(self.passes.reduce(&feed, &self.goal(extent, at))?)
    }

    /// One row, or some columns, of several segments: a state or more for what lies in each.
    fn long(&self, layout: &Layout, at: usize) -> Result<()> {
        let extent = self.extent(layout)?;
        let stretches = self.stretches(layout, extent)?;
        let length = stretches.iter().map(|stretch| stretch.plan.chunks).sum();
        let held = stretches.iter().map(|stretch| stretch.operand.hold());
        let held: Vec<Held> = held.collect::<Result<_>>()?;
        let apart: Vec<u64> = self.output.ids().chain(held.iter().flat_map(Held::ids)).collect();
        let all = Extent { length, ..extent };
        let states = self.passes.states(all, &apart)?.ok_or_else(misplaced)?;
        let mut slot = 0;
        for Stretch { operand, extent, first, plan } in stretches {
            let head = Head::view(operand);
            let reach = &head.reach(extent.reads_elements())?.ok_or_else(misplaced)?;
            let feed = Feed { reach, extent, first, is_states: false };
            self.passes.leave(&plan, &feed, &states, slot)?;
            slot += plan.chunks;
        }
        landed(self.passes.combine(&states, all, &self.goal(extent, at))?)
    }

    /// The length cut at segments.
    fn stretches(&self, layout: &Layout, extent: Extent) -> Result<Vec<Stretch>> {
        let Extent { length, inner, .. } = extent;
        let mut stretches = Vec::new();
        let mut first = 0;
        while first < length {
            let rest = layout.slice(1, first..length)?;
            let held = self.input.under(rest).hold()?;
            let left = (held.segment - rest.offset() % held.segment).min(1 << 30);
            let pitch = layout.strides()[1].unsigned_abs();
            // As many as begin and end in this segment; one that does not is copied.
            let fit = if left < inner { 0 } else { (left - inner) / pitch + 1 };
            let to = first + fit.clamp(1, length - first);
            let part = layout.slice(1, first..to)?;
            let operand = if fit == 0 { self.copy(part)? } else { self.input.under(part) };
            let extent = Extent { length: to - first, ..extent };
            let trips = if inner == 1 { 0 } else { 2 };
            let plan = self.passes.plan_of(extent, trips, false);
            stretches.push(Stretch { operand, extent, first, plan });
            first = to;
        }
        Ok(stretches)
    }
}

/// A part of the length in one segment.
struct Stretch {
    operand: Operand,
    extent: Extent,
    /// Where along the length it begins.
    first: usize,
    plan: ReducePlan,
}

/// What was cut so that it lands in one segment has to.
fn landed(done: bool) -> Result<()> {
    if done { Ok(()) } else { Err(misplaced()) }
}
