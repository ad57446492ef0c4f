//! Convolutions by tiles in workgroup memory, for GPUs: what a stage has of the input is loaded
//! once for all rows of a tile, and weights by quads of rows, which lie side by side for that.
//!
//! What was measured is in `docs/measured/images.md`.

use crate::engine::Site;
use crate::error::Result;
use crate::kernel::cores::Head;
use crate::kernel::{Operand, moves};
use crate::layout::Layout;

mod plan;
pub mod text;

/// The weights as a view whose rows lie side by side, by quads: of a copy, unless they do.
pub(super) fn in_rows(site: Site<'_>, weight: &Head) -> Result<Operand> {
    let weight = weight.realise(site)?;
    let fours = |layout: &Layout| {
        // An axis of one has no next.
        let axes = layout.strides().iter().zip(layout.shape().dims()).skip(1);
        let others = axes.filter(|(_, dim)| **dim > 1).all(|(stride, _)| stride % 4 == 0);
        layout.strides()[0] == 1 && others && layout.offset().is_multiple_of(4)
    };
    if fours(&weight.layout) {
        return Ok(weight);
    }
    // Taps, channels, rows.
    let ordered = weight.under(weight.layout.permute([2_usize, 3, 4, 1, 0])?);
    let copy = moves::contiguous(site, &ordered)?;
    let copy = Operand::dense(copy, *ordered.layout.shape(), weight.dtype);
    Ok(copy.under(copy.layout.permute([4_usize, 3, 0, 1, 2])?))
}
