//! What formulas are tried on: special values in every combination, then random ones of every
//! magnitude.

use core::ops::RangeInclusive;

use crate::dtype::{Class, DType};
use crate::op::{Number, largest, wrapped};

/// Values where floats change their manner, beside the extremes of each dtype.
const FLOATS: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -2.0,
    3.0,
    10.0,
    -20.0,
    88.0,
    -100.0,
    65504.0,
    1e-7,
    -6.1e-5,
    1e-40,
    1e30,
    -3.4e38,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

const WHOLE: [i128; 10] = [0, 1, 2, 3, 7, 31, 32, 63, 127, 255];

/// Operands of one dtype; the same in every run.
pub(super) struct Values {
    dtype: DType,
    special: Vec<Number>,
    within: RangeInclusive<f64>,
    /// The range of integers; `within` is that of floats.
    whole: RangeInclusive<i128>,
    state: u64,
}

impl Values {
    /// Integers within a range; `None` where the dtype has none of them. A bool may be either.
    pub(super) fn integers(dtype: DType, within: &RangeInclusive<i128>) -> Option<Self> {
        let all = Self::floats(dtype, f64::NEG_INFINITY..=f64::INFINITY)?;
        if dtype == DType::Bool {
            return Some(all);
        }
        let low = *within.start().max(all.whole.start());
        let high = *within.end().min(all.whole.end());
        let whole = low..=high;
        let special = all.special.iter().map(|x| x.whole());
        let special = special.filter(|x| whole.contains(&wrapped(dtype, *x)));
        let special = special.chain([low, high]).map(Number::Int).collect();
        (low <= high).then(|| Self { special, whole: whole.clone(), ..all })
    }

    /// Floats within a range, as the dtype has them; `None` where it has none of them. Integers and
    /// bools may be any.
    pub(super) fn floats(dtype: DType, within: RangeInclusive<f64>) -> Option<Self> {
        let special = match dtype.class() {
            Class::Bool => vec![Number::Bool(false), Number::Bool(true)],
            Class::Float => {
                let (low, high) = (*within.start(), *within.end());
                let all = FLOATS.into_iter().chain([low, low.midpoint(high), high]);
                let all = all.map(|x| rounded(dtype, Number::Float(x)));
                all.filter(|x| is_within(&within, x)).collect()
            }
            Class::Signed | Class::Unsigned => {
                let half = 1_i128 << (8 * dtype.width() - 1);
                let ends = [half, half - 1, 2 * half - 1];
                let all = WHOLE.into_iter().chain(WHOLE.map(|n| -n)).chain(ends);
                all.map(Number::Int).collect()
            }
        };
        let whole = integers_of(dtype);
        let state = 0x9e37_79b9_7f4a_7c15 ^ dtype as u64;
        (!special.is_empty()).then_some(Self { dtype, special, within, whole, state })
    }

    /// `count` elements of an operand, as bytes: the first operand runs through the special values,
    /// the second moves on when it begins again, and each other one meets all of both.
    pub(super) fn bytes(&mut self, operand: usize, count: usize) -> Vec<u8> {
        let n = self.special.len();
        let dtype = self.dtype;
        let at = |k: usize| match operand {
            0 => k,
            1 => k / n,
            _ => k + k / n + operand,
        };
        let number = |k| if k < n * n { self.special[at(k) % n] } else { self.any() };
        (0..count).map(number).flat_map(|number| number.encode(dtype)).collect()
    }

    /// A step of `SplitMix64`.
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn any(&mut self) -> Number {
        let part = (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        match self.dtype.class() {
            Class::Bool => Number::Bool(self.bits() & 1 == 1),
            Class::Float if is_everything(&self.within) => {
                let sign = if self.bits() & 1 == 0 { 1.0 } else { -1.0 };
                let magnitude = match self.bits() % 4 {
                    0 => part,
                    1 => 10.0 * part,
                    2 => 1000.0 * part,
                    _ => 2f64.powf(280.0 * part - 150.0),
                };
                Number::Float(sign * magnitude)
            }
            Class::Float => {
                // A range without an end has a million beside the one that it has.
                let (low, high) = (*self.within.start(), *self.within.end());
                let low = if low.is_finite() { low } else { high.min(0.0) - 1e6 };
                let high = if high.is_finite() { high } else { low.max(0.0) + 1e6 };
                let most = largest(self.dtype);
                let (low, high) = (low.max(-most), high.min(most));
                let x = rounded(self.dtype, Number::Float(low * (1.0 - part) + high * part));
                let (at, count) = (self.bits() as usize, self.special.len());
                if is_within(&self.within, &x) { x } else { self.special[at % count] }
            }
            Class::Signed | Class::Unsigned => {
                let shift = self.bits() % 64;
                let x = wrapped(self.dtype, (self.bits() >> shift).into());
                let (low, high) = (*self.whole.start(), *self.whole.end());
                let is_inside = self.whole.contains(&x);
                Number::Int(if is_inside { x } else { low + x.rem_euclid(high - low + 1) })
            }
        }
    }
}

/// What an integer dtype has.
fn integers_of(dtype: DType) -> RangeInclusive<i128> {
    let half = 1_i128 << (8 * dtype.width() - 1);
    if dtype.class() == Class::Signed { -half..=half - 1 } else { 0..=2 * half - 1 }
}

/// The number of a dtype that stands for this one.
fn rounded(dtype: DType, number: Number) -> Number {
    Number::decode(dtype, &number.encode(dtype))
}

fn is_everything(range: &RangeInclusive<f64>) -> bool {
    range.start().is_infinite() && range.end().is_infinite()
}

/// Whether an operand is meant: NaN is if everything is.
fn is_within(range: &RangeInclusive<f64>, number: &Number) -> bool {
    match number {
        Number::Float(x) => is_everything(range) || range.contains(x),
        Number::Int(_) | Number::Bool(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_values_meet_in_every_combination() {
        let everything = f64::NEG_INFINITY..=f64::INFINITY;
        for dtype in [DType::F32, DType::F16, DType::I8, DType::Bool] {
            let mut values = Values::floats(dtype, everything.clone()).expect("it has some");
            let count = values.special.len().pow(2);
            let all = [0, 1, 2, 3].map(|operand| values.bytes(operand, count));
            for (a, b) in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)] {
                let [a, b] = [a, b].map(|operand| all[operand].chunks(dtype.width()));
                let met: std::collections::HashSet<_> = a.clone().zip(b).collect();
                let distinct: std::collections::HashSet<_> = a.collect();
                assert_eq!(met.len(), distinct.len().pow(2), "{dtype}");
                assert!(distinct.len() > 15 || dtype == DType::Bool, "{dtype}: {}", distinct.len());
            }
        }
    }

    #[test]
    fn floats_stay_in_their_range() {
        for (low, high) in [(1e3, 1e8), (-2e9, -1e2), (0.7, 0.8), (0.0, f64::INFINITY)] {
            for dtype in [DType::F32, DType::F64, DType::F16, DType::Bf16] {
                let mut values = Values::floats(dtype, low..=high).expect("it has some");
                let bytes = values.bytes(0, 2000);
                for x in bytes.chunks(dtype.width()).map(|x| Number::decode(dtype, x).float()) {
                    let inside = (x.is_finite() || x == high) && (low..=high).contains(&x);
                    assert!(inside, "{x} of {dtype} within {low}..={high}");
                }
            }
        }
    }

    #[test]
    fn integers_stay_in_their_range() {
        for dtype in [DType::I8, DType::U8, DType::I32, DType::U64] {
            for (low, high) in [(0, 4), (-3, 300), (7, 7)] {
                let mut values = Values::integers(dtype, &(low..=high)).expect("it has some");
                let bytes = values.bytes(0, 3000);
                let all = bytes.chunks(dtype.width()).map(|bytes| Number::decode(dtype, bytes));
                let all: Vec<i128> = all.map(|x| x.float() as i128).collect();
                let whole = integers_of(dtype);
                let (low, high) = (low.max(*whole.start()), high.min(*whole.end()));
                let met = (all.iter().min().copied(), all.iter().max().copied());
                assert_eq!(met, (Some(low), Some(high)), "{dtype}");
            }
        }
        assert!(Values::integers(DType::U8, &(-5..=-1)).is_none(), "it has none");
        assert!(Values::integers(DType::I8, &(200..=300)).is_none(), "it has none");
        assert!(Values::floats(DType::F16, 1e5..=1e6).is_none(), "it has none");
    }
}
