//! Operations in which an element of the result takes many: rows, running reductions, attention,
//! and numbers that are drawn. What their contract says, as one table.

use core::fmt;
use core::fmt::Write as _;

use super::loose::{EXP, TERMS};
use super::tolerance::{Tolerance, cell, noted};

/// An operation whose results take more than one element each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "an operation is described by its row in the table")]
#[non_exhaustive]
pub enum Joint {
    Softmax,
    LogSoftmax,
    CrossEntropy,
    LayerNorm,
    RmsNorm,
    Attention,
    CumSum,
    CumProd,
    Normal,
}

struct JointRow {
    joint: Joint,
    name: &'static str,
    bound: Tolerance,
    /// What the bound counts units of, where it is not the result.
    of: &'static str,
    /// Why the bound is wider than what was measured.
    loose: &'static str,
    note: &'static str,
}

const fn row(joint: Joint, name: &'static str, bound: Tolerance, of: &'static str) -> JointRow {
    JointRow { joint, name, bound, of, loose: "", note: "" }
}

impl JointRow {
    const fn loose(self, loose: &'static str) -> Self {
        Self { loose, ..self }
    }

    const fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }
}

const fn ulp(n: f64) -> Tolerance {
    Tolerance::ulp(n)
}

#[rustfmt::skip]
const TABLE: &[JointRow] = &[
    row(Joint::Softmax, "softmax", Tolerance { abs: 1.7e-38, ..ulp(256.0) }, "").loose(EXP)
        .note("0 where less than e^-87 of the largest is left"),
    row(Joint::LogSoftmax, "log_softmax", ulp(128.0), "the largest of |x|, max |x| and 1")
        .loose(TERMS),
    row(Joint::CrossEntropy, "cross_entropy", ulp(128.0), "the largest of |x|, max |x| and 1")
        .loose(TERMS),
    row(Joint::LayerNorm, "layer_norm", ulp(128.0), "(1 + 2^-20 |y| max |x| / s) max |x| / s")
        .loose(TERMS).note("y is the result, s = sqrt(var + eps): the mean may be far from all; \
            0 or NaN where the sum of |x| or of squares is out of range"),
    row(Joint::RmsNorm, "rms_norm", ulp(128.0), "").loose(TERMS)
        .note("0 or NaN where the sum of squares is out of range"),
    row(Joint::Attention, "attention", ulp(256.0), "max |value|").loose(EXP),
    row(Joint::CumSum, "cumsum", ulp(256.0).open(), "the sum of |x| so far").loose(TERMS),
    row(Joint::CumProd, "cumprod", ulp(2.0).open(), "n |product| so far").loose(TERMS)
        .note("the order is not told, so neither is what leaves the range on the way"),
    row(Joint::Normal, "normal", ulp(6.5), ""),
];

impl Joint {
    /// Every one, in the order of the table.
    pub const ALL: &[Self] = &[
        Self::Softmax,
        Self::LogSoftmax,
        Self::CrossEntropy,
        Self::LayerNorm,
        Self::RmsNorm,
        Self::Attention,
        Self::CumSum,
        Self::CumProd,
        Self::Normal,
    ];

    const fn row(self) -> &'static JointRow {
        let row = &TABLE[self as usize];
        debug_assert!(row.joint as usize == self as usize, "the table is in the enum's order");
        row
    }

    /// The name: of the method on tensors.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The numeric contract, in units of the magnitude in [`Exact::scale`](super::Exact).
    #[must_use]
    pub const fn bound(self) -> Tolerance {
        self.row().bound
    }

    /// Why the contract is wider than what any driver needs that this was tried on.
    #[doc(hidden)]
    #[must_use]
    pub const fn loose(self) -> &'static str {
        self.row().loose
    }
}

impl fmt::Display for Joint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The contract of every joint operation, as a table for the documentation.
#[must_use]
pub fn joint_table() -> String {
    let mut text = String::from("| | bound | |\n|---|---|---|\n");
    for joint in Joint::ALL.iter().copied() {
        let (bound, row) = (joint.bound().words(), joint.row());
        let of = if row.of.is_empty() { "" } else { " of " };
        let (of, note) = (cell(&[of, row.of].concat()), noted(row.note, joint.bound()));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| `{joint}` | {bound}{of} | {note} |");
    }
    text
}
