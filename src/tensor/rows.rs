//! Softmax and norms along an axis.
//!
//! One kernel does a row in registers where there are rows enough to share among the cores;
//! otherwise reductions and elementwise operations say the same, and share each row.

use std::sync::Arc;

use super::Tensor;
use super::ops::{inverse, memory_order};
use super::reduce::computed;
use crate::dtype::DType;
use crate::error::Result;
use crate::fuse::{Arg, Node, What};
use crate::kernel::rows::{Rows, Rowwise};
use crate::layout::Layout;
use crate::op::{Op, Refusal};
use crate::shape::{Axes, Shape};
use crate::store::Segments;

impl Tensor {
    /// `exp(x) / sum(exp(x))` along an axis, without overflow on the way. Computed in f32: within
    /// 256 units in the last place, and 0 where less than e^-87 of the largest is left.
    ///
    /// Minus infinity, as masks have it, becomes 0; a row of nothing else, or one with NaN or
    /// infinity, is NaN.
    pub fn softmax(&self, axis: usize) -> Result<Self> {
        self.rowwise(Rowwise::Softmax, axis)
    }

    /// The logarithm of [`Tensor::softmax`], computed without it: `x - logsumexp(x)`.
    pub fn log_softmax(&self, axis: usize) -> Result<Self> {
        self.rowwise(Rowwise::LogSoftmax, axis)
    }

    /// `(x - mean) / sqrt(var + eps)` along an axis; f16 and bf16 computed in f32. Scale and shift
    /// follow as `* weight` and `+ bias`, in the same kernel.
    pub fn layer_norm(&self, axis: usize, eps: f32) -> Result<Self> {
        self.rowwise(Rowwise::LayerNorm { eps }, axis)
    }

    /// `x / sqrt(mean(x^2) + eps)` along an axis, as [`Tensor::layer_norm`] without the mean.
    pub fn rms_norm(&self, axis: usize, eps: f32) -> Result<Self> {
        self.rowwise(Rowwise::RmsNorm { eps }, axis)
    }

    fn rowwise(&self, what: Rowwise, axis: usize) -> Result<Self> {
        let name = what.name();
        let made = || {
            let length = self.shape().dim(axis)?;
            let double = self.dtype == DType::F64;
            let norm = matches!(what, Rowwise::LayerNorm { .. } | Rowwise::RmsNorm { .. });
            if !self.dtype.is_float() || double && !norm {
                let op = if norm { Op::Sqrt } else { Op::Exp };
                return Err(Refusal::Kind { op, given: self.dtype }.into());
            }
            let x = self.cast(computed(self.dtype))?;
            if self.shape().is_empty() {
                return self.device.zeros(*self.shape(), self.dtype);
            }
            let rows = self.shape().elements() / length;
            let bytes = self.shape().elements() as u64 * size_of::<f32>() as u64;
            let one_segment = bytes <= Segments::new(self.device.caps()).bytes_max;
            let dense = self.layout.strides()[axis].unsigned_abs() == 1;
            let takes = Rowwise::takes(rows, length, dense, self.target());
            let result = if !double && one_segment && takes {
                x.rows(what, axis)?
            } else {
                x.composed(what, axis)?
            };
            result.cast(self.dtype)
        };
        made().map_err(|error| error.during(name))
    }

    fn target(&self) -> crate::wgsl::Target {
        self.device.target()
    }

    /// The kernel, on rows along an axis; the others as memory walks them.
    fn rows(&self, what: Rowwise, axis: usize) -> Result<Self> {
        let mut order = memory_order(&self.layout);
        order.retain(|&other| other != axis);
        order.push(axis);
        let view = self.layout.permute(&order)?;
        let dims: Vec<usize> = order.iter().map(|&axis| self.shape().dims()[axis]).collect();
        let stored = Shape::new(dims)?;
        let args = vec![Arg::View(Arc::clone(&self.node), view)];
        let core = What::Core(Arc::new(Rows(what)));
        let node = Node::deferred(self.device.context(), core, stored, self.dtype, args);
        let layout = Layout::dense(stored).permute(&inverse(&order))?;
        Ok(Self { device: self.device.clone(), node, layout, dtype: self.dtype })
    }

    /// The same in several kernels, which share long rows.
    fn composed(&self, what: Rowwise, axis: usize) -> Result<Self> {
        let along = || Axes::keep(axis);
        match what {
            Rowwise::Softmax => {
                let most = self.amax(along())?;
                let most = most.is_finite()?.choose(&most, 0.0)?;
                let powers = (self - &most)?.exp()?;
                let sum = powers.sum(along())?;
                &powers / &sum
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
