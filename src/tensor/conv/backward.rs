//! Gradients of convolutions: products with what arrives at their results.
//!
//! ```text
//! of the input      what arrives, brought back by the weight: a transposed convolution
//! of the weight     at each tap what arrives, times the elements that the tap met:
//!                   [out, images pixels] by [images pixels, channels taps], for each group
//! ```

use core::ops::Range;

use super::{Conv, ConvCause};
use crate::engine::site::asked;
use crate::error::Result;
use crate::kernel::conv::choice::are_parted;
use crate::kernel::plan::taps::{self, Taps};
use crate::plan::Stored;
use crate::shape::Shape;
use crate::tensor::halves::halves;
use crate::tensor::number::Scalar;
use crate::tensor::{Pad, Tensor};

impl Tensor {
    /// The gradient of the input of a convolution, `conv1d` to `conv3d`: this is what arrives at
    /// its result, `[n, out, ..]`, and the input was `[n, channels, ..]`, of this size along its
    /// last `D` axes. It is a [transposed convolution](Tensor::conv_transpose2d) by the same
    /// weight, by its contract and dtypes. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Conv;
    ///
    /// let how = Conv::new().stride([2]);
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 4])?;
    /// let (weight, _) = device.upload(&[10.0f32, 1.0], [1, 1, 2])?;
    /// let (arrives, _) = device.upload(&[1.0f32, -1.0], [1, 1, 2])?;
    /// assert_eq!(x.conv1d(&weight, None, &how)?.shape(), arrives.shape());
    /// let gradient = arrives.conv_input_grad(&weight, [4], &how)?;
    /// assert_eq!(gradient.read_now::<f32>()?, [10.0, 1.0, -10.0, -1.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "conv1d_input")]
    #[doc(alias = "conv2d_input")]
    #[doc(alias = "conv3d_input")]
    #[doc(alias = "conv2d_backward")]
    #[track_caller]
    pub fn conv_input_grad<const D: usize>(
        &self,
        weight: &Self,
        size: [usize; D],
        how: &Conv<D>,
    ) -> Result<Self> {
        let what = "conv_input_grad";
        let gradient = || {
            self.device.engine.same_device(&weight.device.engine)?;
            let weight = weight.widened(self.dtype)?;
            let (_, stored) = self.convolved_as(&weight, "what arrives and weight")?;
            let images = self.shape().dims().first().copied().unwrap_or(0);
            let each = weight.shape().dims().get(1).copied().unwrap_or(0);
            let channels = each.saturating_mul(how.groups);
            let input = Shape::new([&[images, channels], &size[..]].concat())?;
            let taps = how.arrived(self, &input, weight.shape())?;
            if input.is_empty() || self.shape().is_empty() || weight.shape().is_empty() {
                return self.device.zeros(input, *stored)?.on_behalf_of(&[self, &weight]);
            }
            let mut beyond = [0; D];
            for i in 0..D {
                let covers = taps::covers(weight.shape().dims()[2 + i], how.dilation[i]);
                let covers = covers + how.stride[i] * (taps.result[3 - D + i] - 1);
                beyond[i] = taps::padded(size[i], how.padding[i]) - covers;
            }
            self.transposed_conv(what, &weight, None, &how.output_padding(beyond))
        };
        asked(gradient).map_err(|error| error.during(what))
    }

    /// The gradient of the weight of a convolution, `conv1d` to `conv3d`: this is what arrives at
    /// its result, `[n, out, ..]`, and the weight was `[out, channels / groups, ..]`, of this size
    /// along its last `D` axes. It is a product with a copy of all windows of the input, of a few
    /// images at a time if they are large, or of some lines of one: by the dtypes and the
    /// [contract](Tensor::matmul) of one whose `k` is the elements of a channel of the result, in
    /// all images. That of a bias is the sum of what arrives over all axes but that of the
    /// channels. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Conv;
    ///
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 4])?;
    /// let (arrives, _) = device.upload(&[1.0f32, -1.0], [1, 1, 2])?;
    /// let gradient = arrives.conv_weight_grad(&x, [2], &Conv::new().stride([2]))?;
    /// assert_eq!(gradient.read_now::<f32>()?, [-2.0, -2.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "conv1d_weight")]
    #[doc(alias = "conv2d_weight")]
    #[doc(alias = "conv3d_weight")]
    #[doc(alias = "conv2d_backward")]
    #[track_caller]
    pub fn conv_weight_grad<const D: usize>(
        &self,
        input: &Self,
        size: [usize; D],
        how: &Conv<D>,
    ) -> Result<Self> {
        let gradient = asked(|| self.weight_gradient(input, size, how));
        gradient.map_err(|error| error.during("conv_weight_grad"))
    }

    pub(super) fn weight_gradient<const D: usize>(
        &self,
        input: &Self,
        size: [usize; D],
        how: &Conv<D>,
    ) -> Result<Self> {
        self.device.engine.same_device(&input.device.engine)?;
        let (summed, stored) = self.convolved_as(input, "what arrives and input")?;
        let count = |shape: &Shape| shape.dims().get(1).copied().unwrap_or(0);
        let (rows, each) = (count(self.shape()), count(input.shape()) / how.groups.max(1));
        let weight = Shape::new([&[rows, each], &size[..]].concat())?;
        how.arrived(self, input.shape(), &weight)?;
        if weight.is_empty() || self.shape().is_empty() || input.shape().is_empty() {
            return self.device.zeros(weight, *stored)?.on_behalf_of(&[self, input]);
        }
        let pads: Vec<_> = [0, 0].into_iter().chain(how.padding).map(|pad| (pad, pad)).collect();
        let padded = input.pad(&pads, Pad::Constant(Scalar::zero(input.dtype())))?;
        self.met(&padded, how, &weight, summed)?.cast_to(stored)
    }

    /// What arrives times what each tap met, in a padded input.
    fn met<const D: usize>(
        &self,
        input: &Self,
        how: &Conv<D>,
        weight: &Shape,
        summed: Stored,
    ) -> Result<Self> {
        let (dims, groups) = (self.shape().dims(), how.groups);
        let (images, rows) = (dims[0], dims[1]);
        let pixels: usize = dims[2..].iter().product();
        let taps: usize = weight.dims()[1..].iter().product();
        // Images come apart first, then the lines of one.
        let parted = [0].into_iter().chain(2..2 + D).find(|&axis| dims[axis] > 1);
        if are_parted(&[images, groups, taps, pixels])
            && let Some(axis) = parted
        {
            let [before, after] = halves(dims[axis]).map(|part| {
                let input = input.slice(axis, how.meets(axis, part.clone(), weight))?;
                // Sums of parts are rounded when all are there.
                let wide = summed.is_float();
                let [part, input] = [self.slice(axis, part)?, input]
                    .map(|x| if wide { x.cast_to(summed) } else { Ok(x) });
                part?.met(&input?, how, weight, summed)
            });
            return before? + &after?;
        }
        let size = core::array::from_fn(|i| weight.dims()[2 + i]);
        let windows = input.windows_from(2, &how.windows(size))?;
        // Channels, taps, images, pixels.
        let axes = [1].into_iter().chain(2 + D..2 + 2 * D).chain([0]).chain(2..2 + D);
        let windows = windows.permute(axes.map(|axis| axis as i64))?;
        let windows = windows.reshape_copied([groups, taps, images * pixels])?;
        let arrived = self.swap_axes(0, 1)?;
        let arrived = arrived.reshape_copied([groups, rows / groups, images * pixels])?;
        arrived.matmul_as(&windows.t()?, *weight)
    }
}

impl<const D: usize> Conv<D> {
    /// What part of a padded input the taps of a weight meet for this part of an axis of the
    /// result: the same images, and all lines that a tap of these is in.
    fn meets(&self, axis: usize, part: Range<usize>, weight: &Shape) -> Range<usize> {
        let Some(line) = axis.checked_sub(2) else { return part };
        let (step, reach) = (self.stride[line], self.dilation[line]);
        let covers = taps::covers(weight.dims()[axis], reach);
        part.start * step..(part.end - 1) * step + covers
    }

    /// How the taps of a weight lie over an input, if this is what arrives at the result.
    fn arrived(&self, arrived: &Tensor, input: &Shape, weight: &Shape) -> Result<Taps> {
        if self.output_padding != [0; D] {
            return Err(ConvCause::OutputPadding { padding: self.output_padding.to_vec() }.into());
        }
        let taps = self.taps(input, weight)?;
        let (images, rows) = (input.dims()[0], weight.dims()[0]);
        let result = Shape::new([&[images, rows], &taps.result[3 - D..]].concat())?;
        let arrived = *arrived.shape();
        if arrived != result {
            return Err(ConvCause::Arrived { arrived, result, input: *input }.into());
        }
        Ok(taps)
    }
}
