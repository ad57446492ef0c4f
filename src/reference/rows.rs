//! Operations on a row, in f64.

use super::reduce::total;
use crate::op::{Exact, Number};

fn exact(value: f64, scale: f64) -> Exact {
    Exact { value: Number::Float(value), scale: if value.is_finite() { scale } else { 0.0 } }
}

fn highest(row: &[f64]) -> f64 {
    if row.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    row.iter().fold(f64::NEG_INFINITY, |most, &x| most.max(x))
}

/// `exp(x) / sum(exp(x))`.
#[must_use]
pub fn softmax(row: &[f64]) -> Vec<Exact> {
    let most = highest(row);
    let sum = total(row.iter().map(|x| (x - most).exp()));
    row.iter().map(|x| exact((x - most).exp() / sum, 0.0)).collect()
}

/// `x - ln(sum(exp(x)))`.
#[must_use]
pub fn log_softmax(row: &[f64]) -> Vec<Exact> {
    let most = highest(row);
    let sum = total(row.iter().map(|x| (x - most).exp())).ln();
    let one = |x: f64| exact(x - most - sum, x.abs().max(most.abs()).max(1.0));
    row.iter().map(|&x| if sum.is_nan() { exact(f64::NAN, 0.0) } else { one(x) }).collect()
}

/// `(x - mean) / sqrt(var + eps)`; without the mean, `x / sqrt(mean(x^2) + eps)`.
#[must_use]
pub fn norm(row: &[f64], eps: f64, about_mean: bool) -> Vec<Exact> {
    let n = row.len() as f64;
    let mean = if about_mean { total(row.iter().copied()) / n } else { 0.0 };
    let var = total(row.iter().map(|x| (x - mean) * (x - mean))) / n;
    let factor = 1.0 / (var + eps).sqrt();
    let most = row.iter().fold(0.0_f64, |most, x| most.max(x.abs())) * factor;
    // Values close together around a distant mean make both parts of the quotient inexact.
    let one = |x: f64| {
        let y = (x - mean) * factor;
        exact(y, if about_mean { most * (1.0 + y.abs() * most * 2f64.powi(-20)) } else { 0.0 })
    };
    row.iter().map(|&x| one(x)).collect()
}

/// One query's attention to some keys and their values: `scores` are scaled and masked already.
#[must_use]
pub fn attention(scores: &[f64], values: &[&[f64]]) -> Vec<Exact> {
    let length = values.first().map_or(0, |value| value.len());
    let none = scores.iter().all(|&score| score == f64::NEG_INFINITY);
    let weights = softmax(scores);
    let weighted = |e: usize| {
        let terms = || weights.iter().zip(values).map(move |(w, v)| w.value.float() * v[e]);
        let most = values.iter().fold(0.0_f64, |most, v| most.max(v[e].abs()));
        if none { exact(0.0, 0.0) } else { exact(total(terms()), most) }
    };
    (0..length).map(weighted).collect()
}
