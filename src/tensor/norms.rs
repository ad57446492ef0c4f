//! Norms of channels, which are axis 1: over groups of them, or by statistics that were learned.

use super::Tensor;
use super::cause::{TensorCause, float};
use super::reduce::computed;
use crate::engine::site::asked;
use crate::error::{Error, Result, causes};
use crate::kernel::rows::Rowwise;
use crate::shape::Shape;
use crate::shape::cause::ShapeCause;

/// What channels are multiplied by, and what is added to them.
type Ends<'a> = [(&'static str, Option<&'a Tensor>); 2];

impl Tensor {
    /// `(x - mean) / sqrt(var + eps)` of `[n, channels, ..]` over each group of so many equal ones
    /// of the channels, and over all axes after them; then times a weight and plus a bias, of
    /// `[channels]` each. Off by the [contract](crate::op) of `layer_norm` times the weight, and
    /// by at most 2 ulp of the bias. Of floats, f16 and bf16 computed in f32. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 3.0, 10.0, 30.0], [1, 4, 1])?;
    /// let (bias, _) = device.upload(&[0.0f32, 0.0, 0.0, 5.0], [4])?;
    /// let y = x.group_norm(2, None, Some(&bias), 1e-6)?;
    /// assert_eq!(y.round()?.to_vec::<f32>()?, [-1.0, 1.0, -1.0, 6.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn group_norm(
        &self,
        groups: usize,
        weight: Option<&Self>,
        bias: Option<&Self>,
        eps: impl Into<f64>,
    ) -> Result<Self> {
        let (ends, eps) = ([("weight", weight), ("bias", bias)], eps.into());
        let normed = || self.by_groups(Some(groups), ends, eps);
        asked(normed).map_err(|error| error.during("group_norm"))
    }

    /// [`Tensor::group_norm`] where each channel is a group, by its contract. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 3.0, 10.0, 30.0], [1, 2, 2])?;
    /// let y = x.instance_norm(None, None, 1e-6)?;
    /// assert_eq!(y.round()?.to_vec::<f32>()?, [-1.0, 1.0, -1.0, 1.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn instance_norm(
        &self,
        weight: Option<&Self>,
        bias: Option<&Self>,
        eps: impl Into<f64>,
    ) -> Result<Self> {
        let (ends, eps) = ([("weight", weight), ("bias", bias)], eps.into());
        let normed = || self.by_groups(None, ends, eps);
        asked(normed).map_err(|error| error.during("instance_norm"))
    }

    /// `(x - mean) / sqrt(var + eps)` of `[n, channels, ..]` by means and variances of `[channels]`
    /// that were learned, as a model that is no longer trained does it; then times a weight and
    /// plus a bias. Off by at most 16 ulp of the larger of the bias and what it is added to
    /// ([contract](crate::op)). Of floats, f16 and bf16 computed in f32; elementwise, and so fused
    /// with what is before and after it. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// let (mean, _) = device.upload(&[1.0f32, 4.0], [2])?;
    /// let var = device.full(2, wharf::DType::F32, 4.0)?;
    /// let y = x.batch_norm(&mean, &var, None, None, 0.0)?;
    /// assert_eq!(y.to_vec::<f32>()?, [0.0, -1.0, 1.0, 0.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn batch_norm(
        &self,
        mean: &Self,
        var: &Self,
        weight: Option<&Self>,
        bias: Option<&Self>,
        eps: impl Into<f64>,
    ) -> Result<Self> {
        let eps = eps.into();
        let normed = || {
            self.channels()?;
            let x = self.cast(computed(self.dtype()))?;
            let from_mean = (x - self.per_channel("mean", mean)?)?;
            let about = (self.per_channel("variance", var)? + eps)?;
            let normed = (from_mean / about.sqrt()?)?;
            self.scaled_by_channel(normed, [("weight", weight), ("bias", bias)])
        };
        asked(normed).map_err(|error| error.during("batch_norm"))
    }

    /// As many groups as channels, unless told otherwise.
    fn by_groups(&self, groups: Option<usize>, ends: Ends<'_>, eps: f64) -> Result<Self> {
        let (shape, channels) = (*self.shape(), self.channels()?);
        let groups = groups.unwrap_or(channels);
        if !channels.is_multiple_of(groups) {
            return Err(NormCause::Groups { channels, groups }.into());
        }
        let x = self.cast(computed(self.dtype()))?;
        if shape.is_empty() {
            return self.scaled_by_channel(x, ends);
        }
        let rows = shape.dims()[0] * groups;
        let flat = x.reshape_copied([rows, shape.elements() / rows])?;
        let normed = flat.by_flat_rows(Rowwise::LayerNorm { eps }, shape)?;
        self.scaled_by_channel(normed, ends)
    }

    /// How many channels it has.
    fn channels(&self) -> Result<usize> {
        float("input", self.dtype())?;
        match *self.shape().dims() {
            [_, channels, ..] => Ok(channels),
            _ => Err(ShapeCause::Ranks { shape: *self.shape(), takes: "2 or more" }.into()),
        }
    }

    /// What was made of this, times a weight and plus a bias, and of its dtype again.
    fn scaled_by_channel(&self, normed: Self, [weight, bias]: Ends<'_>) -> Result<Self> {
        let channels = |(what, given): (&'static str, Option<&Self>)| {
            given.map(|given| self.per_channel(what, given)).transpose()
        };
        let scaled = match channels(weight)? {
            Some(weight) => (normed * weight)?,
            None => normed,
        };
        let moved = match channels(bias)? {
            Some(bias) => (scaled + bias)?,
            None => scaled,
        };
        moved.cast(self.dtype())
    }

    /// A number for each of this tensor's channels, as it stands beside it where it is computed.
    fn per_channel(&self, what: &'static str, given: &Self) -> Result<Self> {
        let named = |error: Error| error.during(what);
        self.device.engine.same_device(&given.device.engine).map_err(named)?;
        let (channels, shape) = (self.channels()?, *self.shape());
        if *given.shape().dims() != [channels] {
            return Err(NormCause::Channels { what, given: *given.shape(), channels, shape }.into());
        }
        let given = given.widened(self.dtype)?;
        if given.dtype != self.dtype {
            let (left, right) = (self.dtype(), given.dtype());
            return Err(named(TensorCause::Dtypes { what: "input and it", left, right }.into()));
        }
        let ones = vec![1; shape.rank() - 2];
        given.reshape([&[channels], &*ones].concat())?.cast(computed(self.dtype()))
    }
}

causes! {
    /// What can be wrong with a norm of channels.
    enum NormCause;

    Groups { channels: usize, groups: usize }, Shape:
        ("{channels} channels are no {groups} equal groups")
        help ("channels are axis 1; their number is divided by that of the groups");
    Channels { what: &'static str, given: Shape, channels: usize, shape: Shape }, Shape:
        ("a {what} of {given} for the {channels} channels of {shape}")
        help ("channels are axis 1, and each has one number: `[{channels}]`");
}
