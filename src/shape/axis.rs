//! An axis as an argument: counted from 0, or back from the end below it.

use core::fmt;

mod only {
    /// What is an integer is said here, and nowhere else.
    pub trait RustInteger {}
}

/// An integer of Rust's, borrowed or not: what says an axis, a place on it or a length.
pub trait Integer: Copy + only::RustInteger {
    /// Its value.
    fn wide(self) -> i128;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl only::RustInteger for $ty {}

        impl Integer for $ty {
            fn wide(self) -> i128 {
                self as i128
            }
        }
    )*};
}

integers! { i8 u8 i16 u16 i32 u32 i64 u64 i128 isize usize }

impl<I: Integer> only::RustInteger for &I {}

impl<I: Integer> Integer for &I {
    fn wide(self) -> i128 {
        (*self).wide()
    }
}

/// One axis of a tensor, as an integer of any type: 0 is the first, -1 the last.
///
/// ```
/// # wharf::testing::example(async |device| {
/// let x = device.ones([2, 3, 5], wharf::DType::F32)?;
/// assert_eq!(x.softmax(-1)?.flip(1)?.unsqueeze(-1)?.shape().dims(), [2, 3, 5, 1]);
/// let error = x.softmax(-4).unwrap_err();
/// assert_eq!(error.to_string(), "softmax: axis -4 does not exist in [2, 3, 5] of rank 3");
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Axis(i128);

impl Axis {
    /// Which it is of so many, counted from 0.
    pub(crate) fn among(self, axes: usize) -> Option<usize> {
        counted(self.0, axes).filter(|&axis| axis < axes)
    }
}

/// A place on an axis of this length, counted from 0; the length itself is one as well.
pub(super) fn counted(place: i128, length: usize) -> Option<usize> {
    let from_start = if place < 0 { place + length as i128 } else { place };
    usize::try_from(from_start).ok().filter(|&place| place <= length)
}

impl<I: Integer> From<I> for Axis {
    fn from(axis: I) -> Self {
        Self(axis.wide())
    }
}

impl From<&Self> for Axis {
    fn from(axis: &Self) -> Self {
        *axis
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
