//! Weights quantised in blocks: 32 values of the summed axis share a scale.
//!
//! ```text
//! scale = the largest magnitude of a block / 127, as f16, rounded up
//! value = w / scale, rounded to i8              w is about value * scale, off by half a scale
//! ```
//!
//! Values and scales are two ordinary tensors, i8 `[out, in]` and f16 `[out, in / 32]`, so that
//! both are aligned: what ggml's `Q8_0` holds, less its interleaving. Rows are filled up with zeros
//! to whole blocks.

use core::fmt;
use core::future::Future;

use super::{Pad, Tensor};
use crate::device::Device;
use crate::dtype::DType;
use crate::engine::site::{asked, asked_at};
use crate::error::{Result, causes};
use crate::fuse::What;
use crate::gpu::Drive;
use crate::host::blocks::{BLOCK, Losses, ROUNDED_UP, SMALLEST};
use crate::kernel::quantised::{K_MAX, QuantisedProduct};
use crate::ledger::CallSite;
use crate::shape::Shape;

/// A matrix of weights `[out, in]` in blocks of 32 along `in`: an i8 for each value and an f16
/// scale for each block. Half the bytes of f16, a quarter of f32.
///
/// [`Tensor::linear`] takes it like any other weight.
#[derive(Clone, Debug)]
pub struct Quantised {
    values: Tensor,
    scales: Tensor,
    shape: Shape,
}

impl Quantised {
    /// Values of a block.
    pub const BLOCK: usize = BLOCK;

    /// Weights that were quantised elsewhere: i8 values `[out, in]`, where `in` is whole blocks of
    /// 32, and f16 scales `[out, in / 32]`.
    #[track_caller]
    pub fn of(values: &Tensor, scales: &Tensor) -> Result<Self> {
        values.device.engine.same_device(&scales.device.engine)?;
        if (values.dtype(), scales.dtype()) != (DType::I8, DType::F16) {
            return Err(
                QuantisedCause::Parts { values: values.dtype(), scales: scales.dtype() }.into()
            );
        }
        let (shape, blocks) = (*values.shape(), *scales.shape());
        let [out, k] = *shape.dims() else { return Err(QuantisedCause::Rank { shape }.into()) };
        if !k.is_multiple_of(BLOCK) {
            return Err(QuantisedCause::Ragged { k }.into());
        }
        if blocks.dims() != [out, k / BLOCK] {
            return Err(QuantisedCause::Scales { values: shape, scales: blocks }.into());
        }
        Self::checked(values.contiguous()?, scales.contiguous()?, shape)
    }

    #[track_caller]
    fn checked(values: Tensor, scales: Tensor, shape: Shape) -> Result<Self> {
        let k = shape.dims()[1];
        if k > K_MAX {
            return Err(QuantisedCause::Deep { k }.into());
        }
        Ok(Self { values, scales, shape })
    }

    /// `[out, in]`, as the weights were.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The device it lives on.
    #[must_use]
    pub const fn device(&self) -> &Device {
        self.values.device()
    }

    /// i8 `[out, in]`, rows filled up to whole blocks.
    #[must_use]
    pub const fn values(&self) -> &Tensor {
        &self.values
    }

    /// f16 `[out, blocks]`.
    #[must_use]
    pub const fn scales(&self) -> &Tensor {
        &self.scales
    }

    /// The weights as numbers again, of a float dtype: value times scale, rounded once. Deferred.
    #[track_caller]
    pub fn dequantise(&self, dtype: DType) -> Result<Tensor> {
        asked(|| self.numbers(dtype)).map_err(|error| error.during("dequantise"))
    }

    /// The rows that an index of any shape names, as f32: a table of embeddings in blocks. An index
    /// out of range is an error at the next read. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (table, _) = device.ones([4, 32], wharf::DType::F32)?.quantise().await?;
    /// let (tokens, _) = device.upload(&[3, 0, 1], [3])?;
    /// let rows = table.embedding(&tokens)?;
    /// assert_eq!(rows.shape().dims(), [3, 32]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn embedding(&self, index: &Tensor) -> Result<Tensor> {
        let [_, k] = *self.shape.dims() else { return Ok(self.values.clone()) };
        let rows = index.shape().elements();
        let flat = index.contiguous()?.reshape([rows])?;
        let (values, scales) = (self.values.embedding(&flat)?, self.scales.embedding(&flat)?);
        let named = Self { values, scales, shape: Shape::new([rows, k])? };
        let numbers =
            asked(|| named.numbers(DType::F32)).map_err(|error| error.during("embedding"))?;
        numbers.contiguous()?.reshape([index.shape().dims(), &[k]].concat())
    }

    fn numbers(&self, dtype: DType) -> Result<Tensor> {
        if !dtype.is_float() {
            return Err(QuantisedCause::Numbers { dtype }.into());
        }
        let [out, k] = *self.shape.dims() else { return Ok(self.values.clone()) };
        let width = self.values.shape().dims()[1];
        let compute = if dtype == DType::F64 { dtype } else { DType::F32 };
        let [values, scales] = self.blocks()?.map(|t| t.cast(compute));
        let all = (values? * scales?)?.cast(dtype)?.reshape([out, width])?;
        all.slice(1, 0..k)
    }

    /// Values `[out, blocks, 32]` and scales `[out, blocks, 1]`.
    fn blocks(&self) -> Result<[Tensor; 2]> {
        let [out, blocks] = *self.scales.shape().dims() else {
            return Err(QuantisedCause::Rank { shape: *self.scales.shape() }.into());
        };
        Ok([self.values.reshape([out, blocks, BLOCK])?, self.scales.unsqueeze(2)?])
    }

    /// `x . weight^T`, for `x` of shape `[.., in]`.
    #[track_caller]
    pub(super) fn product(&self, x: &Tensor) -> Result<Tensor> {
        x.device.engine.same_device(&self.values.device.engine)?;
        if !matches!(*x.dtype, DType::F32 | DType::F16 | DType::Bf16) {
            return Err(QuantisedCause::Activations { dtype: x.dtype() }.into());
        }
        let [out, k] = *self.shape.dims() else { return Ok(x.clone()) };
        let dims = x.shape().dims();
        if dims.last() != Some(&k) {
            return Err(QuantisedCause::Inner { left: *x.shape(), right: self.shape }.into());
        }
        let rank = dims.len();
        let shape = Shape::new([&dims[..rank - 1], &[out]].concat())?;
        let width = self.values.shape().dims()[1];
        let mut x = x.clone();
        if width > k {
            let mut pads = vec![(0, 0); rank];
            pads[rank - 1].1 = width - k;
            x = x.pad(&pads, Pad::Constant(0.0f32.into()))?;
        }
        let rows = Shape::new([dims[..rank - 1].iter().product::<usize>(), width])?;
        let x = x.reshape(rows).or_else(|_| x.contiguous()?.reshape(rows))?;
        let dtype = x.dtype;
        let args = [&x, &self.values, &self.scales].map(Tensor::arg).to_vec();
        Ok(Tensor::deferred(&x.device, What::core(QuantisedProduct), args, shape, dtype))
    }
}

/// What a layer multiplies by: a tensor, or weights in blocks.
#[derive(Clone, Copy, Debug)]
pub enum Weight<'a> {
    /// `[out, in]`, of the dtype of what it multiplies, or a narrower float.
    Tensor(&'a Tensor),
    /// `[out, in]` in blocks.
    Quantised(&'a Quantised),
}

impl<'a> From<&'a Tensor> for Weight<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl<'a> From<&'a Quantised> for Weight<'a> {
    fn from(weights: &'a Quantised) -> Self {
        Self::Quantised(weights)
    }
}

impl Weight<'_> {
    #[track_caller]
    pub(super) fn product(self, x: &Tensor) -> Result<Tensor> {
        match self {
            Self::Tensor(tensor) => {
                let (left, right) = (*x.shape(), *tensor.shape());
                if right.rank() < 2 {
                    return Err(QuantisedCause::Rank { shape: right }.into());
                }
                // Checked here, so that the error has the shapes that were given, not a transposed
                // one.
                if left.rank() > 0 && left.dims().last() != right.dims().last() {
                    return Err(QuantisedCause::Inner { left, right }.into());
                }
                x.matmul_plain(&tensor.widened(x.dtype)?.t()?)
            }
            Self::Quantised(weights) => weights.product(x),
        }
    }
}

/// What quantising did to weights.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "weights that are not finite become NaN: look, or write `let (w, _) = ..`"]
#[non_exhaustive]
pub struct Rounding {
    /// The dtype of the weights.
    pub from: DType,
    /// The shape of the weights.
    pub shape: Shape,
    /// The largest distance of a weight from what became of it.
    pub abs_error_max: f64,
    /// The largest one in parts of its block's scale: half, but for what rounding adds.
    pub scaled_error_max: f64,
    /// The root of the mean of squared distances.
    pub rms_error: f64,
    /// Weights that are NaN. Everything in their blocks is NaN now.
    pub nan: u64,
    /// Weights that are infinite. Everything in their blocks is NaN now.
    pub infinite: u64,
    /// Blocks of finite weights whose scale is beyond f16. Everything in them is NaN now.
    pub overflowed: u64,
}

impl Rounding {
    pub(crate) fn of(from: DType, shape: Shape, losses: &Losses) -> Self {
        let Losses { abs, scaled, squares, nan, infinite, overflowed } = *losses;
        Self {
            from,
            shape,
            abs_error_max: abs,
            scaled_error_max: scaled,
            rms_error: (squares / (shape.elements() as f64).max(1.0)).sqrt(),
            nan,
            infinite,
            overflowed,
        }
    }

    /// Whether every weight became a number.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.nan == 0 && self.infinite == 0 && self.overflowed == 0
    }
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.shape.elements();
        let blocks = self
            .shape
            .dims()
            .last()
            .map_or(0, |k| values.checked_div(*k).unwrap_or(0) * k.div_ceil(BLOCK));
        write!(f, "{} -> q8: {values} values in {blocks} blocks", self.from)?;
        let rows = [
            (self.nan, "NaN"),
            (self.infinite, "infinite"),
            (self.overflowed, "blocks beyond the scales of f16"),
        ];
        for (count, name) in rows.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, ", {count} {name}")?;
        }
        if !self.is_finite() {
            f.write_str(" (their blocks are NaN)")?;
        }
        write!(
            f,
            ", max error {:.1e} ({:.2} of a scale), rms {:.1e}",
            self.abs_error_max, self.scaled_error_max, self.rms_error
        )
    }
}

impl Tensor {
    /// Quantises weights `[out, in]` in blocks of 32 along the last axis, which products sum over,
    /// on the device; and says what that did to them, which is read back: some 40 bytes.
    ///
    /// A weight stored as `[in, out]` is given as `weight.t()`, and copied. The scales are rounded
    /// up, so that no value saturates: every weight is off by at most half a scale, and that is at
    /// most 1/253 of the largest in its block, or 3.1e-8. A block with NaN or infinity, or with a
    /// weight beyond 8.3e6, becomes NaN as a whole, and the receipt says so.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (weight, _) = device.upload(&[127.0f32, -50.2], [1, 2])?; // a scale of about 1
    /// let (weight, rounding) = weight.quantise().await?;
    /// assert!(rounding.is_finite() && rounding.abs_error_max < 0.5, "{rounding}");
    /// let y = device.ones([1, 2], wharf::DType::F32)?.linear(&weight, None, None)?;
    /// assert!((y.scalar::<f32>()? - 76.8).abs() < 1.0);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn quantise(&self) -> impl Future<Output = Result<(Quantised, Rounding)>> + use<'_> {
        self.quantise_by(Drive::Wake, CallSite::of("quantise"))
    }

    /// [`Tensor::quantise`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn to_quantised(&self) -> Result<(Quantised, Rounding)> {
        pollster::block_on(self.quantise_by(Drive::Block, CallSite::of("to_quantised")))
    }

    async fn quantise_by(&self, drive: Drive, site: CallSite) -> Result<(Quantised, Rounding)> {
        let made = asked_at(site.location, || self.in_blocks());
        let (weights, errors) = made.map_err(|error| error.during("quantise"))?;
        let errors = errors.read_all::<f32>(drive, site).await?;
        Ok((weights, self.rounding(&errors)))
    }

    fn rounding(&self, errors: &[f32]) -> Rounding {
        let at = |i: usize| errors.get(i).copied().map_or(f64::NAN, f64::from);
        // Counts come in two halves of 16 bits, each of them exact in f32.
        let count = |i: usize| (at(i) * f64::from(1 << 16) + at(i + 1)) as u64;
        let (nan, infinite, overflowed) = (count(3), count(5), count(7));
        let (abs, scaled, squares) = (at(0), at(1), at(2));
        let losses = Losses { abs, scaled, squares, nan, infinite, overflowed };
        Rounding::of(self.dtype(), *self.shape(), &losses)
    }

    /// The weights, and nine numbers about what became of them.
    fn in_blocks(&self) -> Result<(Quantised, Self)> {
        let shape = *self.shape();
        let [out, k] = *shape.dims() else { return Err(QuantisedCause::Rank { shape }.into()) };
        if !matches!(*self.dtype, DType::F32 | DType::F16 | DType::Bf16) {
            return Err(QuantisedCause::Weights { dtype: self.dtype() }.into());
        }
        let blocks = k.div_ceil(BLOCK);
        let width = blocks * BLOCK;
        let (device, dtype) = (&self.device, DType::F32);
        if shape.is_empty() {
            let values = device.zeros([out, width], DType::I8)?;
            let scales = device.zeros([out, blocks], DType::F16)?;
            return Ok((Quantised::checked(values, scales, shape)?, device.zeros([9], dtype)?));
        }
        let zero = || Pad::Constant(0.0f32.into());
        let filled =
            if width > k { self.pad(&[(0, 0), (0, width - k)], zero())? } else { self.clone() };
        let of = [out, blocks, BLOCK];
        let filled = filled.reshape(of).or_else(|_| filled.contiguous()?.reshape(of))?;
        let w = || filled.cast(dtype);
        let largest = w()?.abs()?.amax([2])?;
        largest.compute()?;
        // Rounded up: half a unit in the last place more, and three quarters of the smallest f16,
        // so that the scale of zeros is not zero either.
        let scale = largest.mul_add(ROUNDED_UP / 127.0, 0.75 * SMALLEST)?.cast(DType::F16)?;
        scale.compute()?;
        let step = || scale.cast(dtype)?.unsqueeze(2);
        let values = (w()? / step()?)?.round()?.cast(DType::I8)?;
        values.compute()?;
        let (nan, infinite) = (w()?.is_nan()?, w()?.is_inf()?);
        let overflowed = scale.is_inf()?.and(largest.is_finite()?)?;
        let error = || (w()? - (values.cast(dtype)? * step()?)?)?.abs();
        let finite = |x: Self| x.is_finite()?.choose(&x, 0.0f32);
        let mut parts = vec![
            finite(error()?)?.amax(..)?,
            finite((error()? / step()?)?)?.amax(..)?,
            finite(error()?.square()?)?.sum(..)?,
        ];
        for count in [nan, infinite, overflowed] {
            let count = count.count_nonzero(..)?;
            parts.push(count.apply(crate::op::Op::Shr, &[16u32.into()])?.cast(dtype)?);
            parts.push(count.bit_and(0xffffu32)?.cast(dtype)?);
        }
        let errors = Self::stack(&parts, 0)?;
        let values = values.reshape([out, width])?;
        Ok((Quantised::checked(values, scale, shape)?, errors))
    }
}

causes! {
    /// What can be wrong with weights in blocks.
    enum QuantisedCause;

    Rank { shape: Shape }, Shape:
        ("weights {shape} of rank {}, not [out, in]", shape.rank())
        help ("reshape to a matrix: `reshape([out, in])`");
    Weights { dtype: DType }, DType:
        ("weights of {dtype}, not f32, f16 or bf16")
        help ("cast first: `cast(DType::F32)`");
    Activations { dtype: DType }, DType:
        ("{dtype} by quantised weights, not f32, f16 or bf16")
        help ("cast first: `cast(DType::F32)`");
    Numbers { dtype: DType }, DType:
        ("{dtype} is no float")
        help ("dequantise to a float and cast: `cast(dtype)`");
    Parts { values: DType, scales: DType }, DType:
        ("quantised values of {values} with scales of {scales}, not i8 with f16")
        help ("cast one of them: `cast(dtype)`");
    Ragged { k: usize }, Shape:
        ("rows of {k} values are no whole blocks of {BLOCK} ({} are left)", k % BLOCK)
        help ("fill rows up with zeros to whole blocks: `pad`");
    Scales { values: Shape, scales: Shape }, Shape:
        ("values {values} with scales {scales}, not {:?}",
         values.dims().iter().zip([1, BLOCK]).map(|(dim, unit)| dim / unit).collect::<Vec<_>>())
        help ("a scale belongs to 32 neighbours of a row");
    Deep { k: usize }, Limit:
        ("quantised rows of {k}, above {K_MAX}")
        help ("split the rows, and add the products of the parts");
    Inner { left: Shape, right: Shape }, Shape:
        ("inner dimensions differ: left {left}, weights {right} ({} against {})",
         inner(left), inner(right))
        help ("weights are [out, in]; take `weight.t()` of an [in, out]");
}

/// The length of the last axis.
fn inner(shape: &Shape) -> String {
    shape.dims().last().map_or_else(|| "a scalar".into(), usize::to_string)
}
