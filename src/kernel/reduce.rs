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

use std::sync::Arc;

use super::cores::{Core, Head, Landing, Tail};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::op::Reduction;
use crate::proof::Oracle;
use crate::shape::Shape;
use choice::{SumChoice, SumSize};
use plan::Extent;
use record::{Feed, Goal, Passes};
use text::{Fold, Reduce};

pub(crate) mod choice;
mod parts;
mod plan;
mod record;
pub mod text;

pub(crate) use plan::Traversal;

/// A reduction over a set of axes of its input, which arrives in the order of memory.
#[derive(Debug)]
pub(crate) struct ReduceCore {
    pub(crate) name: &'static str,
    pub(crate) how: Reduce,
    /// Whether each axis of the input is reduced.
    pub(crate) reduced: Vec<bool>,
    /// What was tuned.
    pub(crate) by: Option<SumChoice>,
}

impl Core for ReduceCore {
    fn name(&self) -> &'static str {
        self.name
    }

    fn takes_heads(&self) -> bool {
        true
    }

    fn is_long(&self) -> bool {
        true
    }

    fn oracle(&self) -> Option<Oracle> {
        let (reduction, axes) = (self.how.reduction(), self.reduced.clone());
        Some(Oracle::Reduced { reduction, axes })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let extent = Extent::of(&inputs[0].shape, &self.reduced, site.batch_invariant);
        let site = if extent.inner == 1 { site.streaming() } else { site.walking() };
        let order = plan::order(&self.reduced);
        let head = inputs[0].map(|layout| layout.permute(&order))?;
        if let Some(by) = self.by {
            site.engine.remark(|| format!("{}: tuned", by.text()));
        }
        let passes = Passes { site, how: self.how, by: self.by };
        if let Some(value) = at_once(passes, &head, tail, extent)? {
            return Ok(value);
        }
        tail.apply(site, parts::reduce(Passes { by: None, ..passes }, &head, extent)?)
    }
}

impl SumSize {
    /// Of a shape, some of whose axes are reduced.
    pub(crate) fn of_shape(shape: &Shape, reduced: &[bool]) -> Self {
        let Extent { outer, length, inner, .. } = Extent::of(shape, reduced, false);
        Self { outer, length, inner }
    }
}

impl Reduce {
    /// The operation that it is.
    pub(super) const fn reduction(self) -> Reduction {
        match (self.fold, self.index) {
            (Fold::Sum, _) => Reduction::Sum,
            (Fold::Prod, _) => Reduction::Prod,
            (Fold::Max, false) => Reduction::Max,
            (Fold::Min, false) => Reduction::Min,
            (Fold::Max, true) => Reduction::ArgMax,
            (Fold::Min, true) => Reduction::ArgMin,
        }
    }
}

/// In one segment, with the tail on board if it can be; `None` if an operand, the result or what
/// is between two passes lies in several.
fn at_once(
    passes: Passes<'_>,
    head: &Head,
    tail: &Tail,
    extent: Extent,
) -> Result<Option<Arc<Value>>> {
    let Some(source) = head.reach(extent.reads_elements())? else { return Ok(None) };
    if passes.site.batch_invariant && source.trips() > plan::TRIPS_FREE {
        let head = Head::view(head.realise(passes.site)?);
        return at_once(passes, &head, tail, extent);
    }
    let landing = Landing::of(passes.site, vec![source], tail, extent.stores_elements(), &[])?;
    let Some(landing) = landing else { return Ok(None) };
    let feed = Feed { reach: &landing.heads[0], extent, first: 0, is_states: false };
    let sink = landing.sink().clone();
    let goal = Goal { tail: &landing.tail, sink, first: 0, is_states: false };
    if !passes.reduce(&feed, &goal)? {
        return Ok(None);
    }
    landing.finish().map(Some)
}
