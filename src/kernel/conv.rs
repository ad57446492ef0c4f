//! Convolutions: sums over a window of the input, wherever the result has a pixel.
//!
//! ```text
//! X           [images, channels, z, y, x], read where it lies, at any strides
//! W           [rows, channels of a group, taps along z, y, x], likewise
//! Y           [images, rows, z, y, x], dense; its tail is fused
//! ```
//!
//! One kernel serves one, two and three dimensions, and every stride, padding, dilation and number
//! of groups: it finds the four places of a tap once, and then walks the channels. What is left to
//! products, or to lines of a copy with borders ([`flat`]), says [`choice`]: on lavapipe a product
//! with a copy of all windows takes a half to a fifth of the kernel's time.
//!
//! On a GPU whatever has rows, channels and pixels to share goes by tiles in workgroup memory
//! ([`group`]).
//!
//! Heads are computed first: a pixel is loaded once for each tap and each tile of rows.

use std::sync::Arc;

use super::cores::{Core, Head, Landing, Launch, Stint, Tail, in_pieces, reachable};
use crate::count::wrapped;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Labour, Value};
use crate::kernel::plan::taps::{Taps, flops, terms};
use crate::op::Kind;
use crate::proof::Oracle;
use crate::wgsl::entry::Entry;
use crate::wgsl::wording::Wording;
use group::text::ConvGroup;
pub(crate) use plan::ConvPart;
use text::{ConvJob, ConvTile};

pub(crate) mod choice;
pub mod flat;
pub mod group;
mod plan;
pub mod text;

/// A convolution, deferred. Its inputs are views of five axes, and each of them and the result fits
/// in a segment.
#[derive(Debug)]
pub(crate) struct ConvCore {
    /// What it is called.
    pub(crate) name: &'static str,
    pub(crate) taps: Taps,
}

impl Core for ConvCore {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_long(&self) -> bool {
        true
    }

    fn oracle(&self) -> Option<Oracle> {
        Some(self.taps.convolved())
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let (heads, layouts) = reachable(site, inputs)?;
        let [input, weight] = *layouts else { return Err(in_pieces(self.name())) };
        let (kind, flops) = (Kind::of(tail.given()), flops(&tail.shape, terms(weight.shape())));
        let both = [&input, &weight];
        if let Some(tile) = ConvGroup::of(&self.taps, both, kind, site.batch_invariant, site.rig())
        {
            let weights = group::in_rows(site, &heads[1])?;
            site.engine.remark(|| tile.remark());
            let (job, groups) = plan::job(&self.taps, &input, &weights.layout, tile.reach())?;
            // By quads, divided while they have a sign.
            let quads = |axis: usize| wrapped(weights.layout.strides()[axis] / 4);
            let job = ConvJob { weight: [2, 3, 4, 1].map(quads), ..job };
            let weights = Head::view(weights);
            let reached = [heads[0].raw(true), weights.raw(false)];
            let landing = Landing::whole(self.name(), site, reached, tail, !tile.whole)?;
            let stints = Stint::all(groups, flops, site.watched(tail.given()));
            return by_stints(landing, stints, &group::text::GROUP, &tile, job);
        }
        let tile = ConvTile::of(&self.taps, &weight, kind, site.target);
        site.engine.remark(|| remark(&tile));
        let (job, groups) = plan::job(&self.taps, &input, &weight, [tile.rows, tile.lanes])?;
        let reached = heads.iter().map(|head| head.raw(true));
        let landing = Landing::whole(self.name(), site, reached, tail, !tile.whole)?;
        let stints = Stint::all(groups, flops, site.watched(tail.given()));
        by_stints(landing, stints, &text::CONV, &tile, job)
    }
}

fn by_stints(
    landing: Landing<'_>,
    stints: impl Iterator<Item = Stint>,
    entry: &'static Entry,
    wording: &dyn Wording,
    job: ConvJob,
) -> Result<Arc<Value>> {
    landing.by_all(stints.map(|Stint { first, groups, work }| {
        let job = ConvJob { first_group: first, ..job };
        let launch = Launch::of(entry, wording, job.words(), groups);
        Launch { work: Labour::of(work), ..launch }
    }))
}

/// Why it is computed as it is.
fn remark(tile: &ConvTile) -> String {
    let ConvTile { rows, lanes, .. } = tile;
    let whose = if tile.staged { "that the lanes load together" } else { "loaded by each lane" };
    format!("convolution by tiles of {rows} channels x {} pixels, weights {whose}", 4 * lanes)
}
