//! Operations that make a row of each row: softmax and its logarithm, layer and root-mean-square
//! norm.
//!
//! Rejected on llvmpipe: a lane to a quad of columns, for rows that lie across memory. Composed of
//! reductions, softmax over the first axis of 4096 x 4096 takes 2.1 to 2.9 times as long as over
//! the last. By columns it takes twice as long again, because the elements of a column share a few
//! sets of a cache.

use std::sync::Arc;

use super::cores::{Core, Head, Landing, Launch, Tail, in_pieces};
use super::moves;
use crate::count::word;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::op::Joint;
use crate::proof::Oracle;
use crate::wgsl::grid::fold;

pub(crate) mod choice;
mod plan;
pub mod text;

use choice::RowsChoice;
use plan::RowsPlan;
pub(crate) use plan::{Rowwise, takes};
use text::{RowGroup, RowsText};

/// An operation along the last axis of its input.
#[derive(Debug)]
pub(crate) struct RowsCore {
    pub(crate) what: Rowwise,
    /// What was tuned.
    pub(crate) by: Option<RowsChoice>,
}

impl Core for RowsCore {
    fn name(&self) -> &'static str {
        self.what.name()
    }

    fn takes_heads(&self) -> bool {
        true
    }

    fn oracle(&self) -> Option<Oracle> {
        let (joint, eps) = match self.what {
            Rowwise::Softmax => (Joint::Softmax, 0.0),
            Rowwise::LogSoftmax => (Joint::LogSoftmax, 0.0),
            Rowwise::LayerNorm { eps } => (Joint::LayerNorm, eps),
            Rowwise::RmsNorm { eps } => (Joint::RmsNorm, eps),
        };
        Some(Oracle::Row { joint, eps })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        if let Some(value) = self.at_once(site, &inputs[0], tail)? {
            return Ok(value);
        }
        // A view across segments, or one that takes too long to follow.
        let copy = moves::gather(site, &inputs[0].realise(site)?, &[])?;
        self.at_once(site, &Head::view(copy), tail)?.ok_or_else(|| in_pieces(self.name()))
    }
}

impl RowsCore {
    /// In one dispatch; `None` if that takes more segments, or more trips, than a kernel has.
    fn at_once(&self, site: Site<'_>, head: &Head, tail: &Tail) -> Result<Option<Arc<Value>>> {
        let site = site.walking();
        let by_element = plan::by_element(&head.shape);
        let Some(source) = head.reach(by_element)? else { return Ok(None) };
        let what = (self.what, self.by);
        let plan = RowsPlan::of(what, &head.shape, site.target, source.trips());
        let Some(RowsPlan { kernel, group, rows, units, groups }) = plan else { return Ok(None) };
        let landing = Landing::of(site, vec![source], tail, by_element, &[])?;
        let Some(landing) = landing else { return Ok(None) };
        if let Some(by) = self.by {
            site.engine.remark(|| format!("{}: tuned", by.text()));
        }
        let subgroups = site.has_subgroups();
        let group = group.map(|[lanes, held]| RowGroup { lanes, held, subgroups });
        let wording = &RowsText { kind: self.what.kind(), group };
        let job = self.what.job(rows, units, !by_element)?;
        landing.by(Launch::of(kernel, wording, job, fold(word(groups)?))).map(Some)
    }
}
