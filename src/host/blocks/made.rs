//! Blocks as they are quantized on the host, while weights are staged.

use half::f16;
use multiversion::multiversion;

use crate::host::tally::{Tally, Worst};

/// Weights of a block that is made here.
pub(crate) const BLOCK: usize = 32;

/// A factor that is more than rounding to f16 takes away.
pub(crate) const ROUNDED_UP: f32 = 1.0 + 1.0 / 2048.0;
/// The smallest f16.
pub(crate) const SMALLEST: f32 = 5.960_464_5e-8;

/// What quantizing did to weights so far.
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

/// A block: its numbers and its scale, and how far each weight is off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightBlock {
    /// What the scale is multiplied by.
    numbers: [i8; BLOCK],
    pub(crate) scale: f16,
    /// Its numbers as they are stored: some bytes, and how many.
    stored: ([u8; BLOCK], usize),
    off: [f32; BLOCK],
}

/// Numbers of eight bits, to nearest.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+f16c+fma"))]
fn eight_bits(weights: &[f32; BLOCK], scale: f32, numbers: &mut [i8; BLOCK]) {
    for i in 0..BLOCK {
        // A cast of NaN is 0.
        numbers[i] = (weights[i] / scale).round_ties_even() as i8;
    }
}

/// Numbers of four bits, half up, by a scale that is not yet an f16: a product and a sum in f32,
/// each of them rounded, as ggml has it.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+f16c+fma"))]
fn four_bits(weights: &[f32; BLOCK], inverse: f32, numbers: &mut [i8; BLOCK]) {
    for i in 0..BLOCK {
        let product = weights[i] * inverse;
        numbers[i] = (product + 8.5).clamp(0.0, 15.0) as i8 - 8;
    }
}

#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+f16c+fma"))]
fn distances(weights: &[f32; BLOCK], numbers: &[i8; BLOCK], scale: f32, off: &mut [f32; BLOCK]) {
    for i in 0..BLOCK {
        off[i] = (weights[i] - f32::from(numbers[i]) * scale).abs();
    }
}

/// Two to a byte: the first half of a block below, the second above, each from 0 to 15.
fn nibbles(numbers: &[i8; BLOCK]) -> ([u8; BLOCK], usize) {
    let place = |i: usize| (numbers[i] + 8).cast_unsigned();
    let byte = |i: usize| if i < BLOCK / 2 { place(i) | place(i + BLOCK / 2) << 4 } else { 0 };
    (core::array::from_fn(byte), BLOCK / 2)
}

impl WeightBlock {
    /// By a scale that is rounded up, so that no value saturates.
    pub(super) fn of_eight_bits(weights: &[f32; BLOCK]) -> Self {
        // `max` passes NaN over, which makes the block NaN all the same.
        let largest = weights.iter().fold(0f32, |most, w| most.max(w.abs()));
        // Half a unit in the last place more, and three quarters of the smallest f16, so that the
        // scale of zeros is not zero either.
        let scale = largest.mul_add(ROUNDED_UP / 127.0, 0.75 * SMALLEST);
        let mut numbers = [0; BLOCK];
        let scale = scale_of(weights, scale);
        eight_bits(weights, scale.to_f32(), &mut numbers);
        let bytes = |numbers: &[i8; BLOCK]| (numbers.map(i8::cast_unsigned), BLOCK);
        Self::with(weights, scale, numbers, bytes)
    }

    /// As ggml does it: the first weight of largest magnitude is -8 times the scale.
    pub(super) fn of_four_bits(weights: &[f32; BLOCK]) -> Self {
        let farther = |far: f32, w: &f32| if w.abs() > far.abs() { *w } else { far };
        let scale = weights.iter().fold(0f32, farther) / -8.0;
        let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
        let mut numbers = [0; BLOCK];
        four_bits(weights, inverse, &mut numbers);
        Self::with(weights, scale_of(weights, scale), numbers, nibbles)
    }

    fn with(
        weights: &[f32; BLOCK],
        scale: f16,
        numbers: [i8; BLOCK],
        stored: fn(&[i8; BLOCK]) -> ([u8; BLOCK], usize),
    ) -> Self {
        // 0 by infinity is NaN: all of the block is.
        let numbers = if scale.is_finite() { numbers } else { [0; BLOCK] };
        let mut off = [0.0; BLOCK];
        distances(weights, &numbers, scale.to_f32(), &mut off);
        Self { numbers, scale, stored: stored(&numbers), off }
    }

    /// Its numbers as they are stored.
    pub(crate) fn stored(&self) -> &[u8] {
        &self.stored.0[..self.stored.1]
    }

    /// Counts what became of its weights, the first of which has this index.
    pub(crate) fn count(
        &self,
        weights: &[f32; BLOCK],
        first: u64,
        (tally, losses): (&mut Tally, &mut Losses),
    ) {
        let lost = !self.scale.is_finite();
        let finite = weights.iter().all(|w| w.is_finite());
        losses.overflowed += u64::from(lost && finite);
        for (i, &weight) in weights.iter().enumerate() {
            let index = first + i as u64;
            losses.nan += u64::from(weight.is_nan());
            losses.infinite += u64::from(weight.is_infinite());
            if lost {
                if weight.is_nan() {
                    tally.nan += 1;
                } else {
                    tally.overflowed += 1;
                    tally.first_changed = tally.first_changed.or(Some(index));
                }
                continue;
            }
            let off = f64::from(self.off[i]);
            if off == 0.0 {
                tally.exact += 1;
                continue;
            }
            let gone = f32::from(self.numbers[i]) * self.scale.to_f32() == 0.0;
            *(if gone { &mut tally.flushed } else { &mut tally.rounded }) += 1;
            tally.first_changed = tally.first_changed.or(Some(index));
            Worst::raise(&mut tally.abs_error_max, off, index);
            Worst::raise(&mut tally.rel_error_max, off / f64::from(weight.abs()), index);
            losses.abs = losses.abs.max(off);
            if self.scale.to_f32() != 0.0 {
                losses.scaled = losses.scaled.max(off / self.scale.to_f64().abs());
            }
            losses.squares += off * off;
        }
    }
}

/// As f16; where a weight is NaN that is the scale.
fn scale_of(weights: &[f32; BLOCK], scale: f32) -> f16 {
    if weights.iter().any(|w| w.is_nan()) { f16::NAN } else { f16::from_f32(scale) }
}

#[cfg(test)]
mod tests;
