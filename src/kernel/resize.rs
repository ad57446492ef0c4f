//! An axis at another length: each element a sum of two or four of the source, by weights.
//!
//! ```text
//! an axis     X    [rows, length, across], read where it lies, at any strides
//!             Y    [rows, to, across], dense
//! an image    X    [images, height, width], likewise
//!             Y    [images, to, to], dense
//! ```
//!
//! One axis at a time, but for images of which both become longer, or stay as long: one pass, whose
//! lanes walk down them. A lane keeps what lines of the source are along its quad. So an element of
//! the source is loaded once for all lines of the result that are made of it, and nothing is stored
//! between the axes.

use std::sync::Arc;

use super::cores::{Core, Head, Landing, Launch, Tail, in_pieces, reachable};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::op::Kind;
use crate::proof::Oracle;
use crate::wgsl::grid::groups_for;
pub(crate) use plan::{Enlarging, Resizing};
use text::{ENLARGE, Lies, RESIZE, ResizeText};

mod plan;
pub mod text;

/// What is resized, deferred. Its input is a view of three axes that fits in a segment, as the
/// result does.
#[derive(Debug)]
pub(crate) enum ResizeCore {
    Axis(Resizing),
    Image(Enlarging),
}

impl Core for ResizeCore {
    fn name(&self) -> &'static str {
        "interpolate"
    }

    fn oracle(&self) -> Option<Oracle> {
        Some(match *self {
            Self::Axis(Resizing { to, at }) => Oracle::Resized { to, at },
            Self::Image(Enlarging { to, at }) => Oracle::Enlarged { to, at },
        })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let (heads, layouts) = reachable(site, inputs)?;
        let ([head], [layout]) = (&*heads, &*layouts) else { return Err(in_pieces(self.name())) };
        let kind = Kind::of(tail.given());
        let text = match self {
            Self::Axis(axis) => axis.text(layout, kind),
            Self::Image(image) => image.text(kind),
        };
        let quads = if text.lies == Lies::Across { head.raw(false)? } else { None };
        let lies = match text.lies {
            Lies::Across if quads.is_none() => Lies::AcrossEach,
            other => other,
        };
        let text = ResizeText { lies, ..text };
        let source = quads.map_or_else(|| head.raw(true), |quads| Ok(Some(quads)));
        let on = (site.target, site.breadth);
        let (entry, job, lanes) = match self {
            Self::Axis(axis) => {
                let (job, lanes) = axis.job(&text, layout, on)?;
                (&RESIZE, job.words(), lanes)
            }
            Self::Image(image) => {
                let (job, lanes) = image.job(layout, on)?;
                (&ENLARGE, job.words(), lanes)
            }
        };
        let landing = Landing::whole(self.name(), site, [source], tail, !text.whole)?;
        landing.by(Launch::of(entry, &text, job, groups_for(lanes, site.target)))
    }
}
