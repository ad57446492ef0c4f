//! Blocks as numbers again, by elementwise operations on their bytes.

use super::{Quantised, QuantisedCause};
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::host::blocks::{BitPlane, Blocks, Share};
use crate::kernel::{Operand, moves};
use crate::op::Op;
use crate::shape::Shape;
use crate::tensor::Tensor;

impl Quantised {
    #[track_caller]
    pub(super) fn numbers(&self, dtype: DType) -> Result<Tensor> {
        if !dtype.is_float() {
            return Err(QuantisedCause::Numbers { dtype }.into());
        }
        let [out, k] = *self.shape.dims() else { return Ok(self.values.clone()) };
        let compute = if dtype == DType::F64 { dtype } else { DType::F32 };
        let all = match self.form {
            Blocks::Q8 => self.of_eight_bits(compute),
            Blocks::Q4 => self.of_four_bits(compute),
            _ => self.of_super_blocks(compute),
        };
        all?.cast(dtype)?.reshape([out, self.width()])?.slice(1, 0..k)
    }

    /// Values `[out, blocks, each]`, and what blocks have in common, `[out, blocks, each]`.
    fn blocks(&self) -> Result<[Tensor; 2]> {
        let [out, _] = *self.shape.dims() else {
            return Err(QuantisedCause::Rank { shape: self.shape }.into());
        };
        let blocks = self.width() / self.form.weights();
        let by =
            |tensor: &Tensor, share: Share| tensor.reshape([out, blocks, share.each(self.form)]);
        Ok([by(&self.values, Share::Values)?, by(&self.scales, Share::Scales)?])
    }

    fn of_eight_bits(&self, compute: DType) -> Result<Tensor> {
        let [values, scales] = self.blocks()?;
        values.cast(compute)? * scales.cast(compute)?
    }

    fn of_four_bits(&self, compute: DType) -> Result<Tensor> {
        let [values, scales] = self.blocks()?;
        let places = shifted(&values.unsqueeze(2)?, 2, 4)?.cast(compute)?;
        (places - 8.0f32)? * scales.unsqueeze(3)?.cast(compute)?
    }

    /// Each product is exact in f32, and their difference rounded once.
    fn of_super_blocks(&self, compute: DType) -> Result<Tensor> {
        let [values, scales] = self.blocks()?;
        let [out, blocks, _] = *values.shape().dims() else {
            return Err(QuantisedCause::Rank { shape: *values.shape() }.into());
        };
        let (mut places, mut below) = (None, 0);
        for plane in self.form.planes() {
            let part = of_plane(&values, *plane)?;
            places = Some(match places {
                None => part,
                Some(low) => part.apply(Op::Shl, &[below.into()])?.bit_or(&low)?,
            });
            below += plane.bits as u32;
        }
        let places = places.unwrap_or(values).cast(compute)?;
        let Common { parts, minima, centre } = common(self.form, &scales, compute)?;
        let each = |parts: &Tensor| {
            let sixteen = parts.shape().dims()[2] / 8;
            parts.reshape([out, blocks, 2, 2, 2, sixteen, 1])
        };
        let weights = ((places - centre)? * each(&parts)?)?;
        minima.map_or(Ok(weights.clone()), |minima| weights - each(&minima)?)
    }
}

/// Bits of 256 weights, as `[out, blocks, 2, 2, 2, 2, 16]`, so that bits that lie otherwise and
/// scales of sixteen or of 32 meet in one kernel. Each of the twos is a place in a byte, or of
/// bytes.
fn of_plane(values: &Tensor, plane: BitPlane) -> Result<Tensor> {
    let [out, blocks, _] = *values.shape().dims() else {
        return Err(QuantisedCause::Rank { shape: *values.shape() }.into());
    };
    let BitPlane { first, width, bits, .. } = plane;
    let is_shift = |weights: usize| (width..plane.shifts() * width).contains(&weights);
    let twos = |shift| [128, 64, 32].map(|weights| if is_shift(weights) == shift { 2 } else { 1 });
    let ([a, b, c], [d, e, f]) = (twos(false), twos(true));
    let bytes = values.at((.., .., first..first + plane.bytes()))?;
    let bytes = bytes.reshape([out, blocks, a, b, c, 2, 16])?;
    shifted_along(&bytes, [d, e, f, 1, 1], bits)
}

/// Bytes `[.., 1, n]`, as `[.., shifts, n]` of so many bits.
fn shifted(bytes: &Tensor, shifts: usize, bits: usize) -> Result<Tensor> {
    shifted_along(bytes, [shifts, 1], bits)
}

/// So many bits of bytes, the next ones along axes of this shape, which broadcasts against them.
fn shifted_along<const N: usize>(bytes: &Tensor, shape: [usize; N], bits: usize) -> Result<Tensor> {
    let by = (bytes.device().iota(shape.iter().product())? * bits as u32)?.cast(DType::U8)?;
    bytes.apply(Op::Shr, &[(&by.reshape(shape)?).into()])?.bit_and((1u8 << bits) - 1)
}

/// What weights have in common: scales `[out, blocks, parts]`, as many minima, and the value that
/// is zero.
struct Common {
    parts: Tensor,
    minima: Option<Tensor>,
    centre: f32,
}

fn common(form: Blocks, scales: &Tensor, compute: DType) -> Result<Common> {
    let cut = |range: core::ops::Range<usize>| scales.at((.., .., range));
    let by = |parts: Tensor, factor: Tensor| parts.cast(compute)? * factor.cast(compute)?;
    Ok(match form {
        Blocks::Q8 | Blocks::Q4 | Blocks::Q4K | Blocks::Q5K => {
            let factors = as_bits(&cut(0..1)?, DType::F16)?;
            let [scales, minima] = six_bits(&cut(1..4)?)?;
            let factor = |i: usize| factors.at((.., .., i..i + 1));
            let minima = Some(by(minima, factor(1)?)?);
            Common { parts: by(scales, factor(0)?)?, minima, centre: 0.0 }
        }
        Blocks::Q6K => {
            let factor = as_bits(&cut(8..9)?, DType::F16)?;
            let parts = by(as_bits(&cut(0..8)?, DType::I8)?, factor)?;
            Common { parts, minima: None, centre: 32.0 }
        }
        Blocks::Q3K => {
            let factor = as_bits(&cut(6..7)?, DType::F16)?;
            let bytes = as_bits(&cut(0..6)?, DType::U8)?;
            let part = |range, bits| -> Result<Tensor> {
                let part = bytes.at((.., .., range))?.unsqueeze(2)?;
                shifted(&part, 8 / bits, bits)?.flatten(2..)
            };
            let high = part(8..12, 2)?.apply(Op::Shl, &[4u8.into()])?;
            let parts = (part(0..8, 4)?.bit_or(&high)?.cast(compute)? - 32.0f32)?;
            Common { parts: by(parts, factor)?, minima: None, centre: 4.0 }
        }
        Blocks::Q2K => {
            let factors = as_bits(&cut(8..10)?, DType::F16)?;
            let bytes = as_bits(&cut(0..8)?, DType::U8)?;
            let factor = |i: usize| factors.at((.., .., i..i + 1));
            let parts = by(bytes.bit_and(15u8)?, factor(0)?)?;
            let minima = by(bytes.apply(Op::Shr, &[4u8.into()])?, factor(1)?)?;
            Common { parts, minima: Some(minima), centre: 0.0 }
        }
    })
}

/// Eight scales of six bits `[out, blocks, 8]` and as many minima: the low bits of the first four
/// lie in a byte each, of the others in half a byte, and their high bits above those of the first.
fn six_bits(words: &Tensor) -> Result<[Tensor; 2]> {
    let bytes = as_bits(words, DType::U8)?;
    let four = |first: usize| bytes.at((.., .., first..first + 4));
    let [scales, minima, others] = [four(0)?, four(4)?, four(8)?];
    let shr = |x: &Tensor, bits: u8| x.apply(Op::Shr, &[bits.into()]);
    let eight = |first: &Tensor, low: Tensor| {
        let high = (shr(first, 6)? * 16u8)?;
        Tensor::concat(&[first.bit_and(63u8)?, low.bit_or(high)?], 2)
    };
    Ok([eight(&scales, others.bit_and(15u8)?)?, eight(&minima, shr(&others, 4)?)?])
}

/// The bits of elements `[out, blocks, n]` as those of a narrower dtype, of which each is several.
fn as_bits(elements: &Tensor, dtype: DType) -> Result<Tensor> {
    let stored = elements.device().making("dequantise", dtype)?.stored;
    let [out, blocks, n] = *elements.shape().dims() else {
        return Err(QuantisedCause::Rank { shape: *elements.shape() }.into());
    };
    let copy = |site: Site<'_>, from: &[Operand]| moves::copied(site, &from[0], &[]);
    let shape = Shape::new([out, blocks, n * elements.dtype().width() / dtype.width()])?;
    Ok(elements.alone("dequantise", &[elements], (shape, stored), copy))
}
