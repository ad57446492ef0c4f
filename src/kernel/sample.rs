//! Grid samples: an image at places that a tensor names, between its elements.
//!
//! ```text
//! X           [images, channels, lines, columns], read where it lies, at any strides
//! G           [images, y, x, 2], likewise: x and y of -1..1
//! Y           [images, channels, y, x], dense; its tail is fused
//! ```
//!
//! A place is found once for all channels. Composed of gathers it would be four of them, each with
//! an index of the size of the result.

use std::sync::Arc;

use super::cores::{Core, Head, Landing, Launch, Tail, in_pieces, reachable};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Labour, Value};
use crate::proof::Oracle;
use crate::wgsl::grid::fold;
pub(crate) use oracle::LENGTH_MAX;
pub(crate) use text::{Around, Sampling};

pub(super) mod oracle;
pub mod text;

/// An image that is sampled, deferred. Each of its inputs and its result fits in a segment.
#[derive(Debug)]
pub(crate) struct SampleCore {
    pub(crate) how: Sampling,
    pub(crate) corners: bool,
    /// What lies around, if it is a number.
    pub(crate) number: f32,
}

impl Core for SampleCore {
    fn name(&self) -> &'static str {
        "grid_sample"
    }

    fn oracle(&self) -> Option<Oracle> {
        let Self { how: Sampling { nearest, around, .. }, corners, number } = *self;
        let told = vec![nearest.into(), around as u32, corners.into(), number.to_bits()];
        Some(Oracle::Own { by: &oracle::GRID_SAMPLE, told })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let (heads, layouts) = reachable(site, inputs)?;
        let [input, grid] = &*layouts else { return Err(in_pieces(self.name())) };
        let (beside, on) = ((self.corners, self.number), (site.target, site.breadth));
        let (job, groups) = self.how.job([input, grid], beside, on)?;
        let reached = heads.iter().map(|head| head.raw(true));
        let landing = Landing::whole(self.name(), site, reached, tail, !self.how.whole)?;
        let workgroup = Some(Sampling::lanes(site.target));
        let launch = Launch::of(&text::GRID_SAMPLE, &self.how, job.words(), fold(groups));
        let taps = if self.how.nearest { 1 } else { 4 };
        let work = Labour::reading(taps * tail.shape.elements() as u64);
        landing.by(Launch { workgroup, work, ..launch })
    }
}
