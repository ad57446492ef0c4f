//! An edge of a kernel: what is computed as its inputs are loaded, or before its result is stored.

use super::expr::Expr;
use super::slot::Way;

/// An expression over operands, and the ways in which these are reached.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Edge<'a> {
    /// The expression.
    pub expr: &'a Expr,
    /// One way per operand.
    pub ways: &'a [Way],
}
