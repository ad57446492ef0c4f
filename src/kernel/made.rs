//! Values made of nothing: by kernels with one binding, which they write.

use std::sync::Arc;

use super::Held;
use crate::count::word;
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Bound, Job, Value};
use crate::shape::Shape;
use crate::store::Piece;
use crate::wgsl::params::Operands;
use crate::wgsl::{Assembled, Grid};

/// A new value, made segment by segment. `words` are what a kernel is told of the elements from
/// one on.
pub(super) fn made(
    site: Site<'_>,
    kernel: &Assembled,
    (shape, dtype): (&Shape, DType),
    words: impl Fn(Grid, usize) -> Result<Vec<u32>>,
) -> Result<Arc<Value>> {
    let (value, held) = Held::fresh(site, shape, dtype, &[])?;
    let count = shape.elements();
    for (piece, first) in held.pieces.iter().zip((0..count).step_by(held.segment)) {
        let here = word(held.segment.min(count - first))?;
        let grid = Grid::of_elements(here, site.target);
        write(site, kernel, (&value, piece), (grid, words(grid, first)?))?;
    }
    Ok(value)
}

/// Has a kernel write one piece of a value.
pub(super) fn write(
    site: Site<'_>,
    kernel: &Assembled,
    (value, piece): (&Arc<Value>, &Piece),
    (grid, words): (Grid, Vec<u32>),
) -> Result<()> {
    site.dispatch(Job {
        kernel,
        bindings: vec![Bound::from(piece)],
        params: Operands { offsets: &[0], ..Operands::default() }.after(words),
        groups: grid.groups(),
        outputs: vec![Arc::downgrade(value)],
    })
}
