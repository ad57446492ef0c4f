//! Numbers of lists, as the device computes with them.

use core::cmp::Ordering;

use wharf::DType;
use wharf::op::Reduction;
use wharf::reference::Number;

use crate::cases::pair::{bits, value};

/// Sums below it are exact in f32, whatever their order.
pub(super) const EXACT_BELOW: f64 = 16_777_216.0;

/// Up to where this dtype has all whole numbers, of floats; f64 is kept to those of f32.
pub(super) fn most_exact(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2048.0,
        DType::Bf16 => 256.0,
        _ => EXACT_BELOW,
    }
}

pub(super) fn magnitude(x: Number) -> f64 {
    match x {
        Number::Float(x) => x.abs(),
        _ => 0.0,
    }
}

pub(super) fn is_zero(x: Number) -> bool {
    matches!(x, Number::Float(0.0) | Number::Int(0) | Number::Bool(false))
}

pub(super) fn compare(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::Bool(a), Number::Bool(b)) => a.cmp(&b),
        _ => Ordering::Equal,
    }
}

/// A step of a sum, product or extreme of this dtype; integers wrap.
pub(super) type Meet = fn(DType, Number, Number) -> Number;

pub(super) fn plus(dtype: DType, a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Float(a), Number::Float(b)) => Number::Float(a + b),
        _ => wrapped(dtype, whole(a).wrapping_add(whole(b))),
    }
}

pub(super) fn times(dtype: DType, a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Float(a), Number::Float(b)) => Number::Float(a * b),
        _ => wrapped(dtype, whole(a).wrapping_mul(whole(b))),
    }
}

pub(super) fn minus(dtype: DType, a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Float(a), Number::Float(b)) => Number::Float(a - b),
        _ => wrapped(dtype, whole(a).wrapping_sub(whole(b))),
    }
}

/// Whether one is greater than another.
pub(super) fn beats(a: Number, b: Number) -> bool {
    compare(a, b) == Ordering::Greater
}

pub(super) fn most(_: DType, a: Number, b: Number) -> Number {
    if compare(a, b) == Ordering::Less { b } else { a }
}

pub(super) fn least(_: DType, a: Number, b: Number) -> Number {
    if compare(a, b) == Ordering::Greater { b } else { a }
}

pub(super) fn whole(x: Number) -> i128 {
    match x {
        Number::Float(x) => x as i128,
        Number::Int(x) => x,
        Number::Bool(x) => i128::from(x),
    }
}

pub(super) fn wrapped(dtype: DType, x: i128) -> Number {
    value(dtype, bits(dtype, Number::Int(x)))
}

pub(super) fn zero(dtype: DType) -> Number {
    value(dtype, 0)
}

pub(super) fn one(dtype: DType) -> Number {
    if dtype.is_float() { Number::Float(1.0) } else { Number::Int(1) }
}

/// Whether floats add up, or multiply, to something exact in any order.
pub(super) fn is_exact(reduction: Reduction, row: &[Number]) -> bool {
    EXACT_BELOW
        > match reduction {
            Reduction::Sum => row.iter().map(|&x| magnitude(x)).sum(),
            Reduction::Prod => row.iter().map(|&x| magnitude(x).max(1.0)).product(),
            _ => 0.0,
        }
}

/// A sum of products of this dtype, if it is exact in any order, and as it would be stored.
pub(super) fn dotted(
    dtype: DType,
    terms: impl IntoIterator<Item = (Number, Number)>,
) -> Option<Number> {
    let (mut sum, mut size) = (zero(dtype), 0.0);
    for (x, y) in terms {
        let term = times(dtype, x, y);
        (sum, size) = (plus(dtype, sum, term), size + magnitude(term));
    }
    (size < EXACT_BELOW && magnitude(sum) <= most_exact(dtype)).then_some(sum)
}
