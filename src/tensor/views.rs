//! Views: another layout over the same value. Nothing is copied and nothing is computed.

use core::ops::Range;

use super::Tensor;
use crate::error::Result;
use crate::kernel::{Operand, moves};
use crate::layout::Layout;
use crate::shape::IntoShape;

impl Tensor {
    pub(super) fn view(&self, layout: Layout) -> Self {
        Self { layout, ..self.clone() }
    }

    /// The elements `range` of one axis.
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        Ok(self.view(self.layout.slice(axis, range, 1)?))
    }

    /// Every `step`th element of a range of one axis; a negative step walks the range backwards
    /// from its last.
    pub fn slice_step(&self, axis: usize, range: Range<usize>, step: isize) -> Result<Self> {
        Ok(self.view(self.layout.slice(axis, range, step)?))
    }

    /// One axis backwards.
    pub fn flip(&self, axis: usize) -> Result<Self> {
        Ok(self.view(self.layout.flip(axis)?))
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this.
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.view(self.layout.permute(axes)?))
    }

    /// The axes as they were before they were put in this order.
    pub(super) fn unpermute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.view(self.layout.unpermute(axes)?))
    }

    /// The last two axes exchanged.
    pub fn t(&self) -> Result<Self> {
        Ok(self.view(self.layout.transpose()?))
    }

    /// Repeats axes of length 1, and new ones in front, without copying.
    pub fn broadcast_to(&self, shape: impl IntoShape) -> Result<Self> {
        Ok(self.view(self.layout.broadcast_to(shape)?))
    }

    /// The same elements in the same order under another shape, where strides can express it;
    /// otherwise [`Tensor::contiguous`] first.
    pub fn reshape(&self, shape: impl IntoShape) -> Result<Self> {
        Ok(self.view(self.layout.reshape(shape)?))
    }

    /// Without an axis of length 1.
    pub fn squeeze(&self, axis: usize) -> Result<Self> {
        Ok(self.view(self.layout.squeeze(axis)?))
    }

    /// With a new axis of length 1 before `axis`.
    pub fn unsqueeze(&self, axis: usize) -> Result<Self> {
        Ok(self.view(self.layout.unsqueeze(axis)?))
    }

    /// Overlapping windows of `size` along one axis, `step` apart, as a new last axis.
    pub fn windows(&self, axis: usize, size: usize, step: usize) -> Result<Self> {
        Ok(self.view(self.layout.windows(axis, size, step)?))
    }

    /// Row-major and without gaps: itself if it is already, otherwise a copy on the device, bit by
    /// bit.
    pub fn contiguous(&self) -> Result<Self> {
        if self.layout.is_dense() {
            return Ok(self.clone());
        }
        let (device, dtype) = (&self.device, self.dtype);
        let from = Operand { value: self.realise()?, layout: self.layout, dtype };
        let value = moves::contiguous(device.site(), &from)?;
        value.inherit([&*from.value]);
        Ok(Self::of(device.clone(), value, Layout::dense(*self.shape()), dtype))
    }
}
