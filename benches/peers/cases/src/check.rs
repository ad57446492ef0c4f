//! Checks results against the same computation on the host, in f64, at places all over the result.

use crate::images;
use crate::table::{Attention, CHAIN, CHAIN_MATMUL, Crossing, Formula, Matmul, Rows, SMALL, What};

/// How far a result may lie from the exact one: a part of it or a distance, whichever is larger.
#[derive(Clone, Copy)]
pub(crate) struct Within {
    pub(crate) part: f64,
    pub(crate) distance: f64,
}

const CLOSE: Within = Within { part: 2e-5, distance: 2e-6 };

/// At most this many elements of a result are checked, evenly spread, with the first and the last.
pub(crate) const LOOKS: usize = 1 << 20;
/// At most this many where each takes a long sum.
pub(crate) const LOOKS_SUMS: usize = 1 << 12;

/// Compares a result, row-major, with the exact one. The message is for people.
///
/// # Errors
///
/// The first element that is wrong, with both numbers.
pub fn check(what: &What, inputs: &[Vec<f32>], result: &[f32]) -> Result<(), String> {
    match *what {
        What::Matmul(mm) => matmul(mm, inputs, result),
        What::Formula(formula, side) => formulas(formula, side, inputs, result),
        What::Rows(rows, _, columns) => along(rows, columns, &inputs[0], result),
        What::Attention(of) => attention(of, inputs, result),
        What::Image(image) => images::image(image, inputs, result),
        What::Order(order, _) => images::order(order, &inputs[0], result),
        What::Model(model) => model.check(inputs, result),
        What::Crossing(crossing, n) => {
            let exact = Within { part: 0.0, distance: 0.0 };
            compare(result, n, LOOKS, exact, |i| crossing.expected(inputs[0][i]))
        }
        What::AddSync => compare(result, SMALL, LOOKS, CLOSE, |i| {
            f64::from(inputs[0][i]) + f64::from(inputs[1][i])
        }),
        What::AddRead | What::FirstAdd => {
            compare(result, 1, 1, CLOSE, |i| f64::from(inputs[0][i]) + f64::from(inputs[1][i]))
        }
        What::Chain => {
            let loose = Within { part: 1e-3, distance: 1e-3 };
            compare(result, 1, 1, loose, |i| {
                f64::from(inputs[0][i]) + CHAIN as f64 * f64::from(inputs[1][i])
            })
        }
        What::ChainMatmul => chain_matmul(inputs, result),
        What::FirstMatmul => {
            let (m, k, n) = (512, 512, 512);
            matmul(Matmul { batch: 1, m, k, n, transposed: false, half: false }, inputs, result)
        }
        What::Largest => Ok(()),
    }
}

impl Crossing {
    /// What a value of the common input becomes in this crossing.
    #[must_use]
    pub fn expected(self, value: f32) -> f64 {
        match self {
            Self::I32 | Self::I64AsI32 => f64::from((value * 256.0) as i32),
            Self::U8 => f64::from((value.abs() * 255.0) as u8),
            Self::Bool => f64::from(u8::from(value > 0.0)),
            _ => f64::from(value),
        }
    }
}

pub(crate) fn compare(
    result: &[f32],
    n: usize,
    looks: usize,
    within: Within,
    exact: impl Fn(usize) -> f64,
) -> Result<(), String> {
    if result.len() != n {
        return Err(format!("{} values for {n}", result.len()));
    }
    let looks = looks.min(n);
    for look in 0..looks {
        let i = if looks > 1 { look * (n - 1) / (looks - 1) } else { 0 };
        let (exact, got) = (exact(i), f64::from(result[i]));
        let most = within.distance.max(within.part * exact.abs());
        // Not `>`: a NaN must be wrong too.
        if (got - exact).abs() <= most {
            continue;
        }
        return Err(format!("[{i}] is {got} for {exact}"));
    }
    Ok(())
}

fn matmul(mm: Matmul, inputs: &[Vec<f32>], result: &[f32]) -> Result<(), String> {
    let Matmul { batch, m, k, n, transposed, half } = mm;
    let (a, b) = (&inputs[0], &inputs[1]);
    // The errors of a sum of k products below 1 in f32, and of storing it in f16.
    let long = (k as f64).sqrt();
    let within = if half {
        Within { part: 2f64.powi(-9), distance: long * 2f64.powi(-9) }
    } else {
        Within { part: 2e-5, distance: long * 2e-6 }
    };
    compare(result, batch * m * n, LOOKS_SUMS, within, |i| {
        let (z, row, column) = (i / (m * n), i / n % m, i % n);
        let product = |j: usize| {
            let right = if transposed { column * k + j } else { j * n + column };
            f64::from(a[(z * m + row) * k + j]) * f64::from(b[z * k * n + right])
        };
        (0..k).map(product).sum()
    })
}

/// Weighted averages of values below 1, whose weights have the errors of a softmax.
fn attention(of: Attention, inputs: &[Vec<f32>], result: &[f32]) -> Result<(), String> {
    let Attention { heads, tokens, d } = of;
    let row = |input: usize, row: usize| {
        inputs[input][row * d..(row + 1) * d].iter().map(|&x| f64::from(x))
    };
    let within = Within { part: 1e-4, distance: 1e-5 };
    compare(result, heads * tokens * d, LOOKS_SUMS, within, |i| {
        let (query, column) = (i / d, i % d);
        let keys = query / tokens * tokens..(query / tokens + 1) * tokens;
        let (mut total, mut sum) = (0.0, 0.0);
        for key in keys {
            let score: f64 = row(0, query).zip(row(1, key)).map(|(q, k)| q * k).sum();
            let weight = (score / (d as f64).sqrt()).exp();
            total += weight;
            sum += weight * f64::from(inputs[2][key * d + column]);
        }
        sum / total
    })
}

/// x B, then that times B, and so on; each product is divided by 4 to stay finite.
fn chain_matmul(inputs: &[Vec<f32>], result: &[f32]) -> Result<(), String> {
    const N: usize = 32;
    let wide = |v: &Vec<f32>| v.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
    let (mut x, b) = (wide(&inputs[0]), wide(&inputs[1]));
    for _ in 0..CHAIN_MATMUL {
        let at = |i: usize| (0..N).map(|j| x[i / N * N + j] * b[j * N + i % N] / 4.0).sum();
        x = (0..N * N).map(at).collect();
    }
    let size = x.iter().fold(0f64, |most, v| most.max(v.abs()));
    let within = Within { part: 1e-3, distance: 1e-3 * size };
    compare(result, 1, 1, within, |i| x[i])
}

/// erfc by its continued fraction or erf by its series, whichever converges.
pub(crate) fn erf(x: f64) -> f64 {
    let a = x.abs();
    if a > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (a, a);
    for n in 1..200 {
        term *= -a * a / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    x.signum() * sum * core::f64::consts::FRAC_2_SQRT_PI
}

fn formulas(f: Formula, side: usize, inputs: &[Vec<f32>], result: &[f32]) -> Result<(), String> {
    let at = |input: usize, i: usize| f64::from(inputs[input][i]);
    let mul_add = |i| at(0, i) * at(1, i) + at(2, i);
    let looks = if matches!(f, Formula::Gelu) { LOOKS >> 6 } else { LOOKS };
    compare(result, side * side, looks, CLOSE, |i| match f {
        Formula::Add => at(0, i) + at(1, i),
        Formula::MulAdd => mul_add(i),
        Formula::Exp => at(0, i).exp(),
        Formula::Neg => -at(0, i),
        Formula::Gelu => {
            let x = mul_add(i);
            0.5 * x * (1.0 + erf(x * core::f64::consts::FRAC_1_SQRT_2))
        }
        Formula::GeluTanh => {
            let x = mul_add(i);
            let u = (2.0 / core::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
            0.5 * x * (1.0 + u.tanh())
        }
        Formula::TransposedPlusOne => at(0, i % side * side + i / side) + 1.0,
    })
}

fn along(rows: Rows, columns: usize, input: &[f32], result: &[f32]) -> Result<(), String> {
    let count = input.len() / columns;
    let row = |r: usize| input[r * columns..(r + 1) * columns].iter().map(|&x| f64::from(x));
    // In sums of numbers of either sign, the error grows with their count, not with the sum.
    let distance = |n: usize| (n as f64).sqrt() * 1e-5 + 1e-4;
    let sums = |n| Within { part: 1e-5, distance: distance(n) };
    let some = (LOOKS_SUMS / 8).max(1);
    match rows {
        Rows::SumAll => {
            compare(result, 1, 1, sums(input.len()), |_| input.iter().map(|&x| f64::from(x)).sum())
        }
        Rows::SumRows => compare(result, count, some, sums(columns), |r| row(r).sum()),
        Rows::SumColumns => compare(result, columns, some, sums(count), |c| {
            (0..count).map(|r| f64::from(input[r * columns + c])).sum()
        }),
        Rows::Softmax => {
            let within = Within { part: 1e-4, distance: 1e-9 };
            compare(result, input.len(), some, within, |i| {
                let total: f64 = row(i / columns).map(f64::exp).sum();
                f64::from(input[i]).exp() / total
            })
        }
        Rows::LayerNorm => {
            let within = Within { part: 1e-4, distance: 1e-4 };
            compare(result, input.len(), some, within, |i| {
                let n = columns as f64;
                let mean = row(i / columns).sum::<f64>() / n;
                let variance = row(i / columns).map(|x| (x - mean).powi(2)).sum::<f64>() / n;
                (f64::from(input[i]) - mean) / (variance + 1e-5).sqrt()
            })
        }
    }
}
