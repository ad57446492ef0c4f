//! Sorts that are tuned for, and their choices as text.

use core::fmt;

use crate::kernel::choice::size::SizeText;

/// A sort of rows to tune for. It is measured on words that are sorted by their own value, and
/// counts for all sorts of such rows.
///
/// ```
/// use wharf::tune::SortSize;
///
/// assert_eq!(SortSize::new(1, 1_000_000).to_string(), "sort of 1 row of 1000000");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SortSize {
    /// How many rows there are.
    pub rows: usize,
    /// Elements of each.
    pub length: usize,
}

impl SortSize {
    /// So many rows, and elements of each.
    #[must_use]
    pub const fn new(rows: usize, length: usize) -> Self {
        Self { rows, length }
    }
}

impl SizeText for SortSize {
    fn kind(&self) -> String {
        "sort".into()
    }

    fn dims(&self) -> Vec<usize> {
        vec![self.rows, self.length]
    }

    fn read(kind: &[&str], dims: &[usize]) -> Option<Self> {
        let (&["sort"], &[rows, length]) = (kind, dims) else { return None };
        Some(Self { rows, length })
    }

    fn each(self, make: impl Fn(usize) -> usize) -> Self {
        let [rows, length] = [self.rows, self.length].map(make);
        Self { rows, length }
    }
}

impl fmt::Display for SortSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, length } = self;
        write!(f, "sort of {rows} row{} of {length}", if *rows == 1 { "" } else { "s" })
    }
}

/// How rows are sorted in rounds. What does not fit a size of the same class is put right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SortChoice {
    /// Bits of a digit.
    pub(crate) bits: u32,
    /// Items of a chunk, about.
    pub(crate) each: usize,
}

impl SortChoice {
    /// As it stands in a file of tuned choices.
    pub(crate) fn text(&self) -> String {
        format!("digits {} chunks of {}", self.bits, self.each)
    }

    /// The choice of a text, if it is one that a kernel can be written for.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (bits, each) = text.strip_prefix("digits ")?.split_once(" chunks of ")?;
        let (bits, each) = (bits.parse().ok()?, each.parse().ok()?);
        (matches!(bits, 4 | 8) && each > 0).then_some(Self { bits, each })
    }
}
