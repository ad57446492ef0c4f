//! Convolutions of one, two and three dimensions.

use super::cause::{TensorCause, computed_with};
use super::halves::{halves, in_two};
use super::number::Scalar;
use super::reduce::summed;
use super::{Pad, Pooling, Tensor};
use crate::dtype::DType;
use crate::engine::site::asked;
use crate::error::{Result, causes};
use crate::fuse::What;
use crate::kernel::conv::choice::{ConvStep, ConvWay, are_parted};
use crate::kernel::conv::flat::{Flat, FlatCore};
use crate::kernel::conv::{ConvCore, ConvPart};
use crate::kernel::plan::taps::{self, Taps};
use crate::kernel::windows::WindowsCore;
use crate::op::Op;
use crate::plan::Stored;
use crate::shape::Shape;
use crate::shape::cause::ShapeCause;
use crate::wgsl::entry::CORE_TRIPS;

mod backward;
mod transposed;

/// The most segments of a result, each of which is convolved by itself.
const SEGMENTS_MAX: usize = 64;

/// How a kernel of `D` dimensions goes over its input: step by step, without padding, dilation or
/// groups, unless told otherwise.
///
/// ```
/// # wharf::testing::example(async |device| {
/// use wharf::tensor::Conv;
///
/// let (x, _) = device.upload(&[1.0f32, 2.0, 4.0, 10.0, 20.0, 40.0], [1, 2, 3])?;
/// let weight = device.ones([2, 1, 2], wharf::DType::F32)?;
/// let y = x.conv1d(&weight, None, &Conv::new().groups(2).dilation([2]))?;
/// assert_eq!(y.read_now::<f32>()?, [5.0, 50.0]); // of each channel, one left out between
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv<const D: usize> {
    stride: [usize; D],
    padding: [usize; D],
    dilation: [usize; D],
    groups: usize,
    output_padding: [usize; D],
}

impl<const D: usize> Conv<D> {
    /// Step by step, of what there is, neighbour by neighbour, all channels together.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            stride: [1; D],
            padding: [0; D],
            dilation: [1; D],
            groups: 1,
            output_padding: [0; D],
        }
    }

    /// From each result to the next along an axis, the kernel goes on by so many elements.
    #[must_use]
    pub const fn stride(self, stride: [usize; D]) -> Self {
        Self { stride, ..self }
    }

    /// So many zeros lie on both sides of an axis.
    #[must_use]
    pub const fn padding(self, padding: [usize; D]) -> Self {
        Self { padding, ..self }
    }

    /// Neighbours in the kernel lie so many elements apart.
    #[must_use]
    pub const fn dilation(self, dilation: [usize; D]) -> Self {
        Self { dilation, ..self }
    }

    /// So many groups of channels are convolved by themselves; as many as there are channels make
    /// it a depthwise convolution.
    #[must_use]
    pub const fn groups(self, groups: usize) -> Self {
        Self { groups, ..self }
    }

    /// The result of a [transposed](Tensor::conv_transpose2d) convolution, and of no other, is so
    /// much longer at the end of each axis: of the sizes that a strided convolution makes one of,
    /// which was it?
    #[must_use]
    pub const fn output_padding(self, output_padding: [usize; D]) -> Self {
        Self { output_padding, ..self }
    }
}

impl<const D: usize> Default for Conv<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl Tensor {
    /// The convolution of signals `[n, channels, length]` with a weight `[out, channels / groups,
    /// taps]`: see [`Tensor::conv2d`]. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Conv;
    ///
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 4.0, 7.0], [1, 1, 4])?;
    /// let (steps, _) = device.upload(&[-1.0f32, 1.0], [1, 1, 2])?;
    /// assert_eq!(x.conv1d(&steps, None, &Conv::new())?.read_now::<f32>()?, [1.0, 2.0, 3.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn conv1d(&self, weight: &Self, bias: Option<&Self>, how: &Conv<1>) -> Result<Self> {
        let what = "conv1d";
        asked(|| self.convolve(what, weight, bias, how)).map_err(|error| error.during(what))
    }

    /// The convolution of images `[n, channels, height, width]` with a weight `[out, channels /
    /// groups, taps, taps]`, as checkpoints have it, plus a bias `[out]`: cross-correlation, as
    /// everywhere. The result is `[n, out, ..]`, with `(size + 2 padding - dilation (taps - 1) - 1)
    /// / stride + 1` along each axis, rounded down.
    ///
    /// Any strides are read in place, channels that come last too: `x.permute([0, 3, 1, 2])?`.
    /// Dtypes and [contract](Tensor::matmul) are those of a product whose `k` is the terms of a
    /// sum: channels of a group by taps, padding counted. f16 and bf16 may be rounded once more
    /// before the bias. A weight or bias of a float that is narrower than `x` is widened. Bias
    /// and what follows are computed in the same kernel, except that where an image of the result
    /// is not whole quads, what is narrower than 32 bits is stored by a second one. On a
    /// processor the input is copied with its padding where that is faster: floats of 16 and 32
    /// bits, single steps, one plane, long lines; otherwise all windows are, of a few images at a
    /// time, unless a group has one row, or all is one tap without padding. On a GPU windows are
    /// copied for deep sums of a few small images. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Conv;
    ///
    /// let (image, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 2, 2])?;
    /// let ones = device.ones([1, 1, 3, 3], wharf::DType::F32)?;
    /// let y = image.conv2d(&ones, None, &Conv::new().padding([1, 1]).stride([1, 2]))?;
    /// assert_eq!(y.shape().dims(), [1, 1, 2, 1]);
    /// assert_eq!(y.read_now::<f32>()?, [10.0, 10.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn conv2d(&self, weight: &Self, bias: Option<&Self>, how: &Conv<2>) -> Result<Self> {
        let what = "conv2d";
        asked(|| self.convolve(what, weight, bias, how)).map_err(|error| error.during(what))
    }

    /// The convolution of volumes `[n, channels, depth, height, width]` with a weight `[out,
    /// channels / groups, taps, taps, taps]`: see [`Tensor::conv2d`]. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Conv;
    ///
    /// let x = device.ones([1, 1, 2, 2, 3], wharf::DType::F32)?;
    /// let weight = device.ones([1, 1, 2, 2, 2], wharf::DType::F32)?;
    /// let y = x.conv3d(&weight, None, &Conv::new())?;
    /// assert_eq!(y.shape().dims(), [1, 1, 1, 1, 2]);
    /// assert_eq!(y.read_now::<f32>()?, [8.0, 8.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn conv3d(&self, weight: &Self, bias: Option<&Self>, how: &Conv<3>) -> Result<Self> {
        let what = "conv3d";
        asked(|| self.convolve(what, weight, bias, how)).map_err(|error| error.during(what))
    }

    fn convolve<const D: usize>(
        &self,
        what: &'static str,
        weight: &Self,
        bias: Option<&Self>,
        how: &Conv<D>,
    ) -> Result<Self> {
        if how.output_padding != [0; D] {
            return Err(ConvCause::OutputPadding { padding: how.output_padding.to_vec() }.into());
        }
        for other in [Some(weight), bias].into_iter().flatten() {
            self.device.engine.same_device(&other.device.engine)?;
        }
        let weight = &weight.widened(self.dtype)?;
        let (summed, stored) = self.convolved_as(weight, "input and weight")?;
        let taps = how.taps(self.shape(), weight.shape())?;
        let (images, rows) = (self.shape().dims()[0], weight.shape().dims()[0]);
        let shape = Shape::new([&[images, rows], &taps.result[3 - D..]].concat())?;
        let segment = self.device.engine.segment_elements(*summed);
        let parts = shape.elements() / segment;
        if parts > SEGMENTS_MAX {
            return Err(ConvCause::Parts { shape, parts }.into());
        }
        let bias = bias
            .map(|bias| bias.widened(stored)?.by_rows(rows, shape.rank(), stored))
            .transpose()?;
        let plus_bias = |sums: Self| match &bias {
            Some(bias) => sums.apply(Op::Add, &[bias.cast_to(sums.dtype)?.into()]),
            None => Ok(sums),
        };
        if shape.is_empty() || self.shape().is_empty() || weight.shape().is_empty() {
            return plus_bias(self.device.zeros(shape, *stored)?.on_behalf_of(&[self, weight])?);
        }
        let (input, kernel) = (self.volumes()?, weight.volumes()?);
        let whole = ConvPart { taps, input: input.layout, weight: kernel.layout };
        let on = (self.device.rig(), self.device.is_batch_invariant());
        match whole.way(*summed, segment, on) {
            ConvWay::Pointwise => plus_bias(self.pointwise(weight, how, shape)?),
            ConvWay::Windows => plus_bias(self.by_windows(weight, how, shape)?),
            ConvWay::Lines(flat) => {
                plus_bias(input.by_lines(what, &kernel, flat, shape)?)?.cast_to(stored)
            }
            ConvWay::InPlace => {
                plus_bias(input.in_place(&kernel, (what, &whole), shape, summed)?)?.cast_to(stored)
            }
            ConvWay::TooDeep { terms, trips } => Err(ConvCause::Terms { terms, trips }.into()),
        }
    }

    /// What it is summed and stored as, with a weight of the same dtype.
    fn convolved_as(&self, weight: &Self, what: &'static str) -> Result<(Stored, Stored)> {
        let dtype = self.dtype();
        if self.dtype != weight.dtype {
            let (left, right) = (dtype, weight.dtype());
            return Err(TensorCause::Dtypes { what, left, right }.into());
        }
        computed_with("input", dtype)?;
        if dtype == DType::Bool {
            return Err(TensorCause::Only { what: "input", dtype, only: "a number" }.into());
        }
        let summed = summed(self.dtype);
        Ok((summed, if dtype.is_float() { self.dtype } else { summed }))
    }

    /// A bias as it is added to `[n, rows, ..]` of this dtype.
    fn by_rows(&self, rows: usize, rank: usize, dtype: Stored) -> Result<Self> {
        if self.dtype != dtype {
            let (what, left, right) = ("result and bias", *dtype, self.dtype());
            return Err(TensorCause::Dtypes { what, left, right }.into());
        }
        if self.shape().dims() != [rows] {
            return Err(ConvCause::Bias { bias: *self.shape(), rows }.into());
        }
        (2..rank).try_fold(self.clone(), |bias, _| bias.unsqueeze(-1))
    }

    /// With all of three axes after the first two, those in front of length 1.
    fn volumes(&self) -> Result<Self> {
        (self.shape().rank()..5).try_fold(self.clone(), |x, _| x.unsqueeze(2))
    }

    /// A convolution of a single tap: a product.
    fn pointwise<const D: usize>(&self, weight: &Self, how: &Conv<D>, to: Shape) -> Result<Self> {
        let mut steps = how.stride.iter().enumerate().filter(|(_, step)| **step > 1);
        let x = steps.try_fold(self.clone(), |x, (i, &step)| x.every(2 + i.cast_signed(), step))?;
        let (rows, channels) = (weight.shape().dims()[0], weight.shape().dims()[1]);
        let images = x.shape().dims()[0];
        let pixels: usize = x.shape().dims()[2..].iter().product();
        let x = x.reshape_copied([images, how.groups, channels, pixels])?;
        let weight = weight.reshape_copied([how.groups, rows / how.groups, channels])?;
        weight.matmul_as(&x, to)
    }

    /// A convolution of a copy with borders, of five axes.
    fn by_lines(&self, name: &'static str, weight: &Self, flat: Flat, to: Shape) -> Result<Self> {
        let [y, x] = flat.pads;
        let zero = Pad::Constant(Scalar::zero(self.dtype()));
        let padded = self.pad(&[(0, 0), (0, 0), (0, 0), y, x], zero)?;
        let args = vec![padded.arg(), weight.arg()];
        let what = What::core(FlatCore { name, flat });
        Ok(Self::deferred(&self.device, what, args, to, Stored::F32))
    }

    /// A product of the weights with a copy of all windows; of few images at a time, if they are
    /// large.
    fn by_windows<const D: usize>(&self, weight: &Self, how: &Conv<D>, to: Shape) -> Result<Self> {
        let (images, rows) = (to.dims()[0], to.dims()[1]);
        let taps: usize = weight.shape().dims()[1..].iter().product();
        let pixels: usize = to.dims()[2..].iter().product();
        if images > 1 && are_parted(&[images, how.groups, taps, pixels]) {
            return in_two(0, halves(images), |part| {
                let to = Shape::new([&[part.len()], &to.dims()[1..]].concat())?;
                self.slice(0, part)?.by_windows(weight, how, to)
            });
        }
        let pads: Vec<_> = [0, 0].into_iter().chain(how.padding).map(|pad| (pad, pad)).collect();
        let padded = self.pad(&pads, Pad::Constant(Scalar::zero(self.dtype())))?;
        let size = core::array::from_fn(|i| weight.shape().dims()[2 + i]);
        let windows = padded.windows_from(2, &how.windows(size))?;
        // Taps come before pixels.
        let axes = [0, 1].into_iter().chain(2 + D..2 + 2 * D).chain(2..2 + D);
        let windows = windows.permute(axes.map(|axis| axis as i64))?;
        let windows = windows.reshape_copied([images, how.groups, taps, pixels])?;
        let weight = weight.reshape_copied([how.groups, rows / how.groups, taps])?;
        weight.matmul_as(&windows, to)
    }

    /// Defers the kernel. If something in it is more than a segment, one half after the other.
    fn in_place(
        &self,
        weight: &Self,
        (name, part): (&'static str, &ConvPart),
        to: Shape,
        dtype: Stored,
    ) -> Result<Self> {
        let segment = self.device.engine.segment_elements(*dtype);
        let deferred = |what| {
            let args = vec![self.view(part.input).arg(), weight.view(part.weight).arg()];
            Ok(Self::deferred(&self.device, what, args, to, dtype))
        };
        let (axis, parts) = match part.step(segment)? {
            ConvStep::Depthwise(windows) => {
                return deferred(What::core(WindowsCore { name, windows }));
            }
            ConvStep::General => return deferred(What::core(ConvCore { name, taps: part.taps })),
            ConvStep::Halves(axis, parts) => (axis, *parts),
            ConvStep::TooLarge(largest) => {
                return Err(ConvCause::Large { largest, segment }.into());
            }
        };
        // The axes that were put in front have length 1, and no halves.
        let place = if axis < 2 { axis } else { axis + to.rank() - 5 };
        in_two(place, parts, |part| {
            let mut dims = to.dims().to_vec();
            dims[place] = part.dims()[axis];
            self.in_place(weight, (name, &part), Shape::new(dims)?, dtype)
        })
    }
}

impl<const D: usize> Conv<D> {
    /// Windows of a size that go over a padded input likewise.
    const fn windows(&self, size: [usize; D]) -> Pooling<D> {
        Pooling::new(size).stride(self.stride).dilation(self.dilation)
    }

    /// Checks that each has as many axes as such a convolution takes.
    fn check_ranks(sides: [&Shape; 2]) -> Result<()> {
        const { assert!(D >= 1 && D <= 3, "a convolution goes along one to three axes") };
        let takes = ["3", "4", "5"][D - 1];
        match sides.into_iter().find(|shape| shape.rank() != D + 2) {
            Some(shape) => Err(ShapeCause::Ranks { shape: *shape, takes }.into()),
            None => Ok(()),
        }
    }

    /// How the taps of a weight lie over an input.
    fn taps(&self, input: &Shape, weight: &Shape) -> Result<Taps> {
        Self::check_ranks([input, weight])?;
        let (x, w, groups) = (input.dims(), weight.dims(), self.groups);
        for (what, count) in [("channels", x[1]), ("rows of the weight", w[0])] {
            if groups == 0 || !count.is_multiple_of(groups) {
                return Err(ConvCause::Groups { what, count, groups }.into());
            }
        }
        if x[1] / groups != w[1] {
            let (each, weight) = (x[1] / groups, *weight);
            return Err(ConvCause::Channels { channels: x[1], groups, each, weight }.into());
        }
        // Axes that the input has not are one tap over one element.
        let mut taps = Taps::single(groups);
        for i in 0..D {
            let (axis, to) = (2 + i, 3 - D + i);
            let (step, reach, pad) = (self.stride[i], self.dilation[i], self.padding[i]);
            for (what, n) in [("stride", step), ("dilation", reach)] {
                if n == 0 {
                    return Err(ConvCause::Zero { what, axis }.into());
                }
            }
            if w[axis] == 0 {
                return Err(ConvCause::NoTaps { axis, weight: *weight }.into());
            }
            let (dim, count) = (x[axis], w[axis]);
            let (covers, padded) = (taps::covers(count, reach), taps::padded(dim, pad));
            // Kernels count places in 32 bits.
            if i32::try_from(padded).is_err() {
                return Err(ConvCause::Padded { axis, padded }.into());
            }
            if covers > padded {
                return Err(ConvCause::Covers { axis, taps: count, covers, dim, padded }.into());
            }
            taps.along(to, [dim, count], [reach, step], pad);
        }
        Ok(taps)
    }
}

causes! {
    /// What can be wrong with a convolution.
    enum ConvCause;

    Groups { what: &'static str, count: usize, groups: usize }, Shape:
        ("{count} {what} are no {groups} equal groups")
        help ("both the channels and the rows of the weight are divided by `groups`");
    Channels { channels: usize, groups: usize, each: usize, weight: Shape }, Shape:
        ("{channels} channels in {groups} groups have {each} each, a weight of {weight} takes {}",
         weight.dims()[1])
        help ("a weight is `[out, channels / groups, ..]`, and its groups are those of \
               `Conv::groups`");
    Zero { what: &'static str, axis: usize }, Argument:
        ("{what} 0 on axis {axis}, not 1 or more")
        help ("1 is what changes nothing, and what is taken where it is left out");
    NoTaps { axis: usize, weight: Shape }, Shape:
        ("a weight of {weight} has no elements along axis {axis}, not 1 or more")
        help ("a weight is `[out, channels / groups, ..]`, and then the lengths of its kernel");
    Covers { axis: usize, taps: usize, covers: usize, dim: usize, padded: usize }, Shape:
        ("{taps} taps cover {covers} elements of axis {axis}, which has {padded} with its padding, \
          and {dim} without")
        help ("pad it on both sides by {} at least: `Conv::padding`",
              (covers - padded).div_ceil(2) + (padded - dim) / 2);
    Bias { bias: Shape, rows: usize }, Shape:
        ("a bias of {bias} for {rows} channels of the result")
        help ("one number for each: `[{rows}]`");
    OutputPadding { padding: Vec<usize> }, Argument:
        ("output padding of {padding:?} of a convolution that is not transposed")
        help ("`Conv::padding` lies around the input; `conv_transpose2d` and its like take both");
    Arrived { arrived: Shape, result: Shape, input: Shape }, Shape:
        ("{arrived} arrives at the result of a convolution of {input}, which is {result}")
        help ("the sizes, strides and paddings are those of the convolution whose gradient it is");
    Padded { axis: usize, padded: usize }, Limit:
        ("axis {axis} has {padded} elements with its padding, above {}", i32::MAX)
        help ("take less padding, or convolve parts of the input");
    Parts { shape: Shape, parts: usize }, Limit:
        ("the result {shape} takes {parts} segments, above {SEGMENTS_MAX}")
        help ("take less padding, or convolve parts of the input");
    Large { largest: usize, segment: usize }, Limit:
        ("one group at one pixel has {largest} elements, above {segment} of a segment")
        help ("convolve parts of the channels, and add the results");
    Terms { terms: usize, trips: usize }, Limit:
        ("a sum of {terms} terms loops {trips} times, above {CORE_TRIPS}")
        help ("convolve parts of the channels, and add the results");
}
