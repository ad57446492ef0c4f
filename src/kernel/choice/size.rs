//! How large a problem is, as words and numbers.

use core::fmt;

/// The choices of which each comes to something else, if it comes to anything.
pub(crate) fn distinct<C: Copy, W: PartialEq>(
    choices: impl IntoIterator<Item = C>,
    comes_to: impl Fn(C) -> Option<W>,
) -> Vec<C> {
    let (mut distinct, mut seen) = (Vec::new(), Vec::new());
    for choice in choices {
        if let Some(what) = comes_to(choice).filter(|what| !seen.contains(what)) {
            seen.push(what);
            distinct.push(choice);
        }
    }
    distinct
}

/// A size as words and numbers.
pub(crate) trait SizeText: Copy + fmt::Display {
    /// The words: which kind, and what is no number.
    fn kind(&self) -> String;

    /// The numbers.
    fn dims(&self) -> Vec<usize>;

    /// The size of these words and numbers.
    fn read(kind: &[&str], dims: &[usize]) -> Option<Self>;

    /// With each number made another.
    fn each(self, make: impl Fn(usize) -> usize) -> Self;
}
