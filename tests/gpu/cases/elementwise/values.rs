//! What operations are tried on: special values in every combination, then random ones of every
//! magnitude.

use wharf::dtype::Class;
use wharf::op::Op;
use wharf::reference::Number;
use wharf::{DType, Tensor, half};

use crate::cases::pair::bits;
use crate::cases::probe::Random;

/// Operands for one operation and dtype; the same in every run.
pub(super) struct Source {
    pub(super) op: Op,
    pub(super) dtype: DType,
    random: Random,
    /// The values that long operands repeat, so that the oracle computes each combination once.
    pools: [Vec<u64>; 3],
}

/// Operands longer than this repeat themselves.
const LONG: usize = 5000;

/// Where exponentials leave the normal numbers or the finite ones, and where a tail becomes one.
const ENDS: [f64; 8] = [10.0, 87.336_54, 88.722_84, 89.415_985, 103.97, 126.0, 128.0, 149.0];
const ENDS_F64: [f64; 8] = [6.0, 21.0, 708.396, 709.783, 745.13, 1022.0, 1024.0, 1075.0];

impl Source {
    pub(super) fn new(op: Op, dtype: DType) -> Self {
        let random = Random::new(op as u64 * 31 + dtype as u64);
        let mut source = Self { op, dtype, random, pools: Default::default() };
        for i in 0..op.arity() {
            let size = if op.arity() == 3 { 17 } else { 61 };
            source.pools[i] = source.bits(i, size);
        }
        source
    }

    /// `n` elements of operand `i` as bits.
    pub(super) fn bits(&mut self, i: usize, n: usize) -> Vec<u64> {
        let dtype = super::operand_dtype(self.op, self.dtype, i);
        if n > LONG {
            let (random, pool) = (&mut self.random, &self.pools[i]);
            return (0..n).map(|_| pool[random.below(pool.len())]).collect();
        }
        let special = special(dtype);
        (0..n)
            .map(|k| {
                // The first operand runs through the special values, then the second moves on.
                let turn = k / special.len().pow(i as u32);
                let all = special.len().pow(self.op.arity().min(2) as u32);
                if n > 40 && k < all { special[turn % special.len()] } else { self.any(dtype, i) }
            })
            .collect()
    }

    fn any(&mut self, dtype: DType, i: usize) -> u64 {
        let random = &mut self.random;
        match dtype.class() {
            Class::Bool => random.bits() & 1,
            // Counts of shifts around the width.
            Class::Signed | Class::Unsigned if matches!(self.op, Op::Shl | Op::Shr) && i == 1 => {
                bits(dtype, Number::Int(random.below(80) as i128 - 4))
            }
            Class::Signed | Class::Unsigned => {
                let n = i128::from((random.bits() >> random.below(64)).cast_signed());
                bits(dtype, Number::Int(if random.below(2) == 0 { n } else { -n }))
            }
            _ => {
                let part = random.below(1 << 24) as f64 / f64::from(1 << 24);
                let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
                let magnitude = match random.below(7) {
                    0 | 1 => part,
                    2 => 10.0 * part,
                    3 => 120.0 * part,
                    4 => 8192.0 * part,
                    5 => {
                        let ends = if dtype == DType::F64 { ENDS_F64 } else { ENDS };
                        ends[random.below(ends.len())] * (0.999 + 0.002 * part)
                    }
                    _ if dtype == DType::F64 => 2f64.powf(2090.0 * part - 1070.0),
                    _ => 2f64.powf(280.0 * part - 150.0),
                };
                let x = if random.below(12) == 0 { magnitude.round() } else { magnitude };
                bits(dtype, Number::Float(sign * x))
            }
        }
    }
}

fn special(dtype: DType) -> Vec<u64> {
    use DType::{Bf16, Bool, F16, F32, F64};
    let of = |values: &[f64]| values.iter().map(|&x| bits(dtype, Number::Float(x))).collect();
    let common = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.0,
        -2.0,
        2.5,
        3.0,
        -3.0,
        10.0,
        -20.0,
        88.0,
        -100.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    // The largest, the smallest normal, the smallest subnormal, the next to 1.
    let ends: &[f64] = match dtype {
        F32 => &[
            3.402_823_466_385_288_6e38,
            1.175_494_350_822_287_5e-38,
            1.4e-45,
            1.000_000_119,
            -5.877e-39,
        ],
        F16 => &[65504.0, 6.103_515_625e-5, 5.96e-8, 1.000_976_562_5, -3e-5],
        Bf16 => &[
            3.389_531_389_251_535_5e38,
            1.175_494_350_822_287_5e-38,
            9.184e-41,
            1.007_812_5,
            -5e-39,
        ],
        F64 => &[f64::MAX, f64::MIN_POSITIVE, 5e-324, 1.000_000_000_000_000_2, -1e-310],
        Bool => return vec![0, 1],
        _ => {
            let low: [i128; 14] = [0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, 127, 128, 255];
            let wide = 8 * dtype.width() as u32;
            let ends =
                [1 << (wide - 1), (1 << (wide - 1)) - 1, (1_i128 << wide) - 1, 1 << (wide / 2)];
            let all = low.into_iter().chain(low.map(|n| -n)).chain(ends);
            return all.map(|n| bits(dtype, Number::Int(n))).collect();
        }
    };
    let mut all: Vec<u64> = of(&common);
    let ends: Vec<u64> = of(ends);
    all.extend(ends);
    all
}

/// A number that every dtype of its class has.
pub(super) fn scalar(dtype: DType, i: usize) -> Number {
    match dtype.class() {
        Class::Bool => Number::Bool(i.is_multiple_of(2)),
        Class::Unsigned => Number::Int([3, 7, 100, 0][i % 4]),
        Class::Signed => Number::Int([3, -7, 100, 0][i % 4]),
        _ => Number::Float([0.5, -2.5, 3.0, 0.0][i % 4]),
    }
}

/// An operation on a tensor and numbers before or after it.
pub(super) fn with_numbers(
    op: Op,
    x: &Tensor,
    before: bool,
    numbers: &[Number],
) -> wharf::Result<Tensor> {
    if before {
        return match numbers[0] {
            // As the dtype's own host type; most others are converted by `From`.
            Number::Float(s) if x.dtype() == DType::F16 => infix(op, half::f16::from_f64(s), x),
            Number::Float(s) => infix(op, s, x),
            Number::Int(s) if x.dtype().class() == Class::Unsigned => infix(op, s as u64, x),
            Number::Int(s) => infix(op, s as i64, x),
            Number::Bool(_) => x.apply(op, &[]),
        };
    }
    let others = numbers.iter().map(|number| match *number {
        Number::Float(s) => s.into(),
        Number::Int(s) => (s as i64).into(),
        Number::Bool(s) => s.into(),
    });
    x.apply(op, &others.collect::<Vec<_>>())
}

fn infix<S>(op: Op, s: S, x: &Tensor) -> wharf::Result<Tensor>
where
    S: for<'a> core::ops::Add<&'a Tensor, Output = wharf::Result<Tensor>>
        + for<'a> core::ops::Sub<&'a Tensor, Output = wharf::Result<Tensor>>
        + for<'a> core::ops::Mul<&'a Tensor, Output = wharf::Result<Tensor>>
        + for<'a> core::ops::Div<&'a Tensor, Output = wharf::Result<Tensor>>
        + for<'a> core::ops::Shl<&'a Tensor, Output = wharf::Result<Tensor>>
        + for<'a> core::ops::Shr<&'a Tensor, Output = wharf::Result<Tensor>>,
{
    match op {
        Op::Add => s + x,
        Op::Sub => s - x,
        Op::Mul => s * x,
        Op::Div => s / x,
        Op::Shl => s << x,
        _ => s >> x,
    }
}

/// Whether the sign of zero is right, for operations whose contract says it.
pub(super) fn keeps_bits(op: Op, values: &[Number], got: Number) -> bool {
    let sign = |v: &Number| matches!(v, Number::Float(x) if x.is_sign_negative());
    let zero = matches!(got, Number::Float(x) if x == 0.0);
    match op {
        Op::Neg if zero => sign(&got) != sign(&values[0]),
        Op::Abs if zero => !sign(&got),
        Op::Sign if zero => sign(&got) == sign(&values[0]),
        Op::Relu if zero && values[0] == Number::Float(0.0) => sign(&got) == sign(&values[0]),
        Op::RemTrunc if zero => sign(&got) == sign(&values[0]),
        Op::RemFloor if zero => sign(&got) == sign(&values[1]),
        Op::Where if zero => {
            let chosen = if values[0] == Number::Bool(true) { &values[1] } else { &values[2] };
            sign(&got) == sign(chosen)
        }
        _ => true,
    }
}
