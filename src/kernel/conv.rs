//! Convolutions: sums over a window of the input, wherever the result has a pixel.
//!
//! ```text
//! X           [images, channels, z, y, x], read where it lies, at any strides
//! W           [rows, channels of a group, taps along z, y, x], likewise
//! Y           [images, rows, z, y, x], dense; its tail is fused
//! ```
//!
//! One kernel serves one, two and three dimensions, and every stride, padding, dilation and number
//! of groups: it finds the four places of a tap once, and then walks the channels. Convolutions of
//! a single tap never come here: they are products.
//! Nor do those for a processor, but for depthwise ones: on lavapipe a product with a copy of all
//! windows takes a half to a fifth of the kernel's time, because its lanes load whole quads.
//!
//! Heads are computed first: a pixel is loaded once for each tap and each tile of rows.

use std::sync::Arc;

use super::cores::{Core, Head, Landing, Launch, Reach, Tail};
use super::{Operand, moves};
use crate::engine::Site;
use crate::error::{Error, Result, mistake};
use crate::exec::Value;
use crate::op::Kind;
use crate::proof::Oracle;
use crate::wgsl::grid::fold;
pub(crate) use plan::{ConvPart, Taps, flops, inner, is_product, terms, trips};
use text::ConvTile;

mod plan;
pub mod text;

/// A convolution, deferred. Its inputs are views of five axes, and each of them and the result fits
/// in a segment.
#[derive(Debug)]
pub(crate) struct ConvCore(pub(crate) Taps);

impl Core for ConvCore {
    fn name(&self) -> &'static str {
        "convolution"
    }

    fn oracle(&self) -> Option<Oracle> {
        let Taps { step, reach, first, groups, .. } = self.0;
        Some(Oracle::Convolved { step, reach, first, groups })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let operands = inputs.iter().map(|head| reachable(site, head));
        let operands: Vec<Operand> = operands.collect::<Result<_>>()?;
        let [input, weight] = [0, 1].map(|i| operands.get(i).map(|operand| operand.layout));
        let (Some(input), Some(weight)) = (input, weight) else { return Err(astray()) };
        let tile = ConvTile::of(&self.0, &weight, Kind::of(tail.given()), site.target);
        site.engine.remark(|| remark(&tile));
        let (job, groups) = tile.job(&self.0, &input, &weight)?;
        let heads: Vec<Head> = operands.into_iter().map(Head::view).collect();
        let sources: Option<Vec<Reach<'_>>> =
            heads.iter().map(|head| head.raw(true)).collect::<Result<_>>()?;
        let landing = Landing::of(site, sources.ok_or_else(astray)?, tail, !tile.whole, &[])?;
        let landing = landing.ok_or_else(astray)?;
        landing.launch(Launch {
            flops: flops(&tail.shape, terms(&weight)),
            entry: &text::CONV,
            wording: &tile,
            workgroup: None,
            job: job.words(),
            groups: fold(groups),
        })?;
        landing.finish()
    }
}

/// An input in one segment.
pub(super) fn reachable(site: Site<'_>, head: &Head) -> Result<Operand> {
    let operand = head.realise(site)?;
    if operand.hold()?.is_in_one_segment() {
        return Ok(operand);
    }
    // A broadcast axis is copied once, and broadcast again.
    let layout = operand.layout;
    let once = layout.strides().iter().zip(layout.shape().dims());
    let once: Vec<_> = once.map(|(&stride, &dim)| 0..if stride == 0 { 1 } else { dim }).collect();
    let copy = moves::gather(site, &operand.under(layout.part(&once)?), &[])?;
    Ok(copy.under(copy.layout.broadcast_to(layout.shape())?))
}

/// Why it is computed as it is.
fn remark(tile: &ConvTile) -> String {
    let ConvTile { rows, lanes, .. } = tile;
    let whose = if tile.staged { "that the lanes load together" } else { "loaded by each lane" };
    format!("convolution by tiles of {rows} channels x {} pixels, weights {whose}", 4 * lanes)
}

/// Inputs were copied into one segment each, and the result is smaller than one.
fn astray() -> Error {
    mistake("convolution", "an operand came in several segments")
}
