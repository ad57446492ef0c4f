//! An axis at another length: each element a sum of two or four of the source, by weights.
//!
//! ```text
//! X           [rows, length, across], read where it lies, at any strides
//! Y           [rows, to, across], dense
//! ```
//!
//! One axis at a time, but for images that become larger, in `enlarge`.

use std::sync::Arc;

use super::cores::{Core, Head, Landing, Launch, Tail, in_pieces, reachable};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::op::Kind;
use crate::proof::Oracle;
use crate::wgsl::grid::groups_for;
pub(crate) use enlarge::{EnlargeCore, Enlarging};
pub(crate) use plan::Resizing;
use text::{Lies, RESIZE, ResizeText};

mod enlarge;
mod plan;
pub mod text;

/// A resized axis, deferred. Its input is a view of three axes that fits in a segment, as the
/// result does.
#[derive(Debug)]
pub(crate) struct ResizeCore(pub(crate) Resizing);

impl Core for ResizeCore {
    fn name(&self) -> &'static str {
        "interpolate"
    }

    fn oracle(&self) -> Option<Oracle> {
        let Resizing { to, at } = self.0;
        Some(Oracle::Resized { to, at })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let (heads, layouts) = reachable(site, inputs)?;
        let ([head], [layout]) = (&*heads, &*layouts) else { return Err(in_pieces(self.name())) };
        let text = self.0.text(layout, Kind::of(tail.given()));
        let quads = if text.lies == Lies::Across { head.raw(false)? } else { None };
        let lies = match text.lies {
            Lies::Across if quads.is_none() => Lies::AcrossEach,
            other => other,
        };
        let text = ResizeText { lies, ..text };
        let source = quads.map_or_else(|| head.raw(true), |quads| Ok(Some(quads)));
        let (job, lanes) = self.0.job(&text, layout, site.target)?;
        let landing = Landing::whole(self.name(), site, [source], tail, !text.whole)?;
        let groups = groups_for(lanes, site.target);
        landing.by(Launch::of(&RESIZE, &text, job.words(), groups))
    }
}
