//! Scaled dot product attention.

use std::sync::{Arc, OnceLock};

use super::cause::{FLOATS_BY_F32, TensorCause, by_f32};
use super::halves::in_two;
use super::{Pad, Tensor};
use crate::dtype::DType;
use crate::engine::site::asked;
use crate::error::{Error, Result, mistake};
use crate::fuse::What;
use crate::kernel::attention::choice::tuned::AttentionSize;
use crate::kernel::attention::choice::way::{AttentionWay, Sizes};
use crate::kernel::attention::{AttentionCore, Halves, QUADS_MAX};
use crate::layout::Layout;
use crate::plan::Stored;
use crate::reference::Sight;
use crate::shape::cause::ShapeCause;
use crate::shape::{Axes, Shape};

/// How queries attend to keys: scaled by one over the root of their length, unless another scale is
/// given; every query to every key, unless masked. See [`Tensor::attention`].
#[derive(Clone, Debug, Default)]
pub struct Attention {
    scale: Option<f32>,
    causal: bool,
    mask: Option<SharedMask>,
    lengths: Option<Tensor>,
    window: Option<[usize; 2]>,
    softcap: Option<f32>,
    first_aligned: bool,
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
    /// there are fewer queries than keys, unless the first are [aligned](Attention::first_aligned).
    #[must_use]
    pub fn causal(self) -> Self {
        Self { causal: true, ..self }
    }

    /// The first query is at the first key's place, instead of the last at the last key's. With
    /// [`causal`](Attention::causal) it is what PyTorch's `is_causal` means.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (values, _) = device.upload(&[1.0f32, 3.0, 5.0], [3, 1])?;
    /// let keys = device.zeros([3, 4], wharf::DType::F32)?;
    /// let (queries, how) = (keys.at(..2)?, wharf::tensor::Attention::new().causal());
    /// let last = queries.attention(&keys, &values, &how)?;
    /// assert_eq!(last.round()?.read_now::<f32>()?, [2.0, 3.0]); // of two, and of three values
    /// let first = queries.attention(&keys, &values, &how.first_aligned())?;
    /// assert_eq!(first.round()?.read_now::<f32>()?, [1.0, 2.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "is_causal")]
    #[must_use]
    pub fn first_aligned(self) -> Self {
        Self { first_aligned: true, ..self }
    }

    /// A bool mask says which keys a query sees; a float one is added to the scores; an integer one
    /// could mean either, and is refused. It broadcasts to `[.., heads, queries, keys]`.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (values, _) = device.upload(&[1.0f32, 3.0, 5.0], [3, 1])?;
    /// let alike = device.zeros([3, 4], wharf::DType::F32)?; // queries, and keys of equal weight
    /// let (mask, _) = device.upload(&[false, true, true], [3])?; // for all queries
    /// let how = wharf::tensor::Attention::new().masked(&mask);
    /// let means = alike.attention(&alike, &values, &how)?;
    /// assert_eq!(means.round()?.read_now::<f32>()?, [4.0, 4.0, 4.0]); // of 3 and 5
    /// # Ok(()) });
    /// ```
    #[doc(alias = "attn_mask")]
    #[must_use]
    pub fn masked(self, mask: &Tensor) -> Self {
        Self { mask: Some(SharedMask::of(mask.clone())), ..self }
    }

    /// Only so many of the first keys are there, for each batch of them: integers `[..]`, the axes
    /// of the keys before their heads. Batches whose sequences are of different lengths are filled
    /// up so, with anything finite. They become a mask: what is beyond a length is computed like
    /// all else.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (values, _) = device.upload(&[1.0f32, 3.0, 0.0, 2.0, 4.0, 6.0], [2, 1, 3, 1])?;
    /// let keys = device.zeros([2, 1, 3, 4], wharf::DType::F32)?; // of equal weight
    /// let queries = device.ones([2, 1, 1, 4], wharf::DType::F32)?; // one for each batch
    /// let (lengths, _) = device.upload(&[2, 3], [2])?;
    /// let how = wharf::tensor::Attention::new().lengths(&lengths);
    /// let means = queries.attention(&keys, &values, &how)?;
    /// assert_eq!(means.round()?.read_now::<f32>()?, [2.0, 4.0]); // of two, and of three values
    /// # Ok(()) });
    /// ```
    #[doc(alias = "key_padding_mask")]
    #[must_use]
    pub fn lengths(self, lengths: &Tensor) -> Self {
        Self { lengths: Some(lengths.clone()), ..self }
    }

    /// A query sees the key at its own place, so many before and so many after it. The last query
    /// is at the last key's place, as where it is [causal](Attention::causal). Keys are left out by
    /// blocks that no query of a group sees: of 2048 keys, a window of 256 takes a seventh of the
    /// time.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (values, _) = device.upload(&[1.0f32, 3.0, 5.0, 7.0], [4, 1])?;
    /// let alike = device.zeros([4, 8], wharf::DType::F32)?; // queries, and keys of equal weight
    /// let how = wharf::tensor::Attention::new().window(1, 0); // one before, and its own
    /// let means = alike.attention(&alike, &values, &how)?;
    /// assert_eq!(means.round()?.read_now::<f32>()?, [1.0, 2.0, 4.0, 6.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("sliding_window", "local"))]
    #[must_use]
    pub fn window(self, before: usize, after: usize) -> Self {
        Self { window: Some([before, after]), ..self }
    }

    /// Scores become `cap * tanh(score / cap)` before they are masked. With it they are stored, a
    /// matrix for each head, between products, and values that a query does not see have to be
    /// finite. A cap is finite and above 0.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (keys, _) = device.upload(&[0.0f32, 1e4], [2, 1])?;
    /// let (values, query) = (&keys / 1e4f32, device.ones([1, 1], wharf::DType::F32)?);
    /// let how = wharf::tensor::Attention::new().softcap(1e-3); // hardly any differences are left
    /// let mean = query.attention(&keys, &values?, &how)?;
    /// assert_eq!((mean * 10.0)?.round()?.read_now::<f32>()?, [5.0]); // without a cap it is 10
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn softcap(self, cap: f32) -> Self {
        Self { softcap: Some(cap), ..self }
    }

    /// Which keys queries see, whatever masks and lengths say.
    fn sight(&self, sizes: &Sizes) -> Sight {
        let most = |count| u32::try_from(count).unwrap_or(Sight::ALL).min(Sight::ALL);
        let [before, after] = self.window.map_or([Sight::ALL; 2], |window| window.map(most));
        let after = if self.causal { 0 } else { after };
        let sight = Sight { first: 0, before, after };
        match self.first_aligned {
            true => sight,
            false => sight.last_aligned(sizes.queries, sizes.keys),
        }
    }
}

impl Tensor {
    /// Attention of these queries, `[.., heads, queries, d]`, to keys `[.., h, keys, d]` and values
    /// `[.., h, keys, e]`, where `h` divides the heads: neighbouring heads share one. The result is
    /// `[.., heads, queries, e]`.
    ///
    /// Computed in f32 without a matrix of scores, by its [contract](crate::op). A query that sees
    /// no key yields 0, and a key whose score is minus infinity is not seen; a score of NaN or
    /// infinity yields NaN, and so may a value that is not finite and that is not seen. Of f32, f16
    /// and bf16; deferred. The result lies query by query, so that the heads of each are put
    /// together - `permute([0, 2, 1, 3])`, `reshape` - without a copy. `d` and `e`, each rounded up
    /// to a multiple of four, are at most 512 together.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (values, _) = device.upload(&[1.0f32, 3.0, 5.0], [3, 1])?;
    /// let alike = device.zeros([3, 4], wharf::DType::F32)?; // queries, and keys of equal weight
    /// let means = alike.attention(&alike, &values, &wharf::tensor::Attention::new().causal())?;
    /// assert_eq!(means.round()?.read_now::<f32>()?, [1.0, 2.0, 3.0]); // of one, two, three values
    /// # Ok(()) });
    /// ```
    #[doc(alias("scaled_dot_product_attention", "sdpa"))]
    #[track_caller]
    pub fn attention(&self, keys: &Self, values: &Self, how: &Attention) -> Result<Self> {
        let made = || Ok(self.attend(keys, values, how, false)?.0);
        asked(made).map_err(|error: Error| error.during("attention"))
    }

    /// [`Tensor::attention`], and how much of each value went into it: the softmax of the scores,
    /// `[.., heads, queries, keys]`, of the same dtype. A query that sees no key has weights of 0.
    /// Each is what attention to an identity in place of the values yields, and so is its
    /// [contract](crate::op).
    ///
    /// Scores and weights are stored, a matrix of queries times keys for each head, which
    /// [`Tensor::attention`] alone needs for caps only; the result may differ from its in the last
    /// places, and values that a query does not see have to be finite. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (values, _) = device.upload(&[1.0f32, 3.0], [2, 1])?;
    /// let alike = device.zeros([2, 4], wharf::DType::F32)?; // queries, and keys of equal weight
    /// let how = wharf::tensor::Attention::new().causal();
    /// let (means, weights) = alike.attention_with_weights(&alike, &values, &how)?;
    /// assert_eq!(means.round()?.read_now::<f32>()?, [1.0, 2.0]);
    /// assert_eq!((weights * 100.0)?.round()?.read_now::<f32>()?, [100.0, 0.0, 50.0, 50.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "need_weights")]
    #[track_caller]
    pub fn attention_with_weights(
        &self,
        keys: &Self,
        values: &Self,
        how: &Attention,
    ) -> Result<(Self, Self)> {
        let made = || {
            let (result, weights) = self.attend(keys, values, how, true)?;
            Ok((result, weights.ok_or_else(|| mistake("attention", "no weights were made"))?))
        };
        asked(made).map_err(|error: Error| error.during("attention_with_weights"))
    }

    /// The result, and the weights where somebody wants them.
    fn attend(
        &self,
        keys: &Self,
        values: &Self,
        how: &Attention,
        weighs: bool,
    ) -> Result<(Self, Option<Self>)> {
        let sizes = Sizes::of(self, keys, values)?;
        if let Some(cap) = how.softcap.filter(|&cap| cap <= 0.0 || !cap.is_finite()) {
            return Err(TensorCause::Cap { cap }.into());
        }
        let device = &self.device;
        let mask = how.mask.as_ref();
        let beside = mask.map(|mask| &mask.given).into_iter().chain(&how.lengths);
        for other in [keys, values].into_iter().chain(beside) {
            device.engine.same_device(&other.device.engine)?;
        }
        let dims = self.shape().dims();
        // Where nothing lies over all scores, no host has to count them.
        let scores = || Shape::new([&dims[..dims.len() - 1], &[sizes.keys]].concat());
        let mask = mask.map(|mask| mask.over(&scores()?)).transpose()?;
        let mask = match &how.lengths {
            Some(lengths) => Some(self.within(lengths, sizes.keys, mask)?),
            None => mask,
        };
        let mask = mask.map(|mask| mask.spread(&scores()?)).transpose()?;
        let scale = how.scale.unwrap_or(1.0 / (sizes.d.max(1) as f32).sqrt());
        let sight = how.sight(&sizes);
        let scores = Scores { scale, cap: how.softcap, mask, sight };
        let Some(seen) = sizes.seen(&sight, scores.mask.is_some()) else {
            return self.attend_seen(keys, values, (sizes, scores), weighs);
        };
        let only = |x: &Self, axis: i32| x.slice(axis, seen.clone());
        let mask = scores.mask.as_ref().map(|mask| only(mask, -1)).transpose()?;
        let scores = Scores { mask, sight: sight.from(0, seen.start), ..scores };
        let mut more = vec![(0, 0); dims.len()];
        more[dims.len() - 1] = (seen.start, sizes.keys - seen.end);
        let of = (Sizes { keys: seen.len(), ..sizes }, scores);
        let (result, weights) =
            self.attend_seen(&only(keys, -2)?, &only(values, -2)?, of, weighs)?;
        let padded = |weights: Self| weights.pad(&more, Pad::Constant(0.0f32.into()));
        Ok((result, weights.map(padded).transpose()?))
    }

    /// [`Tensor::attend`], where every key is seen by a query, or nearly.
    fn attend_seen(
        &self,
        keys: &Self,
        values: &Self,
        (sizes, scores): (Sizes, Scores),
        weighs: bool,
    ) -> Result<(Self, Option<Self>)> {
        let Scores { scale, cap, mask, sight } = scores;
        let device = &self.device;
        let dims = self.shape().dims();
        let outer = &dims[..dims.len() - 1];
        let shape = Shape::new([outer, &[sizes.e]].concat())?;
        let weights = || Shape::new([outer, &[sizes.keys]].concat());
        if shape.is_empty() && !weighs || sizes.keys == 0 || outer.contains(&0) {
            let of: Vec<_> = [self, keys, values].into_iter().chain(&mask).collect();
            let zeros = |to| device.zeros(to, self.dtype())?.on_behalf_of(&of);
            return Ok((zeros(shape)?, weighs.then(|| zeros(weights()?)).transpose()?));
        }
        let segment = device.engine.segment_elements(DType::F32);
        let scored = [mask.is_some(), weighs || cap.is_some()];
        let staged = match sizes.way(&sight, scored, segment, device.target()) {
            AttentionWay::Stored { hidden } => {
                let mask = if hidden { Some(self.in_sight(sight, &sizes, mask)?) } else { mask };
                let by = self.weights(keys, (scale, cap), mask.as_ref())?;
                let result = by.weighing(values)?.reshape_copied(shape)?.cast(self.dtype())?;
                let by = || by.reshape_copied(weights()?)?.cast(self.dtype());
                return Ok((result, weighs.then(by).transpose()?));
            }
            AttentionWay::Products => {
                let result = self.lonely(keys, values, scale)?.cast(self.dtype())?;
                return Ok((result.reshape_copied(shape)?, None));
            }
            AttentionWay::TooMany { keys_max } => {
                return Err(TensorCause::Keys { keys: sizes.keys, keys_max }.into());
            }
            AttentionWay::Kernel { staged } => staged,
        };
        let mut inputs = vec![self.by_heads(sizes.d)?, keys.by_heads(sizes.d)?];
        inputs.push(values.by_heads(sizes.e)?);
        inputs.extend(mask);
        let core = AttentionCore { scale, sight, staged, by: None };
        let result = apply(core, &inputs)?;
        let result = result.slice(3, 0..sizes.e)?.cast(self.dtype())?;
        let result = if sizes.e % 4 == 0 { result } else { result.contiguous()? };
        Ok((result.permute([0, 2, 1, 3])?.reshape(shape)?, None))
    }

    /// Attention of one query to a head, which sees every key, by products of matrices: they have
    /// work for every lane, and the attention kernel has not. The scores of a head are a row, no
    /// matrix.
    fn lonely(&self, keys: &Self, values: &Self, scale: f32) -> Result<Self> {
        let [q, k, v] = [self, keys, values].map(|x| x.cast(DType::F32)?.four());
        let (q, k) = (q?, k?);
        let [batch, heads, _, d] = q.shape().array()?;
        let shared = k.shape().dims()[1];
        let q = q.contiguous()?.reshape([batch, shared, heads / shared, d])?;
        let scores = (q.matmul(&k.t()?)? * scale)?;
        // A row of nothing but minus infinity has no weights, as in the kernel.
        let none = scores.eq(f32::NEG_INFINITY)?;
        none.choose(0.0, scores.softmax(3)?)?.matmul(&v?)
    }

    /// What is added to the scores, with what lengths hide.
    fn within(&self, lengths: &Self, keys: usize, mask: Option<Self>) -> Result<Self> {
        let (what, dtype, only) = ("lengths", lengths.dtype(), "an integer");
        if !dtype.is_integer() {
            return Err(TensorCause::Only { what, dtype, only }.into());
        }
        let dims = self.shape().dims();
        let batch = &dims[..dims.len().saturating_sub(3)];
        if lengths.shape().dims() != batch {
            let (lengths, batches) = (*lengths.shape(), Shape::new(batch)?);
            return Err(TensorCause::Lengths { lengths, batches }.into());
        }
        let room = dims.len() - batch.len();
        let lengths = lengths.cast(DType::I32)?;
        let lengths = (0..room).try_fold(lengths, |lengths, _| lengths.unsqueeze(-1))?;
        let seen = self.device.arange(0, keys, 1, DType::I32)?.lt(&lengths)?;
        seen.hiding(mask)
    }

    /// What is added to the scores, with what lies out of sight: a mask that is stored.
    fn in_sight(&self, sight: Sight, sizes: &Sizes, mask: Option<Self>) -> Result<Self> {
        let count = |count: usize| self.device.arange(0, count, 1, DType::I32);
        let queries = (count(sizes.queries)? + sight.first)?.unsqueeze(1)?;
        let apart = (count(sizes.keys)? - queries)?;
        let seen = apart.ge(-i64::from(sight.before))?.and(apart.le(sight.after)?)?;
        seen.hiding(mask)
    }

    /// A mask, or none, with minus infinity where this is false.
    fn hiding(&self, mask: Option<Self>) -> Result<Self> {
        let hidden = f32::NEG_INFINITY;
        match mask {
            Some(mask) => self.choose(&mask, hidden),
            None => self.choose(0.0f32, hidden),
        }
    }

    /// A mask over all scores, `[batch, heads, queries, keys]`. Its batches may have to be copied
    /// to be one axis: of the other axes no more than there is.
    fn spread(&self, scores: &Shape) -> Result<Self> {
        let mut dims = scores.dims().to_vec();
        let own = self.shape().dims().iter().rev().chain(core::iter::repeat(&1));
        dims.iter_mut().rev().take(3).zip(own).for_each(|(dim, &own)| *dim = own);
        self.broadcast_to(dims)?.four()?.broadcast_to(four(scores)?)
    }

    /// The softmax of scores that are stored, so that more can be done to them:
    /// `[batch, heads, queries, keys]`.
    fn weights(
        &self,
        keys: &Self,
        (scale, cap): (f32, Option<f32>),
        mask: Option<&Self>,
    ) -> Result<Self> {
        let [q, k] = [self, keys].map(|x| x.cast(DType::F32)?.four());
        let (q, k) = (q?, k?);
        let [batch, heads, queries, d] = q.shape().array()?;
        let [shared, count] = [1, 2].map(|axis| k.shape().dims()[axis]);
        let rows = heads / shared.max(1) * queries;
        let scores = q.reshape_copied([batch, shared, rows, d])?.matmul_plain(&k.t()?)?;
        let scores = scores.reshape_copied([batch, heads, queries, count])?;
        let scores = match cap {
            Some(cap) => {
                // What is divided by it is neither subnormal nor infinite.
                let cap = cap.clamp(f32::MIN_POSITIVE, 2f32.powi(100));
                (((scores * scale)? / cap)?.tanh()? * cap)?
            }
            None => (scores * scale)?,
        };
        let scores = match mask {
            Some(mask) => (scores + mask)?,
            None => scores,
        };
        // Of no key comes nothing.
        let none = scores.amax(Axes::keep(3))?.eq(f32::NEG_INFINITY)?;
        none.choose(0.0f32, &scores.softmax(3)?)
    }

    /// The values by these weights.
    fn weighing(&self, values: &Self) -> Result<Self> {
        let v = values.cast(DType::F32)?.four()?;
        let [batch, heads, queries, count] = self.shape().array()?;
        let [shared, e] = [1, 3].map(|axis| v.shape().dims()[axis]);
        let rows = heads / shared.max(1) * queries;
        let weights = self.reshape_copied([batch, shared, rows, count])?;
        weights.matmul_plain(&v)?.reshape_copied([batch, heads, queries, e])
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
        self.reshape_copied(four(self.shape())?)
    }
}

/// A shape of two axes or more with four: those in front are one, or there is one more.
fn four(shape: &Shape) -> Result<Shape> {
    let dims = shape.dims();
    let (batch, own) = dims.split_at(dims.len().saturating_sub(3));
    let batch = batch.iter().product::<usize>();
    let front: &[usize] = if own.len() < 3 { &[batch, 1] } else { &[batch] };
    Shape::new([front, own].concat())
}

/// What becomes of scores.
struct Scores {
    scale: f32,
    cap: Option<f32>,
    /// What is added.
    mask: Option<Tensor>,
    sight: Sight,
}

impl SharedMask {
    fn of(given: Tensor) -> Self {
        Self { given, added: Arc::default() }
    }

    /// What it adds to scores of this shape, over which it is broadcast.
    fn over(&self, scores: &Shape) -> Result<Tensor> {
        self.given.broadcast_to(*scores).map_err(|error| error.during("mask"))?;
        if let Some(added) = self.added.get() {
            return Ok(added.clone());
        }
        let (what, dtype, only) = ("mask", self.given.dtype(), "bool or a float");
        let added = match dtype {
            DType::Bool => self.given.choose(0.0f32, f32::NEG_INFINITY)?,
            dtype if dtype.is_float() => self.given.cast(DType::F32)?,
            _ => return Err(TensorCause::Only { what, dtype, only }.into()),
        };
        Ok(self.added.get_or_init(|| added).clone())
    }
}

/// Defers the kernel, whose result is `[batch, queries, heads, e]`. If an input or the result is
/// more than a segment, one half after the other.
fn apply(core: AttentionCore, inputs: &[Tensor]) -> Result<Tensor> {
    let device = &inputs[0].device;
    let [queries, values] = [0, 2].map(|i| inputs[i].shape().dims());
    let shape = Shape::new([queries[0], queries[2], queries[1], values[3]])?;
    if values[2] == 0 {
        return device.zeros(shape, DType::F32);
    }
    let views: Vec<Layout> = inputs.iter().map(|x| x.layout).collect();
    let segment = device.engine.segment_elements(DType::F32);
    let states = core.states(device.site(), &views);
    if let Some(Halves { axis, each }) = Halves::of(&views, core.sight, states, segment)? {
        return in_two([0, 2, 1][axis], each, |(views, sight)| {
            let inputs = inputs.iter().zip(views).map(|(x, view)| x.view(view));
            apply(AttentionCore { sight, ..core }, &inputs.collect::<Vec<_>>())
        });
    }
    let size = AttentionSize::of_views(&views, inputs[0].dtype(), core.sight.after == 0);
    let core = AttentionCore { by: size.and_then(|size| device.tuned(size)), ..core };
    let args = inputs.iter().map(Tensor::arg).collect();
    Ok(Tensor::deferred(device, What::core(core), args, shape, Stored::F32))
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
            if !by_f32(dtype) {
                return Err(TensorCause::Only { what, dtype, only: FLOATS_BY_F32 }.into());
            }
            if x.dtype != q.dtype {
                let (left, right) = (q.dtype(), dtype);
                return Err(TensorCause::Dtypes { what: both, left, right }.into());
            }
            if x.shape().rank() < 2 {
                let cause = ShapeCause::Ranks { shape: *x.shape(), takes: "2 or more" };
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
        if d.div_ceil(4) + e.div_ceil(4) > QUADS_MAX {
            return Err(TensorCause::Long { d, e }.into());
        }
        Ok(Self { queries: a[rank - 2], keys: b[rank - 2], d, e })
    }
}
