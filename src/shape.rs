//! Shapes: how many elements, along which axes.
//!
//! A shape is small and inline. Its element count is checked once, when it is made, so all later
//! code may multiply its dimensions without overflow. The broadcast rule is here and nowhere else.

use core::ops::Range;

use crate::error::{Error, Result, mistake};

mod axes;
mod axis;
pub(crate) mod cause;
mod dims;
mod interval;
mod reshape;

pub use axes::Axes;
pub use axis::{Axis, Integer};
pub use dims::{RANK_MAX, Shape};
pub use interval::{Cut, Cuts, Interval};
pub use reshape::Reshape;

use cause::ShapeCause;

impl Shape {
    /// Checks rank and element count.
    pub fn new(dims: impl AsRef<[usize]>) -> Result<Self> {
        let dims = dims.as_ref();
        if dims.len() > RANK_MAX {
            return Err(ShapeCause::Rank { rank: dims.len(), rank_max: RANK_MAX }.into());
        }
        // Zeros are left out, so that strides of an empty shape do not overflow either.
        dims.iter()
            .filter(|&&d| d != 0)
            .try_fold(1usize, |n, &d| n.checked_mul(d))
            .filter(|&n| isize::try_from(n).is_ok())
            .ok_or_else(|| ShapeCause::Elements { dims: dims.to_vec() })?;
        let mut shape = Self::SCALAR;
        shape.dims[..dims.len()].copy_from_slice(dims);
        shape.rank = u8::try_from(dims.len()).unwrap_or_default(); // at most RANK_MAX
        Ok(shape)
    }

    /// An axis, which must exist, counted from 0, and its length.
    pub(crate) fn find(&self, axis: impl Into<Axis>) -> Result<(usize, usize)> {
        let axis = axis.into();
        let found = axis.among(self.rank()).map(|axis| (axis, self.dims()[axis]));
        found.ok_or_else(|| ShapeCause::Axis { axis, shape: *self }.into())
    }

    /// An axis, counted from 0, and the places of a range of it.
    pub(crate) fn range(
        &self,
        axis: impl Into<Axis>,
        range: impl Into<Interval>,
    ) -> Result<(usize, Range<usize>)> {
        let (named, range) = (axis.into(), range.into());
        let (axis, length) = self.find(named)?;
        match range.ends(length) {
            Some((start, end)) if start <= end => Ok((axis, start..end)),
            ends => {
                let is_inside = ends.is_some();
                Err(ShapeCause::Range { axis: named, range, length, is_inside }.into())
            }
        }
    }

    /// The dimensions of what wharf's own code knows to have so many.
    pub(crate) fn array<const N: usize>(&self) -> Result<[usize; N]> {
        let missing = |_| mistake("taking a shape apart", format!("{self} has not {N} axes"));
        <[usize; N]>::try_from(self.dims()).map_err(missing)
    }

    /// The axes that a range of them names.
    pub(crate) fn span(&self, axes: impl Into<Interval>) -> Result<Range<usize>> {
        let axes = axes.into();
        let found = axes.ends(self.rank()).filter(|(start, end)| start <= end);
        let found = found.map(|(start, end)| start..end);
        found.ok_or_else(|| ShapeCause::Span { axes, shape: *self }.into())
    }

    /// Where a new axis goes, counted from 0 up to the rank.
    pub(crate) fn gap(&self, axis: impl Into<Axis>) -> Result<usize> {
        let axis = axis.into();
        let found = axis.among(self.rank() + 1);
        found.ok_or_else(|| ShapeCause::NewAxis { axis, shape: *self }.into())
    }

    /// The shape that both broadcast to: axes are aligned at the last one, and of two dimensions
    /// that differ one must be 1.
    ///
    /// ```
    /// # use wharf::Shape;
    /// let (a, b) = (Shape::new([4, 1, 3])?, Shape::new([2, 3])?);
    /// assert_eq!(a.broadcast(&b)?.dims(), [4, 2, 3]);
    /// # Ok::<(), wharf::Error>(())
    /// ```
    pub fn broadcast(&self, other: &Self) -> Result<Self> {
        let rank = self.rank().max(other.rank());
        let mut dims = [0; RANK_MAX];
        for (axis, dim) in dims[..rank].iter_mut().enumerate() {
            let of = |s: &Self| (axis + s.rank()).checked_sub(rank).map_or(1, |i| s.dims[i]);
            *dim = match (of(self), of(other)) {
                (a, b) if a == b => a,
                (1, b) => b,
                (a, 1) => a,
                (left, right) => {
                    let (a, b) = (*self, *other);
                    return Err(ShapeCause::Broadcast { a, b, axis, left, right }.into());
                }
            };
        }
        Self::new(&dims[..rank])
    }
}

/// What a shape can be written as: an array, a slice or a vector of dimensions, one number for a
/// single axis, `()` for a scalar, or a [`Shape`]; borrowed or not.
///
/// More than [`RANK_MAX`] axes, or more elements than can be counted, are an error.
///
/// ```
/// use wharf::{IntoShape, Shape};
///
/// assert_eq!([2, 3].into_shape()?.elements(), 6);
/// assert_eq!(6_usize.into_shape()?.dims(), [6]);
/// assert_eq!(().into_shape()?, Shape::SCALAR);
/// assert!([usize::MAX, 2].into_shape().is_err());
/// # Ok::<(), wharf::Error>(())
/// ```
pub trait IntoShape {
    /// Checks it and makes it a shape.
    fn into_shape(self) -> Result<Shape>;
}

impl<T: TryInto<Shape, Error: Into<Error>>> IntoShape for T {
    fn into_shape(self) -> Result<Shape> {
        self.try_into().map_err(Into::into)
    }
}

impl From<core::convert::Infallible> for Error {
    fn from(never: core::convert::Infallible) -> Self {
        match never {}
    }
}

impl From<()> for Shape {
    fn from((): ()) -> Self {
        Self::SCALAR
    }
}

impl From<&Self> for Shape {
    fn from(shape: &Self) -> Self {
        *shape
    }
}

impl TryFrom<usize> for Shape {
    type Error = Error;

    fn try_from(dim: usize) -> Result<Self> {
        Self::new([dim])
    }
}

macro_rules! from_dims {
    ($([$($of:tt)*] $dims:ty;)*) => {$(
        impl<$($of)*> TryFrom<$dims> for Shape {
            type Error = Error;

            fn try_from(dims: $dims) -> Result<Self> {
                Self::new(dims)
            }
        }
    )*};
}

from_dims! {
    [] &[usize];
    [] Vec<usize>;
    [] &Vec<usize>;
    [const N: usize] [usize; N];
    [const N: usize] &[usize; N];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape<const N: usize>(dims: [usize; N]) -> Shape {
        Shape::new(dims).unwrap()
    }

    #[test]
    fn counts_are_checked_and_zeros_do_not_hide_an_overflow() {
        assert_eq!(Shape::SCALAR.elements(), 1, "a scalar has one element");
        assert_eq!(shape([3, 0, 5]).elements(), 0, "a zero empties the shape");
        for dims in [vec![usize::MAX], vec![1 << 40, 1 << 40], vec![0, usize::MAX, 2]] {
            assert!(Shape::new(&dims).is_err(), "{dims:?} overflows");
        }
        assert!(Shape::new([1; 9]).is_err(), "rank 9 is one too many");
    }

    #[test]
    fn broadcasting_aligns_at_the_last_axis() {
        let rows = [
            (shape([4, 1, 3]), shape([2, 3]), Ok(shape([4, 2, 3]))),
            (shape([3]), Shape::SCALAR, Ok(shape([3]))),
            (shape([0, 3]), shape([1, 1]), Ok(shape([0, 3]))),
            (shape([2]), shape([3]), Err(())),
            (shape([0]), shape([2]), Err(())),
        ];
        for (a, b, want) in rows {
            assert_eq!(a.broadcast(&b).map_err(drop), want, "{a} with {b}");
            assert_eq!(b.broadcast(&a).map_err(drop), want, "{b} with {a}");
        }
    }
}
