//! Elements and numbers in words.

use crate::op::Number;
use crate::proof::{Formed, Outlier};

/// An element's place in a result.
pub(super) fn at(formed: &Formed, element: usize) -> String {
    let mut rest = element;
    let mut place: Vec<usize> = Vec::new();
    for &dim in formed.shape.dims().iter().rev() {
        place.insert(0, rest % dim.max(1));
        rest /= dim.max(1);
    }
    format!("{place:?}")
}

/// A number as Rust writes it.
pub(super) fn shown(number: Number) -> String {
    match number {
        Number::Float(x) => format!("{x:?}"),
        Number::Int(x) => x.to_string(),
        Number::Bool(x) => x.to_string(),
    }
}

impl Outlier {
    /// What came out, and what was to, in words.
    pub(super) fn words(&self) -> String {
        let (got, want) = (shown(self.got), shown(self.want));
        format!("{got}, not {want} within {:e}", self.room)
    }
}
