//! Softmax and norms along an axis.
//!
//! One kernel does a row in registers where there are rows enough to share among the cores;
//! otherwise it is composed of reductions and elementwise operations, which share each row among
//! all cores.

use super::Tensor;
use super::cause::float;
use super::norms::{Ends, NO_ENDS, ends, scaled};
use super::reduce::computed;
use crate::dtype::DType;
use crate::engine::site::asked;
use crate::error::{Error, Result};
use crate::fuse::What;
use crate::kernel::cores::Core;
use crate::kernel::rows::choice::RowsSize;
use crate::kernel::rows::{self, RowsCore, Rowwise};
use crate::shape::{Axes, Axis, Shape};

impl Tensor {
    /// `exp(x) / sum(exp(x))` along an axis, without overflow on the way, by its
    /// [contract](crate::op). Of floats; f16 and bf16 computed in f32. Deferred.
    ///
    /// Minus infinity, as masks have it, becomes 0; a row of nothing else, or one with NaN or
    /// infinity, is NaN.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3.0f32, 3.0, 1.0, f32::NEG_INFINITY], [2, 2])?;
    /// let rows = x.softmax(-1)?.read_now::<f32>()?;
    /// let want = [0.5, 0.5, 1.0, 0.0];
    /// assert!(rows.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-4), "{rows:?}");
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn softmax(&self, axis: impl Into<Axis>) -> Result<Self> {
        self.rowwise(Rowwise::Softmax, &axis.into().into(), NO_ENDS)
    }

    /// The logarithm of [`Tensor::softmax`], computed without it: `x - logsumexp(x)`. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[-1000.0f32, 0.0], [2])?;
    /// assert_eq!(x.log_softmax(0)?.read_now::<f32>()?, [-1000.0, 0.0]); // a softmax is 0 there
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn log_softmax(&self, axis: impl Into<Axis>) -> Result<Self> {
        self.rowwise(Rowwise::LogSoftmax, &axis.into().into(), NO_ENDS)
    }

    /// `(x - mean) / sqrt(var + eps)` over [some axes](Axes); then times a weight and plus a bias,
    /// of those axes' lengths each. By its [contract](crate::op), times the weight, and off by at
    /// most 2 ulp of the bias. Of floats; f16 and bf16 are computed in f32, where `eps` is one,
    /// too, and rounded once. Weight and bias take no kernel more. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 3.0], [1, 2])?; // mean 2, variance 1
    /// let (weight, _) = device.upload(&[10.0f32, 100.0], [2])?;
    /// let y = x.layer_norm(1, Some(&weight), None, 1e-6)?.round()?;
    /// assert_eq!(y.read_now::<f32>()?, [-10.0, 100.0]);
    /// assert_eq!(x.layer_norm([0, 1], None, None, 1e-6)?.shape(), x.shape()); // both axes at once
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn layer_norm(
        &self,
        axes: impl Into<Axes>,
        weight: Option<&Self>,
        bias: Option<&Self>,
        eps: impl Into<f64>,
    ) -> Result<Self> {
        self.rowwise(Rowwise::LayerNorm { eps: eps.into() }, &axes.into(), ends(weight, bias))
    }

    /// `x / sqrt(mean(x^2) + eps)` over [some axes](Axes), times a weight: as
    /// [`Tensor::layer_norm`] without the mean. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 7.0], [1, 2])?; // the mean of the squares is 25
    /// let weight = device.full(2, 10.0, wharf::DType::F32)?;
    /// let y = x.rms_norm(-1, Some(&weight), 0.0)?.round()?;
    /// assert_eq!(y.read_now::<f32>()?, [2.0, 14.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn rms_norm(
        &self,
        axes: impl Into<Axes>,
        weight: Option<&Self>,
        eps: impl Into<f64>,
    ) -> Result<Self> {
        self.rowwise(Rowwise::RmsNorm { eps: eps.into() }, &axes.into(), ends(weight, None))
    }

    /// [`Tensor::layer_norm`], and what it was normed by: the means, and `1 / sqrt(var + eps)`, as
    /// f32 (or f64, of f64); their axes stay behind with length 1, and their contracts are those of
    /// `mean`, `var` and `rsqrt`. Two reductions more. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 5.0], [1, 2])?; // mean 3, variance 4
    /// let (y, mean, scale) = x.layer_norm_with_stats(1, None, None, 0.0)?;
    /// assert_eq!(mean.read_now::<f32>()?, [3.0]);
    /// assert_eq!((scale * 100.0)?.round()?.read_now::<f32>()?, [50.0]);
    /// assert_eq!(y.round()?.read_now::<f32>()?, [-1.0, 1.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "native_layer_norm")]
    #[track_caller]
    pub fn layer_norm_with_stats(
        &self,
        axes: impl Into<Axes>,
        weight: Option<&Self>,
        bias: Option<&Self>,
        eps: impl Into<f64>,
    ) -> Result<(Self, Self, Self)> {
        let (axes, eps) = (axes.into(), eps.into());
        let made = || {
            let y = self.rowwise(Rowwise::LayerNorm { eps }, &axes, ends(weight, bias))?;
            let (x, over) = (self.cast(computed(self.dtype()))?, Axes::keep(axes));
            let scale = (x.var(over.clone(), 0)? + eps)?.rsqrt()?;
            Ok((y, x.mean(over)?, scale))
        };
        asked(made).map_err(|error: Error| error.during("layer_norm_with_stats"))
    }

    /// [`Tensor::rms_norm`], and what it was normed by: `1 / sqrt(mean(x^2) + eps)`, as
    /// [`Tensor::layer_norm_with_stats`] has it. One reduction more. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 7.0], [1, 2])?; // the mean of the squares is 25
    /// let (y, scale) = x.rms_norm_with_stats(1, None, 0.0)?;
    /// assert_eq!((scale * 100.0)?.round()?.read_now::<f32>()?, [20.0]);
    /// assert_eq!((y * 10.0)?.round()?.read_now::<f32>()?, [2.0, 14.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn rms_norm_with_stats(
        &self,
        axes: impl Into<Axes>,
        weight: Option<&Self>,
        eps: impl Into<f64>,
    ) -> Result<(Self, Self)> {
        let (axes, eps) = (axes.into(), eps.into());
        let made = || {
            let y = self.rowwise(Rowwise::RmsNorm { eps }, &axes, ends(weight, None))?;
            let x = self.cast(computed(self.dtype()))?;
            let scale = (x.square()?.mean(Axes::keep(axes))? + eps)?.rsqrt()?;
            Ok((y, scale))
        };
        asked(made).map_err(|error: Error| error.during("rms_norm_with_stats"))
    }

    #[track_caller]
    fn rowwise(&self, what: Rowwise, axes: &Axes, ends: Ends<'_>) -> Result<Self> {
        let name = what.name();
        float(name, self.dtype())?;
        let made = || {
            let among = axes.of(self.shape())?;
            let ends = self.beside_rows(&among, ends)?;
            let (rows, beside): (Vec<usize>, Vec<usize>) =
                (0..among.len()).partition(|&axis| among[axis]);
            let x = self.cast(computed(self.dtype()))?;
            let result = match rows[..] {
                _ if self.shape().is_empty() => Ok(x),
                [axis] => x.by_rows_of(what, axis),
                _ => {
                    let order = [beside, rows].concat();
                    let x = x.permute(&order)?;
                    let split = among.iter().filter(|among| !**among).count();
                    let (beside, within) = x.shape().dims().split_at(split);
                    let length: usize = within.iter().product();
                    let flat = x.reshape_copied([beside, &[length]].concat())?;
                    flat.by_flat_rows(what, *x.shape())?.unpermute(&order)
                }
            };
            scaled(result?, ends)?.cast(self.dtype())
        };
        asked(made).map_err(|error| error.during(name))
    }

    /// Whether the kernels of rows take an axis of this.
    fn has_rows(&self, axis: usize) -> bool {
        let segment = self.device.engine.segment_bytes();
        let on = (self.device.target(), self.device.breadth());
        let invariant = self.device.is_batch_invariant();
        self.dtype != DType::F64 && rows::takes(&self.layout, axis, segment, on, invariant)
    }

    /// The core of rows along an axis, as it was tuned.
    fn rows_core(&self, what: Rowwise, axis: usize) -> RowsCore {
        let length = self.shape().dims()[axis];
        let rows = self.shape().elements() / length.max(1);
        let is_softmax = !what.is_norm();
        RowsCore { what, by: self.device.tuned(RowsSize { is_softmax, rows, length }) }
    }

    #[track_caller]
    fn by_rows_of(&self, what: Rowwise, axis: usize) -> Result<Self> {
        match self.has_rows(axis) {
            true => self.along(axis, self.rows_core(what, axis)),
            false => self.composed(what, axis),
        }
    }

    /// Along the last axis, under another shape of as many elements: what follows is fused.
    #[track_caller]
    pub(super) fn by_flat_rows(&self, what: Rowwise, under: Shape) -> Result<Self> {
        let axis = self.shape().rank() - 1;
        if !self.has_rows(axis) {
            return self.composed(what, axis)?.reshape(under);
        }
        let (what, args) = (What::core(self.rows_core(what, axis)), vec![self.arg()]);
        Ok(Self::deferred(&self.device, what, args, under, self.dtype))
    }

    /// A core along an axis, which has to be the last of its input; the others as memory walks
    /// them.
    #[track_caller]
    pub(super) fn along(&self, axis: usize, core: impl Core + 'static) -> Result<Self> {
        let order = self.layout.order_along(axis);
        let x = self.permute(&order)?;
        let (what, args) = (What::core(core), vec![x.arg()]);
        Self::deferred(&self.device, what, args, *x.shape(), self.dtype).unpermute(&order)
    }

    /// Composes the operation of several kernels, which share long rows among all cores.
    #[track_caller]
    fn composed(&self, what: Rowwise, axis: usize) -> Result<Self> {
        let along = || Axes::keep(axis);
        match what {
            Rowwise::Softmax => {
                let most = self.amax(along())?;
                let most = most.is_finite()?.choose(&most, 0.0)?;
                let powers = (self - &most)?.exp()?;
                // Beside infinity all is NaN, not only itself.
                let sum = powers.sum(along())?;
                &powers / &sum.is_finite()?.choose(&sum, f64::NAN)?
            }
            Rowwise::LogSoftmax => {
                let sum = self.logsumexp(along())?;
                // A row without a softmax is NaN, all of it.
                let sum = sum.is_finite()?.choose(&sum, f64::NAN)?;
                self - &sum
            }
            Rowwise::LayerNorm { eps } => {
                let from_mean = (self - &self.mean(along())?)?;
                let about = (self.var(along(), 0)? + eps)?;
                from_mean / &about.sqrt()?
            }
            Rowwise::RmsNorm { eps } => {
                let about = (self.square()?.mean(along())? + eps)?;
                self / &about.sqrt()?
            }
        }
    }
}
