//! Losses.

use super::Tensor;
use super::cause::float;
use crate::dtype::DType;
use crate::engine::site::asked;
use crate::error::{Result, causes};
use crate::shape::{Axes, Axis, Shape};

impl Tensor {
    /// The cross entropy of logits with the class that each row is of: `logsumexp(x) - x[target]`
    /// along an axis, one for each row and no mean taken. f16 and bf16 computed in f32. Deferred.
    ///
    /// `targets` has the shape without that axis and any integer dtype that can be an index; a
    /// class out of range is an error at the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (scores, _) = device.upload(&[50.0f32, 0.0, 0.0, 0.0, 0.0, 50.0], [2, 3])?;
    /// let (classes, _) = device.upload(&[0, 1], [2])?; // the first is right, the second is not
    /// let losses = scores.cross_entropy(-1, &classes)?;
    /// assert_eq!(losses.round()?.read_now::<f32>()?, [0.0, 50.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "nll_loss")]
    #[track_caller]
    pub fn cross_entropy(&self, axis: impl Into<Axis>, targets: &Self) -> Result<Self> {
        let (name, axis) = ("cross_entropy", axis.into());
        let (place, bound) = self.shape().find(axis).map_err(|error| error.during(name))?;
        let (mut rows, scores) = (self.shape().dims().to_vec(), *self.shape());
        rows.remove(place);
        if *targets.shape().dims() != rows {
            return Err(LossCause::Targets { targets: *targets.shape(), scores, rows }.into());
        }
        // Told by their own shape.
        let places = self.places(name, axis, targets, bound)?.unsqueeze(place);
        let picked = self.picked(name, &places.map_err(|error| error.during(name))?, place, 1)?;
        let made = || {
            float("input", self.dtype())?;
            let compute = if self.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
            let picked = picked.cast(compute)?;
            let all = self.cast(compute)?.logsumexp(Axes::keep(axis))?;
            (all - &picked)?.squeeze(axis)?.cast(self.dtype())
        };
        asked(made).map_err(|error| error.during(name))
    }
}

causes! {
    /// What can be wrong with losses.
    enum LossCause;

    Targets { targets: Shape, scores: Shape, rows: Vec<usize> }, Shape:
        ("cross_entropy: targets of {targets} for {scores}, not of {rows:?}")
        help ("one class for each row: the shape without the axis of the classes");
}
