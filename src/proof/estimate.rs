//! Where a value may lie: one number, a stretch between two, or anywhere. Each step of an
//! expression moves the ends of its operands, and adds what its contract allows.

use core::f64::consts::PI;

use crate::dtype::{Class, DType};
use crate::op::{Exact, Number, Op, Tolerance, computing, largest, round_to, smallest};
use crate::reference::{apply, cast, dot, matmul_room, stepwise};

/// Where a value may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Estimate {
    /// Nowhere else.
    Known(Number),
    /// A float from `low` to `high`, or perhaps NaN; only NaN if `low` is above `high`.
    Between { low: f64, high: f64, nan: bool },
    /// An oracle cannot say.
    Open,
}

use Estimate::{Between, Known, Open};

/// The part of its range that operands lie in, of an operation that jumps or turns from one part to
/// the next. What does so at zero alone needs none: both zeros stand for a stretch around it.
fn part(op: Op, x: f64, y: f64) -> Option<i64> {
    let above = |x: f64, edge: f64| i64::from(x > edge);
    Some(match op {
        Op::Fract => x.floor() as i64,
        Op::RemFloor => (x / y).floor() as i64,
        Op::RemTrunc => (x / y) as i64,
        Op::Pow if x < 0.0 => y.floor() as i64,
        Op::Sin | Op::Tan => (x / PI - 0.5).floor() as i64,
        Op::Cos => (x / PI).floor() as i64,
        Op::Eq | Op::Ne => above(x, y) - above(y, x),
        Op::Asin | Op::Acos | Op::Atanh => above(x.abs(), 1.0),
        Op::Acosh => above(1.0, x),
        Op::Log1p => above(-1.0, x),
        Op::Gelu => above(x, -0.751_791_52),
        Op::GeluTanh => above(x, -0.752_461_42),
        Op::Silu => above(x, -1.278_464_54),
        Op::HardSwish => above(x, -1.5),
        Op::Mish => above(x, -1.192_431_22),
        _ => return None,
    })
}

impl Estimate {
    pub(crate) const NAN: Self = Between { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: true };

    /// Within `room` of an exact float, in what its dtype is computed in.
    pub(crate) fn about(dtype: DType, exact: f64, room: f64) -> Self {
        Self::stretch(dtype, exact, exact, room)
    }

    /// From a number to another, and `room` beyond them.
    pub(crate) fn stretch(dtype: DType, low: f64, high: f64, room: f64) -> Self {
        if low.is_nan() || high.is_nan() || room.is_nan() {
            return if low.is_nan() && high.is_nan() { Self::NAN } else { Open };
        }
        let (mut low, mut high) = (low - room, high + room);
        let most = largest(computing(dtype));
        if high >= most {
            high = f64::INFINITY;
        }
        if low <= -most {
            low = f64::NEG_INFINITY;
        }
        if low == high { Known(Number::Float(low)) } else { Between { low, high, nan: false } }
    }

    /// What a contract allows about an exact value.
    pub(crate) fn of(bound: Tolerance, dtype: DType, exact: Exact) -> Self {
        let Number::Float(x) = exact.value else { return Known(exact.value) };
        if x.is_nan() {
            return Self::NAN;
        }
        match bound.room(dtype, x, exact.scale) {
            Some(room) => Self::about(dtype, x, room),
            None => Open,
        }
    }

    /// A sum of these products, by the contract of one of `k` terms.
    pub(crate) fn summed(dtype: DType, k: usize, a: &[Number], b: &[Number]) -> Option<Self> {
        let exact = dot(dtype, a, b);
        let Number::Float(x) = exact.value else { return Some(Known(exact.value)) };
        if x.is_nan() {
            return Some(Self::NAN);
        }
        Some(Self::about(dtype, x, matmul_room(dtype, k, exact.scale)?))
    }

    /// The middle of it.
    pub(crate) fn middle(self) -> Option<Number> {
        match self {
            Known(number) => Some(number),
            Between { low, high, .. } if low > high => Some(Number::Float(f64::NAN)),
            Between { low, high, .. } if low.is_infinite() || high.is_infinite() => {
                Some(Number::Float(if low.is_infinite() { high } else { low }))
            }
            Between { low, high, .. } => Some(Number::Float(low / 2.0 + high / 2.0)),
            Open => None,
        }
    }

    /// How far it reaches from its middle.
    pub(crate) fn room(self) -> f64 {
        match self {
            Between { low, high, .. } if high >= low => (high - low) / 2.0,
            _ => 0.0,
        }
    }

    /// Wider by so much.
    pub(crate) fn widened(self, dtype: DType, more: f64) -> Self {
        match self {
            Known(Number::Float(x)) if more > 0.0 => Self::about(dtype, x, more),
            Between { low, high, nan } if low <= high && more > 0.0 => {
                match Self::stretch(dtype, low, high, more) {
                    Between { low, high, .. } => Between { low, high, nan },
                    other => other,
                }
            }
            other => other,
        }
    }

    /// The smallest estimate that has both.
    fn hull(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (
                Known(Number::Float(_)) | Between { .. },
                Known(Number::Float(_)) | Between { .. },
            ) => {
                let ends = |x| match x {
                    Known(Number::Float(x)) if x.is_nan() => {
                        (f64::INFINITY, f64::NEG_INFINITY, true)
                    }
                    Known(Number::Float(x)) => (x, x, false),
                    Between { low, high, nan } => (low, high, nan),
                    _ => (f64::NEG_INFINITY, f64::INFINITY, true),
                };
                let ((a, b, x), (c, d, y)) = (ends(self), ends(other));
                Between { low: a.min(c), high: b.max(d), nan: x || y }
            }
            _ => Open,
        }
    }

    /// The numbers that stand for it: its ends, its middle, both zeros where it has them, and zero
    /// where a subnormal number may count as that.
    fn points(self, dtype: DType, flush: bool) -> Option<Vec<Number>> {
        let mut points: Vec<f64> = match self {
            Known(Number::Float(x)) => vec![x],
            Known(number) => return Some(vec![number]),
            Between { low, high, nan } if low > high => nan.then(|| vec![f64::NAN])?,
            Between { nan: true, .. } | Open => return None,
            Between { low, high, .. } => vec![low, low / 2.0 + high / 2.0, high],
        };
        let small = |x: &f64| *x != 0.0 && x.abs() < smallest(dtype);
        let (low, high) = (points[0], points[points.len() - 1]);
        if flush && points.iter().any(small) || low < high && low <= 0.0 && high >= 0.0 {
            points.extend((low <= 0.0).then_some(-0.0));
            points.extend((high >= 0.0).then_some(0.0));
        }
        Some(points.into_iter().map(Number::Float).collect())
    }

    /// What an operation makes of these; `dtype` is that of its operands.
    pub(crate) fn apply(op: Op, dtype: DType, operands: &[Self]) -> Self {
        if let (Op::Where, &[condition, yes, no]) = (op, operands) {
            return match condition {
                Known(Number::Bool(true)) => yes,
                Known(Number::Bool(false)) => no,
                _ => yes.hull(no),
            };
        }
        let bound = op.bound(dtype);
        let points: Option<Vec<Vec<Number>>> =
            operands.iter().map(|operand| operand.points(dtype, bound.flush)).collect();
        let Some(points) = points else { return Open };
        let (mut all, mut only): (Option<Self>, Option<i64>) = (None, None);
        let combinations: usize = points.iter().map(Vec::len).product();
        for mut n in 0..combinations {
            let values: Vec<Number> = points
                .iter()
                .map(|points| {
                    let value = points[n % points.len()];
                    n /= points.len();
                    value
                })
                .collect();
            let [x, y] = [0, 1].map(|i| values.get(i).map_or(0.0, |value| value.float()));
            let here = part(op, x, y);
            if !op.covers(&values) || here.is_some_and(|here| *only.get_or_insert(here) != here) {
                return Open;
            }
            let exact = apply(op, dtype, &values);
            let mut here = Self::of(bound, dtype, exact);
            if let Some(value) = stepwise(op, dtype, &values) {
                here = here.hull(Self::of(bound, dtype, Exact { value, ..exact }));
            }
            all = Some(all.map_or(here, |all| all.hull(here)));
        }
        let all = all.unwrap_or(Open);
        // The oracle of f64 is of f64 itself, and so are the ends.
        let own = if dtype == DType::F64 { all.magnitude() * f64::EPSILON } else { 0.0 };
        if bound.is_exact() { all } else { all.widened(dtype, own) }
    }

    fn magnitude(self) -> f64 {
        match self {
            Known(Number::Float(x)) if x.is_finite() => x.abs(),
            Between { low, high, .. } if low.is_finite() && high.is_finite() => {
                low.abs().max(high.abs())
            }
            _ => 0.0,
        }
    }

    /// It as another dtype.
    pub(crate) fn cast(self, from: DType, to: DType) -> Self {
        let one = |number: Number| match cast(number, to) {
            Number::Float(x) => Number::Float(round_to(to, x)),
            other => other,
        };
        let narrow = to.is_float() && to.width() < 4;
        if from == to && !narrow {
            return self;
        }
        match self {
            Known(number) => {
                let exact = Known(one(number));
                // Subnormal numbers of f32 may count as zero.
                match (number, to.class()) {
                    (Number::Float(x), Class::Float)
                        if x != 0.0 && x.abs() < smallest(DType::F32) =>
                    {
                        exact.hull(Known(Number::Float(0.0)))
                    }
                    (Number::Float(x), Class::Bool) if x != 0.0 && x.abs() < smallest(from) => Open,
                    _ => exact,
                }
            }
            Between { low, high, nan } if low <= high => {
                match (one(Number::Float(low)), one(Number::Float(high))) {
                    // Beyond the range of a dtype that has no infinity.
                    (Number::Float(a), Number::Float(b)) if a.is_nan() || b.is_nan() => {
                        if low > 0.0 && a.is_nan() || high < 0.0 && b.is_nan() {
                            Self::NAN
                        } else {
                            Open
                        }
                    }
                    (Number::Float(low), Number::Float(high)) => Between { low, high, nan },
                    (a, b) if a == b && !nan && to.class() != Class::Bool => Known(a),
                    _ => Open,
                }
            }
            Between { .. } if to.is_float() => Self::NAN,
            Between { .. } => Known(one(Number::Float(f64::NAN))),
            Open => Open,
        }
    }

    /// Whether a stored value may be it; `None` where that is not decided.
    pub(crate) fn admits(self, dtype: DType, got: Number) -> Option<bool> {
        Some(match (self, got) {
            (Open, _) => return None,
            (Known(exact), got) => Tolerance::EXACT.within(dtype, exact.into(), got),
            (Between { low, high, nan }, Number::Float(got)) => {
                if got.is_nan() {
                    return Some(nan);
                }
                let zero = got == 0.0 && low < smallest(dtype) && high > -smallest(dtype);
                zero || round_to(dtype, low) <= got && got <= round_to(dtype, high)
            }
            (Between { .. }, _) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(x: f64) -> Estimate {
        Known(Number::Float(x))
    }

    fn admits(estimate: Estimate, x: f64) -> Option<bool> {
        estimate.admits(DType::F32, Number::Float(x))
    }

    #[test]
    fn a_chain_is_allowed_what_its_steps_are() {
        // 1 + 2^-20, then 1000 times that less 1000: the first rounding is a thousand units here.
        let step = |op, a, b| Estimate::apply(op, DType::F32, &[a, b]);
        let sum = step(Op::Add, known(1.0), known(2f64.powi(-20)));
        let wide = step(Op::Mul, sum, known(1000.0));
        let end = step(Op::Sub, wide, known(1000.0));
        let exact = 1000.0 * 2f64.powi(-20);
        assert_eq!(admits(end, exact), Some(true));
        assert_eq!(admits(end, exact + 2e-5), Some(true), "{end:?}");
        assert_eq!(admits(end, exact + 2e-3), Some(false), "{end:?}");
        assert_eq!(admits(end, f64::NAN), Some(false));
    }

    #[test]
    fn zero_stands_for_what_lies_around_it_and_for_what_may_count_as_it() {
        let points = |estimate: Estimate, flush| {
            let points = estimate.points(DType::F32, flush).unwrap_or_default();
            let float = |number| match number {
                Number::Float(x) => x,
                other => panic!("{other:?}"),
            };
            points.into_iter().map(float).collect::<Vec<f64>>()
        };
        let between = |low, high| Between { low, high, nan: false };
        assert_eq!(points(between(-2.0, 1.0), false), [-2.0, -0.5, 1.0, -0.0, 0.0]);
        assert_eq!(points(between(1.0, 3.0), true), [1.0, 2.0, 3.0]);
        assert_eq!(points(between(-3.0, -1.0), true), [-3.0, -2.0, -1.0]);
        assert_eq!(points(known(1e-40), true), [1e-40, 0.0], "a subnormal number");
        assert_eq!(points(known(1e-40), false), [1e-40]);
    }

    #[test]
    fn what_jumps_within_a_stretch_is_open() {
        let vague = Estimate::about(DType::F32, 0.0, 1e-6);
        let above = Estimate::apply(Op::Gt, DType::F32, &[vague, known(0.0)]);
        assert_eq!(above, Open, "it may be either");
        let [yes, no] = [3.0, 5.0].map(known);
        let chosen = Estimate::apply(Op::Where, DType::F32, &[above, yes, no]);
        assert_eq!(
            [3.0, 5.0, 6.0].map(|x| admits(chosen, x)),
            [Some(true), Some(true), Some(false)]
        );
        let far = Estimate::apply(Op::Gt, DType::F32, &[vague, known(1.0)]);
        assert_eq!(far, Known(Number::Bool(false)), "all of it is below");
        assert_eq!(vague.cast(DType::F32, DType::I32), Known(Number::Int(0)), "cut to zero");
        let edge = Estimate::about(DType::F32, 3.0, 1e-6).cast(DType::F32, DType::I32);
        assert_eq!(edge, Open, "2 or 3");
    }

    #[test]
    fn what_has_no_infinity_is_nan_beyond_its_range() {
        let eight = |x: f64| Estimate::about(DType::F32, x, 1.0).cast(DType::F32, DType::F8E4M3);
        assert_eq!(eight(500.0), Estimate::NAN);
        assert_eq!(eight(-500.0), Estimate::NAN);
        assert_eq!(eight(464.0), Open, "448 or NaN");
        let admits = |x| eight(300.0).admits(DType::F8E4M3, Number::Float(x));
        assert_eq!([288.0, 320.0, 352.0].map(admits), [true, false, false].map(Some));
        assert_eq!(known(1e3).cast(DType::F32, DType::F8E5M2), known(1024.0));
    }

    #[test]
    fn nan_and_what_leaves_the_range_are_told_apart() {
        let root = Estimate::apply(Op::Sqrt, DType::F32, &[known(-1.0)]);
        assert_eq!((admits(root, f64::NAN), admits(root, 0.0)), (Some(true), Some(false)));
        let huge = Estimate::apply(Op::Mul, DType::F32, &[known(3e38), known(10.0)]);
        assert_eq!(admits(huge, f64::INFINITY), Some(true));
        assert_eq!(admits(huge, 3e38), Some(false));
        let half = known(70_000.0).cast(DType::F32, DType::F16);
        assert_eq!(half, known(f64::INFINITY));
    }
}
