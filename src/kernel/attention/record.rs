//! Attention by workgroups: its inputs as they are loaded, and its one or two dispatches.
//!
//! ```text
//! few keys, many rows      results
//! keys shared              states of each row -> results
//! ```

use std::sync::Arc;

use super::AttentionCore;
use super::choice;
use super::inputs::{Inputs, loaded};
use super::plan::{Crowd, Splits};
use super::text::AttentionJob;
use super::text::Unit;
use super::text::staged::{JOIN, JoinJob, QUADS_JOINED, ROWS, STAGED, Staged, StagedJob};
use crate::count::word;
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::kernel::Operand;
use crate::kernel::cores::{Berth, Core, Landing, Launch, Reach, Stint, Tail, in_pieces};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::wgsl::grid::fold;

impl AttentionCore {
    pub(super) fn by_workgroups(
        &self,
        site: Site<'_>,
        operands: Vec<Operand>,
        tail: &Tail,
    ) -> Result<Arc<Value>> {
        let Inputs { operands, views, packed } = Inputs::of(site, operands, true)?;
        let heads = loaded(operands, packed.map_or(Unit::Quad, Unit::Packed))?;
        let room = site.engine.segment_elements(DType::F32);
        let Site { breadth, batch_invariant, .. } = site;
        let (tile, splits) =
            choice::staged(&views, packed, room, breadth, batch_invariant, self.by);
        site.engine.remark(|| choice::staged_remark(&tile, splits, self.by.is_some()));
        let reached = heads.iter().enumerate().map(|(i, head)| head.raw(i == 3));
        let launches = self.launches(site, &tile, splits, &views)?;
        if !tile.states {
            let landing = Landing::whole(self.name(), site, reached, tail, false)?;
            launches.into_iter().try_for_each(|launch| landing.launch(launch))?;
            return landing.finish();
        }
        let broken = || in_pieces(self.name());
        let sources: Option<Vec<Reach<'_>>> = reached.collect::<Result<_>>()?;
        let sources = sources.ok_or_else(broken)?;
        let crowd = Crowd::of(&views);
        let (rows, states) = (crowd.heads * crowd.rows, tile.parts * splits.count);
        let shape = Shape::new([states, rows, 4 * (tile.width + 1)])?;
        let read: Vec<u64> = sources.iter().flat_map(Reach::ids).collect();
        let left = Berth::new(site, shape, DType::F32, false, &read)?.ok_or_else(broken)?;
        let sources: Vec<&Reach<'_>> = sources.iter().collect();
        for launch in launches {
            launch.record(site, &sources, &Reach::identity(DType::F32), &left.sink)?;
        }
        let landing = Landing::whole(self.name(), site, [left.head.raw(false)], tail, false)?;
        landing.by(join(rows, states, tile.width)?)
    }

    /// All workgroups, in stints.
    fn launches<'a>(
        &self,
        site: Site<'_>,
        tile: &'a Staged,
        splits: Splits,
        views: &[Layout],
    ) -> Result<Vec<Launch<'a>>> {
        let crowd = Crowd::of(views);
        let per_head = crowd.rows.div_ceil(ROWS * tile.groups);
        let job = self.job(views, if tile.packed.is_some() { 8 } else { 4 }, per_head)?;
        let AttentionJob { heads, queries, keys, per_head, per_batch, sharing, .. } = job;
        let AttentionJob { first, span, query, key, value, mask, scale, .. } = job;
        let groups = crowd.workgroups(tile.groups) * splits.count;
        let (splits, chunk) = (word(splits.count)?, word(splits.chunk)?);
        #[rustfmt::skip]
        let job = StagedJob {
            heads, queries, keys, per_head, per_batch, sharing, first, span,
            query, key, value, mask, scale, splits, chunk,
            first_group: 0,
        };
        let launch = |Stint { first, groups, work }| {
            let job = StagedJob { first_group: first, ..job };
            let launch = Launch::of(&STAGED, tile, job.words(), groups);
            Launch { work: self.counted(views, work), ..launch }
        };
        let stints = Stint::all(word(groups)?, self.work(views), site.watched(DType::F32));
        Ok(stints.map(launch).collect())
    }
}

/// The kernel that makes results of states.
fn join(rows: usize, states: usize, width: usize) -> Result<Launch<'static>> {
    let groups = (rows * width).div_ceil(QUADS_JOINED);
    let (rows, states, width) = (word(rows)?, word(states)?, word(width)?);
    let job = JoinJob { rows, states, width };
    Ok(Launch::of(&JOIN, &(), job.words(), fold(word(groups)?)))
}
