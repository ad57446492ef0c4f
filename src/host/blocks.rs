//! Weights in blocks of 32, quantised on the host while they are staged: what a block becomes, and
//! what that did to its weights. The contract is that of [`Tensor::quantise`].
//!
//! [`Tensor::quantise`]: crate::Tensor::quantise

use half::f16;
use multiversion::multiversion;

use super::cause::CarriageCause;
use super::tally::{Tally, Worst};
use crate::dtype::DType;
use crate::error::Result;
use crate::shape::Shape;

/// Weights that share a scale.
pub(crate) const BLOCK: usize = 32;

/// A factor that is more than rounding to f16 takes away.
pub(crate) const ROUNDED_UP: f32 = 1.0 + 1.0 / 2048.0;
/// The smallest f16.
pub(crate) const SMALLEST: f32 = 5.960_464_5e-8;

/// Weights in blocks are two tensors; this is which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// i8, one for each weight.
    Values,
    /// f16, one for each block.
    Scales,
}

impl Share {
    pub(crate) const BOTH: [Self; 2] = [Self::Values, Self::Scales];

    /// The name of this part of a tensor.
    pub(crate) fn of(self, name: &str) -> String {
        format!("{name}.{}", if self == Self::Values { "values" } else { "scales" })
    }

    pub(crate) const fn dtype(self) -> DType {
        match self {
            Self::Values => DType::I8,
            Self::Scales => DType::F16,
        }
    }

    /// Its shape for that of the weights, whose rows are whole blocks.
    pub(crate) fn shape(self, weights: &Shape) -> Result<Shape> {
        let mut dims = weights.dims().to_vec();
        if let (Self::Scales, Some(last)) = (self, dims.last_mut()) {
            *last /= BLOCK;
        }
        Shape::new(dims)
    }
}

/// Whether weights of a dtype and a shape can become blocks while they are staged.
pub(crate) fn check(dtype: DType, shape: &Shape) -> Result<()> {
    if !matches!(dtype, DType::F32 | DType::F16 | DType::Bf16) {
        return Err(CarriageCause::NoBlocks { dtype }.into());
    }
    match *shape.dims() {
        [_, k] if k % BLOCK == 0 => Ok(()),
        _ => Err(CarriageCause::NoRows { shape: *shape }.into()),
    }
}

/// What quantising did to weights so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    /// The largest distance, and the largest in parts of a scale.
    pub(crate) abs: f64,
    pub(crate) scaled: f64,
    /// The sum of squared distances.
    pub(crate) squares: f64,
    pub(crate) nan: u64,
    pub(crate) infinite: u64,
    /// Blocks of finite weights whose scale is beyond f16.
    pub(crate) overflowed: u64,
}

/// A block: its values and its scale, and how far each weight is off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightBlock {
    pub(crate) values: [i8; BLOCK],
    pub(crate) scale: f16,
    off: [f32; BLOCK],
}

#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+f16c+fma"))]
fn quantised(weights: &[f32; BLOCK], scale: f32, values: &mut [i8; BLOCK], off: &mut [f32; BLOCK]) {
    for i in 0..BLOCK {
        // A cast of NaN is 0.
        let value = (weights[i] / scale).round_ties_even();
        values[i] = value as i8;
        off[i] = (weights[i] - value * scale).abs();
    }
}

impl WeightBlock {
    pub(crate) fn of(weights: &[f32; BLOCK]) -> Self {
        // `max` passes NaN over, which makes the block NaN all the same.
        let largest = weights.iter().fold(0f32, |most, w| most.max(w.abs()));
        let nan = weights.iter().any(|w| w.is_nan());
        // Rounded up: half a unit in the last place more, and three quarters of the smallest f16,
        // so that the scale of zeros is not zero either.
        let scale = largest.mul_add(ROUNDED_UP / 127.0, 0.75 * SMALLEST);
        let scale = if nan { f16::NAN } else { f16::from_f32(scale) };
        let (mut values, mut off) = ([0; BLOCK], [0.0; BLOCK]);
        quantised(weights, scale.to_f32(), &mut values, &mut off);
        if !scale.is_finite() {
            values = [0; BLOCK];
        }
        Self { values, scale, off }
    }

    /// Counts what became of those of its weights that are in `range`; the block's first weight has
    /// this index.
    pub(crate) fn count(
        &self,
        weights: &[f32; BLOCK],
        range: core::ops::Range<usize>,
        first: u64,
        (tally, losses): (&mut Tally, &mut Losses),
    ) {
        let lost = !self.scale.is_finite();
        let finite = weights.iter().all(|w| w.is_finite());
        losses.overflowed += u64::from(lost && finite && range.start == 0);
        for i in range {
            let (weight, index) = (weights[i], first + i as u64);
            losses.nan += u64::from(weight.is_nan());
            losses.infinite += u64::from(weight.is_infinite());
            if lost {
                if weight.is_finite() {
                    tally.overflowed += 1;
                    tally.first_changed = tally.first_changed.or(Some(index));
                } else {
                    tally.nan += 1;
                }
                continue;
            }
            let off = f64::from(self.off[i]);
            if off == 0.0 {
                tally.exact += 1;
                continue;
            }
            *(if self.values[i] == 0 { &mut tally.flushed } else { &mut tally.rounded }) += 1;
            tally.first_changed = tally.first_changed.or(Some(index));
            Worst::raise(&mut tally.abs_error_max, off, index);
            Worst::raise(&mut tally.rel_error_max, off / f64::from(weight.abs()), index);
            losses.abs = losses.abs.max(off);
            losses.scaled = losses.scaled.max(off / self.scale.to_f64());
            losses.squares += off * off;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(at: impl Fn(usize) -> f32) -> (WeightBlock, [f32; BLOCK], Tally, Losses) {
        let weights = core::array::from_fn(at);
        let (mut tally, mut losses) = (Tally::default(), Losses::default());
        let block = WeightBlock::of(&weights);
        block.count(&weights, 0..BLOCK, 0, (&mut tally, &mut losses));
        (block, weights, tally, losses)
    }

    /// No value saturates, and none is off by more than half a scale; a scale is no larger than it
    /// has to be.
    #[test]
    fn weights_are_off_by_half_a_scale_at_most() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        for power in -28..22 {
            let scale = f32::exp2(power as f32);
            let numbers: Vec<f32> = (0..BLOCK).map(|_| next() * scale).collect();
            let (block, weights, tally, losses) = block(|i| numbers[i]);
            let step = block.scale.to_f64();
            let largest = weights.iter().fold(0f64, |most, w| most.max(f64::from(w.abs())));
            assert!(step * 127.0 >= largest * (1.0 - 1e-9), "2^{power}: nothing saturates");
            assert!(step <= largest / 127.0 * (1.0 + 1.0 / 512.0) + 1.2e-7, "2^{power}: {step}");
            for (w, v) in weights.iter().zip(block.values) {
                let off = (f64::from(*w) - f64::from(v) * step).abs();
                assert!(off <= step * 0.500_01, "2^{power}: {w} became {v} times {step}");
            }
            assert_eq!(tally.values(), BLOCK as u64, "2^{power}");
            assert!(losses.scaled <= 0.500_01 && losses.abs <= step / 2.0 * 1.000_1, "2^{power}");
            assert!(tally.abs_error_max.is_none_or(|worst| worst.error == losses.abs), "2^{power}");
        }
    }

    #[test]
    fn what_is_not_finite_takes_its_block_along() {
        for (odd, nan, infinite, overflowed) in
            [(f32::NAN, 1, 0, 0), (f32::NEG_INFINITY, 0, 1, 0), (9e6, 0, 0, 1)]
        {
            let (block, _, tally, losses) = block(|i| if i == 5 { odd } else { 1.0 });
            let number = f32::from(block.values[0]) * block.scale.to_f32();
            assert!(number.is_nan(), "{odd}: all of it is NaN, not {number}");
            let counts = (losses.nan, losses.infinite, losses.overflowed);
            assert_eq!(counts, (nan, infinite, overflowed), "{odd}");
            assert_eq!((tally.values(), tally.nan), (32, nan + infinite), "{odd}");
        }
        let (block, _, tally, losses) = block(|_| 0.0);
        assert!(block.scale.to_f32() > 0.0 && block.values == [0; BLOCK], "{block:?}");
        assert!(tally.is_exact() && losses.squares == 0.0, "{tally:?}");
    }
}
