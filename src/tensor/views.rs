//! Views: another layout over the same value. Nothing is copied and nothing is computed.

use core::ops::Range;

use super::Tensor;
use crate::engine::Site;
use crate::error::Result;
use crate::kernel::{Operand, moves};
use crate::layout::Layout;
use crate::shape::IntoShape;

impl Tensor {
    pub(super) fn view(&self, layout: Layout) -> Self {
        Self { layout, ..self.clone() }
    }

    /// The elements `range` of one axis: a view. A range that ends past the axis is an error.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.slice(0, 1..2)?.to_vec::<i32>()?, [4, 5, 6]);
    /// assert_eq!(x.slice(1, 0..2)?.to_vec::<i32>()?, [1, 2, 4, 5]);
    /// assert!(x.slice(1, 2..4).is_err());
    /// # Ok(()) });
    /// ```
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        Ok(self.view(self.layout.slice(axis, range, 1)?))
    }

    /// Every `step`th element of a range of one axis; a negative step walks the range backwards
    /// from its last element. A view.
    pub fn slice_step(&self, axis: usize, range: Range<usize>, step: isize) -> Result<Self> {
        Ok(self.view(self.layout.slice(axis, range, step)?))
    }

    /// One axis backwards: a view.
    pub fn flip(&self, axis: usize) -> Result<Self> {
        Ok(self.view(self.layout.flip(axis)?))
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this. A view; `axes`
    /// names each axis once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let images = device.zeros([8, 32, 48, 3], wharf::DType::U8)?;
    /// let planes = images.permute(&[0, 3, 1, 2])?;
    /// assert_eq!(planes.shape().dims(), [8, 3, 32, 48]);
    /// # Ok(()) });
    /// ```
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.view(self.layout.permute(axes)?))
    }

    /// The axes as they were before they were put in this order.
    pub(super) fn unpermute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.view(self.layout.unpermute(axes)?))
    }

    /// The last two axes exchanged: a view. Of fewer than two axes it is an error.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.t()?.shape().dims(), [3, 2]);
    /// assert_eq!(x.t()?.to_vec::<i32>()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok(()) });
    /// ```
    pub fn t(&self) -> Result<Self> {
        Ok(self.view(self.layout.transpose()?))
    }

    /// Repeats axes of length 1, and new ones in front, without copying. `shape` is an array, a
    /// slice or one number: see [`IntoShape`]. Operators do so by themselves.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (row, _) = device.upload(&[1, 2, 3], [3])?;
    /// assert_eq!(row.broadcast_to([2, 3])?.to_vec::<i32>()?, [1, 2, 3, 1, 2, 3]);
    /// assert!(row.broadcast_to([3, 2]).is_err());
    /// # Ok(()) });
    /// ```
    pub fn broadcast_to(&self, shape: impl IntoShape) -> Result<Self> {
        Ok(self.view(self.layout.broadcast_to(shape)?))
    }

    /// The same elements in the same order under another shape: an array, a slice, one number or
    /// `()`, see [`IntoShape`]. A view, where strides can express it; otherwise it is an error, and
    /// [`Tensor::contiguous`] makes a copy that can be reshaped.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [6])?;
    /// let rows = x.reshape([2, 3])?;
    /// assert_eq!(rows.slice(0, 1..2)?.to_vec::<i32>()?, [4, 5, 6]);
    /// assert!(rows.t()?.reshape(6).is_err());
    /// assert_eq!(rows.t()?.contiguous()?.reshape(6)?.to_vec::<i32>()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok(()) });
    /// ```
    pub fn reshape(&self, shape: impl IntoShape) -> Result<Self> {
        Ok(self.view(self.layout.reshape(shape)?))
    }

    /// Without an axis of length 1: a view. Any other length is an error.
    pub fn squeeze(&self, axis: usize) -> Result<Self> {
        Ok(self.view(self.layout.squeeze(axis)?))
    }

    /// With a new axis of length 1 before `axis`; after the last one where `axis` is the rank. A
    /// view.
    pub fn unsqueeze(&self, axis: usize) -> Result<Self> {
        Ok(self.view(self.layout.unsqueeze(axis)?))
    }

    /// Overlapping windows of `size` along one axis, `step` apart, as a new last axis: a view. Only
    /// whole windows count.
    pub fn windows(&self, axis: usize, size: usize, step: usize) -> Result<Self> {
        Ok(self.view(self.layout.windows(axis, size, step)?))
    }

    /// Row-major and without gaps: itself if it is already, otherwise a copy on the device, bit by
    /// bit. Deferred.
    pub fn contiguous(&self) -> Result<Self> {
        if self.layout.is_dense() {
            return Ok(self.clone());
        }
        let copy = |site: Site<'_>, from: &[Operand]| moves::contiguous(site, &from[0]);
        Ok(self.alone("contiguous", &[self], (*self.shape(), self.dtype), copy))
    }
}
