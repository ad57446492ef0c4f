//! Elements and numbers in words.

use crate::proof::{Formed, Outlier, shown};

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

impl Outlier {
    /// What came out, and what was to, in words.
    pub(super) fn words(&self) -> String {
        let (got, want) = (shown(self.got), shown(self.want));
        format!("{got}, not {want} within {:e}", self.room)
    }
}
