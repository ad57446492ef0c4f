//! Scaled dot product attention.

use std::sync::{Arc, OnceLock};

use super::cause::{FLOATS_BY_F32, TensorCause};
use super::{Pad, Tensor};
use crate::device::Device;
use crate::dtype::DType;
use crate::engine::site::asked;
use crate::error::{Error, Result};
use crate::fuse::What;
use crate::kernel::attention::{self, AttentionCore, Halves};
use crate::layout::Layout;
use crate::plan::Stored;
use crate::shape::Shape;
use crate::shape::cause::ShapeCause;
use crate::store::Segments;

/// How queries attend to keys: scaled by one over the root of their length, unless another scale is
/// given; every query to every key, unless masked.
#[derive(Clone, Debug, Default)]
pub struct Attention {
    scale: Option<f32>,
    causal: bool,
    mask: Option<SharedMask>,
}

/// A mask as it was given, and what it adds to scores: made once for all attentions.
#[derive(Clone, Debug)]
struct SharedMask {
    given: Tensor,
    added: Arc<OnceLock<Tensor>>,
}

impl Attention {
    /// Scaled by one over the root of the length, and unmasked.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Scores are multiplied by this.
    #[must_use]
    pub fn scaled(self, scale: f32) -> Self {
        Self { scale: Some(scale), ..self }
    }

    /// No query sees keys after its own place. The last query is at the last key's, also where
    /// there are fewer queries than keys.
    #[must_use]
    pub fn causal(self) -> Self {
        Self { causal: true, ..self }
    }

    /// A bool mask says which keys a query sees; a float one is added to the scores; an integer one
    /// could mean either, and is refused. It broadcasts to `[.., heads, queries, keys]`.
    #[must_use]
    pub fn masked(self, mask: &Tensor) -> Self {
        Self { mask: Some(SharedMask { given: mask.clone(), added: Arc::default() }), ..self }
    }
}

impl Tensor {
    /// Attention of these queries, `[.., heads, queries, d]`, to keys `[.., h, keys, d]` and values
    /// `[.., h, keys, e]`, where `h` divides the heads: neighbouring heads share one. The result is
    /// `[.., heads, queries, e]`.
    ///
    /// Computed in f32 without a matrix of scores, by its [contract](crate::op). A query that sees
    /// no key yields 0; a score of NaN or infinity, NaN. Of f32, f16 and bf16; deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (values, _) = device.upload(&[1.0f32, 3.0, 5.0], [3, 1])?;
    /// let alike = device.zeros([3, 4], wharf::DType::F32)?; // queries, and keys of equal weight
    /// let means = alike.attention(&alike, &values, &wharf::tensor::Attention::new().causal())?;
    /// assert_eq!(means.round()?.to_vec::<f32>()?, [1.0, 2.0, 3.0]); // of one, two, three values
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn attention(&self, keys: &Self, values: &Self, how: &Attention) -> Result<Self> {
        asked(|| self.attend(keys, values, how)).map_err(|error| error.during("attention"))
    }

    fn attend(&self, keys: &Self, values: &Self, how: &Attention) -> Result<Self> {
        let sizes = Sizes::of(self, keys, values)?;
        let device = &self.device;
        let mask = how.mask.as_ref();
        for other in [keys, values].into_iter().chain(mask.map(|mask| &mask.given)) {
            device.engine.same_device(&other.device.engine)?;
        }
        let dims = self.shape().dims();
        let outer = &dims[..dims.len() - 1];
        let shape = Shape::new([outer, &[sizes.e]].concat())?;
        let mask = mask.map(|mask| mask.over(outer, sizes.keys)).transpose()?;
        if shape.is_empty() || sizes.keys == 0 {
            return device.zeros(shape, self.dtype());
        }
        let scale = how.scale.unwrap_or(1.0 / (sizes.d.max(1) as f32).sqrt());
        if attention::is_products(sizes.queries, how.mask.is_some(), device.target()) {
            return self.lonely(keys, values, scale)?.reshape(shape)?.cast(self.dtype());
        }
        let keys_max = attention::keys_max(sizes.d.max(sizes.e), most(device));
        if sizes.keys > keys_max {
            return Err(TensorCause::Keys { keys: sizes.keys, keys_max }.into());
        }
        let staged = attention::is_staged(sizes.d, sizes.e, device.target());
        let core = AttentionCore { scale, causal: how.causal, staged };
        let input = |x: &Self, length| match staged {
            true => x.by_heads(length),
            false => x.cast(DType::F32)?.by_heads(length),
        };
        let mut inputs = vec![input(self, sizes.d)?, input(keys, sizes.d)?];
        inputs.push(input(values, sizes.e)?);
        inputs.extend(mask.map(|mask| mask.four()).transpose()?);
        let result = apply(core, &inputs)?;
        let result = result.slice(3, 0..sizes.e)?;
        let result = if sizes.e % 4 == 0 { result } else { result.contiguous()? };
        result.reshape(shape)?.cast(self.dtype())
    }

    /// Attention of one query to a head, which sees every key, by products of matrices: they have
    /// work for every lane, and the attention kernel has not. The scores of a head are a row, no
    /// matrix.
    fn lonely(&self, keys: &Self, values: &Self, scale: f32) -> Result<Self> {
        let [q, k, v] = [self, keys, values].map(|x| x.cast(DType::F32)?.four());
        let (q, k) = (q?, k?);
        let [batch, heads, _, d] = *q.shape().dims() else { return Ok(q) };
        let shared = k.shape().dims()[1];
        let q = q.contiguous()?.reshape([batch, shared, heads / shared, d])?;
        (q.matmul(&k.t()?)? * scale)?.softmax(3)?.matmul(&v?)
    }

    /// With four axes, the last one filled up to whole quads, at least one.
    fn by_heads(&self, length: usize) -> Result<Self> {
        let x = self.four()?;
        let more = length.max(1).next_multiple_of(4) - length;
        if more == 0 {
            return Ok(x);
        }
        x.pad(&[(0, 0), (0, 0), (0, 0), (0, more)], Pad::Constant(0.0f32.into()))
    }

    /// As `[batch, heads, rows, columns]`.
    fn four(&self) -> Result<Self> {
        let dims = self.shape().dims();
        match dims.len() {
            4 => Ok(self.clone()),
            2 | 3 => self.unsqueeze(0)?.four(),
            rank => {
                let batch = dims[..rank - 3].iter().product();
                let shape = Shape::new([&[batch], &dims[rank - 3..]].concat())?;
                self.reshape(shape).or_else(|_| self.contiguous()?.reshape(shape))
            }
        }
    }
}

impl SharedMask {
    /// What it adds to scores `[outer, keys]`.
    fn over(&self, outer: &[usize], keys: usize) -> Result<Tensor> {
        let scores = Shape::new([outer, &[keys]].concat())?;
        let broadcast =
            |mask: &Tensor| mask.broadcast_to(scores).map_err(|error| error.during("mask"));
        if let Some(added) = self.added.get() {
            return broadcast(added);
        }
        let (what, dtype, only) = ("mask", self.given.dtype(), "bool or a float");
        let added = match dtype {
            DType::Bool => self.given.choose(0.0f32, f32::NEG_INFINITY)?,
            dtype if dtype.is_float() => self.given.cast(DType::F32)?,
            _ => return Err(TensorCause::Only { what, dtype, only }.into()),
        };
        broadcast(self.added.get_or_init(|| added))
    }
}

/// How many f32 one segment holds.
fn most(device: &Device) -> usize {
    let most = Segments::new(device.caps()).bytes_max / size_of::<f32>() as u64;
    most as usize // words reach all of a segment
}

/// Defers the kernel. If an input or the result is more than a segment, one half after the other.
fn apply(core: AttentionCore, inputs: &[Tensor]) -> Result<Tensor> {
    let (device, queries, values) = (&inputs[0].device, inputs[0].shape(), inputs[2].shape());
    let shape = Shape::new([&queries.dims()[..3], &values.dims()[3..]].concat())?;
    if values.dims()[2] == 0 {
        return device.zeros(shape, DType::F32);
    }
    let views: Vec<Layout> = inputs.iter().map(|x| x.layout).collect();
    if let Some(Halves { axis, views }) =
        Halves::of(&views, core.causal, core.staged, most(device))?
    {
        let halves = views.map(|views| {
            let inputs = inputs.iter().zip(views).map(|(x, view)| x.view(view));
            apply(core, &inputs.collect::<Vec<_>>())
        });
        let [before, after] = halves;
        return Tensor::concat(&[before?, after?], axis);
    }
    let args = inputs.iter().map(Tensor::arg).collect();
    Ok(Tensor::deferred(device, What::core(core), args, shape, Stored::F32))
}

struct Sizes {
    queries: usize,
    keys: usize,
    d: usize,
    e: usize,
}

impl Sizes {
    fn of(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Self> {
        let wrong = |what, left: &Tensor, right: &Tensor| {
            let (left, right) = (*left.shape(), *right.shape());
            Err(ShapeCause::Same { what, left, right }.into())
        };
        for (what, both, x) in [
            ("queries", "queries", q),
            ("keys", "queries and keys", k),
            ("values", "queries and values", v),
        ] {
            let dtype = x.dtype();
            if !dtype.is_float() || dtype == DType::F64 {
                return Err(TensorCause::Only { what, dtype, only: FLOATS_BY_F32 }.into());
            }
            if x.dtype != q.dtype {
                let (left, right) = (q.dtype(), dtype);
                return Err(TensorCause::Dtypes { what: both, left, right }.into());
            }
            if x.shape().rank() < 2 {
                let cause = ShapeCause::Axis { axis: 1.into(), shape: *x.shape() };
                return Err(Error::from(cause).during(what));
            }
        }
        let rank = q.shape().rank();
        if k.shape().rank() != rank || v.shape().rank() != rank {
            return wrong("ranks differ", q, if k.shape().rank() == rank { v } else { k });
        }
        let (a, b, c) = (q.shape().dims(), k.shape().dims(), v.shape().dims());
        let batch = rank.saturating_sub(3);
        if a[..batch] != b[..batch] {
            return wrong("batches of queries and keys differ", q, k);
        }
        if b[..rank - 1] != c[..rank - 1] {
            return wrong("keys and values differ in number", k, v);
        }
        if rank > 2 && !a[batch].is_multiple_of(b[batch]) {
            return wrong("heads of queries are no multiple of those of keys", q, k);
        }
        let (d, e) = (a[rank - 1], c[rank - 1]);
        if d != b[rank - 1] {
            return wrong("lengths of queries and keys differ", q, k);
        }
        if d.div_ceil(4) + e.div_ceil(4) > attention::QUADS_MAX {
            return Err(TensorCause::Long { d, e }.into());
        }
        Ok(Self { queries: a[rank - 2], keys: b[rank - 2], d, e })
    }
}
