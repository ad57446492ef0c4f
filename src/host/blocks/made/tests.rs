//! Blocks, made as the device makes them.

use super::*;
use crate::host::blocks::Blocks;

fn block(form: Blocks, at: impl Fn(usize) -> f32) -> (WeightBlock, [f32; BLOCK], Tally, Losses) {
    let weights = core::array::from_fn(at);
    let (mut tally, mut losses) = (Tally::default(), Losses::default());
    let block = (form.spec().maker.unwrap())(&weights);
    block.count(&weights, 0, (&mut tally, &mut losses));
    (block, weights, tally, losses)
}

fn randoms() -> impl FnMut() -> f32 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// No value saturates, and none is off by more than half a scale; a scale is no larger than it
/// has to be.
#[test]
fn weights_are_off_by_half_a_scale_at_most() {
    let mut next = randoms();
    for power in -28..22 {
        let scale = f32::exp2(power as f32);
        let numbers: Vec<f32> = (0..BLOCK).map(|_| next() * scale).collect();
        let (block, weights, tally, losses) = block(Blocks::Q8, |i| numbers[i]);
        let step = block.scale.to_f64();
        let largest = weights.iter().fold(0f64, |most, w| most.max(f64::from(w.abs())));
        assert!(step * 127.0 >= largest * (1.0 - 1e-9), "2^{power}: nothing saturates");
        assert!(step <= largest / 127.0 * (1.0 + 1.0 / 512.0) + 1.2e-7, "2^{power}: {step}");
        let mut farthest = 0f64;
        for (w, v) in weights.iter().zip(block.numbers) {
            let off = (f64::from(*w) - f64::from(v) * step).abs();
            assert!(off <= step * 0.500_01, "2^{power}: {w} became {v} times {step}");
            farthest = farthest.max(off);
        }
        assert_eq!(tally.values(), BLOCK as u64, "2^{power}");
        let told = [losses.abs, losses.scaled * step];
        let near = |x: f64| (x - farthest).abs() <= 1e-5 * step;
        assert!(told.into_iter().all(near), "2^{power}: {told:?}, not {farthest}");
        assert!(tally.abs_error_max.is_none_or(|worst| worst.error == losses.abs), "2^{power}");
    }
}

#[test]
fn what_is_not_finite_takes_its_block_along() {
    for form in Blocks::ALL.iter().copied().filter(|form| form.is_made()) {
        for (odd, nan, infinite, overflowed) in
            [(f32::NAN, 1, 0, 0), (f32::NEG_INFINITY, 0, 1, 0), (9e6, 0, 0, 1)]
        {
            let (block, _, tally, losses) = block(form, |i| if i == 5 { odd } else { 1.0 });
            let number = f32::from(block.numbers[0]) * block.scale.to_f32();
            assert!(number.is_nan(), "{odd}: all of it is NaN, not {number}");
            let counts = (losses.nan, losses.infinite, losses.overflowed);
            assert_eq!(counts, (nan, infinite, overflowed), "{odd}");
            let counts = (tally.nan, tally.overflowed, tally.first_changed);
            assert_eq!(counts, (nan, 32 - nan, Some(0)), "{odd}");
        }
        let (.., tally, _) = block(form, |_| f32::INFINITY);
        assert!(tally.overflowed == 32 && !tally.is_exact(), "{tally:?}");
        let (block, _, tally, losses) = block(form, |_| 0.0);
        assert_eq!(block.numbers, [0; BLOCK], "{block:?}");
        assert!(tally.is_exact() && losses.squares == 0.0, "{tally:?}");
    }
    let (block, ..) = block(Blocks::Q8, |_| 0.0);
    assert!(block.scale.to_f32() > 0.0, "a scale is never zero");
}

/// Half a scale; what lies opposite to the largest may be cut off, by half a scale more; and
/// what rounding the scale to f16 does to eight of them.
#[test]
fn four_bits_are_off_by_a_scale_at_most() {
    let mut next = randoms();
    for power in -28..18 {
        let size = f32::exp2(power as f32);
        let numbers: Vec<f32> = (0..BLOCK).map(|_| next() * size).collect();
        let (block, weights, tally, losses) = block(Blocks::Q4, |i| numbers[i]);
        let (first, largest) = weights
            .iter()
            .enumerate()
            .fold((0, 0f32), |far, (i, w)| if w.abs() > far.1.abs() { (i, *w) } else { far });
        let scale = f64::from(largest) / -8.0;
        let rounding = (scale.abs() / 2048.0).max(f64::exp2(-25.0));
        assert!((block.scale.to_f64() - scale).abs() <= rounding, "2^{power}: {block:?}");
        assert_eq!(block.numbers[first], -8, "2^{power}");
        for (w, v) in weights.iter().zip(block.numbers) {
            let place = f64::from(*w) / scale;
            let most = if place > 7.5 { 1.0 } else { 0.500_01 };
            let off = (f64::from(v) - place).abs();
            assert!((-8..8).contains(&v) && off <= most, "2^{power}: {place} became {v}");
            let off = (f64::from(*w) - f64::from(v) * block.scale.to_f64()).abs();
            assert!(off <= most * scale.abs() + 8.01 * rounding, "2^{power}: {w} became {v}");
            assert!(off <= losses.abs * 1.000_1, "2^{power}: {off} beyond {losses:?}");
        }
        let packed: Vec<i8> = (0..BLOCK)
            .map(|i| block.stored()[i % 16] >> (i / 16 * 4) & 15)
            .map(|place| place.cast_signed() - 8)
            .collect();
        assert_eq!(packed, block.numbers, "2^{power}: two to a byte");
        assert_eq!(tally.values(), BLOCK as u64, "2^{power}");
    }
}
