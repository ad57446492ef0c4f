//! Flat convolutions, for processors: by tiles of pixels of a padded copy of the input, without a
//! copy of all windows.
//!
//! ```text
//! X           [images, channels, 1, y, x] with its borders, dense, lines of whole quads
//! W           [rows, channels of a group, 1, taps along y, x], copied into strips
//! Y           [images, rows, 1, y, x], dense; its tail is fused
//! ```
//!
//! What was measured is in `docs/measured/images.md`.

use std::sync::Arc;

use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Labour, Value};
use crate::kernel::cores::{Core, Head, Landing, Launch, Tail, in_pieces};
use crate::kernel::moves::strips;
use crate::kernel::plan::taps::{flops, terms};
use crate::kernel::{Operand, moves};
use crate::proof::Oracle;
use crate::shape::Shape;
use crate::wgsl::grid::fold;
pub(crate) use plan::Flat;
use text::{FLAT, FlatTile, LANES_EACH};

pub(super) mod plan;
pub mod text;

/// A flat convolution, deferred. Its inputs and its result fit in a segment each.
#[derive(Debug)]
pub(crate) struct FlatCore {
    /// What it is called.
    pub(crate) name: &'static str,
    pub(crate) flat: Flat,
}

impl Core for FlatCore {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_long(&self) -> bool {
        true
    }

    fn oracle(&self) -> Option<Oracle> {
        Some(self.flat.taps.convolved())
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let site = Site { target: site.target.of_products(site.engine.gpu.caps()), ..site };
        let [input, weight] = inputs else { return Err(in_pieces(self.name())) };
        let taps = &self.flat.taps;
        let input = moves::reachable(site, input.realise(site)?, |layout| {
            layout.is_dense() && layout.offset().is_multiple_of(4)
        })?;
        let weight = weight.realise(site)?;
        let (x, w) = (*input.layout.shape(), *weight.layout.shape());
        let tile = FlatTile::of(taps, &w, site.rig())?;
        site.engine
            .remark(|| format!("flat convolution by tiles of {} channels x 16 pixels", tile.rows));
        let (job, groups) = tile.job(taps, &x, &w)?;
        let heads = [
            Head::view(input),
            Head::view(in_strips(site, weight, taps.groups, tile.rows as usize)?),
        ];
        let reached = heads.iter().map(|head| head.raw(false));
        let landing = Landing::whole(self.name(), site, reached, tail, !tile.whole)?;
        landing.by(Launch {
            workgroup: Some(LANES_EACH as u32),
            work: Labour::of(flops(&tail.shape, w.dims()[1..].iter().product())),
            ..Launch::of(&FLAT, &tile, job.words(), fold(groups))
        })
    }
}

/// Weights in which those of all rows of a strip, so many each, lie side by side.
fn in_strips(site: Site<'_>, weight: Operand, groups: usize, each: usize) -> Result<Operand> {
    let dims = weight.layout.shape().dims();
    let (rows, terms) = (dims[0] / groups, terms(weight.layout.shape()));
    let shape = Shape::new([groups, rows, terms])?;
    let list = match weight.layout.reshape(shape) {
        Ok(layout) => weight.under(layout),
        Err(_) => Operand::dense(moves::contiguous(site, &weight)?, shape, weight.dtype),
    };
    let strips = strips::left(site, &list, each)?;
    let all = Shape::new([groups * rows.div_ceil(each), terms, each])?;
    Ok(Operand::dense(strips.value, all, strips.dtype))
}
