//! Activations and measures by their usual names, in terms of operations that are there: fused as
//! they are, no kernels of their own.

use super::Tensor;
use super::cause::float;
use super::reduce::computed;
use crate::engine::site::asked;
use crate::error::{Error, Result};
use crate::op::Refusal;
use crate::shape::cause::ShapeCause;
use crate::shape::{Axes, Axis};

/// What makes a normal distribution keep its mean and variance under `selu`.
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

/// The length below which a vector has no direction.
const LENGTH_MIN: f64 = 1e-8;

impl Tensor {
    /// Computed in f32 where it is f16 or bf16, so that its constants are not rounded to those.
    #[track_caller]
    fn widely(
        &self,
        what: &'static str,
        compute: impl FnOnce(&Self) -> Result<Self>,
    ) -> Result<Self> {
        let computed = || {
            float("input", self.dtype())?;
            compute(&self.cast(computed(self.dtype()))?)?.cast(self.dtype())
        };
        asked(computed).map_err(|error: Error| error.during(what))
    }

    /// The scaled exponential linear unit: `elu` with the two constants that keep mean and
    /// variance. Off by at most 4 ulp ([contract](crate::op)). Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[0.0f32, 100.0, f32::NEG_INFINITY], [3])?;
    /// assert_eq!(x.selu()?.round()?.read_now::<f32>()?, [0.0, 105.0, -2.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn selu(&self) -> Result<Self> {
        self.widely("selu", |x| x.elu(SELU_ALPHA)? * SELU_SCALE)
    }

    /// `clamp(x + 3, 0, 6) / 6`, off by at most 4 ulp ([contract](crate::op)). Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[-4.0f32, 0.0, 4.0], [3])?;
    /// assert_eq!((x.hard_sigmoid()? * 6.0)?.round()?.read_now::<f32>()?, [0.0, 3.0, 6.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn hard_sigmoid(&self) -> Result<Self> {
        self.widely("hard_sigmoid", |x| (x + 3.0)?.clamp(0.0, 6.0)? / 6.0)
    }

    /// `x / (1 + abs(x))`, off by at most 4 ulp ([contract](crate::op)). Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[-3.0f32, 0.0, 1.0], [3])?;
    /// assert_eq!((x.softsign()? * 4.0)?.round()?.read_now::<f32>()?, [-3.0, 0.0, 2.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn softsign(&self) -> Result<Self> {
        self.widely("softsign", |x| x / &(x.abs()? + 1.0)?)
    }

    /// The gated linear unit: the first half of an axis times the sigmoid of the second. Off by at
    /// most 11 ulp ([contract](crate::op)), which those of the sigmoid come to. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3.0f32, 5.0, 0.0, f32::INFINITY], [4])?;
    /// assert_eq!(x.glu(-1)?.read_now::<f32>()?, [1.5, 5.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn glu(&self, axis: impl Into<Axis>) -> Result<Self> {
        let halves = self.parts("glu", axis.into(), 2)?;
        let gated = || &halves[0] * &halves[1].sigmoid()?;
        asked(gated).map_err(|error| error.during("glu"))
    }

    /// `x` where positive, else `weight * x`: [`Tensor::leaky_relu`] with a weight for each
    /// channel, which are axis 1 - or 0, if that is the only one -, or one for all; by its
    /// contract. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[-1.0f32, 2.0, -1.0, -4.0], [2, 2])?; // two of two channels
    /// let (weight, _) = device.upload(&[0.5f32, 0.25], [2])?;
    /// assert_eq!(x.prelu(&weight)?.read_now::<f32>()?, [-0.5, 2.0, -0.5, -1.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn prelu(&self, weight: &Self) -> Result<Self> {
        let activated = || {
            let (elements, rank) = (weight.shape().elements(), self.shape().rank());
            if elements == 1 {
                return self.leaky_relu(&weight.reshape(())?);
            }
            let (channels, length) = self.shape().find(if rank == 1 { 0 } else { 1 })?;
            if *weight.shape().dims() != [length] {
                let what = "weights and channels differ";
                let (left, right) = (*weight.shape(), *self.shape());
                return Err(ShapeCause::Same { what, left, right }.into());
            }
            let mut dims = vec![1; rank];
            dims[channels] = length;
            self.leaky_relu(&weight.reshape(dims)?)
        };
        asked(activated).map_err(|error: Error| error.during("prelu"))
    }

    /// The sum of the magnitudes over [some axes](Axes), by the contract of a [sum](crate::op).
    /// Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3.0f32, -4.0, 0.0, -1.0], [2, 2])?;
    /// assert_eq!(x.l1_norm(1)?.read_now::<f32>()?, [7.0, 1.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn l1_norm(&self, axes: impl Into<Axes>) -> Result<Self> {
        let summed = || {
            // The magnitude of the least number of a dtype is beyond it, not beyond its sums.
            let wide = match self.dtype() {
                dtype if dtype.is_integer() => self.cast(computed(dtype))?,
                _ => self.clone(),
            };
            wide.abs()?.sum(axes)
        };
        asked(summed).map_err(|error| error.during("l1_norm"))
    }

    /// Vectors at length 1: divided by their [`Tensor::norm`] over [some axes](Axes), or by 1e-8
    /// where that is more. Off by as many ulp as a [norm](crate::op) may be. Of floats, f16 and
    /// bf16 computed in f32; deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3.0f32, 4.0, 0.0, 0.0], [2, 2])?;
    /// let y = (x.unit(-1)? * 10.0)?.round()?;
    /// assert_eq!(y.read_now::<f32>()?, [6.0, 8.0, 0.0, 0.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "normalize")]
    #[track_caller]
    pub fn unit(&self, axes: impl Into<Axes>) -> Result<Self> {
        let axes = Axes::keep(axes);
        self.widely("unit", |x| x / &x.norm(axes)?.maximum(LENGTH_MIN)?)
    }

    /// The cosine of the angle between vectors along an axis; shapes broadcast. Of a vector shorter
    /// than 1e-8 it goes to 0. Off by as many ulp of 1 as a [sum](crate::op) may be of its terms,
    /// where no square leaves the range. Of floats, f16 and bf16 computed in f32; deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3.0f32, 4.0, -4.0, 3.0], [2, 2])?;
    /// let (y, _) = device.upload(&[6.0f32, 8.0], [2])?;
    /// assert_eq!(x.cosine_similarity(-1, &y)?.read_now::<f32>()?, [1.0, 0.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn cosine_similarity(&self, axis: impl Into<Axis>, other: &Self) -> Result<Self> {
        let (what, axis) = ("cosine_similarity", axis.into());
        let (left, right) = (self.dtype(), other.dtype());
        if left != right {
            return Err(Refusal::Mixed { doing: what, left, right }.into());
        }
        self.widely(what, |x| {
            let shape = self.shape().broadcast(other.shape())?;
            let y = other.cast(x.dtype())?.broadcast_to(shape)?;
            let x = x.broadcast_to(shape)?;
            let length = |x: &Self| x.norm(axis)?.maximum(LENGTH_MIN);
            ((&x * &y)?.sum(axis)? / &length(&x)?)? / &length(&y)?
        })
    }
}
