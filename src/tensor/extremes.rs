//! Extremes with their places, and the last of equals: in terms of operations that are there.

use super::Tensor;
use crate::engine::site::asked;
use crate::error::Result;
use crate::op::Reduction;
use crate::shape::{Axes, Axis};

impl Tensor {
    /// As [`Tensor::argmax`], but the last of equals, and the last NaN before all. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3, 7, 7, 1], [4])?;
    /// assert_eq!(x.argmax(0)?.read_now::<u32>()?, [1]);
    /// assert_eq!(x.argmax_last(0)?.read_now::<u32>()?, [2]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn argmax_last(&self, axes: impl Into<Axes>) -> Result<Self> {
        let place = asked(|| self.last_place(Reduction::ArgMax, &axes.into()));
        place.map_err(|error| error.during("argmax_last"))
    }

    /// As [`Tensor::argmin`], but the last of equals, and the last NaN before all. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 7, 1, 3], [4])?;
    /// assert_eq!(x.argmin(0)?.read_now::<u32>()?, [0]);
    /// assert_eq!(x.argmin_last(0)?.read_now::<u32>()?, [2]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn argmin_last(&self, axes: impl Into<Axes>) -> Result<Self> {
        let place = asked(|| self.last_place(Reduction::ArgMin, &axes.into()));
        place.map_err(|error| error.during("argmin_last"))
    }

    /// The largest of an axis and where it is, as u32: the first of equals, the first NaN before
    /// all. Of no elements it is an error. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3.0f32, 7.0, 9.0, 1.0], [2, 2])?;
    /// let (largest, place) = x.max_with_index(1)?;
    /// assert_eq!(largest.read_now::<f32>()?, [7.0, 9.0]);
    /// assert_eq!(place.read_now::<u32>()?, [1, 0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn max_with_index(&self, axis: impl Into<Axis>) -> Result<(Self, Self)> {
        let both = asked(|| self.with_place(Reduction::ArgMax, axis.into()));
        both.map_err(|error| error.during("max_with_index"))
    }

    /// The smallest of an axis and where it is: see [`Tensor::max_with_index`]. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3.0f32, 7.0, 9.0, 1.0], [2, 2])?;
    /// let (smallest, place) = x.min_with_index(1)?;
    /// assert_eq!(smallest.read_now::<f32>()?, [3.0, 1.0]);
    /// assert_eq!(place.read_now::<u32>()?, [0, 1]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn min_with_index(&self, axis: impl Into<Axis>) -> Result<(Self, Self)> {
        let both = asked(|| self.with_place(Reduction::ArgMin, axis.into()));
        both.map_err(|error| error.during("min_with_index"))
    }

    /// What comes first in the opposite order comes last.
    #[track_caller]
    fn last_place(&self, which: Reduction, axes: &Axes) -> Result<Self> {
        let (mut turned, mut count) = (self.clone(), 1);
        for (axis, _) in axes.of(self.shape())?.iter().enumerate().filter(|(_, among)| **among) {
            turned = turned.flip(axis)?;
            count *= self.shape().dims()[axis];
        }
        let first = turned.reduce(which, axes.clone())?;
        let last = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX);
        last - first
    }

    #[track_caller]
    fn with_place(&self, which: Reduction, axis: Axis) -> Result<(Self, Self)> {
        let place = self.reduce(which, Axes::keep(axis))?;
        let value = self.gather(axis, &place)?;
        Ok((value.squeeze(axis)?, place.squeeze(axis)?))
    }
}
