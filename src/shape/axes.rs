//! Axes as an argument: one, several, or all of them; gone afterwards, or kept with length 1.

use core::ops::RangeFull;

use super::Shape;
use super::cause::ShapeCause;
use crate::error::Result;

/// The axes of a reduction such as [`Tensor::sum`](crate::Tensor::sum), counted from 0:
///
/// | written | means |
/// |---|---|
/// | `1` | one axis |
/// | `[0, 2]`, a slice or a vector | several, in any order; each at most once |
/// | `..` | all; no other range is taken |
/// | `Axes::keep(1)`, `Axes::keep(..)` | these axes, kept in the result with length 1 |
///
/// ```
/// # wharf::testing::example(async |device| {
/// use wharf::{Axes, DType};
///
/// let x = device.ones([4, 3, 2], DType::F32)?;
/// assert_eq!(x.sum(1)?.shape().dims(), [4, 2]);
/// assert_eq!(x.sum([0, 2])?.shape().dims(), [3]);
/// assert_eq!(x.sum(..)?.shape().rank(), 0);
/// assert_eq!(x.sum(Axes::keep(1))?.shape().dims(), [4, 1, 2]); // broadcasts against x
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    /// `None` for all.
    list: Option<Vec<usize>>,
    keep: bool,
}

impl Axes {
    /// These axes, kept in the result with length 1.
    #[must_use]
    pub fn keep(axes: impl Into<Self>) -> Self {
        Self { keep: true, ..axes.into() }
    }

    /// Whether the result keeps them with length 1.
    pub(crate) const fn are_kept(&self) -> bool {
        self.keep
    }

    /// Whether each axis of a shape is among them.
    pub(crate) fn of(&self, shape: &Shape) -> Result<Vec<bool>> {
        let Some(list) = &self.list else { return Ok(vec![true; shape.rank()]) };
        let mut among = vec![false; shape.rank()];
        for &axis in list {
            shape.dim(axis)?;
            if core::mem::replace(&mut among[axis], true) {
                return Err(ShapeCause::Repeated { axis, axes: list.clone() }.into());
            }
        }
        Ok(among)
    }
}

impl From<RangeFull> for Axes {
    fn from(_: RangeFull) -> Self {
        Self { list: None, keep: false }
    }
}

impl From<usize> for Axes {
    fn from(axis: usize) -> Self {
        vec![axis].into()
    }
}

impl From<Vec<usize>> for Axes {
    fn from(list: Vec<usize>) -> Self {
        Self { list: Some(list), keep: false }
    }
}

impl From<&[usize]> for Axes {
    fn from(list: &[usize]) -> Self {
        list.to_vec().into()
    }
}

impl<const N: usize> From<[usize; N]> for Axes {
    fn from(list: [usize; N]) -> Self {
        list.to_vec().into()
    }
}

impl<const N: usize> From<&[usize; N]> for Axes {
    fn from(list: &[usize; N]) -> Self {
        list.to_vec().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_exist_and_occur_once() {
        let shape = Shape::new([4, 3, 2]).unwrap();
        let of = |axes: Axes| axes.of(&shape).map_err(|e| e.to_string());
        assert_eq!(of((..).into()), Ok(vec![true; 3]));
        assert_eq!(of([2, 0].into()), Ok(vec![true, false, true]));
        assert_eq!(of(Axes::keep([])), Ok(vec![false; 3]));
        assert_eq!(of(3.into()), Err("axis 3 does not exist in [4, 3, 2] of rank 3".into()));
        assert_eq!(of([1, 1].into()), Err("axis 1 occurs twice in [1, 1]".into()));
    }
}
