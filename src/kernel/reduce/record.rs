//! The passes of a reduction of what lies in one segment.
//!
//! ```text
//! few elements     one pass
//! many             states of chunks -> .. -> one of them
//! ```

use super::choice::SumChoice;
use super::plan::{Extent, ReducePlan, Reducer};
use super::text::{self, Pass, Reduce, ReducePass};
use crate::count::word;
use crate::engine::Site;
use crate::error::{Error, Result, mistake};
use crate::exec::Labour;
use crate::kernel::cores::{Berth, Launch, Reach, Sink};
use crate::shape::Shape;
use crate::wgsl::grid::fold;

/// What a pass reads, in one segment: elements, or what a pass before it has left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feed<'a> {
    pub(super) reach: &'a Reach<'a>,
    pub(super) extent: Extent,
    /// The place of the first element along the length.
    pub(super) first: usize,
    pub(super) is_states: bool,
}

/// Where a pass stores: results, or states for a pass after it.
#[derive(Debug)]
pub(super) struct Goal<'a> {
    pub(super) tail: &'a Reach<'a>,
    pub(super) sink: Sink,
    /// The first element there.
    pub(super) first: usize,
    pub(super) is_states: bool,
}

/// A reduction being recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes<'a> {
    pub(super) site: Site<'a>,
    pub(super) how: Reduce,
    /// What was tuned.
    pub(super) by: Option<SumChoice>,
}

impl Passes<'_> {
    /// Records all of them. `false` if what chunks leave would not fit in one segment.
    pub(super) fn reduce(&self, feed: &Feed<'_>, goal: &Goal<'_>) -> Result<bool> {
        let plan = self.plan(feed);
        if plan.chunks == 1 {
            self.pass(&plan, feed, goal)?;
            return Ok(true);
        }
        // Apart from what is read with them, and from what is made of them.
        let apart: Vec<u64> = feed.reach.ids().chain([goal.sink.bound.buffer_id]).collect();
        let extent = feed.extent.long(plan.chunks, self.site.batch_invariant);
        let Some(states) = self.states(extent, &apart)? else { return Ok(false) };
        self.leave(&plan, feed, &states, 0)?;
        self.combine(&states, extent, goal)
    }

    /// Reduces the states of each row or column to one.
    pub(super) fn combine(&self, states: &Berth, extent: Extent, goal: &Goal<'_>) -> Result<bool> {
        let reach = &states.head.raw(extent.reads_elements())?.ok_or_else(misplaced)?;
        self.reduce(&Feed { reach, extent, first: 0, is_states: true }, goal)
    }

    /// Lets the chunks of a plan leave their states from the slot `first` on; there is one row, or
    /// they fill all slots.
    pub(super) fn leave(
        &self,
        plan: &ReducePlan,
        feed: &Feed<'_>,
        states: &Berth,
        first: usize,
    ) -> Result<()> {
        let (tail, first) = (&Reach::identity(states.head.dtype), first * feed.extent.inner);
        let goal = Goal { tail, sink: states.sink.clone(), first, is_states: true };
        self.pass(plan, feed, &goal)
    }

    /// Room for a state per element of the extent; `None` if that is more than a segment.
    pub(super) fn states(&self, extent: Extent, apart: &[u64]) -> Result<Option<Berth>> {
        let words = if self.how.index { 2 } else { 1 };
        let shape = Shape::new([extent.outer, extent.length, extent.inner, words])?;
        Berth::new(self.site, shape, self.how.held().dtype(), extent.stores_elements(), apart)
    }

    pub(super) fn plan(&self, feed: &Feed<'_>) -> ReducePlan {
        self.plan_of(feed.extent, feed.reach.trips(), feed.is_states)
    }

    /// The plan for an extent on this machine.
    pub(super) fn plan_of(&self, extent: Extent, trips: usize, parts: bool) -> ReducePlan {
        let Site { target, breadth, batch_invariant, .. } = self.site;
        let identity = &self.site.engine.gpu.caps().identity;
        let machine = Reducer { target, breadth, identity, batch_invariant, by: self.by };
        ReducePlan::of(extent, machine, trips, parts, self.how.units())
    }

    /// One dispatch.
    fn pass(&self, plan: &ReducePlan, feed: &Feed<'_>, goal: &Goal<'_>) -> Result<()> {
        let Feed { reach, extent, first: index, is_states: from_parts } = *feed;
        let (reads_elements, stores_elements) = (extent.reads_elements(), goal.sink.by_element);
        let to_parts = goal.is_states;
        let pass = Pass { from_parts, to_parts, reads_elements, stores_elements };
        let by_groups = plan.kernel.name == text::REDUCE_GROUP.name;
        let subgroups = by_groups && self.site.has_subgroups();
        let first = if stores_elements { goal.first } else { goal.first / 4 };
        let wording = &ReducePass { how: self.how, pass, subgroups };
        let groups = fold(word(plan.groups)?);
        // Others may lie further along than a kernel counts.
        let place = if self.how.index { index } else { 0 };
        let launch = Launch::of(plan.kernel, wording, plan.job(place, first)?, groups);
        let elements = [extent.outer, extent.length, extent.inner].map(|n| n as u64);
        let launch = Launch { work: Labour::reading(elements.iter().product()), ..launch };
        launch.record(self.site, &[reach], goal.tail, &goal.sink)
    }
}

/// What was made to lie in one segment does not: a mistake, and no result.
pub(super) fn misplaced() -> Error {
    mistake("a reduction", "its parts are not where they were put")
}
