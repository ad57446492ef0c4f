//! Random tensors: drawn on the device, the same wherever they are cut into windows.

use std::sync::Arc;

use super::iota::iota;
use super::{Held, Operand, sort};
use crate::caps::Feature;
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Bound, Job, Value};
use crate::shape::Shape;
use crate::wgsl::params::Operands;
use crate::wgsl::{Form, Grid, Target};
use text::{Draw, RandomJob};

pub mod text;

/// A new value of this shape, drawn with a key.
pub(crate) fn random(
    site: Site<'_>,
    shape: &Shape,
    dtype: DType,
    key: [u32; 2],
    (draw, words): (Draw, [u32; 2]),
) -> Result<Arc<Value>> {
    let (value, held) = Held::fresh(site, shape, dtype, &[])?;
    // Integers of either sign are the same bits.
    let stored = if draw == Draw::Below { DType::U32 } else { dtype };
    let f16_native = site.engine.gpu.caps().has(Feature::ShaderF16) && site.target == Target::Gpu;
    let kernel = draw.assemble(Form::of(stored, f16_native), site.target);
    let count = shape.elements();
    for (piece, first) in held.pieces.iter().zip((0..count).step_by(held.segment)) {
        // A segment is below 2^32, and begins at a whole quad.
        let here = held.segment.min(count - first) as u32;
        let quad = first as u64 / 4;
        let grid = Grid::of_elements(here, site.target);
        let key = [key[0], key[1], quad as u32, (quad >> 32) as u32];
        let job = RandomJob { grid, key, draw: words };
        site.dispatch(Job {
            kernel: &kernel,
            bindings: vec![Bound::from(piece)],
            params: Operands { offsets: &[0], ..Operands::default() }.after(job.words()),
            groups: grid.groups(),
            outputs: vec![Arc::downgrade(&value)],
        })?;
    }
    Ok(value)
}

/// 0 to `count` in random order: by 64 bits each, the lower ones first.
pub(crate) fn permutation(site: Site<'_>, key: [u32; 2], count: usize) -> Result<Arc<Value>> {
    if count == 0 {
        return iota(site, 0);
    }
    let list = Shape::new([count])?;
    let of = |value| Operand::dense(value, list, DType::U32);
    let bits = |stream| random(site, &list, DType::U32, key, (Draw::Bits, [stream, 0])).map(of);
    let (high, low) = (bits(0)?, bits(1)?);
    sort::order(site, &[(low, 32), (high, 32)], sort::SortedRows { count: 1, length: count })
}
