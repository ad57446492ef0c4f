//! Attention: scores, softmax and weighted values in one kernel, without a matrix of scores. CPUs
//! give each lane queries of its own, GPUs let a workgroup share them.

use std::sync::Arc;

use super::cores::{Core, Head, Landing, Launch, Tail};
use super::{Operand, moves};
use crate::count::{word, words, wrapped};
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Labour, Value};
use crate::layout::Layout;
use crate::proof::Oracle;
use crate::reference::Sight;
use crate::wgsl::Target;
use crate::wgsl::grid::fold;
use choice::tuned::AttentionChoice;
use inputs::{Inputs, loaded};
use plan::{Crew, in_units};
use text::{AttentionJob, Block, Mask};

pub(crate) mod choice;
mod inputs;
mod plan;
mod record;
pub mod text;

pub(crate) use plan::{Halves, QUADS_MAX};

/// Attention of `[batch, heads, queries, d]` to `[batch, shared heads, keys, d or e]`, all f32, f16
/// or bf16; `d` and `e` are multiples of four. A fourth input, of f32, is added to the scores. The
/// result is `[batch, queries, heads, e]`: whoever puts heads together copies nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttentionCore {
    pub(crate) scale: f32,
    pub(crate) sight: Sight,
    /// Whether workgroups take the rows of a head together.
    pub(crate) staged: bool,
    /// What was tuned.
    pub(crate) by: Option<AttentionChoice>,
}

impl Core for AttentionCore {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn is_long(&self) -> bool {
        true
    }

    fn oracle(&self) -> Option<Oracle> {
        Some(Oracle::Attention { scale: self.scale, sight: self.sight })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let site = Site { target: site.target.of_tiles(site.engine.gpu.caps()), ..site };
        let reachable = |(i, head): (usize, &Head)| {
            // A mask is walked by elements.
            moves::reachable(site, head.realise(site)?, |layout| i == 3 || in_units(layout, 4))
        };
        let operands: Vec<Operand> =
            inputs.iter().enumerate().map(reachable).collect::<Result<_>>()?;
        if self.staged {
            return self.by_workgroups(site, operands, tail);
        }
        // Where lanes do not share what they load, each would unpack every key.
        let caps = site.engine.gpu.caps();
        let share = choice::sharers(caps).is_some();
        let Inputs { operands, views, packed } = Inputs::of(site, operands, share)?;
        let tile = choice::tile(site.target, caps, &views, packed, self.by);
        site.engine.remark(|| choice::remark(&tile, self.by.is_some()));
        let heads = loaded(operands, tile.unit)?;
        let each = tile.mask == Mask::Each;
        let reached = heads.iter().enumerate().map(|(i, head)| head.raw(i == 3 && each));
        let landing = Landing::whole(self.name(), site, reached, tail, false)?;
        landing.by(self.launch(site.target, &tile, &views)?)
    }
}

impl AttentionCore {
    /// How many states of every row are left at most, between two kernels.
    pub(crate) fn states(&self, site: Site<'_>, views: &[Layout]) -> usize {
        let room = site.engine.segment_elements(DType::F32);
        let Site { breadth, batch_invariant, .. } = site;
        if self.staged { choice::states(views, room, breadth, batch_invariant) } else { 1 }
    }

    /// The kernel over all queries.
    fn launch<'a>(&self, target: Target, tile: &'a Block, views: &[Layout]) -> Result<Launch<'a>> {
        let crew = Crew::of(target, tile, views);
        let job = self.job(views, 4 * tile.unit.quads() as isize, crew.per_head)?;
        let groups = fold(word(crew.groups)?);
        Ok(Launch {
            workgroup: Some(crew.workgroup),
            work: self.counted(views, self.work(views)),
            ..Launch::of(&text::ATTENTION, tile, job.words(), groups)
        })
    }

    /// Whether no block of keys is left out.
    fn sees_all(&self, views: &[Layout]) -> bool {
        let rows = |i: usize| views[i].shape().dims()[2];
        !self.sight.hides(rows(0), rows(1))
    }

    /// So many multiplications and additions of the two products: where some of them are left out
    /// nobody counts the others.
    fn counted(&self, views: &[Layout], work: u64) -> Labour {
        Labour { flops: if self.sees_all(views) { work } else { 0 }, effort: work }
    }

    /// Those of all queries and keys, whichever are left out.
    fn work(&self, views: &[Layout]) -> u64 {
        let dims = |i: usize| views[i].shape().dims().iter().map(|&d| d as u64);
        let lanes = dims(1).skip(3).chain(dims(2).skip(3)).sum::<u64>();
        2 * dims(0).take(3).product::<u64>() * dims(1).skip(2).take(1).product::<u64>() * lanes
    }

    /// What both kernels are told, of queries, keys and values that are loaded by units of so many
    /// elements.
    fn job(&self, views: &[Layout], unit: isize, per_head: usize) -> Result<AttentionJob> {
        let dims = |i: usize| views[i].shape().dims();
        let [batch, count, queries] = words([0, 1, 2].map(|axis| dims(0)[axis]))?;
        let [shared, keys] = words([1, 2].map(|axis| dims(1)[axis]))?;
        let steps = |i: usize, unit: isize| {
            [0, 1, 2, 3].map(|axis| wrapped(views[i].strides()[axis] / unit))
        };
        // And the units of a row.
        let rows_of = |i: usize| -> Result<[u32; 4]> {
            let [batch, head, row, _] = steps(i, unit);
            Ok([batch, head, row, word(dims(i)[3] / unit.unsigned_abs())?])
        };
        let Sight { first, before, after } = self.sight;
        Ok(AttentionJob {
            heads: batch * shared,
            queries,
            keys,
            per_head: word(per_head)?,
            per_batch: shared,
            sharing: count / shared.max(1),
            first: (first - i64::from(before)) as u32,
            span: before + after + 1,
            query: rows_of(0)?,
            key: rows_of(1)?,
            value: rows_of(2)?,
            mask: if views.len() > 3 { steps(3, 1) } else { [0; 4] },
            scale: self.scale,
        })
    }
}
