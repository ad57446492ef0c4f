//! The op vocabulary: what can be done to elements, one by one.
//!
//! One table says everything about an operation: its name, which dtypes it takes, how WGSL spells
//! it for each kind of number, what it yields, and its numeric contract ([`Tolerance`]). The
//! generator, the oracle, the documentation and the tests all read this table; nothing about an
//! operation is written a second time.
//!
//! f16 and bf16 are computed in f32 and rounded once: when stored, or before something looks at
//! them - a comparison, a cast, a reduction, what jumps, a formula of the user's. The small
//! integers are computed in 32 bits and wrapped to their width after every operation that can leave
//! it. The floats of 8 bits are cast first: nothing [computes](DType::computes) with them.
//!
#![doc = include_str!("op/contract.md")]

use core::fmt;
use core::str::FromStr;

mod composed;
mod fourier;
mod joint;
mod kind;
mod loose;
mod matrices;
mod names;
mod product;
mod reduction;
mod refusal;
mod round;
mod spell;
mod table;
mod terms;
mod tolerance;
mod value;

pub use composed::composed_bound;
pub use joint::Joint;
pub use kind::Kind;
pub use names::Op;
pub use product::product_room;
pub use reduction::Reduction;
pub use refusal::Refusal;
pub(crate) use round::{computing, largest, round_to, smallest};
pub(crate) use spell::Spell;
pub use tolerance::{Distance, Tolerance};
pub(crate) use value::wrapped;
pub use value::{Exact, Number};

/// What the documentation is written from, and tests measure by.
#[doc(hidden)]
pub use {
    composed::composed_table,
    fourier::fourier_room,
    joint::joint_table,
    matrices::{matrix_room, matrix_table},
    product::PRODUCT_WORDS,
    reduction::reduction_table,
    tolerance::contract_table,
};

use crate::dtype::{Class, DType};
use crate::error::Error;
use spell::Yields;
use table::{OpRow, TABLE};

impl Op {
    const fn row(self) -> &'static OpRow {
        let row = &TABLE[self as usize];
        debug_assert!(row.op as usize == self as usize, "the table is in the order of the enum");
        row
    }

    /// The name: of the method on tensors, but for `min`, `max`, `where` and `rem_trunc`, whose
    /// [contract](self) says it, and of our function in WGSL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The name of the method on tensors.
    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::Where => "choose", // the other is a word of Rust's
            Self::RemTrunc => "rem", // as Rust calls it
            Self::Min => "minimum",  // Rust's numbers have the others,
            Self::Max => "maximum",  // and numpy's arrays these
            op => op.name(),
        }
    }

    /// What is bit by bit what this is of truths.
    const fn bitwise(self) -> Option<Self> {
        match self {
            Self::Not => Some(Self::BitNot),
            Self::And => Some(Self::BitAnd),
            Self::Or => Some(Self::BitOr),
            Self::Xor => Some(Self::BitXor),
            _ => None,
        }
    }

    /// What its method and its operator mean for a dtype: logic, or bit by bit for integers.
    pub(crate) const fn meant(self, dtype: DType) -> Self {
        match self.bitwise() {
            Some(bitwise) if dtype.is_integer() => bitwise,
            _ => self,
        }
    }

    /// How many operands it takes: 1, 2 or 3.
    #[must_use]
    pub const fn arity(self) -> usize {
        self.row().arity
    }

    /// The operation of this name, or whose method on tensors is called so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|op| op.name() == name || op.method() == name)
    }

    /// Whether it exists for operands of this dtype (for `where`: the two it chooses from).
    #[must_use]
    pub fn takes(self, dtype: DType) -> bool {
        dtype.computes() && self.spell(Kind::of(dtype)).is_some()
    }

    /// Whether the result is bool whatever the operands are.
    #[must_use]
    pub fn yields_bool(self) -> bool {
        self.row().yields == Yields::Truth
    }

    /// Whether it tells numbers apart that lie as near as one likes.
    pub(crate) fn looks(self) -> bool {
        let jumps = matches!(
            self,
            Self::Floor
                | Self::Ceil
                | Self::Round
                | Self::Trunc
                | Self::Fract
                | Self::Sign
                | Self::RemFloor
                | Self::RemTrunc
                | Self::Pow
                | Self::Log1p
                | Self::Asin
                | Self::Acos
                | Self::Acosh
                | Self::Atanh
        );
        jumps || self.yields_bool()
    }

    /// Whether results can leave 8 or 16 bits.
    pub(crate) fn wraps(self) -> bool {
        self.row().yields == Yields::Wraps
    }

    /// How much work it is to compile, in additions: functions of our own are many lines.
    pub(crate) fn effort(self) -> u32 {
        let own = self.row().spell.iter().any(|(_, spell)| matches!(spell, Spell::Own));
        if own { 4 } else { 1 }
    }

    pub(crate) fn spell(self, kind: Kind) -> Option<Spell> {
        self.row().spell.iter().find(|(kinds, _)| kinds.contains(kind)).map(|(_, spell)| *spell)
    }

    /// The numeric contract for operands of this dtype.
    #[must_use]
    pub const fn bound(self, dtype: DType) -> Tolerance {
        match dtype.class() {
            Class::Float => self.row().bound.of(dtype),
            _ => Tolerance::EXACT,
        }
    }

    /// The magnitude whose units in the last place the contract counts, where it is larger than the
    /// result: [`Exact::scale`].
    #[must_use]
    pub fn scale(self, operands: &[Number]) -> f64 {
        self.row().scale.of(operands)
    }

    /// Whether the contract covers these operands.
    #[must_use]
    pub fn covers(self, operands: &[Number]) -> bool {
        self.row().domain.covers(operands)
    }

    /// What the contract says in words: domain, ends, overflow.
    #[must_use]
    pub fn note(self) -> String {
        format!("{}{}", self.row().domain.words(), self.row().note)
    }

    /// Which builtins leave a driver so much room that the contract is wider than any driver needs
    /// that this was tried on; empty where there are none.
    #[doc(hidden)]
    #[must_use]
    pub const fn loose(self) -> &'static str {
        self.row().loose
    }

    /// The dtype of the result.
    ///
    /// # Errors
    /// Why there is none: dtypes that differ, or an operation that does not exist for them.
    pub fn result(self, operands: &[DType]) -> Result<DType, Refusal> {
        if operands.len() != self.arity() {
            return Err(Refusal::Arity { op: self, given: operands.len() });
        }
        let values = if self == Self::Where {
            if operands[0] != DType::Bool {
                return Err(Refusal::Condition { given: operands[0] });
            }
            &operands[1..]
        } else {
            operands
        };
        let first = values[0];
        if let Some(&other) = values.iter().find(|&&dtype| dtype != first) {
            return Err(Refusal::Mixed { doing: self.method(), left: first, right: other });
        }
        if !self.takes(first) {
            return Err(Refusal::Kind { op: self, given: first });
        }
        Ok(if self.yields_bool() { DType::Bool } else { first })
    }
}

/// By its name, or that of its method on tensors; else the error has all names.
impl FromStr for Op {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let unknown = || Error::unknown("operation", name, Self::ALL.iter().map(|op| op.name()));
        Self::named(name).ok_or_else(unknown)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
