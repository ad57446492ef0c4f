//! Blocks as numbers again, by elementwise operations on their bytes.

use core::ops::Range;

use super::{Quantized, QuantizedCause};
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::host::blocks::{BitPlane, Blocks, Share};
use crate::kernel::{Operand, moves};
use crate::op::Op;
use crate::shape::Shape;
use crate::tensor::Tensor;

impl Quantized {
    #[track_caller]
    pub(super) fn numbers(&self, dtype: DType) -> Result<Tensor> {
        if !dtype.is_float() {
            return Err(QuantizedCause::Numbers { dtype }.into());
        }
        let [out, k] = self.shape.array()?;
        let compute = if dtype == DType::F64 { dtype } else { DType::F32 };
        let all = self.weights(compute)?;
        all.cast(dtype)?.reshape([out, self.width()])?.slice(1, 0..k)
    }

    /// Values by their scales, less minima: products are exact in f32, their difference is rounded
    /// once.
    fn weights(&self, compute: DType) -> Result<Tensor> {
        let parts @ [values, scales] = &self.blocks()?;
        let axes = BlockAxes::of(self.form);
        let (mut places, mut below) = (None, 0);
        for plane in self.form.planes() {
            let of = if plane.of == Share::Values { values } else { scales };
            let bits = axes.of_plane(of, *plane)?;
            places = Some(match places {
                None => bits,
                Some(low) => bits.apply(Op::Shl, &[below.into()])?.bit_or(&low)?,
            });
            below += plane.bits as u32;
        }
        let places = places.unwrap_or_else(|| parts[0].clone()).cast(compute)?;
        let zero = self.form.zero();
        let places = if zero > 0 { (places - zero as f32)? } else { places };
        let Common { scales, minima } = common(self.form, scales, compute)?;
        let weights = (places * axes.of_parts(&scales)?)?;
        minima.map_or(Ok(weights.clone()), |minima| weights - axes.of_parts(&minima)?)
    }

    /// Values `[out, blocks, each]`, and what blocks have in common, `[out, blocks, each]`.
    fn blocks(&self) -> Result<[Tensor; 2]> {
        let [out, _] = self.shape.array()?;
        let blocks = self.width() / self.form.weights();
        let by =
            |tensor: &Tensor, share: Share| tensor.reshape([out, blocks, share.each(self.form)]);
        Ok([by(&self.values, Share::Values)?, by(&self.scales, Share::Scales)?])
    }
}

/// The weights of a block along several axes, so that bits that lie otherwise and scales of more or
/// fewer weights meet in one kernel: each axis is a place in a byte, or of bytes.
struct BlockAxes {
    weights: usize,
    /// Weights from one place of each to the next, and how many places there are.
    steps: Vec<(usize, usize)>,
}

impl BlockAxes {
    fn of(form: Blocks) -> Self {
        let weights = form.weights();
        let own = |plane: &BitPlane| [plane.width, plane.shifts() * plane.width];
        let mut ends = vec![1, weights, weights / form.common().parts];
        ends.extend(form.planes().iter().flat_map(own));
        ends.sort_unstable();
        ends.dedup();
        let steps = ends.windows(2).rev().map(|two| (two[0], two[1] / two[0])).collect();
        Self { weights, steps }
    }

    /// The places of some axes, and one of each of the others.
    fn some(&self, is: impl Fn(usize) -> bool) -> Vec<usize> {
        self.steps.iter().map(|&(step, places)| if is(step) { places } else { 1 }).collect()
    }

    /// A number for each of some parts of a block, `[out, blocks, parts]`.
    fn of_parts(&self, numbers: &Tensor) -> Result<Tensor> {
        let [out, blocks, parts] = numbers.shape().array()?;
        let dims = self.some(|step| step >= self.weights / parts);
        numbers.reshape([vec![out, blocks], dims].concat())
    }

    /// The bits of a plane, of one part of blocks `[out, blocks, each]`.
    fn of_plane(&self, part: &Tensor, plane: BitPlane) -> Result<Tensor> {
        let [out, blocks, _] = part.shape().array()?;
        let BitPlane { first, width, bits, .. } = plane;
        let is_shift = |step: usize| (width..plane.shifts() * width).contains(&step);
        let dims = [vec![out, blocks], self.some(|step| !is_shift(step))].concat();
        if bits == 8 {
            return part.reshape(dims);
        }
        let bytes = as_bits(part, DType::U8)?;
        let bytes = bytes.at((.., .., first..first + plane.bytes(self.weights)))?.reshape(dims)?;
        shifted(&bytes, self.some(is_shift), bits)
    }
}

/// So many bits of bytes, the next ones along axes of this shape, which broadcasts against them.
fn shifted(bytes: &Tensor, shape: Vec<usize>, bits: usize) -> Result<Tensor> {
    let by = (bytes.device().iota(shape.iter().product())? * bits as u32)?.cast(DType::U8)?;
    bytes.apply(Op::Shr, &[(&by.reshape(shape)?).into()])?.bit_and((1u8 << bits) - 1)
}

/// What weights have in common: scales `[out, blocks, parts]`, and as many minima.
struct Common {
    scales: Tensor,
    minima: Option<Tensor>,
}

fn common(form: Blocks, elements: &Tensor, compute: DType) -> Result<Common> {
    let cut = |range: Range<usize>| elements.at((.., .., range));
    // They lie beside each other, some of them two to an element.
    let places = form.common().factors;
    let each = elements.dtype().width() / 2;
    let first = places[0] / each;
    let factors = as_bits(&cut(first..first + places.len().div_ceil(each))?, DType::F16)?;
    let factor = |i: usize| factors.at((.., .., i..i + 1))?.cast(compute);
    let by = |parts: Tensor, i: usize| parts.cast(compute)? * factor(i)?;
    Ok(match form {
        Blocks::Q8 | Blocks::Q4 | Blocks::Q5 => Common { scales: factor(0)?, minima: None },
        Blocks::Q4_1 | Blocks::Q5_1 => {
            // This one is added.
            Common { scales: factor(0)?, minima: Some(factor(1)?.neg()?) }
        }
        Blocks::Q4K | Blocks::Q5K => {
            let [scales, minima] = six_bits(&cut(1..4)?)?;
            Common { scales: by(scales, 0)?, minima: Some(by(minima, 1)?) }
        }
        Blocks::Q6K => Common { scales: by(as_bits(&cut(0..8)?, DType::I8)?, 0)?, minima: None },
        Blocks::Q3K => {
            let bytes = as_bits(&cut(0..6)?, DType::U8)?;
            let part = |range, bits| -> Result<Tensor> {
                let part = bytes.at((.., .., range))?.unsqueeze(2)?;
                shifted(&part, vec![8 / bits, 1], bits)?.flatten(2..)
            };
            let high = part(8..12, 2)?.apply(Op::Shl, &[4u8.into()])?;
            let parts = (part(0..8, 4)?.bit_or(&high)?.cast(compute)? - 32.0f32)?;
            Common { scales: by(parts, 0)?, minima: None }
        }
        Blocks::Q2K => {
            let bytes = as_bits(&cut(0..8)?, DType::U8)?;
            let scales = by(bytes.bit_and(15u8)?, 0)?;
            let minima = by(bytes.apply(Op::Shr, &[4u8.into()])?, 1)?;
            Common { scales, minima: Some(minima) }
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

/// The bits of elements `[out, blocks, n]` as those of a dtype that is no wider.
fn as_bits(elements: &Tensor, dtype: DType) -> Result<Tensor> {
    if elements.dtype() == dtype {
        return Ok(elements.clone());
    }
    let stored = elements.device().making("dequantize", dtype)?.stored;
    let [out, blocks, n] = elements.shape().array()?;
    let copy = |site: Site<'_>, from: &[Operand]| moves::copied(site, &from[0], &[]);
    let shape = Shape::new([out, blocks, n * elements.dtype().width() / dtype.width()])?;
    Ok(elements.alone("dequantize", &[elements], (shape, stored), copy))
}
