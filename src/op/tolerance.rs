//! The numeric contract: how far a result may lie from the exact one.

use core::fmt::Write as _;

use super::names::Op;
use super::round::{computing, largest, round_to, smallest, unit};
use super::value::{Exact, Number};
use crate::dtype::DType;

/// How far a float result may lie from the exact value, computed from the operands as they are
/// stored.
///
/// The distance is at most the larger of `abs` and `ulp + grow * |log2 exact|` units in the last
/// place of the computing type (f32; f64 for f64), and half a unit of the stored type where that is
/// narrower. Units are those of the exact value, or of its largest term where that is larger
/// ([`Exact::scale`]). Subnormal operands, results and terms may count as zero, unless the
/// operation is done on bits: a distance up to the smallest normal number is always allowed where
/// one unit is, and every subnormal may be zero where none is. In f64 they always may, and they may
/// also pass unchanged where an operand is its own result.
///
/// Within that distance of the largest finite number a result may be infinite.
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
    /// Whether a result may be infinite or NaN where its largest term is beyond the range.
    pub open: bool,
}

/// The last place of f64 in units of that of f32: 2^-29.
const LAST_PLACES: f64 = f64::EPSILON / 1.192_092_895_507_812_5e-7;

/// How far a result lies from the exact one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// In units in the last place, as the contract counts them.
    pub ulp: f64,
    /// As it is.
    pub abs: f64,
}

impl Tolerance {
    /// Every bit is determined, subnormals included. A NaN only has to be a NaN.
    pub const BITS: Self = Self { flush: false, ..Self::EXACT };

    /// Nothing but the exact value, except that subnormals may count as zero.
    pub const EXACT: Self = Self::ulp(0.0);

    /// This many units in the last place.
    #[must_use]
    pub const fn ulp(ulp: f64) -> Self {
        Self { ulp, grow: 0.0, abs: 0.0, flush: true, open: false }
    }

    /// This, and results may be infinite or NaN where their largest term is beyond the range.
    pub(crate) const fn open(self) -> Self {
        Self { open: true, ..self }
    }

    /// This tolerance, which is told of f32, for a dtype: distances are in proportion to its last
    /// place, and nothing of f64 is done on bits.
    pub(crate) const fn of(self, dtype: DType) -> Self {
        match dtype {
            DType::F64 => Self { abs: self.abs * LAST_PLACES, flush: true, ..self },
            _ => self,
        }
    }

    /// Whether nothing but the exact value will do.
    #[must_use]
    pub const fn is_exact(self) -> bool {
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
        let compute = computing(dtype);
        let beyond = self.open && exact.is_finite() && scale > largest(compute);
        if beyond && (scale.is_infinite() || !got.is_finite()) {
            return true;
        }
        if exact.is_nan() || got.is_nan() {
            return exact.is_nan() && got.is_nan();
        }
        if round_to(dtype, exact) == got {
            return true;
        }
        let smallest = smallest(compute);
        if self.is_exact() {
            let zero = got == 0.0 || (compute == DType::F64 && got.abs() < smallest);
            return self.flush && exact.abs() < smallest && zero;
        }
        let allowed = self.allowed(compute, exact, scale);
        let stored = if dtype == compute { 0.0 } else { 0.5 * unit(dtype, exact.abs() + allowed) };
        let slack = allowed.max(self.abs) + stored;
        if got.is_infinite() {
            let same_sign = exact.signum() == got.signum();
            return same_sign && exact.abs() + slack >= largest(dtype);
        }
        (got - exact).abs() <= slack.max(smallest)
    }

    /// The units in the last place that it allows, as a distance.
    fn allowed(self, compute: DType, exact: f64, scale: f64) -> f64 {
        let growth = if exact == 0.0 { 0.0 } else { self.grow * exact.abs().log2().abs() };
        (self.ulp + growth) * unit(compute, exact.abs().max(scale.abs()))
    }

    /// How far from the exact value the computing type of a dtype may lie before it is stored;
    /// `None` where nothing is said.
    pub(crate) fn room(self, dtype: DType, exact: f64, scale: f64) -> Option<f64> {
        let compute = computing(dtype);
        if self.open && exact.is_finite() && scale > largest(compute) {
            return None;
        }
        if !exact.is_finite() {
            return Some(0.0);
        }
        let rounded = round_to(compute, exact);
        let nearest = if rounded.is_finite() { (rounded - exact).abs() } else { 0.0 };
        if self.is_exact() {
            let flushed =
                if self.flush && exact.abs() < smallest(compute) { exact.abs() } else { 0.0 };
            return Some(nearest.max(flushed));
        }
        let allowed = self.allowed(compute, exact, scale).max(self.abs);
        Some(allowed.max(nearest).max(smallest(compute)))
    }

    /// The bound in words.
    #[must_use]
    pub fn words(self) -> String {
        if self.is_exact() {
            return if self.flush { "exact" } else { "exact, on bits" }.to_owned();
        }
        let mut words = format!("{} ulp", self.ulp);
        // Writing to a String cannot fail.
        if self.grow > 0.0 {
            let _ = write!(words, " + {} per binary order", self.grow);
        }
        if self.abs > 0.0 {
            let _ = write!(words, " or {:e}", short(self.abs));
        }
        words
    }
}

impl Distance {
    /// From an exact value to a result of `dtype`, both finite, in units of its computing type.
    #[must_use]
    pub fn between(dtype: DType, exact: Exact, got: Number) -> Option<Self> {
        let (Number::Float(want), Number::Float(got)) = (exact.value, got) else { return None };
        let abs = (got - want).abs();
        if exact.scale.is_infinite() {
            return None;
        }
        let unit = unit(computing(dtype), want.abs().max(exact.scale.abs()));
        abs.is_finite().then_some(Self { ulp: abs / unit, abs })
    }
}

/// Of two digits, so that it can be read.
fn short(x: f64) -> f64 {
    format!("{x:.1e}").parse().unwrap_or(x)
}

/// A note on a bound for a cell of a table, with what an open one lets be.
pub(super) fn noted(note: &str, bound: Tolerance) -> String {
    let open = if bound.open { "infinite or NaN where that is out of range" } else { "" };
    let both = [note, open].into_iter().filter(|part| !part.is_empty());
    cell(&both.collect::<Vec<_>>().join("; "))
}

/// Text for a cell of a table, in which a bar would end it.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The contract of every operation, as a table for the documentation.
#[must_use]
pub fn contract_table() -> String {
    let mut text = String::from("| op | dtypes | bound | ends and overflow |\n|---|---|---|---|\n");
    for &op in Op::ALL {
        let takes = DType::ALL.iter().copied().filter(|&d| op.takes(d)).map(DType::name);
        let takes = takes.collect::<Vec<_>>().join(" ");
        let (bound, of) = (op.bound(DType::F32).words(), op.row().scale.words());
        let method = op.method();
        let called = if method == op.name() { String::new() } else { format!(" (`{method}`)") };
        let note = cell(&op.note());
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| `{op}`{called} | {takes} | {bound}{of} | {note} |");
    }
    text
}
