//! The op vocabulary: what can be done to elements, one by one.
//!
//! One table says everything about an operation: its name, which dtypes it takes, how WGSL spells
//! it for each kind of number, what it yields, and its numeric contract ([`Bound`]). The generator,
//! the oracle, the documentation and the tests all read this table; nothing about an operation is
//! written a second time.
//!
//! f16 and bf16 are computed in f32 and rounded once, when stored; the small integers in 32 bits,
//! wrapped to their width after every operation that can leave it.
//!
#![doc = include_str!("op/contract.md")]

use core::fmt;

mod bound;
mod reduction;
mod table;
mod value;

pub use bound::{Bound, contract_table};
pub use reduction::{Reduction, reduction_table};
pub(crate) use value::wrapped;
pub use value::{Exact, Value};

use crate::dtype::{Class, DType};
use table::{Row, TABLE};

/// What a value is computed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are the names of WGSL types")]
pub enum Kind {
    F32,
    I32,
    U32,
    Bool,
    I64,
    U64,
    F64,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::F32, Self::I32, Self::U32, Self::Bool, Self::I64, Self::U64, Self::F64];

    /// What a dtype is computed as.
    #[must_use]
    pub const fn of(dtype: DType) -> Self {
        match dtype {
            DType::F32 | DType::F16 | DType::Bf16 => Self::F32,
            DType::I8 | DType::I16 | DType::I32 => Self::I32,
            DType::U8 | DType::U16 | DType::U32 => Self::U32,
            DType::I64 => Self::I64,
            DType::U64 => Self::U64,
            DType::F64 => Self::F64,
            DType::Bool => Self::Bool,
        }
    }

    /// The name in WGSL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        ["f32", "i32", "u32", "bool", "i64", "u64", "f64"][self as usize]
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const F32: Self = Self::one(Kind::F32);
    pub(crate) const F64: Self = Self::one(Kind::F64);
    pub(crate) const BOOL: Self = Self::one(Kind::Bool);
    pub(crate) const SIGNED: Self = Self::one(Kind::I32).or(Self::one(Kind::I64));
    pub(crate) const UNSIGNED: Self = Self::one(Kind::U32).or(Self::one(Kind::U64));
    pub(crate) const INT: Self = Self::SIGNED.or(Self::UNSIGNED);
    pub(crate) const REAL: Self = Self::F32.or(Self::F64);
    pub(crate) const NUMBER: Self = Self::REAL.or(Self::INT);
    pub(crate) const ANY: Self = Self::NUMBER.or(Self::BOOL);

    const fn one(kind: Kind) -> Self {
        Self(1 << kind as u8)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// How WGSL writes an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spell {
    /// `a + b`
    Infix(&'static str),
    /// `-a`
    Prefix(&'static str),
    /// A builtin: `floor(a)`.
    Builtin(&'static str),
    /// A function of ours, named after the op and the kind: `gelu_f32(a)`.
    Own,
    /// `a` itself.
    Itself,
    /// `select(c, b, a)`.
    Select,
}

/// What an operation yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yields {
    /// The dtype of its operands.
    Same,
    /// The same, but 8 and 16 bits can be left on the way and have to be wrapped to.
    Wraps,
    /// bool.
    Truth,
}

macro_rules! ops {
    ($($(#[$doc:meta])* $op:ident)*) => {
        /// An operation on elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "an operation is described by its row in the table")]
        pub enum Op {
            $($(#[$doc])* $op),*
        }

        impl Op {
            /// Every operation, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$op),*];
        }
    };
}

ops! {
    // ** one operand **
    Neg Abs Sign Floor Ceil Round Trunc Fract Sqrt Rsqrt Recip Square
    Exp Exp2 Expm1 Ln Log2 Log10 Log1p
    Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh
    Erf Sigmoid Relu Gelu GeluTanh Silu Softplus HardSwish Mish
    Not BitNot IsNan IsInf IsFinite
    // ** two **
    Add Sub Mul Div RemFloor RemTrunc Pow Min Max Atan2 Hypot LeakyRelu Elu
    Eq Ne Lt Le Gt Ge
    And Or Xor BitAnd BitOr BitXor Shl Shr
    // ** three **
    Where Clamp MulAdd Lerp
}

impl Op {
    const fn row(self) -> &'static Row {
        let row = &TABLE[self as usize];
        debug_assert!(row.op as usize == self as usize, "the table is in the order of the enum");
        row
    }

    /// The name: of the method on tensors, and of our function in WGSL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// How many operands it takes: 1, 2 or 3.
    #[must_use]
    pub const fn arity(self) -> usize {
        self.row().arity
    }

    /// The operation of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// Whether it exists for operands of this dtype (for `where`: the two it chooses from).
    #[must_use]
    pub fn takes(self, dtype: DType) -> bool {
        self.spell(Kind::of(dtype)).is_some()
    }

    /// Whether the result is bool whatever the operands are.
    #[must_use]
    pub fn yields_bool(self) -> bool {
        self.row().yields == Yields::Truth
    }

    /// Whether results can leave 8 or 16 bits.
    pub(crate) fn wraps(self) -> bool {
        self.row().yields == Yields::Wraps
    }

    /// What compiling it takes, in additions: functions of our own are many lines.
    pub(crate) fn effort(self) -> u32 {
        let own = self.row().spell.iter().any(|(_, spell)| matches!(spell, Spell::Own));
        if own { 4 } else { 1 }
    }

    pub(crate) fn spell(self, kind: Kind) -> Option<Spell> {
        self.row().spell.iter().find(|(kinds, _)| kinds.contains(kind)).map(|(_, spell)| *spell)
    }

    /// The numeric contract for operands of this dtype.
    #[must_use]
    pub const fn bound(self, dtype: DType) -> Bound {
        match dtype.class() {
            Class::Float => self.row().bound.of(dtype),
            _ => Bound::EXACT,
        }
    }

    /// What the contract says in words: ends, domain, overflow.
    #[must_use]
    pub const fn note(self) -> &'static str {
        self.row().note
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
            return Err(Refusal::Mixed { doing: self.name(), left: first, right: other });
        }
        if !self.takes(first) {
            return Err(Refusal::Kind { op: self, given: first });
        }
        Ok(if self.yields_bool() { DType::Bool } else { first })
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

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
