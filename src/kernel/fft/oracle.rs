//! A transform once more: a number of the result by its definition, in f64.

use core::f64::consts::TAU;

use super::plan::Fourier;
use crate::dtype::DType;
use crate::op::{Number, fourier_room};
use crate::proof::{Cell, Claim, Estimate, OwnOracle};

/// It is told two words: the index in `Fourier::ALL`, and the numbers of a row that is transformed.
pub(crate) const FFT: OwnOracle =
    OwnOracle { name: "fft", fits, effort: |claim| 4 * numbers(claim) as u64, element };

/// The longest row: f32 has every whole number up to here, and the kernels turn some into f32.
pub(crate) const LENGTH_MAX: usize = 1 << 24;

/// Numbers that are given of a row.
fn numbers(claim: &Claim) -> usize {
    claim.heads[0].shape.dims().get(1).copied().unwrap_or(0)
}

fn known(told: &[u32]) -> Option<(Fourier, usize)> {
    let &[of, size] = told else { return None };
    Some((*Fourier::ALL.get(of as usize)?, size as usize))
}

fn fits(claim: &Claim, told: &[u32]) -> bool {
    let ([input], Some((of, size))) = (&*claim.heads, known(told)) else { return false };
    let [is_complex, yields_complex] = of.complex();
    let (rows, given) = match (input.shape.dims(), is_complex) {
        (&[rows, given], false) | (&[rows, given, 2], true) => (rows, given),
        _ => return false,
    };
    let kept = of.kept(size) * if yields_complex { 2 } else { 1 };
    (1..=LENGTH_MAX).contains(&size)
        && given > 0
        && rows.checked_mul(kept) == Some(claim.tail.shape.elements())
        && input.dtype.is_float()
        && input.dtype != DType::F64
        && claim.tail.expr.inputs[0] == DType::F32
}

fn element(cell: &Cell<'_>) -> Option<Estimate> {
    let Cell { claim, told, n, input } = *cell;
    let (of, size) = known(told)?;
    let [is_complex, yields_complex] = of.complex();
    let parts = if yields_complex { 2 } else { 1 };
    let (row, at, part) = (n / parts / of.kept(size), n / parts % of.kept(size), n % parts);
    let given = numbers(claim);
    let number = |j: usize| {
        let part = |part: usize| {
            let place = if is_complex { 2 * (row * given + j) + part } else { row * given + j };
            match input(0, place) {
                Estimate::Known(Number::Float(x)) => Some(x),
                _ => None,
            }
        };
        let second = if is_complex { part(1)? } else { 0.0 };
        Some([part(0)?, second])
    };
    let sign = if of.is_back() { 1.0 } else { -1.0 };
    let (mut sum, mut scale) = (0.0, 0.0);
    for j in 0..given.min(of.taken(size)) {
        let [mut x, mut y] = number(j)?;
        let ends = j == 0 || 2 * j == size;
        if of == Fourier::RealsBack {
            // Both halves of a spectrum at once; the ends of one are real.
            (x, y) = if ends { (x, 0.0) } else { (2.0 * x, 2.0 * y) };
        }
        let turns = (at as u128 * j as u128 % size as u128) as f64 / size as f64;
        let (sin, cos) = (sign * TAU * turns).sin_cos();
        sum += if part == 0 { x * cos - y * sin } else { x * sin + y * cos };
        scale += x.abs() + y.abs();
    }
    if of.is_back() {
        (sum, scale) = (sum / size as f64, scale / size as f64);
    }
    // What is infinite or NaN somewhere may be so everywhere.
    let largest = f64::from(f32::MAX);
    (scale * size as f64 <= largest)
        .then(|| Estimate::about(DType::F32, sum, fourier_room(size) * scale))
}
