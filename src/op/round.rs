//! Rounding to a dtype.

use crate::dtype::DType;

/// The distance between neighbouring values of a float dtype at `x`.
pub(super) fn unit(dtype: DType, x: f64) -> f64 {
    let (digits, lowest) = (dtype.digits().cast_signed(), dtype.lowest());
    if x == 0.0 || !x.is_finite() {
        return power(lowest + 1 - digits);
    }
    // A normal f64 has its exponent in its bits. Below that only f64 itself has values.
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(lowest);
    power(exponent + 1 - digits)
}

/// The nearest value of a float dtype, ties to even. Computed here because `half` truncates an f64
/// to its upper half first. What is beyond the range is infinite, or NaN where there is no
/// infinity.
#[must_use]
pub(crate) fn round_to(dtype: DType, x: f64) -> f64 {
    if x.is_infinite() && !dtype.has_infinity() {
        return f64::NAN;
    }
    if dtype == DType::F64 || !x.is_finite() {
        return x;
    }
    let unit = unit(dtype, x);
    let near = (x / unit).round_ties_even() * unit;
    if near.abs() <= largest(dtype) {
        return near.copysign(x);
    }
    if dtype.has_infinity() { f64::INFINITY.copysign(x) } else { f64::NAN.copysign(x) }
}

/// What floats of a dtype are computed in.
pub(crate) const fn computing(dtype: DType) -> DType {
    if matches!(dtype, DType::F64) { DType::F64 } else { DType::F32 }
}

/// The smallest normal number of what a dtype is computed in.
pub(crate) fn smallest(dtype: DType) -> f64 {
    if dtype == DType::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() }
}

pub(crate) fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => f64::from(f32::MAX),
        DType::F16 => half::f16::MAX.to_f64(),
        DType::Bf16 => half::bf16::MAX.to_f64(),
        DType::F8E4M3 => 448.0,
        DType::F8E5M2 => 57_344.0,
        _ => f64::MAX,
    }
}

/// 2^n, for every n that f64 has.
fn power(n: i32) -> f64 {
    // `powi` multiplies its way there and loses the subnormal ones.
    if n >= -1022 {
        f64::from_bits(((n + 1023) as u64) << 52)
    } else {
        f64::from_bits(1 << (n + 1074))
    }
}
