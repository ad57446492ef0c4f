//! What quantizes weights on the device, and what it says of that.

use core::fmt;
use core::future::Future;

use super::{Quantized, QuantizedCause};
use crate::dtype::DType;
use crate::engine::site::asked_at;
use crate::error::Result;
use crate::gpu::Drive;
use crate::host::blocks::{BLOCK, Blocks, Losses, ROUNDED_UP, SMALLEST, Share};
use crate::ledger::CallSite;
use crate::op::Op;
use crate::shape::Shape;
use crate::tensor::cause::by_f32;
use crate::tensor::{Pad, Tensor};

/// What quantizing did to weights.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "weights that are not finite become NaN: look, or write `let (w, _) = ..`"]
#[non_exhaustive]
pub struct Rounding {
    /// The dtype of the weights.
    pub from: DType,
    /// The form of blocks that they became.
    pub to: Blocks,
    /// The shape of the weights.
    pub shape: Shape,
    /// The largest distance of a weight from what became of it.
    pub abs_error_max: f64,
    /// The largest one in parts of its block's scale: half, of four bits one, but for what
    /// rounding adds, which is several where the scale is subnormal. Blocks whose scale is 0 are
    /// left out.
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
    pub(crate) fn of(from: DType, to: Blocks, shape: Shape, losses: &Losses) -> Self {
        let Losses { abs, scaled, squares, nan, infinite, overflowed } = *losses;
        Self {
            from,
            to,
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
            .map_or(0, |k| values.checked_div(*k).unwrap_or(0) * k.div_ceil(self.to.weights()));
        let to = self.to.name();
        write!(f, "{} -> {to}: {values} values in {blocks} blocks", self.from)?;
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
    /// Quantizes weights `[out, in]` in blocks along the last axis, which products sum over, on the
    /// device; and says what that did to them, which is read back, and waited for: some 40 bytes.
    ///
    /// A weight stored as `[in, out]` is given as `weight.t()`, and copied. A block with NaN or
    /// infinity, or with a weight that is too large, becomes NaN as a whole, and the receipt says
    /// so.
    ///
    /// - [`Blocks::Q8`]: scales are the largest magnitude / 127, rounded up, so that no value
    ///   saturates: every weight is off by at most half a scale, and that is at most 1/253 of the
    ///   largest in its block, or 3.1e-8. A weight beyond 8.3e6 is too large.
    /// - [`Blocks::Q4`]: as ggml does it, the first weight of largest magnitude is -8 times the
    ///   scale. Every weight is off by at most half a scale, a sixteenth of the largest, and for
    ///   the rounding of the scale by 1/256 of it, or 2.4e-7, more; one that lies opposite to the
    ///   largest may be cut off at 7 scales, by half a scale more. A weight beyond 524 000 is too
    ///   large; blocks below 2.4e-7 are all zeros.
    /// - The others are errors: files have them.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Blocks;
    ///
    /// let (weight, _) = device.upload(&[127.0f32, -50.2], [1, 2])?; // a scale of about 1
    /// let (weight, rounding) = weight.quantize(Blocks::Q8).await?;
    /// assert!(rounding.is_finite() && rounding.abs_error_max < 0.5, "{rounding}");
    /// let y = device.ones([1, 2], wharf::DType::F32)?.linear(&weight, None)?;
    /// assert!((y.read_scalar_now::<f32>()? - 76.8).abs() < 1.0);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn quantize(
        &self,
        to: Blocks,
    ) -> impl Future<Output = Result<(Quantized, Rounding)>> + use<'_> {
        self.quantize_by(to, Drive::Wake, CallSite::of("quantize"))
    }

    /// [`Tensor::quantize`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn quantize_now(&self, to: Blocks) -> Result<(Quantized, Rounding)> {
        pollster::block_on(self.quantize_by(to, Drive::Block, CallSite::of("quantize_now")))
    }

    async fn quantize_by(
        &self,
        to: Blocks,
        drive: Drive,
        site: CallSite,
    ) -> Result<(Quantized, Rounding)> {
        let made = asked_at(site.location, || self.in_blocks(to));
        let (weights, errors) = made.map_err(|error| error.during("quantize"))?;
        let errors = errors.read_all::<f32>(drive, site).await?;
        Ok((weights, self.rounding(to, &errors)))
    }

    fn rounding(&self, to: Blocks, errors: &[f32]) -> Rounding {
        let at = |i: usize| errors.get(i).copied().map_or(f64::NAN, f64::from);
        // Counts come in two halves of 16 bits, each of them exact in f32.
        let count = |i: usize| (at(i) * f64::from(1 << 16) + at(i + 1)) as u64;
        let (nan, infinite, overflowed) = (count(3), count(5), count(7));
        let (abs, scaled, squares) = (at(0), at(1), at(2));
        let losses = Losses { abs, scaled, squares, nan, infinite, overflowed };
        Rounding::of(self.dtype(), to, *self.shape(), &losses)
    }

    /// The weights, and nine numbers about what became of them.
    fn in_blocks(&self, to: Blocks) -> Result<(Quantized, Self)> {
        let shape = *self.shape();
        let [out, k] = *shape.dims() else { return Err(QuantizedCause::Rank { shape }.into()) };
        if !by_f32(self.dtype()) {
            return Err(QuantizedCause::Weights { dtype: self.dtype() }.into());
        }
        to.maker()?;
        let blocks = k.div_ceil(BLOCK);
        let width = blocks * BLOCK;
        let device = &self.device;
        if shape.is_empty() {
            let rows = Shape::new([out, width])?;
            let empty = |share: Share| {
                device.zeros(share.shape(to, &rows)?, share.dtype(to))?.on_behalf_of(&[self])
            };
            let [values, scales] = [empty(Share::Values)?, empty(Share::Scales)?];
            let errors = device.zeros([9], DType::F32)?;
            return Ok((Quantized::checked(to, [&values, &scales], shape)?, errors));
        }
        let zero = || Pad::Constant(0.0f32.into());
        let filled =
            if width > k { self.pad(&[(0, 0), (0, width - k)], zero())? } else { self.clone() };
        let of = [out, blocks, BLOCK];
        let filled = filled.reshape_copied(of)?;
        let made = match to {
            Blocks::Q8 => BlocksMade::of_eight_bits(&filled)?,
            _ => BlocksMade::of_four_bits(&filled)?,
        };
        let errors = made.errors(&filled)?;
        let values = made.stored.reshape(Share::Values.shape(to, &Shape::new([out, width])?)?)?;
        Ok((Quantized::checked(to, [&values, &made.scale], shape)?, errors))
    }
}

/// Blocks `[out, blocks, 32]` as they are made.
struct BlocksMade {
    /// The largest magnitude of each.
    largest: Tensor,
    scale: Tensor,
    /// What the scale is multiplied by, of any dtype.
    numbers: Tensor,
    stored: Tensor,
}

impl BlocksMade {
    fn of_eight_bits(weights: &Tensor) -> Result<Self> {
        let w = || weights.cast(DType::F32);
        let largest = w()?.abs()?.amax([2])?;
        largest.compute()?;
        // Rounded up: half a unit in the last place more, and three quarters of the smallest f16,
        // so that the scale of zeros is not zero either.
        let scale = largest.mul_add(ROUNDED_UP / 127.0, 0.75 * SMALLEST)?.cast(DType::F16)?;
        scale.compute()?;
        let step = scale.cast(DType::F32)?.unsqueeze(2)?;
        let numbers = (w()? / step)?.round()?.cast(DType::I8)?;
        numbers.compute()?;
        Ok(Self { largest, scale, stored: numbers.clone(), numbers })
    }

    fn of_four_bits(weights: &Tensor) -> Result<Self> {
        let w = || weights.cast(DType::F32);
        let far = w()?.abs()?.argmax([2])?.unsqueeze(2)?;
        let farthest = w()?.gather(2, &far)?;
        farthest.compute()?;
        let step = (&farthest * -0.125f32)?;
        let scale = step.cast(DType::F16)?;
        scale.compute()?;
        // Blocks of zeros have no scale to speak of, and those of none are NaN: eight is 0.
        let usable = step.ne(0.0f32)?.and(scale.is_finite()?)?;
        let place = ((w()? / &step)? + 8.5f32)?.floor()?.clamp(0.0f32, 15.0f32)?;
        let places = usable.choose(&place, 8.0f32)?.cast(DType::U8)?;
        places.compute()?;
        let [out, blocks, _] = weights.shape().array()?;
        let pairs = places.reshape([out, blocks, 2, BLOCK / 2])?;
        let [low, high] = [pairs.at((.., .., 0))?, pairs.at((.., .., 1))?];
        let stored = low.bit_or(high.shl(4u8)?)?;
        let numbers = (places.cast(DType::F32)? - 8.0f32)?;
        let [largest, scale] = [farthest.abs()?, scale].map(|each| each.squeeze(2));
        Ok(Self { largest: largest?, scale: scale?, numbers, stored })
    }

    /// Distances of the weights from what they are now, and how many are lost.
    fn errors(&self, weights: &Tensor) -> Result<Tensor> {
        let dtype = DType::F32;
        let w = || weights.cast(dtype);
        let step = || self.scale.cast(dtype)?.unsqueeze(2);
        let (nan, infinite) = (w()?.is_nan()?, w()?.is_inf()?);
        let overflowed = self.scale.is_inf()?.and(self.largest.is_finite()?)?;
        let error = || (w()? - (self.numbers.cast(dtype)? * step()?)?)?.abs();
        let finite = |x: Tensor| x.is_finite()?.choose(&x, 0.0f32);
        let mut parts = vec![
            finite(error()?)?.amax(..)?,
            finite((error()? / step()?.abs()?)?)?.amax(..)?,
            finite(error()?.square()?)?.sum(..)?,
        ];
        for count in [nan, infinite, overflowed] {
            let count = count.count_nonzero(..)?;
            parts.push(count.apply(Op::Shr, &[16u32.into()])?.cast(dtype)?);
            parts.push(count.bit_and(0xffffu32)?.cast(dtype)?);
        }
        Tensor::stack(&parts, 0)
    }
}
