//! Weights quantized in blocks: neighbours along the summed axis share a scale.
//!
//! Values and scales are two ordinary tensors, so that both are aligned: what ggml's blocks hold,
//! less their interleaving. Rows are filled up with zeros to whole blocks.

use super::cause::by_f32;
use super::{Pad, Tensor};
use crate::device::Device;
use crate::dtype::DType;
use crate::engine::site::asked;
use crate::error::{Result, causes};
use crate::fuse::What;
use crate::host::blocks::{Blocks, Share};
use crate::kernel::quantized::choice::WeightsSize;
use crate::kernel::quantized::{K_MAX, QuantizedProduct, WeightsWay};
use crate::shape::Shape;

mod making;
mod numbers;

pub use making::Rounding;

/// A matrix of weights `[out, in]` in [`Blocks`] along `in`.
///
/// [`Tensor::linear`] takes it like any other weight.
#[derive(Clone, Debug)]
pub struct Quantized {
    form: Blocks,
    values: Tensor,
    scales: Tensor,
    shape: Shape,
}

impl Quantized {
    /// Weights that were quantized elsewhere, of whole blocks. Their dtypes, and how many scales
    /// there are to so many values, say of which form:
    ///
    /// - [`Blocks::Q8`]: i8 values `[out, in]` and f16 scales `[out, in / 32]`
    /// - [`Blocks::Q4`]: u8 values `[out, in / 2]` and f16 scales `[out, in / 32]`
    /// - [`Blocks::Q4K`]: u8 values `[out, in / 2]` and u32 scales `[out, in / 64]`: of each 256
    ///   weights the scale and the scale of minima, as two f16 in a word, and twelve bytes with
    ///   eight scales and minima of six bits
    /// - [`Blocks::Q4_1`]: u8 values `[out, in / 2]` and f16 scales `[out, in / 16]`, each of them
    ///   before its minimum
    /// - the others as GGUF has them: u8 values, and u32 or u16 scales
    #[track_caller]
    pub fn of(values: &Tensor, scales: &Tensor) -> Result<Self> {
        values.device.engine.same_device(&scales.device.engine)?;
        let part = |of: &Tensor| (of.dtype(), of.shape().dims().last().copied().unwrap_or(0));
        let Some(form) = Blocks::of(part(values), part(scales)) else {
            let (values, scales) = (values.dtype(), scales.dtype());
            return Err(QuantizedCause::Parts { values, scales }.into());
        };
        let (shape, beside) = (*values.shape(), *scales.shape());
        let [out, elements] = *shape.dims() else {
            return Err(QuantizedCause::Rank { shape }.into());
        };
        let each = Share::Values.each(form);
        if !elements.is_multiple_of(each) {
            return Err(QuantizedCause::Ragged { elements, each }.into());
        }
        let wanted = [out, elements / each * Share::Scales.each(form)];
        if beside.dims() != wanted {
            return Err(QuantizedCause::Scales { values: shape, scales: beside, wanted }.into());
        }
        let shape = Shape::new([out, elements / each * form.weights()])?;
        Self::checked(form, [values, scales], shape)
    }

    #[track_caller]
    fn checked(form: Blocks, [values, scales]: [&Tensor; 2], shape: Shape) -> Result<Self> {
        let k = shape.dims()[1];
        if k > K_MAX {
            return Err(QuantizedCause::Deep { k }.into());
        }
        // Products read rows of them, one after the other.
        let (values, scales) = (values.contiguous()?, scales.contiguous()?);
        Ok(Self { form, values, scales, shape })
    }

    /// The form of its blocks.
    #[must_use]
    pub const fn form(&self) -> Blocks {
        self.form
    }

    /// `[out, in]`, as the weights were.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The device it lives on.
    #[must_use]
    pub const fn device(&self) -> &Device {
        self.values.device()
    }

    /// What differs from weight to weight, rows filled up to whole blocks: see
    /// [`Quantized::of`].
    #[must_use]
    pub const fn values(&self) -> &Tensor {
        &self.values
    }

    /// What weights of a block have in common.
    #[must_use]
    pub const fn scales(&self) -> &Tensor {
        &self.scales
    }

    /// The weights as `[in, out]`, which is how [`Tensor::matmul`] takes them: `x.matmul(w.t())`.
    #[must_use]
    pub const fn t(&self) -> Factor<'_> {
        Factor::Transposed(self)
    }

    /// The weights as numbers again, of a float dtype, rounded once. Deferred.
    #[track_caller]
    pub fn dequantize(&self, dtype: DType) -> Result<Tensor> {
        asked(|| self.numbers(dtype)).map_err(|error| error.during("dequantize"))
    }

    /// The rows that an index of any shape names, as f32: a table of embeddings in blocks. An index
    /// out of range is an error at the next read. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Blocks;
    ///
    /// let (table, _) = device.ones([4, 32], wharf::DType::F32)?.quantize(Blocks::Q4).await?;
    /// let (tokens, _) = device.upload(&[3, 0, 1], [3])?;
    /// let rows = table.embedding(&tokens)?;
    /// assert_eq!(rows.shape().dims(), [3, 32]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn embedding(&self, index: &Tensor) -> Result<Tensor> {
        let [_, k] = self.shape.array()?;
        let rows = index.shape().elements();
        let flat = index.contiguous()?.reshape([rows])?;
        let (values, scales) = (self.values.embedding(&flat)?, self.scales.embedding(&flat)?);
        let named = Self { form: self.form, values, scales, shape: Shape::new([rows, k])? };
        let numbers =
            asked(|| named.numbers(DType::F32)).map_err(|error| error.during("embedding"))?;
        numbers.contiguous()?.reshape([index.shape().dims(), &[k]].concat())
    }

    /// Weights of a row that is filled up.
    fn width(&self) -> usize {
        self.shape.dims()[1].next_multiple_of(self.form.weights())
    }

    /// `x . weight^T`, for `x` of shape `[.., in]`, by a method.
    #[track_caller]
    pub(super) fn product(&self, name: &'static str, x: &Tensor) -> Result<Tensor> {
        x.device.engine.same_device(&self.values.device.engine)?;
        if !by_f32(x.dtype()) {
            return Err(QuantizedCause::Activations { dtype: x.dtype() }.into());
        }
        let [out, k] = self.shape.array()?;
        let dims = x.shape().dims();
        if dims.last() != Some(&k) {
            let (left, right) = (*x.shape(), self.shape);
            return Err(QuantizedCause::Inner { left, right, blocks: true }.into());
        }
        let rank = dims.len();
        let m = dims[..rank - 1].iter().product::<usize>();
        let size = WeightsSize { rows: m, columns: out, depth: k, form: self.form };
        let (tuned, invariant) = (x.device.tuned(size), x.device.is_batch_invariant());
        let way = size.way(x.dtype(), tuned, invariant, x.device.target(), x.device.caps());
        let WeightsWay::Blocks(by) = way else {
            return x.matmul_plain(&self.numbers(DType::F32)?.t()?);
        };
        let shape = Shape::new([&dims[..rank - 1], &[out]].concat())?;
        let width = self.width();
        let mut x = x.clone();
        if width > k {
            let mut pads = vec![(0, 0); rank];
            pads[rank - 1].1 = width - k;
            x = x.pad(&pads, Pad::Constant(0.0f32.into()))?;
        }
        let rows = Shape::new([m, width])?;
        let x = x.reshape_copied(rows)?;
        let dtype = x.dtype;
        let args = [&x, &self.values, &self.scales].map(Tensor::arg).to_vec();
        let what = What::core(QuantizedProduct { name, form: self.form, by });
        Ok(Tensor::deferred(&x.device, what, args, shape, dtype))
    }
}

/// What a product has on its right: a tensor, or weights in blocks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Factor<'a> {
    /// `[.., k, n]`, or a column.
    Tensor(&'a Tensor),
    /// Weights `[n, k]`, as their transpose.
    Transposed(&'a Quantized),
}

impl<'a> From<&'a Tensor> for Factor<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

/// What a layer multiplies by: a tensor, or weights in blocks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Weight<'a> {
    /// `[out, in]`, of the dtype of what it multiplies, or a narrower float.
    Tensor(&'a Tensor),
    /// `[out, in]` in blocks.
    Quantized(&'a Quantized),
}

impl<'a> From<&'a Tensor> for Weight<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl<'a> From<&'a Quantized> for Weight<'a> {
    fn from(weights: &'a Quantized) -> Self {
        Self::Quantized(weights)
    }
}

impl Weight<'_> {
    #[track_caller]
    pub(super) fn product(self, x: &Tensor) -> Result<Tensor> {
        match self {
            Self::Tensor(tensor) => {
                let (left, right) = (*x.shape(), *tensor.shape());
                if right.rank() < 2 {
                    return Err(QuantizedCause::Rank { shape: right }.into());
                }
                // Checked here, so that the error has the shapes that were given, not a transposed
                // one.
                if left.dims().last() != right.dims().last() {
                    return Err(QuantizedCause::Inner { left, right, blocks: false }.into());
                }
                x.matmul_widening(&tensor.t()?)
            }
            Self::Quantized(weights) => weights.product("linear", x),
        }
    }
}

causes! {
    /// What can be wrong with weights in blocks.
    enum QuantizedCause;

    Rank { shape: Shape }, Shape:
        ("weights {shape} of rank {}, not [out, in]", shape.rank())
        help ("reshape to a matrix: `reshape([out, in])`");
    Weights { dtype: DType }, DType:
        ("weights of {dtype}, not f32, f16 or bf16")
        help ("cast first: `cast(DType::F32)`");
    Activations { dtype: DType }, DType:
        ("{dtype} by quantized weights, not f32, f16 or bf16")
        help ("cast first: `cast(DType::F32)`");
    Numbers { dtype: DType }, DType:
        ("{dtype} is no float")
        help ("dequantize to a float and cast: `cast(dtype)`");
    Parts { values: DType, scales: DType }, DType:
        ("quantized values of {values} with scales of {scales}, not {}", forms())
        help ("cast one of them: `cast(dtype)`");
    Ragged { elements: usize, each: usize }, Shape:
        ("rows of {elements} values are no whole blocks of {each} ({} are left)", elements % each)
        help ("fill rows up with zeros to whole blocks: `pad`");
    Scales { values: Shape, scales: Shape, wanted: [usize; 2] }, Shape:
        ("values {values} with scales {scales}, not {wanted:?}")
        help ("each block of a row has its own");
    Deep { k: usize }, Limit:
        ("quantized rows of {k}, above {K_MAX}")
        help ("split the rows, and add the products of the parts");
    Inner { left: Shape, right: Shape, blocks: bool }, Shape:
        ("inner dimensions differ: left {left}, weights {right} ({} against {})",
         inner(left), inner(right))
        help ("{}", match blocks {
            true => "the last axis of the left side is as long as a row of the weights",
            false => "weights are [out, in]; take `weight.t()` of an [in, out]",
        });
}

/// The dtypes of values and scales of every form.
fn forms() -> String {
    let parts = |form| Share::BOTH.map(|share| share.dtype(form).name()).join(" with ");
    let mut all: Vec<_> = Blocks::ALL.iter().copied().map(parts).collect();
    all.sort();
    all.dedup();
    all.join(" or ")
}

/// The length of the last axis.
fn inner(shape: &Shape) -> String {
    shape.dims().last().map_or_else(|| "a scalar".into(), usize::to_string)
}
