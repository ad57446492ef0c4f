//! Random tensors: drawn on the device, the same wherever they are cut into windows.

use std::sync::Arc;

use super::iota::iota;
use super::made::made;
use super::{Operand, sort};
use crate::caps::Feature;
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::shape::Shape;
use crate::wgsl::{Form, Target};
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
    // Integers of either sign are the same bits.
    let stored = if draw == Draw::Below { DType::U32 } else { dtype };
    let f16_native = site.engine.gpu.caps().has(Feature::ShaderF16) && site.target == Target::Gpu;
    let kernel = draw.assemble(Form::of(stored, f16_native), site.target);
    let job = |grid, first| {
        // A segment begins at a whole quad.
        let quad = first as u64 / 4;
        let key = [key[0], key[1], quad as u32, (quad >> 32) as u32];
        Ok(RandomJob { grid, key, draw: words }.words())
    };
    made(site, &kernel, (shape, dtype), job)
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
    sort::positions(site, &[(low, 32), (high, 32)], sort::SortedRows::new(1, count))
}
