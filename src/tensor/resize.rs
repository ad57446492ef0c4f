//! Images of another size: each axis by itself, a few elements of it for each of the result. And
//! images at places that a tensor names.
//!
//! ```text
//! place of result i in the source     (2 i + 1) in / (2 out) - 1/2, or i (in - 1) / (out - 1)
//! its whole part                      which elements
//! what is left of it                  their weights in a sum
//! ```
//!
//! Between are fractions of integers, so that nothing is rounded before a weight is. An axis is
//! resized by a kernel of its own; of more than a segment holds, by a gather and a reduction.

use super::cause::{FLOATS_BY_F32, TensorCause, by_f32, float};
use super::halves::{halves, in_two};
use super::number::Scalar;
use super::pool::Pooling;
use super::reduce::{computed, summed};
use super::{Pad, Tensor};
use crate::dtype::DType;
use crate::engine::site::asked;
use crate::error::{Error, Result, causes};
use crate::fuse::What;
use crate::kernel::resize::{Enlarging, ResizeCore, Resizing};
use crate::kernel::sample::{Around, LENGTH_MAX, SampleCore, Sampling};
use crate::plan::Stored;
use crate::reference::{Filter, Resampling};
use crate::shape::Shape;

mod antialiased;

/// Which places of two images of different sizes lie on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Align {
    /// The outer edges: an element is a square, as of cameras and screens. PyTorch's
    /// `align_corners=False`.
    Edges,
    /// The centres of the elements in the corners: PyTorch's `align_corners=True`.
    Corners,
}

impl Align {
    /// Where elements lie in a source of another length, in fractions of integers.
    const fn sampling(self, from: usize, to: usize, cubic: bool) -> Resampling {
        let (from, to) = (from as u32, to as u32); // their product was checked
        match self {
            Self::Edges => {
                let term = from as i64 - to as i64;
                Resampling { factor: 2 * from, term, parts: 2 * to, cubic }
            }
            Self::Corners => {
                let parts = if to > 1 { to - 1 } else { 1 };
                Resampling { factor: from - 1, term: 0, parts, cubic }
            }
        }
    }
}

/// How an element between others is made of them: see [`Tensor::interpolate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Interpolation {
    /// It is the one at `i * in / out`, rounded down.
    Nearest,
    /// Of the two beside it on each axis: linear, bilinear, trilinear.
    Linear(Align),
    /// Of the four beside it on each axis, by the cubic of Keys with -0.75.
    Cubic(Align),
    /// As [linear](Interpolation::Linear) by the outer edges, but where an axis becomes shorter, of
    /// all that an element covers: PyTorch's `antialias=True`.
    LinearAntialiased,
    /// Like [`Interpolation::LinearAntialiased`], but by the cubic of Keys with -0.5, as in PIL.
    CubicAntialiased,
}

/// The factor of the cubic, and of that without aliases.
const KEYS: [f64; 2] = [-0.75, -0.5];

impl Tensor {
    /// The last axes at another size. What lies beyond an end of an axis is the element at the end.
    /// [`Interpolation::Nearest`] takes any dtype and moves bits, the others are of floats, and
    /// f16 and bf16 computed in f32. What an element has no weight of does not count, be it
    /// infinite. An axis after the other, and stored between them, but the last two at once where
    /// neither becomes shorter; one that keeps its length stays as it is. Without aliases, an axis
    /// that becomes 32 or 64 times shorter is a sum of lists that are stored, some three or five
    /// times as long as it.
    ///
    /// Places are found in integers: a long axis is as exact as a short one. For each axis that
    /// changes a linear result is off by at most 8 ulp of the largest magnitude that it is made
    /// of, a cubic one by 64, one without aliases by as many as a sum may be: see the
    /// [contract](crate::op). Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::{Align, Interpolation};
    ///
    /// let (x, _) = device.upload(&[1.0f32, 3.0], [1, 1, 2])?;
    /// let wide = x.interpolate([4], Interpolation::Linear(Align::Edges))?;
    /// assert_eq!(wide.read_now::<f32>()?, [1.0, 1.5, 2.5, 3.0]);
    /// let wide = x.interpolate([3], Interpolation::Linear(Align::Corners))?;
    /// assert_eq!(wide.read_now::<f32>()?, [1.0, 2.0, 3.0]);
    ///
    /// // What falls between the places of the result is seen only without aliases.
    /// let (stripes, _) = device.upload(&[8.0f32, 0.0, 0.0, 0.0, 0.0, 8.0], [1, 6])?;
    /// let small = stripes.interpolate([2], Interpolation::Linear(Align::Edges))?;
    /// assert_eq!(small.read_now::<f32>()?, [0.0, 0.0]);
    /// let small = stripes.interpolate([2], Interpolation::LinearAntialiased)?;
    /// assert_eq!(small.round()?.read_now::<f32>()?, [2.0, 2.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("upsample", "resize"))]
    #[track_caller]
    pub fn interpolate<const D: usize>(
        &self,
        size: [usize; D],
        how: Interpolation,
    ) -> Result<Self> {
        let what = "interpolate";
        let resized = || {
            if how != Interpolation::Nearest {
                self.check_float()?;
            }
            let result = self.by_axes(size, |x, axis, length, to| match how {
                Interpolation::Nearest => x.tapped(what, axis, &x.nearest(length, to)?),
                Interpolation::Linear(align) => {
                    if let Some(resized) = x.resized(axis, &size, align, false)? {
                        return Ok(resized);
                    }
                    let at = Between::of(x, [length, to], align, true)?;
                    x.blended(what, axis, &at, 0..2, |far| 1.0f32 - far)
                }
                Interpolation::Cubic(align) => {
                    if let Some(resized) = x.resized(axis, &size, align, true)? {
                        return Ok(resized);
                    }
                    let at = Between::of(x, [length, to], align, false)?;
                    x.blended(what, axis, &at, -1..3, |far| cubic(far, KEYS[0]))
                }
                Interpolation::LinearAntialiased => {
                    x.filtered(what, axis, [length, to], Filter::Linear)
                }
                Interpolation::CubicAntialiased => {
                    x.filtered(what, axis, [length, to], Filter::Cubic)
                }
            })?;
            result.cast(self.dtype())
        };
        asked(resized).map_err(|error: Error| error.during(what))
    }

    /// The last axes at another size, each element the mean of those of the source that it covers,
    /// at least in part: of `i * in / out`, rounded down, to `(i + 1) * in / out`, rounded up. Of
    /// floats, f16 and bf16 computed in f32, by the contract of a [mean](crate::op). Where sizes
    /// divide each other it is [`Tensor::avg_pool`]. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0], [1, 5])?;
    /// assert_eq!(x.adaptive_avg_pool([2])?.read_now::<f32>()?, [2.0, 4.0]);
    /// assert_eq!(x.adaptive_avg_pool([1])?.read_now::<f32>()?, [3.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn adaptive_avg_pool<const D: usize>(&self, size: [usize; D]) -> Result<Self> {
        let what = "adaptive_avg_pool";
        let pooled = || {
            self.check_float()?;
            let first = self.sized(size)?;
            let dims = self.shape().dims();
            if (0..D).all(|i| dims[first + i].is_multiple_of(size[i])) {
                let windows: [usize; D] = core::array::from_fn(|i| dims[first + i] / size[i]);
                return self.avg_pool(&Pooling::new(windows));
            }
            let result = self.by_axes(size, |x, axis, length, to| {
                x.filtered(what, axis, [length, to], Filter::Even)
            })?;
            result.cast(self.dtype())
        };
        asked(pooled).map_err(|error: Error| error.during(what))
    }

    /// The image `[n, channels, height, width]` at the places that a grid `[n, y, x, 2]` names:
    /// `[n, channels, y, x]`, each of the four elements around its place. A place is x, then y,
    /// both from -1 to 1 between the outer edges of the image, or between the centres of its
    /// corners: [`Align`]. Beside the image is what a [`Pad`] says; [`Pad::Reflect`] mirrors at
    /// what is aligned.
    ///
    /// Of f32, f16 or bf16, as is the grid, whatever its own; computed in f32. The place is off by
    /// 2^-22 of its distance from where the image begins and of the image's length, and the result
    /// is off by 8 ulp of the largest element beside it. What an element has no weight of does not
    /// count, be it infinite. A place that is NaN gives NaN; so does an infinite one where it is
    /// reflected or wrapped. One kernel, with what follows. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::{Align, Pad};
    ///
    /// let (image, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 2, 2])?;
    /// let (grid, _) = device.upload(&[0.0f32, 0.0, 1.0, -1.0, -1.0, 3.0], [1, 1, 3, 2])?;
    /// let seen = image.grid_sample(&grid, Align::Corners, Pad::Constant(0.into()))?;
    /// assert_eq!(seen.read_now::<f32>()?, [2.5, 2.0, 0.0]); // its middle, a corner, far below it
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn grid_sample(&self, grid: &Self, align: Align, around: impl Into<Pad>) -> Result<Self> {
        let around = around.into();
        let sampled = || self.seen_at(grid, align, around, false);
        asked(sampled).map_err(|error| error.during("grid_sample"))
    }

    /// [`Tensor::grid_sample`] of the element that is nearest to each place, the even one of two:
    /// its bits. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::{Align, Pad};
    ///
    /// let (image, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 2, 2])?;
    /// let (grid, _) = device.upload(&[0.4f32, -0.4, -2.0, 7.0], [1, 2, 1, 2])?;
    /// let seen = image.grid_sample_nearest(&grid, Align::Edges, Pad::Replicate)?;
    /// assert_eq!(seen.read_now::<f32>()?, [2.0, 3.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn grid_sample_nearest(
        &self,
        grid: &Self,
        align: Align,
        around: impl Into<Pad>,
    ) -> Result<Self> {
        let around = around.into();
        let sampled = || self.seen_at(grid, align, around, true);
        asked(sampled).map_err(|error| error.during("grid_sample_nearest"))
    }

    fn seen_at(&self, grid: &Self, align: Align, around: Pad, nearest: bool) -> Result<Self> {
        self.device.engine.same_device(&grid.device.engine)?;
        for (what, x) in [("input", self), ("grid", grid)] {
            if !by_f32(x.dtype()) {
                let only = FLOATS_BY_F32;
                return Err(TensorCause::Only { what, dtype: x.dtype(), only }.into());
            }
        }
        let (shape, named) = (*self.shape(), *grid.shape());
        let (&[n, channels, h, w], &[grids, lines, columns, 2]) = (shape.dims(), named.dims())
        else {
            return Err(ResizeCause::Grid { shape, grid: named }.into());
        };
        if n != grids {
            return Err(ResizeCause::Grid { shape, grid: named }.into());
        }
        let to = Shape::new([n, channels, lines, columns])?;
        if to.is_empty() {
            return self.device.zeros(to, self.dtype())?.on_behalf_of(&[self, grid]);
        }
        for length in [h, w] {
            if !(1..=LENGTH_MAX).contains(&length) {
                return Err(ResizeCause::Places { shape, length }.into());
            }
        }
        let (around, number) = match around {
            Pad::Constant(number) => {
                let bytes = number.encode(self.dtype())?;
                (Around::Number, Scalar::decode(self.dtype(), &bytes).value().float() as f32)
            }
            Pad::Replicate => (Around::Ends, 0.0),
            Pad::Reflect => (Around::Mirrors, 0.0),
            Pad::Wrap => (Around::Copies, 0.0),
        };
        let corners = align == Align::Corners;
        self.sampled_in_parts(grid, to, &|to| {
            let whole = (to.dims()[2] * to.dims()[3]).is_multiple_of(4);
            SampleCore { how: Sampling { nearest, around, whole }, corners, number }
        })?
        .cast_to(self.dtype)
    }

    /// Defers the kernel. If something of it is more than a segment, one half after the other.
    fn sampled_in_parts(
        &self,
        grid: &Self,
        to: Shape,
        core: &dyn Fn(&Shape) -> SampleCore,
    ) -> Result<Self> {
        let segment = self.device.engine.segment_elements(DType::F32);
        let dims = to.dims();
        let sizes = [*self.shape(), *grid.shape(), to].map(|shape| shape.elements());
        // What can be cut so that it becomes smaller.
        let axes: &[usize] = match sizes.map(|size| size > segment) {
            [true, ..] => &[0, 1],
            [_, true, _] => &[0, 2, 3],
            [.., true] => &[0, 1, 2, 3],
            _ => {
                let what = What::core(core(&to));
                let args = vec![self.arg(), grid.arg()];
                return Ok(Self::deferred(&self.device, what, args, to, Stored::F32));
            }
        };
        let Some(&axis) = axes.iter().find(|&&axis| dims[axis] > 1) else {
            let largest = sizes.into_iter().fold(0, usize::max);
            return Err(ResizeCause::Large { largest, segment }.into());
        };
        in_two(axis, halves(dims[axis]), |part| {
            let mut dims = dims.to_vec();
            dims[axis] = part.len();
            let image = if axis < 2 { self.slice(axis, part.clone())? } else { self.clone() };
            let grid = match axis {
                1 => grid.clone(),
                0 => grid.slice(0, part)?,
                _ => grid.slice(axis - 1, part)?,
            };
            image.sampled_in_parts(&grid, Shape::new(dims)?, core)
        })
    }

    fn check_float(&self) -> Result<()> {
        float("input", self.dtype())
    }

    /// The first of the last axes that get these sizes.
    fn sized<const D: usize>(&self, size: [usize; D]) -> Result<usize> {
        let shape = *self.shape();
        let Some(first) = shape.rank().checked_sub(D) else {
            return Err(ResizeCause::Axes { shape, axes: D }.into());
        };
        if shape.dims()[first..].contains(&0) || size.contains(&0) {
            return Err(ResizeCause::Nothing { shape, size: size.to_vec() }.into());
        }
        Ok(first)
    }

    /// Resizes one axis after the other, of those that change.
    fn by_axes<const D: usize>(
        &self,
        size: [usize; D],
        resize: impl Fn(&Self, usize, usize, usize) -> Result<Self>,
    ) -> Result<Self> {
        let first = self.sized(size)?;
        for (&from, to) in self.shape().dims()[first..].iter().zip(size) {
            // Numerators of places are i32; what keeps its length has none.
            let most = 2 * (from as u128) * (to as u128 + 1);
            if from != to && i32::try_from(most).is_err() {
                return Err(ResizeCause::Long { from, to }.into());
            }
        }
        let axes = (first..).zip(size);
        axes.into_iter().try_fold(self.clone(), |x, (axis, to)| {
            let from = x.shape().dims()[axis];
            if from == to { Ok(x) } else { resize(&x, axis, from, to) }
        })
    }

    /// Where each of so many elements comes from, as u32 `[to]`.
    fn nearest(&self, from: usize, to: usize) -> Result<Self> {
        (self.device.iota(to)? * from as u32)? / to as u32
    }

    /// The elements of an axis that places `[to, ..]` name, whose axes take the place of it.
    fn tapped(&self, what: &'static str, axis: usize, places: &Self) -> Result<Self> {
        let (before, after) = self.shape().dims().split_at(axis);
        let shape = Shape::new([before, places.shape().dims(), &after[1..]].concat())?;
        let ones = vec![1; after.len() - 1];
        let places = places.contiguous()?.reshape([places.shape().dims(), &ones].concat())?;
        self.picked(
            what,
            &places.broadcast_to(shape)?,
            axis,
            places.shape().rank() + 1 - after.len(),
        )
    }

    /// What stands beside elements `[.., to, taps, ..]` of an axis: a value `[to, taps]`.
    fn beside_taps(&self, axis: usize, taps: &Self) -> Result<Self> {
        let ones = vec![1; self.shape().rank() - axis - 2];
        taps.reshape([taps.shape().dims(), &ones].concat())
    }

    /// An axis at its size, of those of the last axes, by a kernel of its own, as it is computed
    /// in; `None` if the axis is more than a segment holds, before or after. The last two axes at
    /// once where they can be.
    fn resized(
        &self,
        axis: usize,
        size: &[usize],
        align: Align,
        cubic: bool,
    ) -> Result<Option<Self>> {
        let rank = self.shape().rank();
        let (before, lengths) = self.shape().dims().split_at(axis);
        let size = &size[size.len() + axis - rank..];
        if let (&[height, width], &[high, wide]) = (lengths, size)
            && width != wide
            && height.max(high) < 1 << 30
        {
            let at =
                [(height, high), (width, wide)].map(|(from, to)| align.sampling(from, to, cubic));
            let enlarging = Enlarging { to: [high, wide], at };
            if enlarging.takes(height) {
                let shape = Shape::new([before, &[high, wide]].concat())?;
                let view = [before.iter().product(), height, width];
                let core = ResizeCore::Image(enlarging);
                if let Some(larger) = self.resized_by(core, shape, view)? {
                    return Ok(Some(larger));
                }
            }
        }
        let (from, to, after) = (lengths[0], size[0], &lengths[1..]);
        let shape = Shape::new([before, &[to], after].concat())?;
        let at = align.sampling(from, to, cubic);
        let view = [before.iter().product(), from, after.iter().product()];
        self.resized_by(ResizeCore::Axis(Resizing { to, at }), shape, view)
    }

    /// What a kernel makes of a view of three axes.
    fn resized_by(&self, core: ResizeCore, shape: Shape, view: [usize; 3]) -> Result<Option<Self>> {
        let stored = summed(self.dtype);
        let most = self.shape().elements().max(shape.elements());
        if shape.is_empty() || most > self.device.engine.segment_elements(*stored) {
            return Ok(None);
        }
        let args = vec![self.reshape_copied(view)?.arg()];
        Ok(Some(Self::deferred(&self.device, What::core(core), args, shape, stored)))
    }

    /// The sum of elements beside each place, weighted by how far they are from it.
    fn blended(
        &self,
        what: &'static str,
        axis: usize,
        at: &Between,
        taps: core::ops::Range<i32>,
        weigh: impl Fn(Self) -> Result<Self>,
    ) -> Result<Self> {
        let wide = computed(self.dtype());
        let tap = self.device.arange(taps.start, taps.end, 1, DType::I32)?;
        let last = self.shape().dims()[axis] as i32 - 1;
        let places = (&at.whole + &tap)?.clamp(0, last)?.cast(DType::U32)?;
        let far = (tap.cast(wide)? - &at.part)?.abs()?;
        let elements = self.tapped(what, axis, &places)?.cast(wide)?;
        elements.weighted(axis, &weigh(far)?.contiguous()?)
    }

    /// The sums of elements `[.., to, taps, ..]` by weights `[to, taps]`. What has no weight does
    /// not count, be it infinite.
    fn weighted(&self, axis: usize, weights: &Self) -> Result<Self> {
        let weights = self.beside_taps(axis, weights)?;
        weights.eq(0.0)?.choose(0.0, (self * &weights)?)?.sum(axis + 1)
    }
}

/// Where each element of a result lies in the source, `[to, 1]`: before which element, as i32, and
/// by what part of the way to the next.
struct Between {
    whole: Tensor,
    part: Tensor,
}

impl Between {
    /// None before the first element, if that is asked for.
    fn of(x: &Tensor, [from, to]: [usize; 2], align: Align, inside: bool) -> Result<Self> {
        let Resampling { factor, term, parts, .. } = align.sampling(from, to, false);
        let i = x.device.arange(0, to, 1, DType::I32)?.unsqueeze(1)?;
        let counted = i.mul_add(factor, term)?;
        let counted = if inside { counted.maximum(0)? } else { counted };
        let rest = counted.rem_floor(parts)?;
        let part = (rest.cast(computed(x.dtype()))? / f64::from(parts))?;
        Ok(Self { whole: ((counted - rest)? / parts)?, part })
    }
}

/// The weight of an element that is so far away, of less than two.
fn cubic(far: Tensor, keys: f64) -> Result<Tensor> {
    let near = (far.mul_add(keys + 2.0, -(keys + 3.0))? * far.square()?)? + 1.0;
    let beyond = ((far.mul_add(keys, -5.0 * keys)? * &far)? + 8.0 * keys)?;
    let beyond = (beyond * &far)? - 4.0 * keys;
    far.le(1.0)?.choose(near?, beyond?)
}

causes! {
    /// What can be wrong with the size of an image.
    enum ResizeCause;

    Axes { shape: Shape, axes: usize }, Shape:
        ("sizes of the last {axes} axes of {shape}, which has {}", shape.rank())
        help ("`unsqueeze` adds an axis of length 1");
    Nothing { shape: Shape, size: Vec<usize> }, Shape:
        ("{shape} at the size {size:?}: an axis of no elements")
        help ("an axis that is resized has an element before and after it");
    Grid { shape: Shape, grid: Shape }, Shape:
        ("a grid of {grid} for images of {shape}")
        help ("images are `[n, channels, height, width]`, and a grid is `[n, y, x, 2]`");
    Places { shape: Shape, length: usize }, Shape:
        ("an image of {shape} has an axis of {length} elements, not 1 to {LENGTH_MAX}")
        help ("{}", match length {
            0 => "there is nothing to look at",
            _ => "f32 tells no more places apart: `interpolate` makes it smaller",
        });
    Large { largest: usize, segment: usize }, Limit:
        ("an image or a grid of {largest} elements, above {segment} of a segment")
        help ("sample parts of the image or of the grid");
    Long { from: usize, to: usize }, Limit:
        ("an axis of length {from} at {to}: their product is above {}", i32::MAX / 2)
        help ("resize it in two steps, or in parts");
}
