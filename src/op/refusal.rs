//! Why an operation has no result.

use core::fmt;

use super::names::Op;
use crate::dtype::DType;

/// Why an operation has no result for these operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A wrong number of operands.
    Arity {
        /// The operation.
        op: Op,
        /// How many there were.
        given: usize,
    },
    /// `where` wants a bool first.
    Condition {
        /// What it got.
        given: DType,
    },
    /// Operands of two dtypes.
    Mixed {
        /// The name of what was to be done.
        doing: &'static str,
        /// The first operand's.
        left: DType,
        /// The one that differs.
        right: DType,
    },
    /// It does not exist for this dtype.
    Kind {
        /// The operation.
        op: Op,
        /// The operands'.
        given: DType,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arity { op, given } => {
                write!(f, "{op}: {given} operands, where it takes {}", op.arity())
            }
            Self::Condition { given } => write!(f, "where: the condition is {given}, not bool"),
            Self::Mixed { doing, left, right } => {
                write!(f, "{doing}: dtypes differ: {left} and {right}")
            }
            Self::Kind { op, given } => write!(f, "{op} does not exist for {given}"),
        }
    }
}

impl Refusal {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Arity { .. } => None,
            Self::Condition { .. } => Some("compare first, or cast to bool".into()),
            Self::Mixed { left, right, .. } => Some(format!(
                "cast one of them: `.cast(DType::{left:?})` or `.cast(DType::{right:?})`"
            )),
            Self::Kind { op, .. } => {
                let takes = DType::ALL.into_iter().filter(|&d| op.takes(d));
                let names = takes.map(DType::name).collect::<Vec<_>>().join(", ");
                Some(format!("{op} takes {names}: cast to one of them"))
            }
        }
    }
}

impl core::error::Error for Refusal {}
