//! Elements by index. Bits are moved, from any views; indices are checked on the device.
//!
//! An index is an i32, u32, i64 or u64 tensor. Indices count from 0; one that is negative or not
//! below the length of its axis makes the result an error at the next read, with how many there are
//! and where the first is. Nothing is clamped.

use super::Tensor;
use super::cause::TensorCause;
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::{Result, mistake};
use crate::kernel::cause::FaultCause;
use crate::kernel::cores::Task;
use crate::kernel::elementwise::checked;
use crate::kernel::pick::{self, Course};
use crate::kernel::{Operand, index_space};
use crate::plan::Stored;
use crate::proof::Oracle;
use crate::shape::{Axis, Shape};
use crate::wgsl::Expr;

impl Tensor {
    /// For every place of `index`, the element whose coordinate along `axis` is the index there,
    /// and whose others are the place's own. All other axes of both must agree. Deferred.
    ///
    /// An index is i32, u32, i64 or u64 and counts from 0. One that is negative or too large is an
    /// error at the next read of the result, never clamped; so it is for all that take an index.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// let (index, _) = device.upload(&[1, 0], [2, 1])?; // of each row one
    /// assert_eq!(x.gather(1, &index)?.read_now::<f32>()?, [2.0, 3.0]);
    /// assert!(x.gather(1, &(index + 1)?)?.read_now::<f32>().is_err());
    /// # Ok(()) });
    /// ```
    #[doc(alias("take_along_axis", "take_along_dim"))]
    #[track_caller]
    pub fn gather(&self, axis: impl Into<Axis>, index: &Self) -> Result<Self> {
        let (what, axis) = ("gather", axis.into());
        let (place, bound) = self.shape().find(axis).map_err(|error| error.during(what))?;
        self.beside_axis(what, axis, index)?;
        let places = self.places(what, axis, index, bound)?;
        self.picked(what, &places, place, 1)
    }

    /// The parts of an axis that an index of any shape names: its axes take the place of `axis`.
    /// Deferred; an index out of range is an error at the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// let (index, _) = device.upload(&[2, 0], [2])?;
    /// assert_eq!(x.index_select(1, &index)?.read_now::<i32>()?, [3, 1, 6, 4]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "advanced_index")]
    #[track_caller]
    pub fn index_select(&self, axis: impl Into<Axis>, index: &Self) -> Result<Self> {
        self.selected("index_select", axis.into(), index)
    }

    /// The rows of a table that an index of any shape names: `index_select` along axis 0.
    /// Deferred; an index out of range is an error at the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (table, _) = device.upload(&[1.0f32, 1.5, 2.0, 2.5, 3.0, 3.5], [3, 2])?;
    /// let (tokens, _) = device.upload(&[2, 0], [2])?;
    /// assert_eq!(table.embedding(&tokens)?.read_now::<f32>()?, [3.0, 3.5, 1.0, 1.5]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn embedding(&self, index: &Self) -> Result<Self> {
        self.selected("embedding", 0.into(), index)
    }

    /// Elements by their positions in row-major order; the result has the shape of the index.
    /// Deferred; a position out of range is an error at the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4], [2, 2])?;
    /// let (index, _) = device.upload(&[3, 0, 3], [3])?;
    /// assert_eq!(x.take(&index)?.read_now::<i32>()?, [4, 1, 4]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn take(&self, index: &Self) -> Result<Self> {
        self.contiguous()?.reshape([self.shape().elements()])?.selected("take", 0.into(), index)
    }

    /// A new last axis of `classes` elements, one at the index and zero elsewhere, of any dtype.
    /// Deferred; an index out of range is an error at the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (classes, _) = device.upload(&[2, 0], [2])?;
    /// let rows = classes.one_hot(3, wharf::DType::U8)?;
    /// assert_eq!(rows.read_now::<u8>()?, [0, 0, 1, 1, 0, 0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn one_hot(&self, classes: usize, dtype: DType) -> Result<Self> {
        let made = self.device.making("one_hot", dtype)?;
        let index = self.checked_index("one_hot", None, classes)?;
        index
            .unsqueeze(self.shape().rank())?
            .eq(&self.device.counted("one_hot", classes)?)?
            .cast_to(made.stored)
    }

    #[track_caller]
    fn selected(&self, what: &'static str, axis: Axis, index: &Self) -> Result<Self> {
        let (place, bound) = self.shape().find(axis).map_err(|error| error.during(what))?;
        let places = self.places(what, axis, index, bound)?;
        let (before, after) = self.shape().dims().split_at(place);
        let dims = [before, index.shape().dims(), &after[1..]].concat();
        let shape = Shape::new(&dims).map_err(|error| error.during(what))?;
        // The index seen in the shape of the result.
        let inner = vec![1; after.len() - 1];
        let places = places.reshape(&*[index.shape().dims(), &inner].concat())?;
        self.picked(what, &places.broadcast_to(shape)?, place, index.shape().rank())
    }

    /// What a checked index names, so many of whose axes take the place of `axis`.
    #[track_caller]
    pub(super) fn picked(
        &self,
        what: &'static str,
        index: &Self,
        axis: usize,
        axes: usize,
    ) -> Result<Self> {
        let bound = self.shape().dims()[axis];
        let (course, stride) = Course::along(&self.layout, axis, axes);
        let Course { offset, strides } = course.clone();
        let named = Task::by(what, Oracle::Picked { offset, strides, step: stride, bound });
        let pick = move |site: Site<'_>, inputs: &[Operand]| match inputs {
            [from, index] => pick::picked(site, from, &course, index, (stride, bound)),
            _ => Err(mistake(what, "not of a tensor and its index")),
        };
        Ok(self.alone(named, &[self, index], (*index.shape(), self.dtype), pick))
    }

    /// Checks that another tensor is of the same rank and agrees on every axis but one.
    pub(super) fn beside_axis(&self, what: &'static str, axis: Axis, other: &Self) -> Result<()> {
        let (left, right) = (*self.shape(), *other.shape());
        let (place, _) = left.find(axis).map_err(|error| error.during(what))?;
        let mut both = left.dims().iter().zip(right.dims()).enumerate();
        if left.rank() != right.rank() || !both.all(|(i, (a, b))| i == place || a == b) {
            return Err(TensorCause::Along { what, axis, left, right }.into());
        }
        Ok(())
    }

    /// The checked index of an operation on an axis of this tensor.
    #[track_caller]
    pub(super) fn places(
        &self,
        what: &'static str,
        axis: Axis,
        index: &Self,
        bound: usize,
    ) -> Result<Self> {
        let same = self.device.engine.same_device(&index.device.engine);
        same.map_err(|error| error.during(what))?;
        // Bins are a tensor that nobody gave.
        let of = (what != "bincount").then_some((*self.shape(), axis));
        index.checked_index(what, of, bound)
    }

    /// The index as dense u32, `u32::MAX` where it is out of range, which is noted. Deferred.
    #[track_caller]
    fn checked_index(
        &self,
        what: &'static str,
        of: Option<(Shape, Axis)>,
        bound: usize,
    ) -> Result<Self> {
        let dtype = self.dtype();
        if !matches!(dtype, DType::I32 | DType::U32 | DType::I64 | DType::U64) {
            return Err(TensorCause::Index { what, dtype }.into());
        }
        let shape = *self.shape();
        // The greatest word is the mark of an index that is none. An axis that is broadcast may be
        // longer than what there is of it in memory.
        for count in [shape.elements(), bound] {
            index_space(count).map_err(|error| error.during(what))?;
        }
        let explain = move |hit| FaultCause::Index { what, of, shape, bound, hit }.into();
        let expr = Expr::checked_index(dtype, bound);
        let named = Task::of(what, expr.clone());
        let check =
            move |site: Site<'_>, from: &[Operand]| checked::record(site, &from[0], &expr, explain);
        Ok(self.alone(named, &[self], (shape, Stored::U32), check))
    }
}
