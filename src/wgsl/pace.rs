//! How much of an index space an invocation takes at a time, and what else decides an expression's
//! text beside its structure.

use super::region::Region;
use super::target::Target;
use super::wording::Writes;

/// How many elements an invocation of an expression's kernel takes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pace {
    /// One, and no more: [`Expr::assemble_few`](super::Expr::assemble_few).
    Few,
    /// Four: [`Expr::assemble`](super::Expr::assemble).
    Quads,
    /// Eight: [`Expr::assemble_pairs`](super::Expr::assemble_pairs).
    Pairs,
}

/// What a text is written for beside its structure and its ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextShape {
    /// Dimensions of the index space.
    pub(crate) rank: u32,
    pub(crate) target: Target,
    pub(crate) pace: Pace,
}

/// It writes nothing: it only tells an expression's texts apart.
impl Writes for Pace {
    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}
