//! Views: another layout over the same value. Nothing is copied and nothing is computed.

use super::Tensor;
use crate::engine::Site;
use crate::error::{ErrorKind, Result};
use crate::kernel::cores::Task;
use crate::kernel::{Operand, moves};
use crate::layout::Layout;
use crate::proof::Oracle;
use crate::shape::{Axis, Cuts, Integer, Interval, IntoShape, Reshape};

impl Tensor {
    pub(super) fn view(&self, layout: Layout) -> Self {
        Self { layout, ..self.clone() }
    }

    /// The elements `range` of one axis: a view. A range is any of Rust's, and its ends may count
    /// back from the end of the axis: see [`Interval`]. One that ends past the axis is an error.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.slice(0, 1..2)?.read_now::<i32>()?, [4, 5, 6]);
    /// assert_eq!(x.slice(1, ..2)?.read_now::<i32>()?, [1, 2, 4, 5]);
    /// assert_eq!(x.slice(-1, -2..)?.read_now::<i32>()?, [2, 3, 5, 6]);
    /// assert!(x.slice(1, 2..4).is_err());
    /// # Ok(()) });
    /// ```
    #[doc(alias = "narrow")]
    #[track_caller]
    pub fn slice(&self, axis: impl Into<Axis>, range: impl Into<Interval>) -> Result<Self> {
        Ok(self.view(self.layout.slice(axis, range)?))
    }

    /// Every `step`th element of a range of one axis; a negative step walks the range backwards
    /// from its last element. A view.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5], [5])?;
    /// assert_eq!(x.slice_step(0, .., 2)?.read_now::<i32>()?, [1, 3, 5]);
    /// assert_eq!(x.slice_step(0, ..4, -2)?.read_now::<i32>()?, [4, 2]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "step_by")]
    #[track_caller]
    pub fn slice_step(
        &self,
        axis: impl Into<Axis>,
        range: impl Into<Interval>,
        step: isize,
    ) -> Result<Self> {
        Ok(self.view(self.layout.slice_step(axis, range, step)?))
    }

    /// Every so many-th place of an axis from the first on. No axis is as long as a step that an
    /// isize does not hold: the largest that it holds takes the same.
    pub(crate) fn every(&self, axis: isize, step: usize) -> Result<Self> {
        self.slice_step(axis, .., isize::try_from(step).unwrap_or(isize::MAX))
    }

    /// One place of an axis, which goes away: a view. A place below 0 counts back from the end; one
    /// outside is an error.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.select(0, 1)?.read_now::<i32>()?, [4, 5, 6]);
    /// assert_eq!(x.select(1, -1)?.read_now::<i32>()?, [3, 6]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "index_axis")]
    #[track_caller]
    pub fn select(&self, axis: impl Into<Axis>, place: impl Integer) -> Result<Self> {
        Ok(self.view(self.layout.select(axis, place)?))
    }

    /// A part of several axes at once: of each of the first axes a range, or a single place, which
    /// takes the axis away. One of them stands alone, several are a tuple; the axes that are left
    /// out are taken whole. A view.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3])?;
    /// assert_eq!(x.at(-1)?.read_now::<i32>()?, [7, 8, 9]);
    /// assert_eq!(x.at((.., 1))?.read_now::<i32>()?, [2, 5, 8]);
    /// assert_eq!(x.at((1.., ..=1))?.read_now::<i32>()?, [4, 5, 7, 8]);
    /// assert_eq!(x.at((1, 2))?.read_scalar_now::<i32>()?, 6);
    /// # Ok(()) });
    /// ```
    #[doc(alias("i", "index", "s!", "get"))]
    #[track_caller]
    pub fn at(&self, cuts: impl Into<Cuts>) -> Result<Self> {
        let layout = self.layout.at(cuts).map_err(|error| error.during("at"))?;
        Ok(self.view(layout))
    }

    /// One axis backwards: a view.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.flip(1)?.read_now::<i32>()?, [3, 2, 1, 6, 5, 4]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("invert_axis", "reverse"))]
    #[track_caller]
    pub fn flip(&self, axis: impl Into<Axis>) -> Result<Self> {
        Ok(self.view(self.layout.flip(axis)?))
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this. A view; `axes`
    /// names each axis once, as an array, a slice or whatever else can be gone through.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let images = device.zeros([8, 32, 48, 3], wharf::DType::U8)?;
    /// let planes = images.permute([0, -1, 1, 2])?;
    /// assert_eq!(planes.shape().dims(), [8, 3, 32, 48]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("permuted_axes", "transpose"))]
    #[track_caller]
    pub fn permute(&self, axes: impl IntoIterator<Item: Into<Axis>>) -> Result<Self> {
        Ok(self.view(self.layout.permute(axes)?))
    }

    /// The axes as they were before they were put in this order.
    #[track_caller]
    pub(super) fn unpermute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.view(self.layout.unpermute(axes)?))
    }

    /// The last two axes exchanged: a view. Of fewer than two axes it is an error.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.t()?.shape().dims(), [3, 2]);
    /// assert_eq!(x.t()?.read_now::<i32>()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "transpose")]
    #[track_caller]
    pub fn t(&self) -> Result<Self> {
        Ok(self.view(self.layout.t()?))
    }

    /// Repeats axes of length 1, and new ones in front, without copying: a view. `shape` is an
    /// array, a slice or one number: see [`IntoShape`]. Operators do so by themselves.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (row, _) = device.upload(&[1, 2, 3], [3])?;
    /// assert_eq!(row.broadcast_to([2, 3])?.read_now::<i32>()?, [1, 2, 3, 1, 2, 3]);
    /// assert!(row.broadcast_to([3, 2]).is_err());
    /// # Ok(()) });
    /// ```
    #[doc(alias("broadcast_as", "expand"))]
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl IntoShape) -> Result<Self> {
        Ok(self.view(self.layout.broadcast_to(shape)?))
    }

    /// All elements, in their order, under another shape: an array, a slice, one number or `()`, of
    /// which one length may be -1, see [`Reshape`]. A view; where strides cannot express
    /// it, it is an error, and [`Tensor::reshape_copied`] makes a copy.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [6])?;
    /// let rows = x.reshape([2, -1])?;
    /// assert_eq!(rows.slice(0, 1..2)?.read_now::<i32>()?, [4, 5, 6]);
    /// assert!(rows.t()?.reshape(6).is_err());
    /// assert_eq!(rows.t()?.reshape_copied(6)?.read_now::<i32>()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("view", "unflatten"))]
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Reshape>) -> Result<Self> {
        Ok(self.view(self.layout.reshape(shape)?))
    }

    /// [`Tensor::reshape`], which copies on the device where no view can express it: see there.
    /// Deferred.
    #[doc(alias = "to_shape")]
    #[track_caller]
    pub fn reshape_copied(&self, shape: impl Into<Reshape>) -> Result<Self> {
        let shape = shape.into();
        match self.layout.reshape(shape.clone()) {
            Err(error) if error.kind() == ErrorKind::Layout => self.contiguous()?.reshape(shape),
            layout => Ok(self.view(layout?)),
        }
    }

    /// Without an axis of length 1: a view. Any other length is an error.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let row = device.zeros([1, 3], wharf::DType::F32)?;
    /// assert_eq!(row.squeeze(0)?.shape().dims(), [3]);
    /// assert!(row.squeeze(1).is_err());
    /// # Ok(()) });
    /// ```
    #[doc(alias = "remove_axis")]
    #[track_caller]
    pub fn squeeze(&self, axis: impl Into<Axis>) -> Result<Self> {
        Ok(self.view(self.layout.squeeze(axis)?))
    }

    /// With a new axis of length 1, which is `axis` of the result: -1 is a new last one. A view.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0], [2])?;
    /// assert_eq!(x.unsqueeze(0)?.shape().dims(), [1, 2]);
    /// let sums = (x.unsqueeze(-1)? + &x)?; // every one plus every one
    /// assert_eq!(sums.read_now::<f32>()?, [2.0, 3.0, 3.0, 4.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("expand_dims", "insert_axis"))]
    #[track_caller]
    pub fn unsqueeze(&self, axis: impl Into<Axis>) -> Result<Self> {
        Ok(self.view(self.layout.unsqueeze(axis)?))
    }

    /// Overlapping windows of `size` along one axis, `step` apart, as a new last axis: a view. Only
    /// whole windows count.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5], [5])?;
    /// let windows = x.windows(0, 3, 2)?;
    /// assert_eq!(windows.shape().dims(), [2, 3]);
    /// assert_eq!(windows.read_now::<i32>()?, [1, 2, 3, 3, 4, 5]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("unfold", "sliding_window_view"))]
    #[track_caller]
    pub fn windows(&self, axis: impl Into<Axis>, size: usize, step: usize) -> Result<Self> {
        Ok(self.view(self.layout.windows(axis, size, step)?))
    }

    /// Row-major and without gaps: itself if it is already, otherwise a copy on the device, bit by
    /// bit. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.t()?.layout().strides(), [1, 3]);
    /// assert_eq!(x.t()?.contiguous()?.layout().strides(), [2, 1]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "as_standard_layout")]
    #[track_caller]
    pub fn contiguous(&self) -> Result<Self> {
        if self.layout.is_dense() {
            return Ok(self.clone());
        }
        let copy = |site: Site<'_>, from: &[Operand]| moves::contiguous(site, &from[0]);
        Ok(self.alone(
            Task::by("contiguous", Oracle::Copied),
            &[self],
            (*self.shape(), self.dtype),
            copy,
        ))
    }
}
