//! Reductions that are tuned for, and their choices as text.

use core::fmt;

use crate::kernel::choice::size::SizeText;

/// A reduction to tune for: of the middle axis of `[outer, length, inner]`. It is measured as a sum
/// of f32, and counts for all reductions of such a space.
///
/// ```
/// use wharf::tune::SumSize;
///
/// assert_eq!(SumSize::rows(64, 4096).to_string(), "sums of 64 rows of 4096");
/// assert_eq!(SumSize::columns(4096, 64).to_string(), "sums of 64 columns of 4096");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SumSize {
    /// Elements along all axes before those that are reduced.
    pub outer: usize,
    /// Elements that become one.
    pub length: usize,
    /// Elements along all axes after them, as memory walks them.
    pub inner: usize,
}

impl SumSize {
    /// Sums of whole rows.
    #[must_use]
    pub const fn rows(rows: usize, length: usize) -> Self {
        Self { outer: rows, length, inner: 1 }
    }

    /// Sums of whole columns.
    #[must_use]
    pub const fn columns(length: usize, columns: usize) -> Self {
        Self { outer: 1, length, inner: columns }
    }
}

impl SizeText for SumSize {
    fn kind(&self) -> String {
        "sum".into()
    }

    fn dims(&self) -> Vec<usize> {
        vec![self.outer, self.length, self.inner]
    }

    fn read(kind: &[&str], dims: &[usize]) -> Option<Self> {
        let (&["sum"], &[outer, length, inner]) = (kind, dims) else { return None };
        Some(Self { outer, length, inner })
    }

    fn each(self, make: impl Fn(usize) -> usize) -> Self {
        let [outer, length, inner] = [self.outer, self.length, self.inner].map(make);
        Self { outer, length, inner }
    }
}

impl fmt::Display for SumSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { outer, length, inner } = self;
        match (outer, inner) {
            (_, 1) => write!(f, "sums of {outer} rows of {length}"),
            (1, _) => write!(f, "sums of {inner} columns of {length}"),
            _ => write!(f, "{outer} of sums of {inner} columns of {length}"),
        }
    }
}

/// How a reduction is computed. What does not fit a size of the same class is put right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SumChoice {
    /// Whether a workgroup takes a row, or a chunk of it, together.
    pub(crate) grouped: bool,
    /// Chunks of each row or column, reduced apart from each other.
    pub(crate) chunks: usize,
}

impl SumChoice {
    /// As it stands in a file of tuned choices.
    pub(crate) fn text(&self) -> String {
        let by = if self.grouped { "workgroups" } else { "lanes" };
        format!("{by} chunks {}", self.chunks)
    }

    /// The choice of a text, if it is one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (by, chunks) = text.split_once(" chunks ")?;
        let grouped = match by {
            "workgroups" => true,
            "lanes" => false,
            _ => return None,
        };
        chunks.parse().ok().filter(|&chunks| chunks > 0).map(|chunks| Self { grouped, chunks })
    }
}
