//! Why an operation has no result.

use core::fmt;

use super::names::Op;
use crate::dtype::DType;

/// Why an operation has no result for these operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// A wrong number of operands.
    Arity {
        /// The operation.
        op: Op,
        /// How many there were.
        given: usize,
    },
    /// The first operand of `where`, which tensors call `choose`, is not bool.
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
                write!(f, "{}: operands given: {given}, taken: {}", op.method(), op.arity())
            }
            Self::Condition { given } => write!(f, "choose: the condition is {given}, not bool"),
            Self::Mixed { doing, left, right } => {
                write!(f, "{doing}: dtypes differ: {left} and {right}")
            }
            Self::Kind { op, given } => write!(f, "{} does not exist for {given}", op.method()),
        }
    }
}

impl Refusal {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Arity { .. } => Some("`x.apply(f, &[..])` gives those beside x".into()),
            Self::Condition { .. } => Some("compare first, or cast to bool".into()),
            Self::Mixed { doing, left, .. } if doing.starts_with("assign") => {
                Some(format!("cast the values: `.cast(DType::{left:?})`"))
            }
            Self::Mixed { doing, left, right } => {
                let op = Op::named(doing);
                let takes = |dtype: &&DType| match op {
                    Some(op) => op.takes(**dtype),
                    None => dtype.computes() || *doing == "choose",
                };
                let casts = [left, right].into_iter().filter(takes);
                let casts: Vec<_> = casts.map(|to| format!("`.cast(DType::{to:?})`")).collect();
                match op {
                    Some(op) if casts.is_empty() => Some(format!("{}: cast both", taken(op))),
                    None if casts.is_empty() => Some("cast both: `.cast(DType::F32)`".into()),
                    _ => Some(format!("cast one of them: {}", casts.join(" or "))),
                }
            }
            Self::Kind { op, .. } => Some(format!("{}: cast to one of them", taken(*op))),
        }
    }
}

/// What an operation takes, in words.
fn taken(op: Op) -> String {
    let of = |op: Op| {
        let takes = DType::ALL.iter().copied().filter(|&dtype| op.takes(dtype));
        takes.map(DType::name).collect::<Vec<_>>().join(", ")
    };
    let bitwise = op.bitwise().map(|bitwise| format!("; {} {}", bitwise.method(), of(bitwise)));
    format!("{} takes {}{}", op.method(), of(op), bitwise.unwrap_or_default())
}

impl core::error::Error for Refusal {}
