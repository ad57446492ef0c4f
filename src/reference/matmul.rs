//! Products of matrices, and how far a result may lie from them.

use super::{Exact, Number, Strided, places};
use crate::dtype::{Class, DType};
use crate::op::{computing, largest, product_room, smallest, wrapped};

/// The product over an index space `[batch .., m, n]`, in row-major order. The operands walk
/// `[batch .., m, k]` and `[batch .., k, n]`.
///
/// Floats are summed in f64 and not rounded; [`Exact::scale`] is the sum of the terms' magnitudes.
/// Integers wrap at the result's dtype.
#[must_use]
pub fn matmul(shape: &[usize], k: usize, a: &Strided<'_>, b: &Strided<'_>) -> Vec<Exact> {
    let (batch, matrix) = shape.split_at(shape.len() - 2);
    let (m, n) = (matrix[0], matrix[1]);
    let result = matmul_dtype(a.dtype);
    let product = |batch: Vec<usize>| -> Vec<Exact> {
        // Both sides as runs along k, decoded once.
        let mut at = [batch, vec![0, 0]].concat();
        let [row, column] = [at.len() - 2, at.len() - 1];
        let mut runs = |operand: &Strided<'_>, count: usize, [across, along]: [usize; 2]| {
            let mut elements = Vec::with_capacity(count * k);
            for i in 0..count {
                for j in 0..k {
                    (at[across], at[along]) = (i, j);
                    elements.push(operand.at(&at));
                }
            }
            elements
        };
        let (rows, columns) = (runs(a, m, [row, column]), runs(b, n, [column, row]));
        let cells = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
        cells.map(|(i, j)| dot(result, &rows[i * k..][..k], &columns[j * k..][..k])).collect()
    };
    places(batch).flat_map(product).collect()
}

/// One sum of products.
pub(crate) fn dot(result: DType, row: &[Number], column: &[Number]) -> Exact {
    let terms = row.iter().zip(column);
    if result.is_float() {
        let (mut sum, mut scale) = (0.0, 0.0);
        for (x, y) in terms {
            let term = x.float() * y.float();
            sum += term;
            scale += term.abs();
        }
        return Exact { value: Number::Float(sum), scale };
    }
    let sum = terms.fold(0i128, |sum, (x, y)| {
        let (Number::Int(x), Number::Int(y)) = (x, y) else { return sum };
        sum.wrapping_add(x.wrapping_mul(*y))
    });
    Number::Int(wrapped(result, sum)).into()
}

/// The dtype of a product of two matrices of a dtype.
#[must_use]
pub fn matmul_dtype(dtype: DType) -> DType {
    match (dtype.class(), dtype.width()) {
        (Class::Signed, 1 | 2) => DType::I32,
        (Class::Unsigned, 1 | 2) => DType::U32,
        _ => dtype,
    }
}

/// Whether a product over `k` keeps its contract: [`product_room`] times the sum of the terms'
/// magnitudes, plus its own rounding. Where that sum is beyond the range of the summing type, the
/// product may also be infinite or NaN.
#[must_use]
pub fn matmul_keeps(dtype: DType, k: usize, exact: Exact, got: Number) -> bool {
    let (Number::Float(want), Number::Float(got)) = (exact.value, got) else {
        return exact.value == got;
    };
    let largest = largest(computing(dtype));
    // Half a unit in the last place of the stored type, and where its infinity begins.
    let (half, limit, tiny) = match dtype {
        DType::F16 => (2f64.powi(-11), 65_520.0, 2f64.powi(-25)),
        DType::Bf16 => (2f64.powi(-8), f64::from(half::bf16::MAX), 0.0),
        _ => (0.0, largest, 0.0),
    };
    let open = want.is_finite() && exact.scale > largest && !got.is_finite();
    if open || want == got || want.is_nan() && got.is_nan() {
        return true;
    }
    if !want.is_finite() || got.is_nan() {
        return false;
    }
    let off = room(dtype, k, exact.scale);
    let off = off + half * (want.abs() + off) + tiny;
    if got.is_infinite() { want.abs() + off >= limit } else { (got - want).abs() <= off }
}

/// How far a sum of `k` products may lie from the exact one before it is stored; `None` where
/// nothing is said.
pub(crate) fn matmul_room(dtype: DType, k: usize, scale: f64) -> Option<f64> {
    (scale <= largest(computing(dtype))).then(|| room(dtype, k, scale))
}

fn room(dtype: DType, k: usize, scale: f64) -> f64 {
    // Subnormal terms may count as zero.
    product_room(dtype, k) * scale + (k as f64 + 1.0) * smallest(dtype)
}
