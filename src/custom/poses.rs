//! How the operands of a trial lie in memory.

use crate::error::Result;
use crate::tensor::Tensor;

/// How an operand lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pose {
    Dense,
    Transposed,
    Backwards,
    /// Every row begins in the middle of a quad.
    Odd,
    /// One row, repeated.
    Row,
    /// One column, repeated.
    Column,
    /// One element, repeated.
    One,
}

use Pose::{Backwards, Column, Dense, Odd, One, Row, Transposed};

/// Shapes, and how the operands lie.
pub(super) const FORMS: &[([usize; 2], [Pose; 3])] = &[
    ([1, 1], [Dense; 3]),
    ([1, 5], [Dense, One, Dense]),
    ([1, 257], [Dense; 3]),
    ([1, 1021], [Dense, Backwards, Odd]),
    ([31, 33], [Transposed, Odd, Backwards]),
    ([5, 51], [Backwards, Row, Transposed]),
    ([257, 3], [Odd, Column, Row]),
    ([16, 12], [Column, Dense, One]),
    ([64, 64], [Dense; 3]),
];

/// More than a workgroup does, however large it is, for what is walked by groups.
pub(super) const LONG: &[([usize; 2], [Pose; 3])] = &[([16, 4099], [Dense, Odd, Row])];

impl Pose {
    /// What is uploaded.
    pub(super) fn stored(self, [rows, columns]: &[usize; 2]) -> [usize; 2] {
        let (rows, columns) = (*rows, *columns);
        match self {
            Dense | Backwards => [rows, columns],
            Transposed => [columns, rows],
            Odd => [rows, columns + 3],
            Row => [1, columns],
            Column => [rows, 1],
            One => [1, 1],
        }
    }

    /// The view of it that has the shape, or broadcasts to it.
    pub(super) fn view(self, x: &Tensor, [_, columns]: &[usize; 2]) -> Result<Tensor> {
        match self {
            Dense | Row | Column | One => Ok(x.clone()),
            Transposed => x.t(),
            Backwards => x.flip(0)?.flip(1),
            Odd => x.slice(1, 1..columns + 1),
        }
    }
}
