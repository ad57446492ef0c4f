//! The numeric contract: how far a result may lie from the exact one.

use core::fmt::Write as _;

use super::names::Op;
use super::round::{largest, round_to, unit};
use super::value::{Exact, Number};
use crate::dtype::DType;

/// How far a float result may lie from the exact value, computed from the operands as they are
/// stored.
///
/// The distance is at most the larger of `abs` and `ulp + grow * |log2 exact|` units in the last
/// place of the computing type (f32; f64 for f64), and half a unit of the stored type where that is
/// narrower. Units are those of the exact value, or of its largest term where terms may cancel
/// ([`Exact::scale`]). Subnormal operands and results may count as zero, as WGSL allows, unless the
/// operation is done on bits. In f64 they always may, and they may also pass unchanged where an
/// operand is its own result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Units in the last place.
    pub ulp: f64,
    /// Further units in the last place per binary order of magnitude of the result.
    pub grow: f64,
    /// An absolute distance that is always allowed.
    pub abs: f64,
    /// Whether subnormal operands and results may count as zero.
    pub flush: bool,
}

impl Tolerance {
    /// Every bit is determined, subnormals included. A NaN only has to be a NaN.
    pub const BITS: Self = Self { flush: false, ..Self::EXACT };

    /// Nothing but the exact value, except that subnormals may count as zero.
    pub const EXACT: Self = Self::ulp(0.0);

    /// This many units in the last place.
    #[must_use]
    pub const fn ulp(ulp: f64) -> Self {
        Self { ulp, grow: 0.0, abs: 0.0, flush: true }
    }

    /// This tolerance for a dtype, in units of the computing type. Nothing of f64 is done on bits.
    pub(crate) const fn of(self, dtype: DType) -> Self {
        Self { flush: self.flush || matches!(dtype, DType::F64), ..self }
    }

    /// Whether nothing but the exact value will do.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self.ulp == 0.0 && self.grow == 0.0 && self.abs == 0.0
    }

    /// Whether `got`, a value of `dtype`, keeps the contract with `exact`.
    #[must_use]
    pub fn within(self, dtype: DType, exact: Exact, got: Number) -> bool {
        match (exact.value, got) {
            (Number::Float(e), Number::Float(g)) => self.float(dtype, e, exact.scale, g),
            (e, g) => e == g,
        }
    }

    fn float(self, dtype: DType, exact: f64, scale: f64, got: f64) -> bool {
        let compute = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
        let rounded = round_to(dtype, exact);
        if exact.is_finite() && scale > largest(compute) || scale.is_infinite() {
            // A term overflows: any result is allowed.
            return true;
        }
        if exact.is_nan() || got.is_nan() {
            return exact.is_nan() && got.is_nan();
        }
        if rounded == got {
            return true;
        }
        let smallest =
            if compute == DType::F64 { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) };
        if self.is_exact() {
            let zero = got == 0.0 || (compute == DType::F64 && got.abs() < smallest);
            return self.flush && exact.abs() < smallest && zero;
        }
        let magnitude = exact.abs().max(scale.abs());
        let growth = if exact == 0.0 { 0.0 } else { self.grow * exact.abs().log2().abs() };
        let allowed = (self.ulp + growth) * unit(compute, magnitude);
        let stored = if dtype == compute { 0.0 } else { 0.5 * unit(dtype, exact.abs() + allowed) };
        let slack = allowed.max(self.abs) + stored;
        // If the exact value is within the slack of the largest finite value, both that value
        // and infinity are right.
        let edge = largest(dtype);
        if got.is_infinite() {
            return exact.signum() == got.signum() && exact.abs() + slack >= edge;
        }
        (got - exact).abs() <= slack.max(smallest)
    }
}

/// The contract of every operation, as a table for the documentation.
#[must_use]
pub fn contract_table() -> String {
    let mut text = String::from("| op | dtypes | bound | ends and overflow |\n|---|---|---|---|\n");
    for &op in Op::ALL {
        let takes = DType::ALL.into_iter().filter(|&d| op.takes(d)).map(DType::name);
        let takes = takes.collect::<Vec<_>>().join(" ");
        let bound = op.bound(DType::F32);
        let mut words = Vec::new();
        if bound.is_exact() {
            words.push(if bound.flush { "exact" } else { "exact, on bits" }.to_owned());
        } else {
            words.push(format!("{} ulp", bound.ulp));
        }
        if bound.grow > 0.0 {
            words.push(format!("+ {} per binary order", bound.grow));
        }
        if bound.abs > 0.0 {
            words.push(format!("or {:e}", bound.abs));
        }
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| `{op}` | {takes} | {} | {} |", words.join(" "), op.note());
    }
    text
}
