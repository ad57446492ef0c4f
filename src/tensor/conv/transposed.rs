//! Convolutions that go back: what each element of the result is the sum of.
//!
//! ```text
//! element o of the result      sum over taps k of x[(o + padding - dilation k) / stride] w[k]
//! for o = stride t + place     only taps where that is whole: every `step`th, from one on
//! ```
//!
//! So all elements at one place of every stride are a convolution by those taps, last one first. A
//! transposed convolution is as many of those as a stride has places, laced; places that take the
//! same elements are computed at once.

use super::{Conv, ConvCause};
use crate::engine::site::asked;
use crate::error::{Result, causes};
use crate::plan::Stored;
use crate::shape::Shape;
use crate::tensor::number::Scalar;
use crate::tensor::{Pad, Tensor};

/// The most places of a stride, in all axes: each may be a convolution by itself.
const PLACES_MAX: usize = 4096;

impl Tensor {
    /// The transposed convolution of signals `[n, channels, length]` with a weight `[channels, out
    /// / groups, taps]`: see [`Tensor::conv_transpose2d`]. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Conv;
    ///
    /// let (x, _) = device.upload(&[1.0f32, 2.0], [1, 1, 2])?;
    /// let (weight, _) = device.upload(&[1.0f32, 10.0], [1, 1, 2])?;
    /// let y = x.conv_transpose1d(&weight, None, &Conv::new().stride([2]))?;
    /// assert_eq!(y.read_now::<f32>()?, [1.0, 10.0, 2.0, 20.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn conv_transpose1d(
        &self,
        weight: &Self,
        bias: Option<&Self>,
        how: &Conv<1>,
    ) -> Result<Self> {
        let what = "conv_transpose1d";
        let spread = || self.transposed_conv(what, weight, bias, how);
        asked(spread).map_err(|error| error.during(what))
    }

    /// What brings the results of a convolution back to where its inputs were: of images `[n,
    /// channels, height, width]` with a weight `[channels, out / groups, taps, taps]`, as
    /// checkpoints have it, plus a bias `[out]`. Each element is spread over the result by the
    /// weight, `stride` apart; the result is `[n, out, ..]` with `(size - 1) stride - 2 padding +
    /// dilation (taps - 1) + output padding + 1` along each axis.
    ///
    /// Elements of the result that are a stride apart are a [convolution](Tensor::conv2d), by its
    /// contract, of every so many taps, without zeros between elements. A stride has at most 4096
    /// places in all axes; those that take as many taps of the same elements are one convolution,
    /// and without dilation that is up to four for each axis. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Conv;
    ///
    /// let (image, _) = device.upload(&[1.0f32, 2.0], [1, 1, 1, 2])?;
    /// let (weight, _) = device.upload(&[1.0f32, 10.0, 100.0], [1, 1, 1, 3])?;
    /// let y = image.conv_transpose2d(&weight, None, &Conv::new().stride([1, 2]))?;
    /// assert_eq!(y.read_now::<f32>()?, [1.0, 10.0, 102.0, 20.0, 200.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "deconvolution")]
    #[track_caller]
    pub fn conv_transpose2d(
        &self,
        weight: &Self,
        bias: Option<&Self>,
        how: &Conv<2>,
    ) -> Result<Self> {
        let what = "conv_transpose2d";
        let spread = || self.transposed_conv(what, weight, bias, how);
        asked(spread).map_err(|error| error.during(what))
    }

    /// The transposed convolution of volumes `[n, channels, depth, height, width]` with a weight
    /// `[channels, out / groups, taps, taps, taps]`: see [`Tensor::conv_transpose2d`]. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Conv;
    ///
    /// let x = device.ones([1, 1, 1, 1, 2], wharf::DType::F32)?;
    /// let weight = device.ones([1, 1, 1, 1, 2], wharf::DType::F32)?;
    /// let y = x.conv_transpose3d(&weight, None, &Conv::new())?;
    /// assert_eq!(y.read_now::<f32>()?, [1.0, 2.0, 1.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn conv_transpose3d(
        &self,
        weight: &Self,
        bias: Option<&Self>,
        how: &Conv<3>,
    ) -> Result<Self> {
        let what = "conv_transpose3d";
        let spread = || self.transposed_conv(what, weight, bias, how);
        asked(spread).map_err(|error| error.during(what))
    }

    /// The gradient of the input of a transposed convolution, `conv_transpose1d` to
    /// `conv_transpose3d`: this is what arrives at its result. It is a
    /// [convolution](Tensor::conv2d) by the same weight, by its contract and dtypes. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Conv;
    ///
    /// let how = Conv::new().stride([2]);
    /// let (x, _) = device.upload(&[3.0f32, 4.0], [1, 1, 2])?;
    /// let (weight, _) = device.upload(&[10.0f32, 1.0], [1, 1, 2])?;
    /// let y = x.conv_transpose1d(&weight, None, &how)?;
    /// let arrives = device.ones(*y.shape(), wharf::DType::F32)?;
    /// let gradient = arrives.conv_transpose_input_grad(&weight, &how)?;
    /// assert_eq!(gradient.read_now::<f32>()?, [11.0, 11.0]);
    /// let gradient = arrives.conv_transpose_weight_grad(&x, [2], &how)?;
    /// assert_eq!(gradient.read_now::<f32>()?, [7.0, 7.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn conv_transpose_input_grad<const D: usize>(
        &self,
        weight: &Self,
        how: &Conv<D>,
    ) -> Result<Self> {
        let what = "conv_transpose_input_grad";
        let gradient = || {
            let all = self.convolve(what, weight, None, &how.output_padding([0; D]))?;
            if how.surplus() == [0; D] {
                return Ok(all);
            }
            let places = all.shape().dims()[2..].iter().zip(how.surplus());
            let size: Vec<usize> = places.map(|(all, more)| all.saturating_sub(more)).collect();
            let gradient = all.part_of(&size)?;
            how.spread(gradient.shape(), weight.shape()).map(|_| gradient)
        };
        asked(gradient).map_err(|error| error.during(what))
    }

    /// The gradient of the weight of a transposed convolution of `input`: this is what arrives at
    /// its result, and the weight was `[channels, out / groups, ..]`, of this size along its last
    /// `D` axes. It is the [gradient of a convolution's weight](Tensor::conv_weight_grad) with its
    /// sides exchanged, by its contract and dtypes: see [`Tensor::conv_transpose_input_grad`].
    /// Deferred.
    #[track_caller]
    pub fn conv_transpose_weight_grad<const D: usize>(
        &self,
        input: &Self,
        size: [usize; D],
        how: &Conv<D>,
    ) -> Result<Self> {
        let gradient = || {
            let mut input = input.clone();
            if how.surplus() != [0; D] {
                // Where the convolution back has more places, nothing was spread from.
                let pads: Vec<_> =
                    [0; 2].into_iter().chain(how.surplus()).map(|more| (0, more)).collect();
                input = input.pad(&pads, Pad::Constant(Scalar::zero(input.dtype())))?;
            }
            input.weight_gradient(self, size, &how.output_padding([0; D]))
        };
        asked(gradient).map_err(|error| error.during("conv_transpose_weight_grad"))
    }

    pub(super) fn transposed_conv<const D: usize>(
        &self,
        what: &'static str,
        weight: &Self,
        bias: Option<&Self>,
        how: &Conv<D>,
    ) -> Result<Self> {
        for other in [Some(weight), bias].into_iter().flatten() {
            self.device.engine.same_device(&other.device.engine)?;
        }
        let weight = weight.widened(self.dtype)?;
        let (_, stored) = self.convolved_as(&weight, "input and weight")?;
        let size = how.spread(self.shape(), weight.shape())?;
        let turned = weight.turned_weight::<D>(how.groups)?;
        let rows = turned.shape().dims()[0];
        let (images, x) = (self.shape().dims()[0], self.shape().dims());
        Shape::new([&[images, rows], &size[..]].concat())?;
        let bias = bias.map(|bias| bias.widened(stored)).transpose()?;
        bias.as_ref().map(|bias| bias.by_rows(rows, 2 + D, stored)).transpose()?;
        let places = how.places(size)?;
        // Each axis: its runs of phases, whose elements are a stride apart.
        let runs = |i: usize| runs(how.phases(i, weight.shape().dims()[2 + i], places[i]));
        let axes: [Vec<Phases>; D] = core::array::from_fn(runs);
        let each: [usize; D] = core::array::from_fn(|i| size[i].div_ceil(how.stride[i]));
        let mut pads = vec![(0, 0); 2 + D];
        for (i, runs) in axes.iter().enumerate() {
            let end = |run: &Phases| run.first.last + each[i] as isize - x[2 + i] as isize;
            let before = runs.iter().map(|run| -run.first.first()).max().unwrap_or(0);
            let after = runs.iter().map(end).max().unwrap_or(0);
            pads[2 + i] = (before.max(0).unsigned_abs(), after.max(0).unsigned_abs());
        }
        let input = match pads.iter().all(|&pad| pad == (0, 0)) {
            true => self.clone(),
            false => self.pad(&pads, Pad::Constant(Scalar::zero(self.dtype())))?,
        };
        let before = core::array::from_fn(|i| pads[2 + i].0.cast_signed());
        let lacing = Lacing { what, input, turned, bias, stored, groups: how.groups, before, each };
        let all = lacing.laced(&axes)?;
        // Between phases of an axis lies what follows it: each before its own.
        let order = [D, D + 1].into_iter().chain((0..D).flat_map(|i| [D + 2 + i, i]));
        let all = all.permute(order.map(|axis| axis as i64))?;
        let whole: Vec<usize> = (0..D).map(|i| each[i] * places[i]).collect();
        all.reshape_copied([&[images, rows], &whole[..]].concat())?.part_of(&size)
    }

    /// The first elements of the last axes.
    fn part_of(&self, size: &[usize]) -> Result<Self> {
        let first = self.shape().rank() - size.len();
        let axes = size.iter().enumerate();
        axes.into_iter().try_fold(self.clone(), |x, (i, &size)| x.slice(first + i, ..size))
    }

    /// A weight `[channels, out / groups, ..]` as `[out, channels / groups, ..]`.
    fn turned_weight<const D: usize>(&self, groups: usize) -> Result<Self> {
        let dims = self.shape().dims();
        let (channels, out, taps) = (dims[0], dims[1], &dims[2..]);
        let split = self.reshape([&[groups, channels / groups, out], taps].concat())?;
        let turned = split.swap_axes(1, 2)?;
        turned.reshape_copied([&[groups * out, channels / groups], taps].concat())
    }
}

/// The elements of a transposed convolution at one place of every stride, along an axis.
///
/// Element `t` of them is the sum of taps `tap + step n`, each by element `t + last - reach n`.
struct Phase {
    tap: usize,
    step: usize,
    taps: usize,
    last: isize,
    reach: usize,
}

/// Phases one after the other, each a tap further than the one before and otherwise alike: one
/// convolution, whose results have one for each of them.
struct Phases {
    first: Phase,
    length: usize,
}

fn runs(phases: Vec<Phase>) -> Vec<Phases> {
    let mut runs: Vec<Phases> = Vec::new();
    for phase in phases {
        match runs.last_mut() {
            Some(run) if run.goes_on_with(&phase) => run.length += 1,
            _ => runs.push(Phases { first: phase, length: 1 }),
        }
    }
    runs
}

impl Phases {
    fn goes_on_with(&self, next: &Phase) -> bool {
        let Phase { tap, step, taps, last, reach } = self.first;
        let alike = [step, taps, reach] == [next.step, next.taps, next.reach];
        let further = next.tap == tap + self.length && next.last == last;
        alike && (taps == 0 || further)
    }
}

/// What the convolutions of all runs have in common.
struct Lacing<const D: usize> {
    /// The method that asks.
    what: &'static str,
    /// Padded, so many elements in front.
    input: Tensor,
    before: [isize; D],
    turned: Tensor,
    bias: Option<Tensor>,
    stored: Stored,
    groups: usize,
    /// How many elements a phase has.
    each: [usize; D],
}

impl<const D: usize> Lacing<D> {
    /// All phases: `[phases .., images, rows, each ..]`.
    fn laced(&self, axes: &[Vec<Phases>; D]) -> Result<Tensor> {
        let one = |place: usize| {
            self.convolved(core::array::from_fn(|i| {
                let after = axes[i + 1..].iter().map(Vec::len).product::<usize>();
                &axes[i][place / after % axes[i].len()]
            }))
        };
        let count = axes.iter().map(Vec::len).product();
        let mut parts = (0..count).map(one).collect::<Result<Vec<_>>>()?;
        // Where each is a phase by itself, they are moved once for all axes.
        if axes.iter().flatten().all(|run| run.length == 1) && count > 1 {
            let dims = [&axes.each_ref().map(Vec::len)[..], &parts[0].shape().dims()[D..]].concat();
            return Tensor::concat(&parts, 0)?.reshape(dims);
        }
        for (axis, runs) in axes.iter().enumerate().rev().filter(|(_, runs)| runs.len() > 1) {
            let joined = parts.chunks(runs.len()).map(|parts| Tensor::concat(parts, axis));
            parts = joined.collect::<Result<_>>()?;
        }
        Ok(parts.swap_remove(0))
    }

    /// One run of each axis.
    fn convolved(&self, chosen: [&Phases; D]) -> Result<Tensor> {
        let Self { what, input, before, turned, bias, stored, groups, each } = self;
        let (images, rows) = (input.shape().dims()[0], turned.shape().dims()[0]);
        let lengths: [usize; D] = core::array::from_fn(|i| chosen[i].length);
        let count = lengths.iter().product::<usize>();
        if chosen.iter().any(|run| run.first.taps == 0) {
            let dims = [&lengths[..], &[images, rows], each].concat();
            let none = input.device.constant(Shape::new(dims)?, *stored, 0u8)?;
            return match bias {
                Some(bias) => none + bias.by_rows(rows, 2 + D, *stored)?,
                None => Ok(none),
            };
        }
        let (mut part, mut taps, mut dilation) = (input.clone(), turned.clone(), [1; D]);
        for (i, Phases { first: phase, length }) in chosen.iter().enumerate() {
            let begin = (phase.first() + before[i]).unsigned_abs();
            let end = begin + each[i] + phase.reach * (phase.taps - 1);
            part = part.slice(2 + i, begin..end)?;
            let end = phase.tap + phase.step * (phase.taps - 1) + length;
            taps = taps.slice(2 + i, phase.tap..end)?.windows(2 + i, *length, phase.step)?;
            taps = taps.flip(2 + i)?;
            dilation[i] = phase.reach;
        }
        // Of each result so many, one for each phase.
        let own = taps.shape().dims()[1..2 + D].to_vec();
        let order = [0].into_iter().chain(2 + D..2 + 2 * D).chain(1..2 + D);
        let taps = taps.permute(order.map(|axis| axis as i64))?;
        let taps = taps.reshape_copied([&[rows * count], &own[..]].concat())?;
        let of_all = |bias: &Tensor| {
            bias.unsqueeze(1)?.broadcast_to([rows, count])?.reshape_copied([rows * count])
        };
        let bias = bias.as_ref().map(of_all).transpose()?;
        let how = Conv::new().dilation(dilation).groups(*groups);
        let made = part.convolve(what, &taps, bias.as_ref(), &how)?;
        let made = made.reshape([&[images, rows], &lengths[..], each].concat())?;
        let order = (2..2 + D).chain([0, 1]).chain(2 + D..2 + 2 * D);
        made.permute(order.map(|axis| axis as i64))
    }
}

impl Phase {
    /// The element that the last tap of element 0 takes.
    fn first(&self) -> isize {
        self.last - (self.reach * self.taps.saturating_sub(1)).cast_signed()
    }
}

impl<const D: usize> Conv<D> {
    /// The first so many phases of an axis, for a weight of so many taps.
    fn phases(&self, axis: usize, count: usize, places: usize) -> Vec<Phase> {
        let (stride, reach) = (self.stride[axis], self.dilation[axis]);
        let padding = self.padding[axis];
        // Taps of a phase are so many apart.
        let shared = shared_factor(stride, reach);
        let step = stride / shared;
        let phase = |place: usize| {
            let hits = |tap: &usize| (tap * reach) % stride == (place + padding) % stride;
            let tap = (0..count.min(step)).find(hits);
            let taps = tap.map_or(0, |tap| (count - tap).div_ceil(step));
            let tap = tap.unwrap_or(0);
            let last = ((place + padding) as isize - (tap * reach) as isize) / stride as isize;
            Phase { tap, step, taps, last, reach: reach / shared }
        };
        (0..places).map(phase).collect()
    }

    /// How many places the convolution back has beyond those that were spread: one for each stride
    /// of the output padding.
    fn surplus(&self) -> [usize; D] {
        core::array::from_fn(|i| self.output_padding[i] / self.stride[i].max(1))
    }

    /// The places that a stride has in a result of this size, along each axis.
    fn places(&self, size: [usize; D]) -> Result<[usize; D]> {
        // Beyond the result they would have no element.
        let places: [usize; D] = core::array::from_fn(|i| self.stride[i].min(size[i]));
        let count = places.iter().fold(1, |count: usize, &n| count.saturating_mul(n));
        if count > PLACES_MAX {
            return Err(SpreadCause::Places { stride: self.stride.to_vec(), count }.into());
        }
        Ok(places)
    }

    /// The size of a transposed convolution.
    fn spread(&self, input: &Shape, weight: &Shape) -> Result<[usize; D]> {
        Self::check_ranks([input, weight])?;
        let (x, w, groups) = (input.dims(), weight.dims(), self.groups);
        if groups == 0 || !x[1].is_multiple_of(groups) {
            return Err(ConvCause::Groups { what: "channels", count: x[1], groups }.into());
        }
        if x[1] != w[0] {
            return Err(SpreadCause::Channels { channels: x[1], weight: *weight }.into());
        }
        let mut size = [0; D];
        for i in 0..D {
            let (axis, dim, count) = (2 + i, x[2 + i], w[2 + i]);
            let (stride, reach, more) = (self.stride[i], self.dilation[i], self.output_padding[i]);
            for (what, n) in [
                ("stride", stride),
                ("dilation", reach),
                ("length of a kernel", count),
                ("length of the input", dim),
            ] {
                if n == 0 {
                    return Err(ConvCause::Zero { what, axis }.into());
                }
            }
            let most = stride.max(reach);
            if more >= most {
                return Err(SpreadCause::More { axis, more, most }.into());
            }
            let over = |n: usize, apart: usize| ((n - 1) as u128).saturating_mul(apart as u128);
            let spread = over(dim, stride).saturating_add(over(count, reach));
            let spread = spread.saturating_add(more as u128 + 1);
            if isize::try_from(spread.max(stride as u128)).is_err() {
                return Err(SpreadCause::Far { axis, stride, reach, spread }.into());
            }
            let (covers, pad) = (spread as usize, self.padding[i]);
            match covers.checked_sub(pad.saturating_mul(2)) {
                Some(left) if left > 0 => size[i] = left,
                _ => return Err(SpreadCause::Taken { axis, covers, pad }.into()),
            }
        }
        Ok(size)
    }
}

/// The largest number that divides both.
const fn shared_factor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { shared_factor(b, a % b) }
}

causes! {
    /// What can be wrong with a transposed convolution alone.
    enum SpreadCause;

    Channels { channels: usize, weight: Shape }, Shape:
        ("{channels} channels, a weight of {weight} takes {}", weight.dims()[0])
        help ("the weight of a transposed convolution is `[channels, out / groups, ..]`");
    More { axis: usize, more: usize, most: usize }, Argument:
        ("output padding of {more} on axis {axis}, not below {most}")
        help ("it is less than the stride or the dilation: more would be nobody's");
    Far { axis: usize, stride: usize, reach: usize, spread: u128 }, Shape:
        ("a stride of {stride} and a dilation of {reach} on axis {axis}, which spread over \
          {spread} elements")
        help ("lower the stride or the dilation");
    Places { stride: Vec<usize>, count: usize }, Limit:
        ("a stride of {stride:?} has {count} places, above {PLACES_MAX}")
        help ("each is a convolution by itself: put zeros between the elements and use `conv2d`");
    Taken { axis: usize, covers: usize, pad: usize }, Shape:
        ("padding takes {pad} from both ends of axis {axis}, of {covers} elements")
        help ("the padding of a transposed convolution takes from the result: lower it");
}
