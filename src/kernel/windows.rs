//! Windows: pools, and the convolutions of channels by themselves.
//!
//! ```text
//! X           [images, channels, z, y, x], read where it lies, at any strides
//! Y           [images, channels, z, y, x], dense: what the elements in a window come to
//! W           [channels, 1, taps along z, y, x]: a sum is one by weights
//! ```
//!
//! Nothing is padded or unfolded: where a window reaches beyond the input, it finds a value that
//! changes nothing. Large windows are done elsewhere: pools by reductions of a view, and
//! convolutions by their general kernel.

use std::sync::Arc;

use super::cores::{Core, Head, Landing, Launch, Stint, Tail, in_pieces, reachable};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Labour, Value};
use crate::kernel::plan::taps::{Taps, flops, terms};
use crate::op::Reduction;
use crate::proof::Oracle;
pub(crate) use plan::{Windows, takes};
use text::{Gather, WINDOWS, WindowsJob};

pub(super) mod plan;
pub mod text;

/// A pool or a convolution, deferred. Its inputs are views of five axes, and each of them and the
/// result fits in a segment.
#[derive(Debug)]
pub(crate) struct WindowsCore {
    pub(crate) name: &'static str,
    pub(crate) windows: Windows,
}

impl Core for WindowsCore {
    fn name(&self) -> &'static str {
        self.name
    }

    fn oracle(&self) -> Option<Oracle> {
        let Windows { gather, size, taps } = self.windows;
        let Taps { step, reach, first, result, .. } = taps;
        let reduction = match gather {
            Gather::Highest => Reduction::Max,
            Gather::Sum => Reduction::Sum,
            Gather::Weighted => return Some(taps.convolved()),
        };
        Some(Oracle::Pooled { reduction, size, step, reach, first, result })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let (heads, layouts) = reachable(site, inputs)?;
        let ([head, beside @ ..], [input, weight @ ..]) = (&*heads, &*layouts) else {
            return Err(in_pieces(self.name));
        };
        let weight = weight.first();
        let quads = if plan::rows_are_quads(input) { head.raw(false)? } else { None };
        let text = self.windows.text(input, head.dtype, quads.is_some(), site.target)?;
        let (job, lanes) = self.windows.job(&text, input, weight, site.target)?;
        let first = quads.map_or_else(|| head.raw(true), |quads| Ok(Some(quads)));
        let reached = [first].into_iter().chain(beside.iter().map(|head| head.raw(true)));
        let landing = Landing::whole(self.name, site, reached, tail, !text.whole)?;
        let taps =
            self.windows.size.iter().fold(tail.shape.elements() as u64, |n, &d| n * d as u64);
        let work = match weight {
            Some(weight) => Labour::of(flops(&tail.shape, terms(weight.shape()))),
            None => Labour::reading(taps),
        };
        let (groups, watched) = (lanes.div_ceil(site.target.workgroup()), tail.given());
        let stints = Stint::all(groups, work.effort(), site.watched(watched));
        landing.by_all(stints.map(|stint| {
            let job = WindowsJob { first_group: stint.first, ..job };
            let launch = Launch::of(&WINDOWS, &text, job.words(), stint.groups);
            Launch { work: work.part(stint.work), ..launch }
        }))
    }
}
