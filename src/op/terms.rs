//! What a bound counts units of, and which operands it covers.

use super::value::Number;

/// The magnitude whose units in the last place a bound counts, where it is larger than the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Result,
    Dividend,
    Larger,
    Product,
    Step,
}

impl Scale {
    /// After a number of units.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Result => "",
            Self::Dividend => " of the dividend",
            Self::Larger => " of the larger operand",
            Self::Product => " of the larger of a b and c",
            Self::Step => " of the larger of a and t (b - a)",
        }
    }

    pub(super) fn of(self, values: &[Number]) -> f64 {
        let at = |i: usize| values[i].float();
        let scale = match self {
            Self::Result => return 0.0,
            Self::Dividend => at(0),
            Self::Larger => at(0).abs().max(at(1).abs()),
            Self::Product => (at(0) * at(1)).abs().max(at(2).abs()),
            Self::Step => at(0).abs().max((at(2) * (at(1) - at(0))).abs()),
        };
        // Infinite operands have no units.
        if scale.is_finite() { scale } else { 0.0 }
    }
}

/// The operands that a contract covers. Of the results of others no more is said than their dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Domain {
    All,
    Angle,
    Quotient,
}

impl Domain {
    /// Before what else is said.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Angle => "for |x| <= 8192; ",
            Self::Quotient => "for |a / b| < 2^32; ",
        }
    }

    pub(super) fn covers(self, values: &[Number]) -> bool {
        match (self, values) {
            (Self::Angle, &[Number::Float(x)]) => !x.is_finite() || x.abs() <= 8192.0,
            (Self::Quotient, &[Number::Float(a), Number::Float(b)]) => {
                let ends = b == 0.0 || !a.is_finite() || !b.is_finite();
                ends || (a / b).abs() < 4_294_967_296.0
            }
            _ => true,
        }
    }
}
