//! What a conversion must do, worked out here on the host without wharf's converter.

use wharf::DType;
use wharf::host::Tally;

use super::probe::{LENGTH, Probe, probe, specials};
use super::random::Random;

/// Values where rounding to f32 changes: at the largest value, in the middle, among the subnormals,
/// at the smallest one.
const EDGES: [f64; 8] = [
    340_282_346_638_528_860_000_000_000_000_000_000_000.0, // f32::MAX itself
    340_282_356_779_733_660_000_000_000_000_000_000_000.0, // half a step above: a tie, infinity
    1.000_000_178_813_934_3,                               // one and a half steps above 1: a tie
    0.1,
    1e-40,
    7.006_492_321_624_085e-46, // half of the smallest subnormal: a tie, zero
    7.006_492_321_624_087e-46, // a little more: the smallest subnormal
    -1e-46,
];

/// Values of f64 for every outcome of a conversion to f32: exact, rounded, overflowed, flushed,
/// NaN.
pub(crate) fn f64_values() -> Vec<f64> {
    let (mut values, mut random) = (probe::<f64>(LENGTH), Random::new(7));
    // Special patterns at both ends. The random bits between them mostly lie far outside of f32:
    // they are turned into ordinary numbers, every other one with few significant bits.
    let special = specials(DType::F64).len();
    let between = &mut values[special..LENGTH - special];
    for (i, value) in between.iter_mut().enumerate() {
        let number = (random.bits() >> 11) as f64 / (1u64 << 43) as f64 - 512.0;
        *value = if i % 2 == 0 { number } else { f64::from(number as f32) };
    }
    between[..EDGES.len()].copy_from_slice(&EDGES);
    values
}

/// IEEE 754's conversion to nearest; a NaN keeps its sign and the upper bits of its payload, and
/// becomes quiet.
pub(crate) fn f64_to_f32(value: f64) -> f32 {
    if !value.is_nan() {
        return value as f32;
    }
    let bits = value.to_bits();
    let sign = (bits >> 63) as u32;
    let payload = (bits >> 29) as u32 & 0x003f_ffff;
    f32::from_bits(sign << 31 | 0x7fc0_0000 | payload)
}

/// The counts that the receipt of such a conversion must show.
pub(crate) fn f64_tally(values: &[f64]) -> Tally {
    let mut tally = Tally::default();
    for &value in values {
        let (to, slot) = (f64_to_f32(value), &mut tally);
        let slot = if value.is_nan() {
            &mut slot.nan
        } else if f64::from(to) == value {
            &mut slot.exact
        } else if to.is_infinite() {
            &mut slot.overflowed
        } else if to == 0.0 {
            &mut slot.flushed
        } else {
            &mut slot.rounded
        };
        *slot += 1;
    }
    tally
}

/// Values of a 64-bit integer that all fit in its 32-bit counterpart, extremes included.
pub(crate) fn narrow_values<F: Probe, N: Probe + Into<F>>() -> Vec<F> {
    probe::<N>(LENGTH).into_iter().map(Into::into).collect()
}
