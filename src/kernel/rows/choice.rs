//! Softmax and norms that are tuned for, and their choices as text.

use core::fmt;

use crate::kernel::choice::size::SizeText;

/// A softmax or norm of rows to tune for: along the last axis, of f32.
///
/// ```
/// use wharf::tune::RowsSize;
///
/// assert_eq!(RowsSize::norm(4096, 1024).to_string(), "norm of 4096 rows of 1024");
/// assert_eq!(RowsSize::softmax(8, 50_000).to_string(), "softmax of 8 rows of 50000");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RowsSize {
    /// Or its logarithm; otherwise a layer or root-mean-square norm.
    pub(crate) is_softmax: bool,
    /// How many rows there are.
    pub rows: usize,
    /// Elements of each.
    pub length: usize,
}

impl RowsSize {
    /// A softmax, or its logarithm.
    #[must_use]
    pub const fn softmax(rows: usize, length: usize) -> Self {
        Self { is_softmax: true, rows, length }
    }

    /// A layer or root-mean-square norm.
    #[must_use]
    pub const fn norm(rows: usize, length: usize) -> Self {
        Self { is_softmax: false, rows, length }
    }

    const fn name(self) -> &'static str {
        if self.is_softmax { "softmax" } else { "norm" }
    }
}

impl SizeText for RowsSize {
    fn kind(&self) -> String {
        self.name().into()
    }

    fn dims(&self) -> Vec<usize> {
        vec![self.rows, self.length]
    }

    fn read(kind: &[&str], dims: &[usize]) -> Option<Self> {
        let &[rows, length] = dims else { return None };
        let both = [Self::softmax(rows, length), Self::norm(rows, length)];
        both.into_iter().find(|size| kind == [size.name()])
    }

    fn each(self, make: impl Fn(usize) -> usize) -> Self {
        let [rows, length] = [self.rows, self.length].map(make);
        Self { rows, length, ..self }
    }
}

impl fmt::Display for RowsSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} rows of {}", self.name(), self.rows, self.length)
    }
}

/// The most lanes that take a row.
pub(super) const LANES_MAX: u32 = 256;

/// How rows are computed: by so many lanes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowsChoice {
    pub(crate) lanes: u32,
}

impl RowsChoice {
    /// As it stands in a file of tuned choices.
    pub(crate) fn text(&self) -> String {
        format!("lanes {}", self.lanes)
    }

    /// The choice of a text, if it is one that a kernel can be written for.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let lanes: u32 = text.strip_prefix("lanes ")?.parse().ok()?;
        let is_possible = lanes == 1 || (32..=LANES_MAX).contains(&lanes);
        (is_possible && lanes.is_power_of_two()).then_some(Self { lanes })
    }
}
