//! One operation on one set of values.

use super::special::{erf, erfc, log1p_exp};
use super::twice;
use crate::dtype::{Class, DType};
use crate::op::{Exact, Number, Op, computing, largest, smallest, wrapped};

/// The exact result of an operation on values of `dtype` (for `where`, the dtype of the two it
/// chooses from).
///
/// # Panics
/// If the values are not of that dtype, or the operation does not take it.
#[must_use]
pub fn apply(op: Op, dtype: DType, values: &[Number]) -> Exact {
    assert!(op.takes(dtype) && values.len() == op.arity(), "{op} of {dtype}: {values:?}");
    let exact = |value| Exact { value, scale: op.scale(values) };
    let twice = match (dtype, values) {
        (DType::F64, &[Number::Float(a)]) => twice::unary(op, a),
        (DType::F64, &[Number::Float(a), Number::Float(b)]) => twice::binary(op, a, b),
        (DType::F64, &[Number::Float(a), Number::Float(b), Number::Float(c)]) => {
            twice::ternary(op, a, b, c)
        }
        _ => None,
    };
    if let Some(value) = twice {
        return exact(Number::Float(value));
    }
    exact(match (op, values) {
        (Op::Where, &[Number::Bool(c), a, b]) => {
            if c {
                a
            } else {
                b
            }
        }
        (_, &[Number::Float(a)]) => unary(op, a),
        (_, &[Number::Float(a), Number::Float(b)]) => binary(op, a, b),
        (_, &[Number::Float(a), Number::Float(b), Number::Float(c)]) => ternary(op, a, b, c),
        (_, &[Number::Bool(_), ..]) => truth(op, values),
        _ => {
            let ints = values.iter().filter_map(|v| match v {
                Number::Int(x) => Some(*x),
                _ => None,
            });
            integer(op, dtype, &ints.collect::<Vec<_>>())
        }
    })
}

/// The result of an operation of several steps where a step that leaves the range of the computing
/// type becomes infinite, and a subnormal one zero. Where none does it is [`apply`]'s, but for what
/// is rounded.
#[must_use]
pub fn stepwise(op: Op, dtype: DType, values: &[Number]) -> Option<Number> {
    let (smallest, largest) = (smallest(dtype), largest(computing(dtype)));
    let step = |x: f64| match x.abs() {
        size if size > largest => f64::INFINITY.copysign(x),
        size if size < smallest => 0.0,
        _ => x,
    };
    match (op, values) {
        (Op::MulAdd, &[Number::Float(a), Number::Float(b), Number::Float(c)]) => {
            Some(Number::Float(step(a * b) + c))
        }
        (Op::Lerp, &[Number::Float(a), Number::Float(b), Number::Float(t)]) => {
            Some(Number::Float(a + step(t * step(b - a))))
        }
        _ => None,
    }
}

/// Whether `got` keeps the contract of an operation on values of `dtype`. Where the contract allows
/// it, any of the subnormal operands may count as zero, and what leaves the range on the way as
/// infinity or zero.
///
/// # Panics
/// As [`apply`].
#[must_use]
pub fn keeps(op: Op, dtype: DType, values: &[Number], got: Number) -> bool {
    let bound = op.bound(dtype);
    let result = if op.yields_bool() { DType::Bool } else { dtype };
    let subnormal = |v: &Number| match (dtype, v) {
        (DType::F64, Number::Float(x)) => x.is_subnormal(),
        (_, Number::Float(x)) => *x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE),
        _ => false,
    };
    let small =
        (0..values.len()).filter(|&i| bound.flush && subnormal(&values[i])).collect::<Vec<_>>();
    // Every subset of the subnormal operands.
    (0..1_u32 << small.len()).any(|subset| {
        let mut values = values.to_vec();
        for (_, &i) in small.iter().enumerate().filter(|(bit, _)| subset >> bit & 1 != 0) {
            values[i] = Number::Float(0.0_f64.copysign(values[i].float()));
        }
        let exact = apply(op, dtype, &values);
        let ends = [Some(exact.value), stepwise(op, dtype, &values)];
        ends.into_iter()
            .flatten()
            .any(|end| bound.within(result, Exact { value: end, ..exact }, got))
    })
}

/// The limit where the naive product is infinity times zero.
fn vanishing(x: f64, y: f64) -> f64 {
    if x == f64::NEG_INFINITY { 0.0 } else { y }
}

fn unary(op: Op, x: f64) -> Number {
    let half = core::f64::consts::FRAC_1_SQRT_2;
    Number::Float(match op {
        Op::Neg => -x,
        Op::Abs => x.abs(),
        Op::Sign if x == 0.0 || x.is_nan() => x,
        Op::Sign => x.signum(),
        Op::Floor => x.floor(),
        Op::Ceil => x.ceil(),
        Op::Round => x.round_ties_even(),
        Op::Trunc => x.trunc(),
        Op::Fract => x - x.floor(),
        Op::Sqrt => x.sqrt(),
        Op::Cbrt => x.cbrt(),
        Op::Rsqrt => 1.0 / x.sqrt(),
        Op::Recip => 1.0 / x,
        Op::Square => x * x,
        Op::Exp => x.exp(),
        Op::Exp2 => x.exp2(),
        Op::Expm1 => x.exp_m1(),
        Op::Ln => x.ln(),
        Op::Log2 => x.log2(),
        Op::Log10 => x.log10(),
        Op::Log1p => x.ln_1p(),
        Op::Sin => x.sin(),
        Op::Cos => x.cos(),
        Op::Tan => x.tan(),
        Op::Asin => x.asin(),
        Op::Acos => x.acos(),
        Op::Atan => x.atan(),
        Op::Sinh => x.sinh(),
        Op::Cosh => x.cosh(),
        Op::Tanh => x.tanh(),
        Op::Asinh => x.asinh(),
        Op::Acosh => x.acosh(),
        Op::Atanh => x.atanh(),
        Op::Erf => erf(x),
        Op::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Op::Relu if x < 0.0 => 0.0,
        Op::Relu => x,
        Op::Gelu => vanishing(x, 0.5 * x * erfc(-x * half)),
        Op::GeluTanh => {
            let u = 0.797_884_560_802_865_4 * (x + 0.044_715 * x * x * x);
            vanishing(x, x / (1.0 + (-2.0 * u).exp()))
        }
        Op::Silu => vanishing(x, x / (1.0 + (-x).exp())),
        Op::Softplus => log1p_exp(x),
        Op::HardSwish => vanishing(x, x * (x + 3.0).clamp(0.0, 6.0) / 6.0),
        Op::Mish => vanishing(x, x * log1p_exp(x).tanh()),
        Op::IsNan => return Number::Bool(x.is_nan()),
        Op::IsInf => return Number::Bool(x.is_infinite()),
        Op::IsFinite => return Number::Bool(x.is_finite()),
        // Unreachable: asserted above.
        _ => f64::NAN,
    })
}

fn binary(op: Op, a: f64, b: f64) -> Number {
    // C's functions tell a signalling NaN from a quiet one.
    let quiet = |x: f64| if x.is_nan() { f64::NAN } else { x };
    let (a, b) = (quiet(a), quiet(b));
    let nan = a.is_nan() || b.is_nan();
    let truth = match op {
        Op::Eq => Some(a == b),
        Op::Ne => Some(a != b),
        Op::Lt => Some(a < b),
        Op::Le => Some(a <= b),
        Op::Gt => Some(a > b),
        Op::Ge => Some(a >= b),
        _ => None,
    };
    if let Some(truth) = truth {
        return Number::Bool(truth);
    }
    Number::Float(match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div => a / b,
        Op::RemTrunc => a % b,
        Op::RemFloor => {
            let r = a % b;
            match r {
                0.0 => r.copysign(b),
                r if (r < 0.0) != (b < 0.0) => r + b,
                r => r,
            }
        }
        Op::Pow => a.powf(b),
        Op::Min | Op::Max if nan => f64::NAN,
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::Atan2 => a.atan2(b),
        Op::Hypot => a.hypot(b),
        Op::LeakyRelu if a < 0.0 => a * b,
        Op::Elu if a < 0.0 => b * a.exp_m1(),
        Op::LeakyRelu | Op::Elu => a,
        _ => f64::NAN,
    })
}

fn ternary(op: Op, a: f64, b: f64, c: f64) -> Number {
    Number::Float(match op {
        Op::Clamp if a.is_nan() || b.is_nan() || c.is_nan() => f64::NAN,
        Op::Clamp => a.max(b).min(c),
        Op::MulAdd => a.mul_add(b, c),
        Op::Lerp => {
            let near = a + c * (b - a);
            // Of f64, `b - a` may leave the range where the result does not.
            if near.is_finite() { near } else { 4.0 * (0.25 * a + c * (0.25 * b - 0.25 * a)) }
        }
        _ => f64::NAN,
    })
}

fn truth(op: Op, values: &[Number]) -> Number {
    Number::Bool(match (op, values) {
        (Op::Not, &[Number::Bool(a)]) => !a,
        (Op::And, &[Number::Bool(a), Number::Bool(b)]) => a && b,
        (Op::Or, &[Number::Bool(a), Number::Bool(b)]) => a || b,
        (Op::Xor | Op::Ne, &[Number::Bool(a), Number::Bool(b)]) => a != b,
        (Op::Eq, &[Number::Bool(a), Number::Bool(b)]) => a == b,
        _ => false,
    })
}

fn integer(op: Op, dtype: DType, values: &[i128]) -> Number {
    let bits = 8 * dtype.width() as i128;
    // A negative count counts as a huge one.
    let count = |n: i128| if n < 0 || n >= bits { bits } else { n };
    let x = match (op, values) {
        (Op::Neg, &[a]) => -a,
        (Op::Abs, &[a]) => a.abs(),
        (Op::Sign, &[a]) => a.signum(),
        (Op::Square, &[a]) => a.wrapping_mul(a),
        (Op::Relu, &[a]) => a.max(0),
        (Op::BitNot, &[a]) => !a,
        (Op::Add, &[a, b]) => a + b,
        (Op::Sub, &[a, b]) => a - b,
        (Op::Mul, &[a, b]) => a.wrapping_mul(b),
        (Op::Div, &[_, 0]) => 0,
        (Op::Div, &[a, b]) => a / b,
        (Op::RemTrunc | Op::RemFloor, &[a, 0]) => a,
        (Op::RemTrunc, &[a, b]) => a % b,
        (Op::RemFloor, &[a, b]) => a - b * a.div_euclid(b) + floor_shift(a, b),
        (Op::Min, &[a, b]) => a.min(b),
        (Op::Max, &[a, b]) => a.max(b),
        (Op::BitAnd, &[a, b]) => a & b,
        (Op::BitOr, &[a, b]) => a | b,
        (Op::BitXor, &[a, b]) => a ^ b,
        (Op::Shl, &[a, n]) => a << count(n),
        (Op::Shr, &[a, n]) => a >> count(n),
        (Op::Clamp, &[a, low, high]) => a.max(low).min(high),
        (Op::MulAdd, &[a, b, c]) => a.wrapping_mul(b).wrapping_add(c),
        (Op::Eq, &[a, b]) => return Number::Bool(a == b),
        (Op::Ne, &[a, b]) => return Number::Bool(a != b),
        (Op::Lt, &[a, b]) => return Number::Bool(a < b),
        (Op::Le, &[a, b]) => return Number::Bool(a <= b),
        (Op::Gt, &[a, b]) => return Number::Bool(a > b),
        (Op::Ge, &[a, b]) => return Number::Bool(a >= b),
        _ => 0,
    };
    Number::Int(wrapped(dtype, x))
}

/// What to add to a Euclidean remainder (never negative) to give it the sign of the divisor.
const fn floor_shift(a: i128, b: i128) -> i128 {
    if b < 0 && a.rem_euclid(b) != 0 { b } else { 0 }
}

/// A value as another dtype. To integers it rounds towards zero and saturates, and NaN becomes 0.
/// To bool everything but zero is true. Floats are exact, not yet rounded.
#[must_use]
pub fn cast(value: Number, to: DType) -> Number {
    match (to.class(), value) {
        (Class::Float, Number::Int(x)) if to != DType::F64 => Number::Float(odd(x)),
        (Class::Float, v) => Number::Float(v.float()),
        (Class::Bool, Number::Float(x)) => Number::Bool(x != 0.0),
        (Class::Bool, Number::Int(x)) => Number::Bool(x != 0),
        (Class::Bool, v @ Number::Bool(_)) => v,
        (_, v) => {
            let (low, high) = range(to);
            let whole = match v {
                // `as` saturates and sends NaN to 0.
                Number::Float(x) => x as i128,
                Number::Int(x) => x,
                Number::Bool(x) => i128::from(x),
            };
            Number::Int(whole.clamp(low, high))
        }
    }
}

/// A whole number as f64, its last bit odd where something is lost, so that a narrower dtype rounds
/// what it was and not what it became.
fn odd(x: i128) -> f64 {
    let near = x as f64;
    let back = near as i128;
    let bits = near.to_bits();
    if back == x || bits & 1 == 1 {
        return near;
    }
    f64::from_bits(if back.abs() > x.abs() { bits - 1 } else { bits + 1 })
}

/// The lowest and the highest integer of a dtype.
#[must_use]
pub(crate) fn range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.width() as u32;
    match dtype.class() {
        Class::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        _ => (0, (1 << bits) - 1),
    }
}
