//! How near results have to be to `PyTorch`'s: one number for each operation, from its contract.

use wharf::DType;
use wharf::op::{Joint, Op, Reduction, Tolerance, composed_bound, fourier_room, matrix_room};
use wharf::reference::{Exact, Number};

use super::super::pair::{bits, value};
use crate::torch_operations::Golden;

/// How near a result has to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// What is moved keeps all of its bits, the sign of zero too.
    Moved,
    /// What is computed keeps a contract.
    Kept(Tolerance),
    /// `matrix_room` of the matrices.
    Matrices,
    /// `fourier_room` of the rows.
    Transforms,
}

const fn fold(reduction: Reduction) -> Bound {
    Bound::Kept(reduction.bound(DType::F32))
}

const fn joint(joint: Joint) -> Bound {
    Bound::Kept(joint.bound())
}

/// Of what nothing is left to be rounded: whole numbers and quarters, whose sums and products are
/// exact in every order.
const EXACT: Bound = Bound::Kept(Tolerance::EXACT);

/// What is neither here nor made of others is moved.
#[rustfmt::skip]
const BOUNDS: &[(Bound, &str)] = &[
    (EXACT, "sum prod cumsum cumprod cumsum_exclusive cumsum_reverse scatter_add scatter_mul \
             index_add einsum dot outer trace rope rope_interleaved conv1d conv2d conv3d \
             conv_transpose1d conv_transpose2d conv_transpose3d conv_input_grad conv_weight_grad \
             conv_transpose_input_grad conv_transpose_weight_grad max_pool_grad cross complex_mul \
             matmul linear linear_relu grid_sample"),
    // Which of two zeros is not told.
    (fold(Reduction::Max), "amax amin cummax cummin max_pool scatter_max scatter_min"),
    (fold(Reduction::Mean), "mean"),
    (fold(Reduction::Sum), "avg_pool_grad"),
    (fold(Reduction::Norm), "norm"),
    (fold(Reduction::Var), "var"),
    (fold(Reduction::Std), "std"),
    (fold(Reduction::LogSumExp), "logsumexp"),
    (joint(Joint::LayerNorm), "layer_norm"),
    (joint(Joint::RmsNorm), "rms_norm"),
    (joint(Joint::Softmax), "softmax"),
    (joint(Joint::LogSoftmax), "log_softmax"),
    (joint(Joint::CrossEntropy), "cross_entropy"),
    (joint(Joint::Attention), "attention attention_with_weights"),
    // Of the largest element times the condition, or of the product of a determinant.
    (Bound::Matrices, "cholesky det inv lu solve solve_triangular"),
    (Bound::Transforms, "rfft irfft fft ifft"),
    (Bound::Kept(Op::Lerp.bound(DType::F32)), "linspace"),
];

/// A result of wharf's: its elements as bits, in row-major order.
#[derive(Clone, Debug)]
pub(super) struct Got {
    pub(super) dtype: DType,
    pub(super) dims: Vec<usize>,
    pub(super) bits: Vec<u64>,
}

/// The bound of an operation that has one here.
fn row(op: &str) -> Option<Bound> {
    let row = BOUNDS.iter().find(|(_, ops)| ops.split_whitespace().any(|name| name == op));
    row.map(|(bound, _)| *bound)
}

/// How near results of a line of `shapes.txt` or `images.txt` have to be.
pub(super) fn shaped(op: &str, dtype: DType) -> Bound {
    let reduction = Reduction::ALL.iter().find(|reduction| reduction.name() == op);
    let folded = reduction.map(|reduction| Bound::Kept(reduction.bound(dtype)));
    // Images have two axes.
    let composed = || composed_bound(op).map(|one| Tolerance { ulp: 2.0 * one.ulp, ..one });
    folded.or_else(|| row(op)).or_else(|| composed().map(Bound::Kept)).unwrap_or(Bound::Moved)
}

/// Rooms are told in `eps`.
fn roomy(rooms: f64) -> Bound {
    Bound::Kept(Tolerance::ulp(rooms / f64::from(f32::EPSILON)))
}

fn bound(g: &Golden) -> Bound {
    let op = match (g.op, g.word("how")) {
        ("interpolate", Some("linear")) => "interpolate_linear",
        ("interpolate", Some("cubic")) => "interpolate_cubic",
        // Nearest neighbours are moved.
        ("interpolate", Some("nearest")) => "nearest",
        ("interpolate", _) => "interpolate_antialiased",
        (op, _) => op,
    };
    // For each axis that may change.
    let axes = if g.op == "interpolate" { g.list("to").len() } else { 1 };
    let all = |one: Tolerance| Bound::Kept(Tolerance { ulp: one.ulp * axes as f64, ..one });
    let composed = || composed_bound(op).map_or(Bound::Moved, all);
    match row(op).unwrap_or_else(composed) {
        // A determinant is a product of what elimination leaves.
        Bound::Matrices => {
            let n = g.operands[0].dims.last().copied().unwrap_or(0);
            let name = if op == "det" { "lu" } else { op };
            roomy(matrix_room(name, n).unwrap_or(0.0))
        }
        // One axis after the other, each as long as the longer side of it.
        Bound::Transforms => {
            let axes = if g.word("axes").is_some() { g.list("axes") } else { g.list("axis") };
            let sides = [&g.operands[0].dims, &g.results[0].dims];
            let long = |&axis: &usize| sides.iter().map(|dims| dims[axis]).max().unwrap_or(1);
            roomy(axes.iter().map(|axis| fourier_room(long(axis))).sum())
        }
        bound => bound,
    }
}

/// What is wrong with the results of a run of this dtype, if anything is.
pub(super) fn check(g: &Golden, run: DType, got: &[Got]) -> Result<(), String> {
    let of = |what: String| format!("{run} of {}\n  {what}", g.line);
    if got.len() != g.results.len() {
        return Err(of(format!("{} results, not {}", got.len(), g.results.len())));
    }
    for (n, (want, got)) in g.results.iter().zip(got).enumerate() {
        let dtype = want.dtype(run);
        if (dtype, &want.dims) != (got.dtype, &got.dims) {
            let (got, dims) = (got.dtype, &got.dims);
            return Err(of(format!("result {n} is {got} {dims:?}, not {dtype} {:?}", want.dims)));
        }
        let numbers = want.numbers(run);
        if numbers.len() != got.bits.len() {
            return Err(of(format!("{} elements, not {}", got.bits.len(), numbers.len())));
        }
        let wrong = numbers.iter().zip(&got.bits).position(|(&want, &got)| {
            !is_near(bound(g), dtype, Exact { value: want, scale: g.number("scale") }, got)
        });
        if let Some(i) = wrong {
            let (got, want) = (value(dtype, got.bits[i]), numbers[i]);
            return Err(of(format!("{i} of result {n} is {got:?}, not {want:?}")));
        }
    }
    Ok(())
}

pub(super) fn is_near(bound: Bound, dtype: DType, exact: Exact, got: u64) -> bool {
    let number = value(dtype, got);
    let nan = |number| matches!(number, Number::Float(x) if x.is_nan());
    match bound {
        Bound::Moved => got == bits(dtype, exact.value) || nan(number) && nan(exact.value),
        Bound::Kept(bound) => bound.within(dtype, exact, number),
        // They have become what is kept.
        Bound::Matrices | Bound::Transforms => false,
    }
}
