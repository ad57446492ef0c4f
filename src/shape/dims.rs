//! The dimensions themselves, small and inline.

use core::fmt;

/// The largest rank of a tensor.
pub const RANK_MAX: usize = 8;

/// The dimensions of a tensor: rank 0 (a scalar) to rank [`RANK_MAX`].
///
/// ```
/// # use wharf::Shape;
/// let shape = Shape::new([2, 3])?;
/// assert_eq!(shape.elements(), 6);
/// assert_eq!(shape.to_string(), "[2, 3]");
/// assert!(Shape::new([usize::MAX, 2]).is_err());
/// # Ok::<(), wharf::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    pub(super) dims: [usize; RANK_MAX],
    pub(super) rank: u8,
}

impl Shape {
    /// The shape of a scalar: rank 0, one element.
    pub const SCALAR: Self = Self { dims: [0; RANK_MAX], rank: 0 };

    /// The dimensions, outermost first.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.dims[..self.rank()]
    }

    /// How many axes.
    #[doc(alias = "ndim")]
    #[must_use]
    pub const fn rank(&self) -> usize {
        self.rank as usize
    }

    /// How many elements: the product of the dimensions, 1 for a scalar.
    #[doc(alias("elem_count", "numel"))]
    #[must_use]
    pub fn elements(&self) -> usize {
        self.dims().iter().product()
    }

    /// Whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dims().contains(&0)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.dims(), f)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.dims(), f)
    }
}
