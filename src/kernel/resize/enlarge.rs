//! Images whose axes both become longer, or stay as long: one pass, whose lanes walk down them.
//!
//! ```text
//! X           [images, height, width], read where it lies, at any strides
//! Y           [images, to, to], dense
//! ```
//!
//! A lane keeps what lines of the source are along its quad. So an element of the source is loaded
//! once for all lines of the result that are made of it, and nothing is stored between the axes.

use std::sync::Arc;

use super::super::cores::{Core, Head, Landing, Launch, Tail, in_pieces, reachable};
use super::plan::elements;
use super::text::{ENLARGE, EnlargeJob, Lies, ResizeText};
use crate::count::{word, words, wrapped};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::layout::Layout;
use crate::op::Kind;
use crate::proof::Oracle;
use crate::reference::Resampling;
use crate::wgsl::Target;
use crate::wgsl::grid::{LANES_BUSY, groups_for};

/// The lines of the result that a lane takes: with the first come those that it is made of.
const LINES: usize = 16;

/// Two axes at other lengths, the lines of images and their elements; by the same sums.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enlarging {
    pub(crate) to: [usize; 2],
    pub(crate) at: [Resampling; 2],
}

impl Enlarging {
    /// Whether the kernel is for images of this height: of none that become smaller, whose lines
    /// are skipped, and none whose places are above an i32 when they are walked past.
    pub(crate) fn takes(&self, height: usize) -> bool {
        let [down, along] = self.at;
        let past = (height as u64 + 2) * u64::from(down.parts);
        down.cubic == along.cubic
            && i32::try_from(past).is_ok()
            && self.at.iter().all(|at| at.factor <= at.parts)
    }

    fn text(&self, kind: Kind) -> ResizeText {
        let [_, along] = self.at;
        // No more than seven, because it becomes no shorter.
        let elements = elements(along) as u32;
        let whole = self.to[1].is_multiple_of(4);
        ResizeText { lies: Lies::Walked(elements), cubic: along.cubic, kind, whole }
    }

    /// What it is told, and how many lanes it takes.
    fn job(&self, view: &Layout, target: Target) -> Result<(EnlargeJob, u32)> {
        let (dims, [high, wide]) = (view.shape().dims(), self.to);
        let quads = wide.div_ceil(4);
        let most = match target {
            Target::Gpu => (dims[0] * high * quads / LANES_BUSY).clamp(1, LINES),
            Target::Cpu | Target::Cpu64 => LINES,
        };
        // Lines that are shared out evenly.
        let blocks = high.div_ceil(most);
        let all = dims[0] * blocks * quads;
        let [image, line, element] = [0, 1, 2].map(|axis| wrapped(view.strides()[axis]));
        let [down, along] = self.at;
        let job = EnlargeJob {
            columns: words([all, quads, blocks, high.div_ceil(blocks)])?,
            size: words([high, wide, high * wide, 0])?,
            place: [along.factor, along.term as u32, along.parts, word(dims[2] - 1)?],
            down: [down.factor, down.term as u32, down.parts, word(dims[1] - 1)?]
                .map(u32::cast_signed),
            stride: [image, element, line, 0],
        };
        Ok((job, word(all)?))
    }
}

/// Larger images, deferred. Their input is a view of three axes that fits in a segment, as the
/// result does.
#[derive(Debug)]
pub(crate) struct EnlargeCore(pub(crate) Enlarging);

impl Core for EnlargeCore {
    fn name(&self) -> &'static str {
        "interpolate"
    }

    fn oracle(&self) -> Option<Oracle> {
        let Enlarging { to, at } = self.0;
        Some(Oracle::Enlarged { to, at })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let (heads, layouts) = reachable(site, inputs)?;
        let ([head], [layout]) = (&*heads, &*layouts) else { return Err(in_pieces(self.name())) };
        let text = self.0.text(Kind::of(tail.given()));
        let (job, lanes) = self.0.job(layout, site.target)?;
        let landing = Landing::whole(self.name(), site, [head.raw(true)], tail, !text.whole)?;
        let groups = groups_for(lanes, site.target);
        landing.by(Launch::of(&ENLARGE, &text, job.words(), groups))
    }
}
