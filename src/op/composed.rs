//! Operations that are made of others: how far they are off in all, with what is in between.

use core::fmt::Write as _;

use super::joint::Joint;
use super::names::Op;
use super::reduction::Reduction;
use super::tolerance::{Tolerance, cell};
use crate::dtype::DType;

/// Where the number of a bound comes from.
enum Sourced {
    /// It is one of its own.
    Own(f64),
    /// It is that of what it is made of.
    Step(Op),
    Fold(Reduction),
    Row(Joint),
}

use Sourced::{Fold, Own, Row, Step};

/// Names, the bound, and what it counts units of where that is not the result.
#[rustfmt::skip]
const TABLE: &[(&str, Sourced, &str)] = &[
    ("selu", Own(4.0), ""),
    ("hard_sigmoid softsign", Own(4.0), ""),
    ("glu", Own(11.0), ""),
    ("prelu", Step(Op::LeakyRelu), ""),
    ("rope rope_interleaved", Own(2.0), "|x cos| + |y sin|, for a pair x and y"),
    ("cross", Own(2.0), "|a b| + |c d|, for a b - c d"),
    ("complex_mul", Own(2.0), "|a c| + |b d|, for a c - b d, or |a d| + |b c|"),
    ("complex_abs", Step(Op::Hypot), ""),
    ("slogdet", Own(130.0), "the sum of |ln p|, for the pivots p"),
    ("quantile median", Own(3.0), "|a| (1 - t) + |b| t, between a and b"),
    ("l1_norm", Fold(Reduction::Sum), ""),
    ("unit", Fold(Reduction::Norm), ""),
    ("cosine_similarity", Fold(Reduction::Sum), "1"),
    ("avg_pool adaptive_avg_pool", Fold(Reduction::Mean), "mean |x|"),
    ("interpolate_linear", Own(8.0), "the largest |x| it is made of, for each axis"),
    ("interpolate_cubic", Own(64.0), "the largest |x| it is made of, for each axis"),
    ("interpolate_antialiased", Fold(Reduction::Sum),
        "the largest |x| it is made of, for each axis"),
    ("scatter_add index_add", Fold(Reduction::Sum), "the sum of |x| and of all |added|"),
    ("scatter_mul", Fold(Reduction::Prod), "n |product|, for n factors"),
    ("group_norm instance_norm", Row(Joint::LayerNorm),
        "|weight| m + |bias| / 64, where `layer_norm` counts in units of m"),
    ("batch_norm", Own(16.0), "the larger of |weight (x - mean) / s| and |bias|"),
];

impl Sourced {
    const fn tolerance(&self) -> Tolerance {
        match *self {
            Own(ulp) => Tolerance::ulp(ulp),
            Step(op) => op.bound(DType::F32),
            Fold(reduction) => reduction.bound(DType::F32),
            Row(joint) => joint.bound(),
        }
    }

    /// The operation that it is the bound of.
    const fn like(&self) -> &'static str {
        match *self {
            Own(_) => "",
            Step(op) => op.name(),
            Fold(reduction) => reduction.name(),
            Row(joint) => joint.name(),
        }
    }
}

/// The numeric contract of an operation that is made of others, in units of the magnitude in
/// [`Exact::scale`](super::Exact), which the table says; `interpolate` has a row for each form.
/// `None` for other operations.
#[must_use]
pub fn composed_bound(name: &str) -> Option<Tolerance> {
    let is = |names: &&(&str, Sourced, &str)| names.0.split(' ').any(|known| known == name);
    TABLE.iter().find(is).map(|(_, bound, _)| bound.tolerance())
}

/// The contract of every operation that is made of others, as a table for the documentation.
#[must_use]
pub fn composed_table() -> String {
    let mut text = String::from("| | bound | as |\n|---|---|---|\n");
    for (names, bound, of) in TABLE {
        let names = names.split(' ').map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ");
        let of = if of.is_empty() { String::new() } else { format!(" of {of}") };
        let like = match bound.like() {
            "" => String::new(),
            name => format!("`{name}`"),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {names} | {}{} | {like} |", bound.tolerance().words(), cell(&of));
    }
    text
}
