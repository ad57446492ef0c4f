//! How near results have to be to `PyTorch`'s: one number for each operation, from its contract.

use wharf::DType;
use wharf::op::{Joint, Reduction, Tolerance, composed_bound};
use wharf::reference::{Exact, Number};

use super::super::pair::{bits, value};
use crate::torch_operations::Golden;

/// How near a result has to be.
#[derive(Clone, Copy, Debug)]
enum Bound {
    /// What is moved keeps all of its bits, the sign of zero too.
    Moved,
    /// What is computed keeps a contract.
    Kept(Tolerance),
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

const MATRICES: Bound = Bound::Kept(Tolerance::ulp(16.0));

/// `fourier_room` of the longest row there is, which is 96.
const TRANSFORMS: Bound = Bound::Kept(Tolerance::ulp(8.0));

/// What is neither here nor made of others is moved.
#[rustfmt::skip]
const BOUNDS: &[(Bound, &str)] = &[
    (EXACT, "sum prod cumsum cumprod cumsum_exclusive cumsum_reverse scatter_add scatter_mul \
             index_add einsum dot outer trace rope rope_interleaved conv1d conv2d conv3d \
             conv_transpose1d conv_transpose2d conv_transpose3d conv_input_grad conv_weight_grad \
             conv_transpose_input_grad conv_transpose_weight_grad max_pool_grad cross complex_mul"),
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
    (MATRICES, "cholesky det inv lu solve solve_triangular"),
    (TRANSFORMS, "rfft irfft fft ifft"),
];

/// A result of wharf's: its elements as bits, in row-major order.
#[derive(Clone, Debug)]
pub(super) struct Got {
    pub(super) dtype: DType,
    pub(super) dims: Vec<usize>,
    pub(super) bits: Vec<u64>,
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
    let row = BOUNDS.iter().find(|(_, ops)| ops.split_whitespace().any(|name| name == op));
    // For each axis that may change.
    let axes = if g.op == "interpolate" { g.list("to").len() } else { 1 };
    let all = |one: Tolerance| Bound::Kept(Tolerance { ulp: one.ulp * axes as f64, ..one });
    let composed = || composed_bound(op).map_or(Bound::Moved, all);
    row.map_or_else(composed, |(bound, _)| *bound)
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

fn is_near(bound: Bound, dtype: DType, exact: Exact, got: u64) -> bool {
    let number = value(dtype, got);
    let nan = |number| matches!(number, Number::Float(x) if x.is_nan());
    match bound {
        Bound::Moved => got == bits(dtype, exact.value) || nan(number) && nan(exact.value),
        Bound::Kept(bound) => bound.within(dtype, exact, number),
    }
}
