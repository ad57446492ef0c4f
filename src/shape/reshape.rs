//! The shape that a reshape is asked for: one length may be left to be found.

use super::axis::Integer;
use super::cause::ShapeCause;
use super::{RANK_MAX, Shape};
use crate::error::Result;

/// What [`Tensor::reshape`](crate::Tensor::reshape) takes: an array, a slice or a vector of
/// lengths, one number for a single axis, `()` for a scalar, or a [`Shape`]. One of the lengths may
/// be -1: what the others leave.
///
/// ```
/// # wharf::testing::example(async |device| {
/// let x = device.ones([4, 3, 2], wharf::DType::F32)?;
/// assert_eq!(x.reshape([-1, 2])?.shape().dims(), [12, 2]);
/// assert_eq!(x.reshape(-1)?.shape().dims(), [24]);
/// assert!(x.reshape([-1, 5]).is_err());
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reshape(Vec<i128>);

impl Reshape {
    /// The shape, for the elements of another.
    pub(crate) fn of(&self, from: &Shape) -> Result<Shape> {
        let (lengths, rank) = (&self.0, self.0.len());
        if rank > RANK_MAX {
            return Err(ShapeCause::Rank { rank, rank_max: RANK_MAX }.into());
        }
        let known = lengths.iter().filter(|&&length| length != -1);
        let known: Option<Vec<usize>> = known.map(|&length| usize::try_from(length).ok()).collect();
        let open = lengths.iter().filter(|&&length| length == -1).count();
        let (Some(known), 0..=1) = (known, open) else {
            return Err(ShapeCause::Lengths { lengths: lengths.clone() }.into());
        };
        let known = Shape::new(known)?;
        let left = from.elements().checked_div(known.elements());
        let left = left.filter(|left| open == 0 || left * known.elements() == from.elements());
        let length = |&length: &i128| match length {
            -1 => left.ok_or_else(|| {
                ShapeCause::Inferred { from: *from, lengths: lengths.clone() }.into()
            }),
            length => Ok(usize::try_from(length).unwrap_or(usize::MAX)), // it is known
        };
        Shape::new(lengths.iter().map(length).collect::<Result<Vec<usize>>>()?)
    }
}

impl<I: Integer> From<I> for Reshape {
    fn from(length: I) -> Self {
        Self(vec![length.wide()])
    }
}

impl From<()> for Reshape {
    fn from((): ()) -> Self {
        Self(Vec::new())
    }
}

macro_rules! from_lengths {
    ($([$($of:tt)*] $lengths:ty;)*) => {$(
        impl<$($of)*> From<$lengths> for Reshape {
            fn from(lengths: $lengths) -> Self {
                Self(lengths.iter().map(Integer::wide).collect())
            }
        }
    )*};
}

from_lengths! {
    [I: Integer] &[I];
    [I: Integer] Vec<I>;
    [I: Integer] &Vec<I>;
    [I: Integer, const N: usize] [I; N];
    [I: Integer, const N: usize] &[I; N];
}

macro_rules! from_shapes {
    ($($shape:ty)*) => {$(
        impl From<$shape> for Reshape {
            fn from(shape: $shape) -> Self {
                shape.dims().into()
            }
        }
    )*};
}

from_shapes! { Shape &Shape }
