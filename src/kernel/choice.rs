//! What is tuned, and what was: problems, the choice that was fastest for each, and their text.
//!
//! An entry counts for its *class*: problems of one kind, each of whose numbers is rounded up to
//! the same power of two. Of several entries of a class, one for just this problem comes first.
//!
//! Each room says for itself how large its problems are, what may be chosen, and how that is
//! written.

use core::fmt;

use crate::caps::breadth::Breadth;
use crate::error::{Result, causes};
use crate::kernel::attention::choice::tuned::{AttentionChoice, AttentionSize};
use crate::kernel::matmul::choice::scheme::Choice;
use crate::kernel::matmul::choice::tuned::ProductSize;
use crate::kernel::quantized::choice::{WeightsChoice, WeightsSize};
use crate::kernel::reduce::choice::{SumChoice, SumSize};
use crate::kernel::rows::choice::{RowsChoice, RowsSize};
use crate::kernel::sort::choice::{SortChoice, SortSize};
use crate::wgsl::Target;
use crate::wgsl::rig::Rig;

pub(crate) mod processor;
pub(crate) mod size;

use size::SizeText;

/// A size, and what may be chosen for it.
pub(crate) trait Measurable: SizeText {
    type Choice;

    fn of(chosen: Chosen) -> Option<Self::Choice>;
}

macro_rules! tunables {
    ($($(#[$doc:meta])* $Kind:ident($Size:ty => $Choice:ty)),* $(,)?) => {
        /// What to tune for. Every size becomes one: `ProductSize::new(..).into()`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Problem {
            $($(#[$doc])* $Kind($Size),)*
        }

        /// How a problem is computed.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) enum Chosen {
            $($Kind($Choice),)*
        }

        $(impl From<$Size> for Problem {
            fn from(size: $Size) -> Self {
                Self::$Kind(size)
            }
        }

        impl From<$Choice> for Chosen {
            fn from(choice: $Choice) -> Self {
                Self::$Kind(choice)
            }
        }

        impl Measurable for $Size {
            type Choice = $Choice;

            fn of(chosen: Chosen) -> Option<$Choice> {
                if let Chosen::$Kind(choice) = chosen { Some(choice) } else { None }
            }
        })*

        impl Problem {
            /// What may share an entry with it.
            fn class(self) -> Self {
                // A file may hold any number. One that has no power of two above it is a class of
                // its own.
                let class = |dim: usize| dim.checked_next_power_of_two().unwrap_or(dim);
                match self {
                    $(Self::$Kind(size) => Self::$Kind(size.each(class)),)*
                }
            }

            /// As it stands in a file: words, then numbers. [`Self::from_text`] has it again.
            #[must_use]
            pub fn text(&self) -> String {
                let (kind, dims) = match self {
                    $(Self::$Kind(size) => (size.kind(), size.dims()),)*
                };
                dims.iter().fold(kind, |text, dim| format!("{text} {dim}"))
            }

            /// The problem of a text as a file of tuned choices has it: words, then numbers.
            ///
            /// ```
            /// use wharf::tune::Problem;
            ///
            /// for text in [
            ///     "product f32 [k,n] 1 512 512 512", // batch, m, n, k; [n,k] is a layer's weight
            ///     "attention f16 causal 1 32 8 1 4096 128 128", // batch, heads, heads of keys,
            ///     "weights q8 1 4096 11008",         // .. queries, keys, lengths of key and value
            ///     "softmax 64 50257",
            ///     "norm 4096 1024", // rows, length
            ///     "sum 1 4096 64",  // outer, length, inner
            ///     "sort 1 1000000", // rows, length
            /// ] {
            ///     assert_eq!(Problem::from_text(text)?.text(), text);
            /// }
            /// assert!(Problem::from_text("sort of everything").is_err());
            /// # Ok::<(), wharf::Error>(())
            /// ```
            pub fn from_text(text: &str) -> Result<Self> {
                Self::parse(text).ok_or_else(|| ChoiceCause::NoProblem { text: text.into() }.into())
            }

            fn parse(text: &str) -> Option<Self> {
                let words: Vec<&str> = text.split(' ').collect();
                let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
                let first = words.iter().position(is_number).unwrap_or(words.len());
                let (kind, dims) = words.split_at(first);
                let dims: Option<Vec<usize>> = dims.iter().map(|word| word.parse().ok()).collect();
                let dims = dims?;
                None$(.or_else(|| <$Size>::read(kind, &dims).map(Self::from)))*
            }

            /// What is worth timing here.
            pub(crate) fn candidates(&self, on: Rig<'_>) -> Vec<Chosen> {
                match self {
                    $(Self::$Kind(size) => {
                        size.candidates(on).into_iter().map(Chosen::from).collect()
                    })*
                }
            }

            /// The choice of a text, if it is one for problems of this kind.
            fn choice(&self, text: &str) -> Option<Chosen> {
                match self {
                    $(Self::$Kind(_) => <$Choice>::parse(text).map(Chosen::from),)*
                }
            }
        }

        impl fmt::Display for Problem {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$Kind(size) => size.fmt(f),)*
                }
            }
        }

        impl Chosen {
            /// As it stands in a file.
            pub(crate) fn text(&self) -> String {
                match self {
                    $(Self::$Kind(choice) => choice.text(),)*
                }
            }
        }
    };
}

tunables! {
    /// A product of matrices.
    Product(ProductSize => Choice),
    /// Attention.
    Attention(AttentionSize => AttentionChoice),
    /// A product with weights in blocks.
    Weights(WeightsSize => WeightsChoice),
    /// A softmax or norm of rows.
    Rows(RowsSize => RowsChoice),
    /// A reduction, measured as a sum.
    Sum(SumSize => SumChoice),
    /// A sort of rows, measured on words.
    Sort(SortSize => SortChoice),
}

causes! {
    enum ChoiceCause;

    NoProblem { text: String }, Argument:
        ("{text:?} is no problem to tune for")
        help ("such as \"product f32 [k,n] 1 512 512 512\": `Problem::from_text` has one of each \
               kind");
}

/// What was measured for a problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) problem: Problem,
    /// The fastest of those that are right; `None` where that is the built-in choice.
    pub(crate) choice: Option<Chosen>,
    /// Billions a second.
    pub(crate) rate: f64,
}

impl Measured {
    /// As one line of a file.
    pub(crate) fn text(&self) -> String {
        let choice = self.choice.map_or_else(|| "built-in".into(), |choice| choice.text());
        format!("{} = {choice} @ {:.4}", self.problem.text(), self.rate)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (problem, rest) = text.split_once(" = ")?;
        let (choice, rate) = rest.split_once(" @ ")?;
        let problem = Problem::parse(problem)?;
        let choice = match choice {
            "built-in" => None,
            text => Some(problem.choice(text)?),
        };
        let rate = rate.parse().ok().filter(|rate: &f64| rate.is_finite())?;
        Some(Self { problem, choice, rate })
    }
}

/// What tuning found on one class of kernels of an adapter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) target: Target,
    /// How broad the GPU was found to be.
    pub(crate) breadth: Option<Breadth>,
    pub(crate) entries: Vec<Measured>,
}

impl Table {
    /// The measured choice for a problem, if there is one other than the built-in.
    pub(crate) fn choice<S: Measurable + Into<Problem>>(
        &self,
        target: Target,
        size: S,
    ) -> Option<S::Choice> {
        if target != self.target {
            return None;
        }
        let problem: Problem = size.into();
        let equal = self.entries.iter().find(|entry| entry.problem == problem);
        let alike = || {
            let class = problem.class();
            self.entries.iter().find(|entry| entry.problem.class() == class)
        };
        equal.or_else(alike)?.choice.and_then(S::of)
    }
}

#[cfg(test)]
mod tests;
