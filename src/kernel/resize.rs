//! An axis at another length: each element a sum of two or four of the source, by weights, or the
//! mean of all that it covers.
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

use super::cores::{Core, Head, Landing, Launch, Reach, Tail, in_pieces, reachable};
use crate::engine::Site;
use crate::error::{Error, Result};
use crate::exec::{Labour, Value};
use crate::layout::Layout;
use crate::op::Kind;
use crate::proof::Oracle;
use crate::wgsl::grid::groups_for;
use crate::wgsl::{Entry, Wording};
pub(crate) use plan::{Covering, Enlarging, Resizing};
use text::{COVER, CoverText, ENLARGE, Lies, RESIZE, ResizeText};

mod plan;
pub mod text;

/// What is resized, deferred. Its input is a view of three axes that fits in a segment, as the
/// result does.
#[derive(Debug)]
pub(crate) enum ResizeCore {
    Axis(Resizing),
    Image(Enlarging),
    Cover(Covering),
}

impl ResizeCore {
    /// How many elements of the source each one of the result is made of, at most.
    fn terms(&self, source: &Layout) -> u64 {
        match self {
            Self::Axis(axis) => plan::taps(axis.at),
            Self::Image(image) => image.at.map(plan::taps).into_iter().product(),
            Self::Cover(cover) => cover.terms(source.shape().dims()[1]),
        }
    }
}

impl Core for ResizeCore {
    fn name(&self) -> &'static str {
        "interpolate"
    }

    fn oracle(&self) -> Option<Oracle> {
        Some(match *self {
            Self::Axis(Resizing { to, at }) => Oracle::Resized { to, at },
            Self::Image(Enlarging { to, at }) => Oracle::Enlarged { to, at },
            Self::Cover(Covering { to, filter }) => Oracle::Covered { to, filter },
        })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let (heads, layouts) = reachable(site, inputs)?;
        let ([head], [layout]) = (&*heads, &*layouts) else { return Err(in_pieces(self.name())) };
        let (kind, on) = (Kind::of(tail.given()), (site.target, site.breadth));
        // What lies across is loaded as quads where the operand lies by them.
        let source = |lies: Lies| {
            Ok::<_, Error>(match (lies, head.raw(lies != Lies::Across)?) {
                (Lies::Across, None) => (Lies::AcrossEach, head.raw(true)?),
                settled => settled,
            })
        };
        let terms = self.terms(layout) * tail.shape.elements() as u64;
        let run = |source: Option<Reach<'_>>, whole: bool, (entry, text, job, lanes): Told<'_>| {
            let landing = Landing::whole(self.name(), site, [Ok(source)], tail, !whole)?;
            let launch = Launch::of(entry, text, job, groups_for(lanes, site.target));
            landing.by(Launch { work: Labour::reading(terms), ..launch })
        };
        match self {
            Self::Axis(axis) => {
                let text = axis.text(layout, kind);
                let (lies, source) = source(text.lies)?;
                let (job, lanes) = axis.job(lies, layout, on)?;
                let told = ResizeText { lies, ..text };
                run(source, text.whole, (&RESIZE, &told, job.words(), lanes))
            }
            Self::Image(image) => {
                let text = image.text(kind);
                let (job, lanes) = image.job(layout, on)?;
                run(head.raw(true)?, text.whole, (&ENLARGE, &text, job.words(), lanes))
            }
            Self::Cover(cover) => {
                let text = cover.text(layout, kind);
                let (lies, source) = source(text.lies)?;
                let (job, lanes) = cover.job(lies, layout, on)?;
                let told = CoverText { lies, ..text };
                run(source, text.whole, (&COVER, &told, job.words(), lanes))
            }
        }
    }
}

/// A kernel, what is written into it, what it is told, and how many lanes it takes.
type Told<'a> = (&'static Entry, &'a dyn Wording, Vec<u32>, u32);
