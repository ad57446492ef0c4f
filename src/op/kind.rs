//! Kinds: what values are computed as.

use core::fmt;

use crate::dtype::DType;

/// What a value is computed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are the names of WGSL types")]
#[non_exhaustive]
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
    pub const ALL: &[Self] =
        &[Self::F32, Self::I32, Self::U32, Self::Bool, Self::I64, Self::U64, Self::F64];

    /// What a dtype is computed as, or read as where nothing [computes](DType::computes) with it.
    #[must_use]
    pub const fn of(dtype: DType) -> Self {
        match dtype {
            DType::F32 | DType::F16 | DType::Bf16 | DType::F8E4M3 | DType::F8E5M2 => Self::F32,
            DType::I8 | DType::I16 | DType::I32 => Self::I32,
            DType::U8 | DType::U16 | DType::U32 => Self::U32,
            DType::I64 => Self::I64,
            DType::U64 => Self::U64,
            DType::F64 => Self::F64,
            DType::Bool => Self::Bool,
        }
    }

    /// The dtype of the same name.
    #[must_use]
    pub const fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::I32 => DType::I32,
            Self::U32 => DType::U32,
            Self::Bool => DType::Bool,
            Self::I64 => DType::I64,
            Self::U64 => DType::U64,
            Self::F64 => DType::F64,
        }
    }

    /// The name in WGSL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        ["f32", "i32", "u32", "bool", "i64", "u64", "f64"][self as usize]
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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
