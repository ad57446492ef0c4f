//! Blocks as numbers again, by elementwise operations on their bytes.

use super::{Quantised, QuantisedCause};
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::host::blocks::{BLOCK, Blocks, Share};
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
            Blocks::Q4K => self.of_super_blocks(compute),
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
        let places = halves(&values.unsqueeze(2)?)?.cast(compute)?;
        (places - 8.0f32)? * scales.unsqueeze(3)?.cast(compute)?
    }

    /// Each product is exact in f32, and their difference rounded once.
    fn of_super_blocks(&self, compute: DType) -> Result<Tensor> {
        let [values, heads] = self.blocks()?;
        let [out, blocks, _] = *values.shape().dims() else {
            return Err(QuantisedCause::Rank { shape: *values.shape() }.into());
        };
        let places = halves(&values.reshape([out, blocks, 4, 1, BLOCK])?)?.cast(compute)?;
        let factors = as_halves(&heads.at((.., .., ..1))?)?.cast(compute)?;
        let eight = |parts: Tensor, factor: usize| {
            let by = factors.at((.., .., factor..factor + 1))?;
            (parts.cast(compute)? * by)?.reshape([out, blocks, 4, 2, 1])
        };
        let [scales, minima] = six_bits(&heads.at((.., .., 1..))?)?;
        (places * eight(scales, 0)?)? - eight(minima, 1)?
    }
}

/// Eight scales of six bits `[out, blocks, 8]` and as many minima: the low bits of the first four
/// lie in a byte each, of the others in half a byte, and their high bits above those of the first.
fn six_bits(words: &Tensor) -> Result<[Tensor; 2]> {
    let shifts = (words.device().iota(4)? * 8u32)?;
    let bytes = words.unsqueeze(3)?.apply(Op::Shr, &[(&shifts).into()])?.bit_and(255u32)?;
    let shr = |x: &Tensor, bits: u32| x.apply(Op::Shr, &[bits.into()]);
    let [scales, minima, others] = [0, 1, 2].map(|group| bytes.at((.., .., group)));
    let (scales, minima, others) = (scales?, minima?, others?);
    let eight = |first: &Tensor, low: Tensor| {
        let high = (shr(first, 6)? * 16u32)?;
        Tensor::concat(&[first.bit_and(63u32)?, low.bit_or(high)?], 2)
    };
    Ok([eight(&scales, others.bit_and(15u32)?)?, eight(&minima, shr(&others, 4)?)?])
}

/// Words `[out, blocks, 1]` as the two f16 that each of them is.
fn as_halves(words: &Tensor) -> Result<Tensor> {
    let stored = words.device().making("dequantise", DType::F16)?.stored;
    let [out, blocks, _] = *words.shape().dims() else {
        return Err(QuantisedCause::Rank { shape: *words.shape() }.into());
    };
    let copy = |site: Site<'_>, from: &[Operand]| moves::copied(site, &from[0], &[]);
    let shape = Shape::new([out, blocks, 2])?;
    Ok(words.alone("dequantise", &[words], (shape, stored), copy))
}

/// The low and the high halves of bytes `[.., 1, n]`, as `[.., 2, n]`.
fn halves(bytes: &Tensor) -> Result<Tensor> {
    let device = bytes.device();
    let shifts = (device.iota(2)? * 4u32)?.cast(DType::U8)?.reshape([2, 1])?;
    bytes.apply(Op::Shr, &[(&shifts).into()])?.bit_and(15u8)
}
