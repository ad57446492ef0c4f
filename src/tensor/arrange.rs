//! Tensors arranged anew, in terms of views and joins: no kernels of its own.

use core::borrow::Borrow;

use super::cause::TensorCause;
use super::number::Scalar;
use super::{Pad, Tensor};
use crate::engine::site::asked;
use crate::error::{Error, Result};
use crate::shape::cause::ShapeCause;
use crate::shape::{Axis, Interval, Shape};

impl Tensor {
    /// Some axes that follow each other as one: `..` for all, `1..` for all but the first. A view
    /// where strides can express it, otherwise a copy. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let images = device.zeros([8, 3, 5, 5], wharf::DType::F32)?;
    /// assert_eq!(images.flatten(1..)?.shape().dims(), [8, 75]);
    /// assert_eq!(images.flatten(..)?.shape().dims(), [600]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "ravel")]
    #[track_caller]
    pub fn flatten(&self, axes: impl Into<Interval>) -> Result<Self> {
        let joined = || {
            let (dims, interval) = (self.shape().dims(), axes.into());
            let axes = self.shape().span(interval)?;
            if axes.is_empty() && !dims.is_empty() {
                return Err(ShapeCause::NoAxes { axes: interval, shape: *self.shape() }.into());
            }
            let one: usize = dims[axes.clone()].iter().product();
            self.reshape_copied([&dims[..axes.start], &[one], &dims[axes.end..]].concat())
        };
        asked(joined).map_err(|error: Error| error.during("flatten"))
    }

    /// Two axes exchanged: a view.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let images = device.zeros([8, 32, 48, 3], wharf::DType::U8)?;
    /// assert_eq!(images.swap_axes(1, 2)?.shape().dims(), [8, 48, 32, 3]);
    /// assert_eq!(images.swap_axes(0, -1)?.shape().dims(), [3, 32, 48, 8]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("transpose", "swapdims"))]
    #[track_caller]
    pub fn swap_axes(&self, one: impl Into<Axis>, other: impl Into<Axis>) -> Result<Self> {
        let ((one, _), (other, _)) = (self.shape().find(one)?, self.shape().find(other)?);
        let mut order: Vec<usize> = (0..self.shape().rank()).collect();
        order.swap(one, other);
        self.permute(order)
    }

    /// One axis at another place, the others in their order: a view.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let images = device.zeros([8, 32, 48, 3], wharf::DType::U8)?;
    /// assert_eq!(images.move_axis(-1, 1)?.shape().dims(), [8, 3, 32, 48]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("movedim", "moveaxis"))]
    #[track_caller]
    pub fn move_axis(&self, from: impl Into<Axis>, to: impl Into<Axis>) -> Result<Self> {
        let ((from, _), (to, _)) = (self.shape().find(from)?, self.shape().find(to)?);
        let mut order: Vec<usize> = (0..self.shape().rank()).collect();
        let axis = order.remove(from);
        order.insert(to, axis);
        self.permute(order)
    }

    /// The whole of it so many times along each axis, as PyTorch's `repeat` and numpy's `tile`:
    /// counts and axes are aligned at the last one, and more counts than axes make new ones.
    /// Deferred. What need not lie in memory is cheaper as [`Tensor::broadcast_to`].
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2], [2])?;
    /// assert_eq!(x.repeat([2, 2])?.read_now::<i32>()?, [1, 2, 1, 2, 1, 2, 1, 2]);
    /// assert_eq!(x.repeat_interleave(0, 2)?.read_now::<i32>()?, [1, 1, 2, 2]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "tile")]
    #[track_caller]
    pub fn repeat(&self, counts: impl AsRef<[usize]>) -> Result<Self> {
        let counts = counts.as_ref();
        let repeated = || {
            let added = counts.len().saturating_sub(self.shape().rank());
            let x = (0..added).try_fold(self.clone(), |x, _| x.unsqueeze(0))?;
            let axes = (0..x.shape().rank()).rev().zip(counts.iter().rev());
            let axes = axes.filter(|(_, count)| **count != 1);
            axes.into_iter().try_fold(x, |x, (axis, &count)| x.again(axis, axis, count))
        };
        asked(repeated).map_err(|error: Error| error.during("repeat"))
    }

    /// Each element of an axis so many times in a row, as numpy's `repeat`: see [`Tensor::repeat`].
    /// Deferred.
    #[track_caller]
    pub fn repeat_interleave(&self, axis: impl Into<Axis>, count: usize) -> Result<Self> {
        let repeated = || {
            let (axis, _) = self.shape().find(axis)?;
            self.again(axis, axis + 1, count)
        };
        asked(repeated).map_err(|error: Error| error.during("repeat_interleave"))
    }

    /// All that lies within the axes before `split` so many times in a row, along an axis.
    #[track_caller]
    fn again(&self, axis: usize, split: usize, count: usize) -> Result<Self> {
        let mut dims = self.shape().dims().to_vec();
        let [outer, inner] = [&dims[..split], &dims[split..]].map(|dims| dims.iter().product());
        let rows = self.reshape_copied([outer, 1, inner])?.broadcast_to([outer, count, inner])?;
        dims[axis] = dims[axis].saturating_mul(count);
        rows.reshape_copied(dims)
    }

    /// At most `count` parts of an axis, all as long but the last, which may be shorter; views.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5], [5])?;
    /// let parts = x.chunk(0, 2)?;
    /// assert_eq!(parts[0].read_now::<i32>()?, [1, 2, 3]);
    /// assert_eq!(parts[1].read_now::<i32>()?, [4, 5]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn chunk(&self, axis: impl Into<Axis>, count: usize) -> Result<Vec<Self>> {
        let (what, axis) = ("chunk", axis.into());
        let (_, dim) = self.shape().find(axis).map_err(|error| error.during(what))?;
        if count == 0 {
            return Err(TensorCause::Parts { what, axis, dim, count }.into());
        }
        let size = dim.div_ceil(count).max(1);
        let starts = (0..dim.max(1)).step_by(size);
        starts.map(|start| self.slice(axis, start..dim.min(start + size))).collect()
    }

    /// `count` parts of an axis, all as long; views. A length that is no multiple is an error.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// let columns = x.split_evenly(1, 3)?;
    /// assert_eq!(columns[2].read_now::<i32>()?, [3, 6]);
    /// assert!(x.split_evenly(1, 2).is_err());
    /// # Ok(()) });
    /// ```
    #[doc(alias = "array_split")]
    #[track_caller]
    pub fn split_evenly(&self, axis: impl Into<Axis>, count: usize) -> Result<Vec<Self>> {
        self.parts("split_evenly", axis.into(), count)
    }

    #[track_caller]
    pub(super) fn parts(&self, what: &'static str, axis: Axis, count: usize) -> Result<Vec<Self>> {
        let (_, dim) = self.shape().find(axis).map_err(|error| error.during(what))?;
        let mut sizes = Vec::new();
        // Nothing has any number of parts, and for some the host has no room.
        let is_even = count > 0 && dim.is_multiple_of(count);
        if !is_even || sizes.try_reserve_exact(count).is_err() {
            return Err(TensorCause::Parts { what, axis, dim, count }.into());
        }
        sizes.resize(count, dim / count);
        self.split(axis, &sizes)
    }

    /// Coordinates of a grid, one tensor for each list, all of one shape: the first list runs along
    /// axis 0, the second along axis 1. Views.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{DType, Tensor};
    ///
    /// let (y, x) = (device.arange(0, 2, 1, DType::I32)?, device.arange(0, 3, 1, DType::I32)?);
    /// let grid = Tensor::meshgrid(&[&y, &x])?;
    /// assert_eq!(grid[0].read_now::<i32>()?, [0, 0, 0, 1, 1, 1]);
    /// assert_eq!(grid[1].read_now::<i32>()?, [0, 1, 2, 0, 1, 2]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn meshgrid(lists: &[impl Borrow<Self>]) -> Result<Vec<Self>> {
        let all = || -> Result<Vec<Self>> {
            let lists: Vec<&Self> = lists.iter().map(Borrow::borrow).collect();
            let dims = lists.iter().map(|list| match *list.shape().dims() {
                [dim] => Ok(dim),
                _ => Err(ShapeCause::Ranks { shape: *list.shape(), takes: "1" }.into()),
            });
            let shape = Shape::new(dims.collect::<Result<Vec<usize>>>()?)?;
            let along = |(axis, list): (usize, &&Self)| {
                let mut ones = vec![1; shape.rank()];
                ones[axis] = shape.dims()[axis];
                list.reshape(ones)?.broadcast_to(shape)
            };
            lists.iter().enumerate().map(along).collect()
        };
        asked(all).map_err(|error: Error| error.during("meshgrid"))
    }

    /// Diagonal `k` of a matrix, as a view; or the matrix that has a list as its diagonal `k`, and
    /// zeros beside it. The main diagonal is 0, the one above it 1. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.diag(0)?.read_now::<i32>()?, [1, 5]);
    /// assert_eq!(x.diag(1)?.diag(0)?.read_now::<i32>()?, [2, 0, 0, 6]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "diagonal")]
    #[track_caller]
    pub fn diag(&self, k: isize) -> Result<Self> {
        let found = match self.shape().rank() {
            1 => self.on_diagonal(k),
            2 => self.layout.diagonal(k).map(|layout| self.view(layout)),
            _ => Err(ShapeCause::Ranks { shape: *self.shape(), takes: "1 or 2" }.into()),
        };
        found.map_err(|error| error.during("diag"))
    }

    /// The matrix with this list on diagonal `k`.
    #[track_caller]
    fn on_diagonal(&self, k: isize) -> Result<Self> {
        let (zero, n) = (Pad::Constant(Scalar::zero(self.dtype())), self.shape().elements());
        let side = n.saturating_add(k.unsigned_abs());
        let total = Shape::new([side, side])?.elements();
        // From one element of a diagonal to the next it is a row and a column.
        let first = k.unsigned_abs() * if k < 0 { side } else { 1 };
        let rows = self.reshape([n, 1])?.pad(&[(0, 0), (0, side)], zero)?.reshape(-1)?;
        let rest = total.saturating_sub(first + rows.shape().elements());
        rows.pad(&[(first, rest)], zero)?.slice(0, ..total)?.reshape([side, side])
    }

    /// The sum of the main diagonal of a matrix. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(x.trace()?.read_scalar_now::<i32>()?, 5);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn trace(&self) -> Result<Self> {
        let matrix = || match self.shape().rank() {
            2 => self.diag(0)?.sum(..),
            _ => Err(ShapeCause::Ranks { shape: *self.shape(), takes: "2" }.into()),
        };
        asked(matrix).map_err(|error: Error| error.during("trace"))
    }
}
