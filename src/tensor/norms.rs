//! Norms of channels, which are axis 1: over groups of them, or by statistics that were learned.

use super::Tensor;
use super::cause::{TensorCause, float};
use super::reduce::computed;
use crate::engine::site::asked;
use crate::error::{Error, Result, causes};
use crate::kernel::rows::Rowwise;
use crate::shape::Shape;
use crate::shape::cause::ShapeCause;

/// What is multiplied by what was normed, and what is added to that.
pub(super) type Ends<'a> = [(&'static str, Option<&'a Tensor>); 2];

/// Nothing.
pub(super) const NO_ENDS: Ends<'_> = ends(None, None);

pub(super) const fn ends<'a>(weight: Option<&'a Tensor>, bias: Option<&'a Tensor>) -> Ends<'a> {
    [("weight", weight), ("bias", bias)]
}

/// What was normed, times a weight and plus a bias.
pub(super) fn scaled(normed: Tensor, [weight, bias]: [Option<Tensor>; 2]) -> Result<Tensor> {
    let normed = match weight {
        Some(weight) => (normed * weight)?,
        None => normed,
    };
    match bias {
        Some(bias) => normed + bias,
        None => Ok(normed),
    }
}

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
    /// assert_eq!(y.round()?.read_now::<f32>()?, [-1.0, 1.0, -1.0, 6.0]);
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
        let (ends, eps) = (ends(weight, bias), eps.into());
        let normed = || self.by_groups(Some(groups), ends, eps);
        asked(normed).map_err(|error| error.during("group_norm"))
    }

    /// [`Tensor::group_norm`] where each channel is a group, by its contract. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 3.0, 10.0, 30.0], [1, 2, 2])?;
    /// let y = x.instance_norm(None, None, 1e-6)?;
    /// assert_eq!(y.round()?.read_now::<f32>()?, [-1.0, 1.0, -1.0, 1.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn instance_norm(
        &self,
        weight: Option<&Self>,
        bias: Option<&Self>,
        eps: impl Into<f64>,
    ) -> Result<Self> {
        let (ends, eps) = (ends(weight, bias), eps.into());
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
    /// let var = device.full(2, 4.0, wharf::DType::F32)?;
    /// let y = x.batch_norm(&mean, &var, None, None, 0.0)?;
    /// assert_eq!(y.read_now::<f32>()?, [0.0, -1.0, 1.0, 0.0]);
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
            self.scaled_by_channel(normed, ends(weight, bias))
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
    fn scaled_by_channel(&self, normed: Self, ends: Ends<'_>) -> Result<Self> {
        scaled(normed, each(ends, |what, given| self.per_channel(what, given))?)?.cast(self.dtype())
    }

    /// A number for each of this tensor's channels, as it stands beside it where it is computed.
    fn per_channel(&self, what: &'static str, given: &Self) -> Result<Self> {
        let (channels, shape) = (self.channels()?, *self.shape());
        if *given.shape().dims() != [channels] {
            return Err(NormCause::Channels { what, given: *given.shape(), channels, shape }.into());
        }
        let ones = vec![1; shape.rank() - 2];
        self.stands_beside(what, given, &[&[channels], &*ones].concat())
    }

    /// Numbers of the lengths of some axes, as they stand beside this tensor.
    pub(super) fn beside_rows(&self, among: &[bool], ends: Ends<'_>) -> Result<[Option<Self>; 2]> {
        each(ends, |what, given| {
            let dims = || self.shape().dims().iter().zip(among);
            let normed: Vec<usize> = dims().filter(|(_, among)| **among).map(|(&n, _)| n).collect();
            if given.shape().dims() != normed {
                let (given, normed) = (*given.shape(), Shape::new(&*normed)?);
                return Err(NormCause::Lengths { what, given, normed, shape: *self.shape() }.into());
            }
            let places: Vec<usize> = dims().map(|(&n, among)| if *among { n } else { 1 }).collect();
            self.stands_beside(what, given, &places)
        })
    }

    /// Numbers in the shape that they have beside this tensor, where it is computed.
    fn stands_beside(&self, what: &'static str, given: &Self, dims: &[usize]) -> Result<Self> {
        let named = |error: Error| error.during(what);
        self.device.engine.same_device(&given.device.engine).map_err(named)?;
        let given = given.widened(self.dtype)?;
        if given.dtype != self.dtype {
            let (left, right) = (self.dtype(), given.dtype());
            return Err(named(TensorCause::Dtypes { what: "input and it", left, right }.into()));
        }
        given.reshape_copied(dims)?.cast(computed(self.dtype()))
    }
}

/// Both ends, if there are any, by their names.
fn each<'a>(
    [weight, bias]: Ends<'a>,
    place: impl Fn(&'static str, &'a Tensor) -> Result<Tensor>,
) -> Result<[Option<Tensor>; 2]> {
    let place = |(what, given): (_, Option<&'a Tensor>)| given.map(|given| place(what, given));
    Ok([place(weight).transpose()?, place(bias).transpose()?])
}

causes! {
    /// What can be wrong with a norm.
    enum NormCause;

    Groups { channels: usize, groups: usize }, Shape:
        ("{channels} channels are no {groups} equal groups")
        help ("channels are axis 1; their number is divided by that of the groups");
    Channels { what: &'static str, given: Shape, channels: usize, shape: Shape }, Shape:
        ("a {what} of {given} for the {channels} channels of {shape}")
        help ("channels are axis 1, and each has one number: `[{channels}]`");
    Lengths { what: &'static str, given: Shape, normed: Shape, shape: Shape }, Shape:
        ("a {what} of {given} for the {normed} of {shape} that are normed")
        help ("it has the lengths of the axes that are normed, in their order: `{normed}`");
}
