//! Reductions, scans and row operations of one list of values, in f64 or i128.

use crate::dtype::DType;
use crate::op::{Exact, Number, Reduction, computing, largest, smallest, wrapped};

/// The exact result of a reduction of these values of `dtype`; `None` where there are no values and
/// the reduction has no result for that. Variance and deviation subtract `correction` from the
/// count.
#[must_use]
pub fn reduce(
    reduction: Reduction,
    dtype: DType,
    values: &[Number],
    correction: usize,
) -> Option<Exact> {
    if values.is_empty() {
        return reduction.of_nothing(dtype).map(Exact::from);
    }
    Some(match reduction {
        Reduction::ArgMax => Number::Int(first(values, |a, b| a > b) as i128).into(),
        Reduction::ArgMin => Number::Int(first(values, |a, b| a < b) as i128).into(),
        Reduction::Max => values[first(values, |a, b| a > b)].into(),
        Reduction::Min => values[first(values, |a, b| a < b)].into(),
        Reduction::Any => Number::Bool(values.iter().any(is_nonzero)).into(),
        Reduction::All => Number::Bool(values.iter().all(is_nonzero)).into(),
        Reduction::CountNonzero => {
            Number::Int(values.iter().filter(|v| is_nonzero(v)).count() as i128).into()
        }
        Reduction::Sum | Reduction::Prod if !dtype.is_float() => {
            let wide = reduction.yields(dtype);
            let step = |a: i128, v: &Number| {
                let b = whole(v);
                wrapped(wide, if reduction == Reduction::Sum { a + b } else { a.wrapping_mul(b) })
            };
            let start = i128::from(reduction == Reduction::Prod);
            Number::Int(values.iter().fold(start, step)).into()
        }
        _ => {
            let x: Vec<_> = values.iter().map(|v| v.float()).collect();
            real(reduction, dtype, &x, correction)
        }
    })
}

/// The index of the first value that no other beats, or of the first NaN if there is one.
fn first(values: &[Number], beats: fn(f64, f64) -> bool) -> usize {
    if let Some(nan) = values.iter().position(|v| v.float().is_nan()) {
        return nan;
    }
    let better = |a: &Number, b: &Number| match (a, b) {
        // Compared as integers: an f64 does not hold all of 64 bits.
        (Number::Int(a), Number::Int(b)) => a != b && (a > b) == beats(1.0, 0.0),
        (a, b) => beats(a.float(), b.float()),
    };
    (1..values.len()).fold(0, |best, i| if better(&values[i], &values[best]) { i } else { best })
}

fn is_nonzero(value: &Number) -> bool {
    match value {
        Number::Float(x) => *x != 0.0,
        Number::Int(x) => *x != 0,
        Number::Bool(x) => *x,
    }
}

fn whole(value: &Number) -> i128 {
    match value {
        Number::Float(x) => *x as i128,
        Number::Int(x) => *x,
        Number::Bool(x) => i128::from(*x),
    }
}

/// A sum by Neumaier's method, which adds at the end what was rounded away: exact far beyond f32.
#[must_use]
pub(crate) fn total(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for x in values {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    if lost.is_finite() { sum + lost } else { sum }
}

fn magnitude(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, v| most.max(v.abs()))
}

fn variance(x: &[f64], correction: usize) -> f64 {
    let n = x.len() as f64;
    let mean = total(x.iter().copied()) / n;
    let free = x.len() as f64 - correction as f64;
    total(x.iter().map(|v| (v - mean) * (v - mean))) / free.max(0.0)
}

/// The products of all that is large, and of all that is small, among some factors: in whatever
/// order they are multiplied, what is made on the way lies between the two.
#[derive(Clone, Copy)]
struct Path {
    high: f64,
    low: f64,
}

impl Path {
    const START: Self = Self { high: 1.0, low: 1.0 };

    fn on(self, x: f64) -> Self {
        // A zero is exact, and not what has vanished.
        let small = if x == 0.0 { 1.0 } else { x.abs().min(1.0) };
        Self { high: self.high * x.abs().max(1.0), low: self.low * small }
    }

    /// The scale of the product of `n` factors: infinite where it is in range, and the way to it
    /// need not be.
    fn scale(self, dtype: DType, product: f64, n: f64) -> f64 {
        let (most, least) = (largest(computing(dtype)), smallest(dtype));
        let overflows = self.high > most && product.abs() <= most;
        let vanishes = self.low < least && product.abs() >= least;
        if overflows || vanishes { f64::INFINITY } else { product.abs() * n }
    }
}

/// Reductions of floats.
fn real(reduction: Reduction, dtype: DType, x: &[f64], correction: usize) -> Exact {
    let n = x.len() as f64;
    let sum = || total(x.iter().copied());
    let terms = || total(x.iter().map(|v| v.abs()));
    // What is made on the way may be too large where the result is not.
    let unless = |way: f64, scale: f64| {
        if way > largest(computing(dtype)) { f64::INFINITY } else { scale }
    };
    // Squares that are subnormal may count as zero: 2^-17 of what is left of them is 128 units.
    let squared = |sum: f64| {
        let vanishes = sum > 0.0 && sum < n * smallest(dtype) * 2.0_f64.powi(17);
        if vanishes { f64::INFINITY } else { sum }
    };
    let (value, scale) = match reduction {
        Reduction::Sum => (sum(), terms()),
        Reduction::Mean => (sum() / n, unless(terms(), terms() / n)),
        Reduction::Prod => {
            let product: f64 = x.iter().product();
            let path = x.iter().fold(Path::START, |path, &x| path.on(x));
            (product, path.scale(dtype, product, n))
        }
        Reduction::Var | Reduction::Std => {
            let (var, most) = (variance(x, correction), magnitude(x));
            let (std, small) = (var.sqrt(), most * 2.0_f64.powi(-17));
            let way = terms().max(squared(var * n));
            match reduction {
                Reduction::Var => (var, unless(way, most * (std + small))),
                _ => (std, unless(way, most)),
            }
        }
        Reduction::Norm => {
            let squares = total(x.iter().map(|v| v * v));
            (squares.sqrt(), unless(squared(squares), 0.0))
        }
        _ => {
            let value = logsumexp(x);
            (value, value.abs().max(1.0))
        }
    };
    Exact { value: Number::Float(value), scale: if value.is_finite() { scale } else { 0.0 } }
}

fn logsumexp(x: &[f64]) -> f64 {
    if x.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    let most = x.iter().fold(f64::NEG_INFINITY, |most, &v| most.max(v));
    if most.is_infinite() { most } else { most + total(x.iter().map(|v| (v - most).exp())).ln() }
}

/// The running reduction of these values of `dtype`: the sum, product, maximum or minimum of each
/// value and all before it.
///
/// # Panics
/// For any other reduction.
#[must_use]
pub fn scan(reduction: Reduction, dtype: DType, values: &[Number]) -> Vec<Exact> {
    let wide = reduction.yields(dtype);
    if !dtype.is_float() || matches!(reduction, Reduction::Max | Reduction::Min) {
        let mut so_far: Option<Number> = None;
        return values
            .iter()
            .map(|&x| {
                let both = so_far.map_or(vec![x], |so_far| vec![so_far, x]);
                let next = reduce(reduction, wide, &both, 0).map_or(x, |exact| exact.value);
                // Bools are counted as 0 and 1.
                let next = match next {
                    Number::Bool(b) => Number::Int(b.into()),
                    next => next,
                };
                so_far = Some(next);
                next.into()
            })
            .collect();
    }
    let (mut sum, mut lost, mut terms) = (0.0_f64, 0.0_f64, 0.0_f64);
    let (mut product, mut path) = (1.0_f64, Path::START);
    let step = |(i, x): (usize, &Number)| {
        let x = x.float();
        if reduction == Reduction::Prod {
            product *= x;
            path = path.on(x);
            let scale = path.scale(dtype, product, (i + 1) as f64);
            return Exact { value: Number::Float(product), scale };
        }
        assert!(reduction == Reduction::Sum, "no running {reduction}");
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
        terms += x.abs();
        let value = if lost.is_finite() { sum + lost } else { sum };
        Exact { value: Number::Float(value), scale: if value.is_finite() { terms } else { 0.0 } }
    };
    values.iter().enumerate().map(step).collect()
}
