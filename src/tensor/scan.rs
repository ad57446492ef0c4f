//! Scans: running sums, products and extremes along an axis.

use super::number::Scalar;
use super::reduce::{ReduceCause, computed};
use super::{Pad, Tensor};
use crate::engine::site::asked;
use crate::error::{Error, Result};
use crate::kernel::reduce::text::{Fold, Reduce};
use crate::kernel::scan::ScanCore;
use crate::op::{Kind, Reduction};
use crate::shape::Axis;

impl Tensor {
    /// The sums of the elements so far along an axis. i8 to u16 become i32 or u32, bools are
    /// counted as u32; integers wrap. Floats keep their [contract](crate::op). Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 10, 20, 30], [2, 3])?;
    /// assert_eq!(x.cumsum(1)?.read_now::<i32>()?, [1, 3, 6, 10, 30, 60]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn cumsum(&self, axis: impl Into<Axis>) -> Result<Self> {
        self.scan("cumsum", Reduction::Sum, Fold::Sum, axis.into())
    }

    /// [`Tensor::cumsum`] from the end of the axis back: see [`Tensor::cumsum_exclusive`].
    /// Deferred.
    #[track_caller]
    pub fn cumsum_reverse(&self, axis: impl Into<Axis>) -> Result<Self> {
        let axis = axis.into();
        let sums = || self.flip(axis)?.cumsum(axis)?.flip(axis);
        asked(sums).map_err(|error| error.during("cumsum_reverse"))
    }

    /// The sums of the elements before each along an axis: 0 at the first, and the last element
    /// counts nowhere. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[5, 6, 7], [3])?;
    /// assert_eq!(x.cumsum_exclusive(0)?.read_now::<i32>()?, [0, 5, 11]);
    /// assert_eq!(x.cumsum_reverse(0)?.read_now::<i32>()?, [18, 13, 7]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn cumsum_exclusive(&self, axis: impl Into<Axis>) -> Result<Self> {
        let sums = || {
            let (axis, length) = self.shape().find(axis)?;
            if length == 0 {
                return self.cumsum(axis);
            }
            let mut pads = vec![(0, 0); self.shape().rank()];
            pads[axis].0 = 1;
            let zero = Pad::Constant(Scalar::zero(self.dtype()));
            self.slice(axis, ..length - 1)?.pad(&pads, zero)?.cumsum(axis)
        };
        asked(sums).map_err(|error: Error| error.during("cumsum_exclusive"))
    }

    /// The products of the elements so far along an axis. i8 to u16 become i32 or u32; integers
    /// wrap. Parts are multiplied by themselves before they are by what comes before them: a
    /// product that is in range may be infinite or NaN where a part of it is not. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4], [4])?;
    /// assert_eq!(x.cumprod(0)?.read_now::<i32>()?, [1, 2, 6, 24]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn cumprod(&self, axis: impl Into<Axis>) -> Result<Self> {
        self.scan("cumprod", Reduction::Prod, Fold::Prod, axis.into())
    }

    /// The largest of the elements so far along an axis; NaN from the first one on. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[2, 5, 1, 7], [4])?;
    /// assert_eq!(x.cummax(0)?.read_now::<i32>()?, [2, 5, 5, 7]);
    /// assert_eq!(x.cummin(0)?.read_now::<i32>()?, [2, 2, 1, 1]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn cummax(&self, axis: impl Into<Axis>) -> Result<Self> {
        self.scan("cummax", Reduction::Max, Fold::Max, axis.into())
    }

    /// The smallest of the elements so far along an axis; NaN from the first one on: see
    /// [`Tensor::cummax`]. Deferred.
    #[track_caller]
    pub fn cummin(&self, axis: impl Into<Axis>) -> Result<Self> {
        self.scan("cummin", Reduction::Min, Fold::Min, axis.into())
    }

    /// `reduction` is what the last element of every row comes to.
    #[track_caller]
    fn scan(
        &self,
        name: &'static str,
        reduction: Reduction,
        fold: Fold,
        axis: Axis,
    ) -> Result<Self> {
        if !reduction.takes(self.dtype()) {
            return Err(ReduceCause::Kind { name, reduction, dtype: self.dtype() }.into());
        }
        let made = || {
            let (axis, _) = self.shape().find(axis)?;
            let dtype = reduction.yields(self.dtype());
            if self.shape().is_empty() {
                return self.device.zeros(*self.shape(), dtype)?.on_behalf_of(&[self]);
            }
            let x = self.cast(computed(self.dtype()))?;
            let how = Reduce { fold, kind: Kind::of(x.dtype()), index: false };
            x.along(axis, ScanCore { name, how })?.cast(dtype)
        };
        asked(made).map_err(|error| error.during(name))
    }
}
