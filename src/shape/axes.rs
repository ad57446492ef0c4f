//! Axes as an argument: one, several, or all of them; gone afterwards, or kept with length 1.

use core::ops::RangeFull;

use super::Shape;
use super::axis::Axis;
use super::cause::ShapeCause;
use crate::error::Result;

/// The axes of a reduction such as [`Tensor::sum`](crate::Tensor::sum), counted from 0 or back from
/// -1:
///
/// | written | means |
/// |---|---|
/// | `1`, `-1` | one [`Axis`] |
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
/// assert_eq!(x.sum(-1)?.shape().dims(), [4, 3]);
/// assert_eq!(x.sum([0, 2])?.shape().dims(), [3]);
/// assert_eq!(x.sum(..)?.shape().rank(), 0);
/// assert_eq!(x.sum(Axes::keep(1))?.shape().dims(), [4, 1, 2]); // broadcasts against x
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    /// `None` for all.
    list: Option<Vec<Axis>>,
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

    /// Those of a shape that they are, in the order in which they were named.
    pub(crate) fn in_order(&self, shape: &Shape) -> Result<Vec<usize>> {
        self.of(shape)?;
        let Some(list) = &self.list else { return Ok((0..shape.rank()).collect()) };
        list.iter().map(|&axis| Ok(shape.find(axis)?.0)).collect()
    }

    /// Whether each axis of a shape is among them.
    pub(crate) fn of(&self, shape: &Shape) -> Result<Vec<bool>> {
        let Some(list) = &self.list else { return Ok(vec![true; shape.rank()]) };
        let mut among = vec![false; shape.rank()];
        for &axis in list {
            if core::mem::replace(&mut among[shape.find(axis)?.0], true) {
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

impl<A: Into<Axis>> From<A> for Axes {
    fn from(axis: A) -> Self {
        Self { list: Some(vec![axis.into()]), keep: false }
    }
}

macro_rules! from_lists {
    ($([$($of:tt)*] $list:ty;)*) => {$(
        impl<$($of)*> From<$list> for Axes {
            fn from(list: $list) -> Self {
                Self { list: Some(list.iter().map(|&axis| axis.into()).collect()), keep: false }
            }
        }
    )*};
}

from_lists! {
    [A: Into<Axis> + Copy] &[A];
    [A: Into<Axis> + Copy] Vec<A>;
    [A: Into<Axis> + Copy] &Vec<A>;
    [A: Into<Axis> + Copy, const N: usize] [A; N];
    [A: Into<Axis> + Copy, const N: usize] &[A; N];
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
        assert_eq!(of([-1, 0].into()), Ok(vec![true, false, true]));
        assert_eq!(of(Axes::keep([0; 0])), Ok(vec![false; 3]));
        assert_eq!(of(3.into()), Err("axis 3 does not exist in [4, 3, 2] of rank 3".into()));
        assert_eq!(of((-4).into()), Err("axis -4 does not exist in [4, 3, 2] of rank 3".into()));
        assert_eq!(of([1, -2].into()), Err("axis -2 occurs twice in [1, -2]".into()));
        assert_eq!(of([1, 1].into()), Err("axis 1 occurs twice in [1, 1]".into()));
    }
}
