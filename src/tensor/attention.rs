//! Scaled dot product attention.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use super::cause::TensorCause;
use super::{Pad, Tensor};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Cause, ErrorKind, Result};
use crate::fuse::{Arg, Node, What};
use crate::kernel::attention;
use crate::layout::Layout;
use crate::op::{Op, Refusal};
use crate::shape::Shape;
use crate::shape::cause::ShapeCause;
use crate::store::Segments;
use crate::wgsl::Target;

/// How queries attend to keys: scaled by one over the root of their length, unless another scale is
/// given; every query to every key, unless masked.
#[derive(Clone, Debug, Default)]
pub struct Attention {
    scale: Option<f32>,
    causal: bool,
    mask: Option<Tensor>,
}

impl Attention {
    /// The usual.
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
        Self { mask: Some(mask.clone()), ..self }
    }
}

impl Tensor {
    /// Attention of these queries, `[.., heads, queries, d]`, to keys `[.., h, keys, d]` and values
    /// `[.., h, keys, e]`, where `h` divides the heads: neighbouring heads share one. The result is
    /// `[.., heads, queries, e]`.
    ///
    /// Computed in f32 without a matrix of scores, within 512 units in the last place of the
    /// largest value. A query that sees no key yields 0; a score of NaN or infinity, NaN.
    pub fn attention(&self, keys: &Self, values: &Self, how: &Attention) -> Result<Self> {
        self.attend(keys, values, how).map_err(|error| error.during("attention"))
    }

    fn attend(&self, keys: &Self, values: &Self, how: &Attention) -> Result<Self> {
        let sizes = Sizes::of(self, keys, values)?;
        let device = &self.device;
        for other in [keys, values].into_iter().chain(&how.mask) {
            device.engine.same_device(&other.device.engine)?;
        }
        if let Some(mask) = &how.mask
            && mask.dtype != DType::Bool
            && !mask.dtype.is_float()
        {
            let only = "bool or a float";
            return Err(TensorCause::Only { what: "mask", dtype: mask.dtype, only }.into());
        }
        let dims = self.shape().dims();
        let outer = &dims[..dims.len() - 1];
        let shape = Shape::new([outer, &[sizes.e]].concat())?;
        if shape.is_empty() || sizes.keys == 0 {
            return device.zeros(shape, self.dtype);
        }
        let scale = how.scale.unwrap_or(1.0 / (sizes.d.max(1) as f32).sqrt());
        if sizes.is_lone && how.mask.is_none() && device.target() != Target::Gpu {
            return self.lonely(keys, values, scale)?.reshape(shape)?.cast(self.dtype);
        }
        let width = sizes.d.max(sizes.e).max(1).next_multiple_of(4);
        let keys_max = attention::KEYS_MAX.min(most(device) / width);
        if sizes.keys > keys_max {
            return Err(TooMany { keys: sizes.keys, keys_max }.into());
        }
        let [q, k] = [self, keys].map(|x| x.by_heads(sizes.d));
        let mut inputs = vec![q?, k?, values.by_heads(sizes.e)?];
        if let Some(mask) = &how.mask {
            let mask = match mask.dtype {
                DType::Bool => mask.choose(0.0f32, f32::NEG_INFINITY)?,
                _ => mask.cast(DType::F32)?,
            };
            let all = Shape::new([outer, &[sizes.keys]].concat())?;
            inputs.push(mask.broadcast_to(all)?.four()?);
        }
        let core = attention::Attention { scale, causal: how.causal };
        let result = apply(core, &inputs)?;
        let result = result.slice(3, 0..sizes.e)?;
        let result = if sizes.e % 4 == 0 { result } else { result.contiguous()? };
        result.reshape(shape)?.cast(self.dtype)
    }

    /// Of one query to a head, which sees every key: as products, which have work for every lane
    /// where a kernel of queries has not. There is a row of scores to a head, no matrix.
    fn lonely(&self, keys: &Self, values: &Self, scale: f32) -> Result<Self> {
        let [q, k, v] = [self, keys, values].map(|x| x.cast(DType::F32)?.four());
        let (q, k) = (q?, k?);
        let [batch, heads, _, d] = *q.shape().dims() else { return Ok(q) };
        let shared = k.shape().dims()[1];
        let q = q.contiguous()?.reshape([batch, shared, heads / shared, d])?;
        (q.matmul(&k.t()?)? * scale)?.softmax(3)?.matmul(&v?)
    }

    /// As f32 of four axes, the last one in whole quads, at least one.
    fn by_heads(&self, length: usize) -> Result<Self> {
        let x = self.cast(DType::F32)?.four()?;
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

/// f32 that one segment holds.
fn most(device: &Device) -> usize {
    let most = Segments::new(device.caps()).bytes_max / size_of::<f32>() as u64;
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// The kernel; where an input or the result is more than a segment, one part after another.
fn apply(core: attention::Attention, inputs: &[Tensor]) -> Result<Tensor> {
    let (q, k, v) = (&inputs[0], &inputs[1], &inputs[2]);
    let [batch, heads, queries, _] = *q.shape().dims() else { return Ok(q.clone()) };
    let shape = Shape::new([batch, heads, queries, v.shape().dims()[3]])?;
    // What is broadcast is there once, and cutting along its axis makes nothing smaller.
    let own = |view: &&Layout| -> usize {
        let axes = view.shape().dims().iter().zip(view.strides());
        axes.filter(|(_, stride)| **stride != 0).map(|(&dim, _)| dim).product()
    };
    let (dims, result) = ([batch, heads, queries], Layout::dense(shape));
    let views = inputs.iter().map(|x| &x.layout).chain([&result]);
    let large = views.max_by_key(own).filter(|view| own(view) > most(&q.device));
    let cuts = |view: &Layout, axis: usize| {
        dims[axis] > 1 && view.shape().dims()[axis] > 1 && view.strides()[axis] != 0
    };
    if let Some(axis) = large.and_then(|view| (0..3).find(|&axis| cuts(view, axis))) {
        // Heads that share keys are parted last.
        let shared = k.shape().dims()[1];
        let unit = if axis == 1 && shared > 1 { heads / shared } else { 1 };
        let middle = dims[axis] / unit / 2 * unit;
        let parts = [0..middle, middle..dims[axis]].map(|range| part(&core, inputs, axis, range));
        let [before, after] = parts;
        return Tensor::concat(&[before?, after?], axis);
    }
    let args = inputs.iter().map(|x| Arg::View(Arc::clone(&x.node), x.layout)).collect();
    let what = What::Core(Arc::new(core));
    let node = Node::deferred(q.device.context(), what, shape, DType::F32, args);
    let layout = Layout::dense(shape);
    Ok(Tensor { device: q.device.clone(), node, layout, dtype: DType::F32 })
}

/// Attention of the batches, heads or queries in a range.
fn part(
    core: &attention::Attention,
    inputs: &[Tensor],
    axis: usize,
    range: Range<usize>,
) -> Result<Tensor> {
    let (q, k) = (&inputs[0], &inputs[1]);
    let (heads, shared) = (q.shape().dims()[1], k.shape().dims()[1]);
    let (queries, keys) = (q.shape().dims()[2], k.shape().dims()[2]);
    // Of a part of the queries the last one too is at the last key.
    let seen =
        if axis == 2 && core.causal { (keys + range.end).saturating_sub(queries) } else { keys };
    let mut parts = Vec::new();
    for (i, x) in inputs.iter().enumerate() {
        let of_keys = i == 1 || i == 2;
        let x = if of_keys { x.slice(2, 0..seen)? } else { x.clone() };
        let x = if i == 3 { x.slice(3, 0..seen)? } else { x };
        let sharing = heads / shared;
        parts.push(match axis {
            0 => x.slice(0, range.clone())?,
            1 if of_keys && shared > 1 => x.slice(1, range.start / sharing..range.end / sharing)?,
            _ if of_keys => x,
            _ => x.slice(axis, range.clone())?,
        });
    }
    let (q, v) = (&parts[0], &parts[2]);
    if seen == 0 {
        let shape = Shape::new([&q.shape().dims()[..3], &v.shape().dims()[3..]].concat())?;
        return q.device.zeros(shape, DType::F32);
    }
    apply(attention::Attention { ..*core }, &parts)
}

struct Sizes {
    /// Whether there is one query to a head.
    is_lone: bool,
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
        for x in [q, k, v] {
            if !x.dtype.is_float() || x.dtype == DType::F64 {
                return Err(Refusal::Kind { op: Op::Exp, given: x.dtype }.into());
            }
            if x.dtype != q.dtype {
                return Err(
                    Refusal::Mixed { doing: "attention", left: q.dtype, right: x.dtype }.into()
                );
            }
            if x.shape().rank() < 2 {
                return Err(ShapeCause::Axis { axis: 1, shape: *x.shape() }.into());
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
            return Err(TooLong { d, e }.into());
        }
        Ok(Self { is_lone: a[rank - 2] == 1, keys: b[rank - 2], d, e })
    }
}

/// Queries and values that do not stay in registers.
#[derive(Debug)]
struct TooLong {
    d: usize,
    e: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self { d, e }, most) = (self, 4 * attention::QUADS_MAX);
        write!(f, "queries of {d} and values of {e} are {} together, above {most}", d + e)
    }
}

impl Cause for TooLong {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Shape
    }

    fn help(&self) -> Option<String> {
        Some("compose it: `q.matmul(&k.t()?)`, `softmax`, `matmul`".into())
    }
}

/// Keys that one invocation does not get through, or more of one head than a segment.
#[derive(Debug)]
struct TooMany {
    keys: usize,
    keys_max: usize,
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys are above {}", self.keys, self.keys_max)
    }
}

impl Cause for TooMany {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Shape
    }

    fn help(&self) -> Option<String> {
        Some("compose it: `q.matmul(&k.t()?)`, `softmax`, `matmul`".into())
    }
}
