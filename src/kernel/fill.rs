//! A constant into every element, as bits, made on the device.

use std::sync::Arc;

use super::Held;
use super::made::write;
use crate::count::{index, word};
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::Result;
use crate::exec::Value;
use crate::shape::Shape;
use crate::wgsl::{Form, Grid, Slot, kept};
use text::{FILL, FillJob};

pub mod text;

/// Bytes that the kernel writes at once: four words.
const QUAD_BYTES: u64 = 16;

/// A new value whose elements all have these little-endian bytes.
pub(crate) fn full(
    site: Site<'_>,
    shape: &Shape,
    dtype: DType,
    element: &[u8],
) -> Result<Arc<Value>> {
    let value = Value::new(site.engine.allocate(Engine::bytes_of(shape, dtype)?, &[])?);
    into(site, &value, bits(element))?;
    Ok(value)
}

/// Like `full`, but in one piece wherever one segment holds it.
pub(crate) fn whole(
    site: Site<'_>,
    shape: &Shape,
    dtype: DType,
    element: &[u8],
) -> Result<Arc<Value>> {
    let (value, _) = Held::fresh(site, shape, dtype, &[])?;
    into(site, &value, bits(element))?;
    Ok(value)
}

/// Fills a value with these eight bytes, again and again.
pub(crate) fn into(site: Site<'_>, value: &Arc<Value>, bits: [u32; 2]) -> Result<()> {
    let pinned = value.pin()?;
    let [a, b] = bits;
    let kernel = kept::kernel(&FILL, &[Slot::write(Form::W32)], 0, site.target);
    let mut left = pinned.bytes;
    for piece in &pinned.pieces() {
        // A piece is padded to whole quads, so the last one may write past the tensor's end.
        let bytes = left.min(pinned.segment_bytes);
        left -= bytes;
        let quads = word(index(bytes.div_ceil(QUAD_BYTES))?)?;
        let grid = Grid::new(quads, site.target);
        let job = FillJob { grid, bits: [a, b, a, b] };
        write(site, &kernel, (value, piece), (grid, job.words()))?;
    }
    Ok(())
}

/// Repeats the little-endian bytes of an element, 1, 2, 4 or 8 of them, to eight for [`into`].
#[must_use]
pub(crate) fn bits(element: &[u8]) -> [u32; 2] {
    let byte = |i: usize| u32::from(element[i % element.len()]) << (8 * (i % 4));
    [(0..4).map(byte).sum(), (4..8).map(byte).sum()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fill_repeats_its_element() {
        assert_eq!(bits(&[7]), [0x0707_0707; 2]);
        assert_eq!(bits(&[1, 2]), [0x0201_0201; 2]);
        assert_eq!(bits(&[1, 2, 3, 4, 5, 6, 7, 8]), [0x0403_0201, 0x0807_0605]);
    }
}
