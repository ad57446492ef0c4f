//! The reductions: what becomes of many elements as one.
//!
//! One table says everything about a reduction: which dtypes it takes, the dtype of its result, its
//! value for no elements, what NaN does to it, and its numeric contract. Documentation, oracle and
//! tests read this table.
//!
//! f16 and bf16 are computed in f32 and rounded once, at the end. Sums of f32 are added up in
//! blocks of blocks, so that no term goes through more than 256 roundings however many there are.

use core::fmt;
use core::fmt::Write as _;

use super::loose::TERMS;
use super::tolerance::noted;
use super::{Number, Tolerance};
use crate::dtype::{Class, DType};

/// What many elements become as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "a reduction is described by its row in the table")]
#[non_exhaustive]
pub enum Reduction {
    Sum,
    Mean,
    Prod,
    Max,
    Min,
    ArgMax,
    ArgMin,
    Any,
    All,
    CountNonzero,
    Var,
    Std,
    Norm,
    LogSumExp,
}

/// The dtype of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    /// That of the elements.
    Same,
    /// That of the elements, but integers have at least 32 bits.
    Wide,
    Index,
    Truth,
}

/// What the reduction of no elements is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Empty {
    Zero,
    One,
    Nan,
    /// Minus infinity.
    Lowest,
    /// An error.
    None,
}

struct ReductionRow {
    reduction: Reduction,
    name: &'static str,
    /// Which dtypes it takes.
    takes: fn(DType) -> bool,
    yields: Given,
    empty: Empty,
    /// In units of the largest magnitude among its terms: see [`Exact::scale`](super::Exact).
    bound: Tolerance,
    note: &'static str,
}

const fn row(
    reduction: Reduction,
    name: &'static str,
    takes: fn(DType) -> bool,
    yields: Given,
    empty: Empty,
    bound: Tolerance,
    note: &'static str,
) -> ReductionRow {
    ReductionRow { reduction, name, takes, yields, empty, bound, note }
}

fn number(dtype: DType) -> bool {
    dtype != DType::Bool
}

fn any(_: DType) -> bool {
    true
}

const SUM: Tolerance = Tolerance::ulp(128.0).open();
const SPREAD: Tolerance = Tolerance::ulp(256.0).open();
const EXACT: Tolerance = Tolerance::BITS;

#[rustfmt::skip]
const TABLE: &[ReductionRow] = &[
    row(Reduction::Sum, "sum", any, Given::Wide, Empty::Zero, SUM,
        "of sum |x|; i8 to u16 become i32 or u32, bool counts as u32, integers wrap"),
    row(Reduction::Mean, "mean", DType::is_float, Given::Same, Empty::Nan, SUM,
        "of mean |x|; the sum of |x|, divided"),
    row(Reduction::Prod, "prod", number, Given::Wide, Empty::One, Tolerance::ulp(1.0).open(),
        "of n |product|; the order is not told, so neither is what leaves the range on the way; \
         i8 to u16 become i32 or u32, integers wrap"),
    row(Reduction::Max, "amax", number, Given::Same, Empty::None, EXACT,
        "NaN wins; which of two zeros is not told"),
    row(Reduction::Min, "amin", number, Given::Same, Empty::None, EXACT,
        "NaN wins; which of two zeros is not told"),
    row(Reduction::ArgMax, "argmax", number, Given::Index, Empty::None, EXACT,
        "the first of equals, counted row-major over the reduced axes; the first NaN wins; \
         zeros are equal"),
    row(Reduction::ArgMin, "argmin", number, Given::Index, Empty::None, EXACT,
        "the first of equals, counted row-major over the reduced axes; the first NaN wins; \
         zeros are equal"),
    row(Reduction::Any, "any", any, Given::Truth, Empty::Zero, EXACT,
        "whether one is not zero; NaN is not"),
    row(Reduction::All, "all", any, Given::Truth, Empty::One, EXACT,
        "whether none is zero; NaN is not"),
    row(Reduction::CountNonzero, "count_nonzero", any, Given::Index, Empty::Zero, EXACT,
        "how many are not zero; NaN is not"),
    row(Reduction::Var, "var", DType::is_float, Given::Same, Empty::Nan, SPREAD,
        "of max |x| (std + 2^-17 max |x|); in two passes, about the mean: sums of \
         |x| and of squares, which may vanish"),
    row(Reduction::Std, "std", DType::is_float, Given::Same, Empty::Nan, SPREAD,
        "of max |x|; the root of the variance, whose sums are of |x| and of squares, which may \
         vanish"),
    row(Reduction::Norm, "norm", DType::is_float, Given::Same, Empty::Zero, SUM,
        "of itself; the root of the sum of squares, which may overflow or vanish before it does"),
    row(Reduction::LogSumExp, "logsumexp", DType::is_float, Given::Same, Empty::Lowest, SUM,
        "of itself or 1; -inf where all are -inf, infinity where one is"),
];

impl Reduction {
    /// Every reduction, in the order of the table.
    pub const ALL: &[Self] = &[
        Self::Sum,
        Self::Mean,
        Self::Prod,
        Self::Max,
        Self::Min,
        Self::ArgMax,
        Self::ArgMin,
        Self::Any,
        Self::All,
        Self::CountNonzero,
        Self::Var,
        Self::Std,
        Self::Norm,
        Self::LogSumExp,
    ];

    const fn row(self) -> &'static ReductionRow {
        let row = &TABLE[self as usize];
        debug_assert!(row.reduction as usize == self as usize, "the table is in the enum's order");
        row
    }

    /// The name: of the method on tensors.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether it exists for elements of this dtype.
    #[must_use]
    pub fn takes(self, dtype: DType) -> bool {
        dtype.computes() && (self.row().takes)(dtype)
    }

    /// The dtype of the result.
    #[must_use]
    pub const fn yields(self, dtype: DType) -> DType {
        match self.row().yields {
            Given::Same => dtype,
            Given::Index => DType::U32,
            Given::Truth => DType::Bool,
            Given::Wide => match dtype.class() {
                Class::Signed if dtype.width() < 4 => DType::I32,
                Class::Unsigned if dtype.width() < 4 => DType::U32,
                Class::Bool => DType::U32,
                _ => dtype,
            },
        }
    }

    /// Its value for no elements, of the dtype that [`yields`](Self::yields) says; `None` where
    /// that is an error.
    #[must_use]
    pub fn of_nothing(self, dtype: DType) -> Option<Number> {
        let number = |n: u8| match self.yields(dtype).class() {
            Class::Float => Number::Float(n.into()),
            Class::Bool => Number::Bool(n != 0),
            Class::Signed | Class::Unsigned => Number::Int(n.into()),
        };
        match self.row().empty {
            Empty::Zero => Some(number(0)),
            Empty::One => Some(number(1)),
            Empty::Nan => Some(Number::Float(f64::NAN)),
            Empty::Lowest => Some(Number::Float(f64::NEG_INFINITY)),
            Empty::None => None,
        }
    }

    /// The numeric contract for elements of this dtype.
    #[must_use]
    pub const fn bound(self, dtype: DType) -> Tolerance {
        match dtype.class() {
            Class::Float => self.row().bound,
            _ => Tolerance::EXACT,
        }
    }

    /// Why the contract is wider than what any driver needs that this was tried on.
    #[doc(hidden)]
    #[must_use]
    pub const fn loose(self) -> &'static str {
        if self.row().bound.is_exact() { "" } else { TERMS }
    }

    /// What the contract says in words.
    #[must_use]
    pub const fn note(self) -> &'static str {
        self.row().note
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The contract of every reduction, as a table for the documentation.
#[must_use]
pub fn reduction_table() -> String {
    let mut text =
        String::from("| reduction | dtypes | of nothing | bound | |\n|---|---|---|---|---|\n");
    for reduction in Reduction::ALL.iter().copied() {
        let takes = DType::ALL.iter().copied().filter(|&d| reduction.takes(d)).map(DType::name);
        let takes = takes.collect::<Vec<_>>().join(" ");
        let empty = match reduction.row().empty {
            Empty::Zero => "0",
            Empty::One => "1",
            Empty::Nan => "NaN",
            Empty::Lowest => "-inf",
            Empty::None => "an error",
        };
        let bound = reduction.bound(DType::F32);
        let note = noted(reduction.note(), bound);
        let bound = if bound.is_exact() { "exact".to_owned() } else { bound.words() };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| `{reduction}` | {takes} | {empty} | {bound} | {note} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.reduction as usize, i, "{} is out of order", row.name);
            assert_eq!(Reduction::ALL[i], row.reduction, "{} is out of order", row.name);
        }
        assert_eq!(TABLE.len(), Reduction::ALL.len(), "a reduction has no row");
    }

    #[test]
    fn sums_of_small_integers_widen() {
        let yields = |dtype| Reduction::Sum.yields(dtype);
        assert_eq!([DType::I8, DType::I16, DType::I32].map(yields), [DType::I32; 3]);
        assert_eq!([DType::Bool, DType::U8, DType::U16].map(yields), [DType::U32; 3]);
        assert_eq!([DType::F16, DType::I64].map(yields), [DType::F16, DType::I64]);
    }
}
