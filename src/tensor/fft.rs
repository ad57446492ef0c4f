//! Fourier transforms along axes. A tensor of complex numbers has both parts of each along a last
//! axis of 2, as PyTorch's `view_as_real` has them; axes are counted without it.

use super::Tensor;
use super::cause::{FLOATS_BY_F32, TensorCause, by_f32};
use super::halves::{halves, in_two};
use crate::dtype::DType;
use crate::engine::site::asked;
use crate::error::{Error, Result, causes};
use crate::fuse::What;
use crate::kernel::fft::{FftCore, Fourier, LENGTH_MAX, floats};
use crate::plan::Stored;
use crate::shape::{Axes, Shape};

impl Tensor {
    /// The half of the spectrum of reals along an axis, of which the rest is its mirror image:
    /// `X[k]`, the sum of `x[j] e^(-2 pi i j k / n)`, for `k` from 0 to `n / 2`. With a length `n`
    /// the axis is cut, or filled up with zeros, to that; otherwise it is as long as it is. The
    /// result has `n / 2 + 1` complex numbers in place of the axis, and a last axis of 2 for both
    /// parts, as PyTorch's `view_as_real` has it. Several [axes](Axes) are transformed one after
    /// the other, as PyTorch's `rfft2` and `rfftn` do: the last one that is named is halved, and
    /// `n` is its length.
    ///
    /// Of f32, f16 or bf16, computed in f32; of any length up to 2^24, by the
    /// [contract](crate::op) of transforms. One that has a prime factor above 7 takes three
    /// transforms, of a length that has none. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [4])?;
    /// let spectrum = x.rfft(0, None)?;
    /// assert_eq!(spectrum.shape().dims(), [3, 2]);
    /// assert_eq!(spectrum.read_now::<f32>()?, [10.0, 0.0, -2.0, 2.0, -2.0, 0.0]);
    ///
    /// // A low-pass filter: what is above half of the frequencies is left out.
    /// let low = spectrum.slice(0, ..2)?.irfft(0, 4)?;
    /// assert_eq!(low.read_now::<f32>()?, [1.5, 1.5, 3.5, 3.5]);
    /// # Ok(()) });
    /// ```
    ///
    /// A convolution is a product of spectra, of a length that has room for all of it: otherwise
    /// its end goes round to its beginning.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (signal, _) = device.upload(&[1.0f32, 2.0, 3.0], [3])?;
    /// let (echo, _) = device.upload(&[1.0f32, 0.0, 0.5], [3])?;
    /// let n = 3 + 3 - 1;
    /// let y = signal.rfft(0, n)?.complex_mul(&echo.rfft(0, n)?)?.irfft(0, n)?;
    /// let (want, _) = device.upload(&[1.0f32, 2.0, 3.5, 1.0, 1.5], [5])?;
    /// assert!(y.allclose(&want, 0.0, 1e-5).await?);
    ///
    /// // Of an image, round its edges: along both axes.
    /// let (image, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    /// let (by_one, _) = device.upload(&[0.0f32, 1.0, 0.0, 0.0, 0.0, 0.0], [2, 3])?;
    /// let spectrum = image.rfft([0, 1], None)?.complex_mul(&by_one.rfft([0, 1], None)?)?;
    /// let moved = spectrum.irfft([0, 1], 3)?;
    /// assert!(moved.allclose(&image.roll(1, 1)?, 0.0, 1e-5).await?);
    /// # Ok(()) });
    /// ```
    #[doc(alias("rfft2", "rfftn", "convolve"))]
    #[track_caller]
    pub fn rfft(&self, axes: impl Into<Axes>, n: impl Into<Option<usize>>) -> Result<Self> {
        self.fourier("rfft", Fourier::Reals, &axes.into(), n.into())
    }

    /// The `n` reals along an axis that have this half of a spectrum: [`Tensor::rfft`] back, by
    /// its contract and of its dtypes. The last axis has both parts of each number, and no axis
    /// that is named counts it: -1 is the one before it. Of `n / 2 + 1` numbers what is not there
    /// is 0, and what is beyond is left out; the first one's second part does not count, nor that
    /// of the last of an even `n`. Of several axes the last one that is named is the one of `n`
    /// reals, and the others are transformed back before it. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 4.0, 8.0, 16.0, 0.0], [2, 3])?;
    /// let spectrum = x.rfft(-1, None)?;
    /// assert_eq!(spectrum.shape().dims(), [2, 2, 2]); // both parts last
    /// assert!(spectrum.irfft(-1, 3)?.allclose(&x, 1e-6, 1e-6).await?);
    /// # Ok(()) });
    /// ```
    #[doc(alias("irfft2", "irfftn"))]
    #[track_caller]
    pub fn irfft(&self, axes: impl Into<Axes>, n: usize) -> Result<Self> {
        self.fourier("irfft", Fourier::RealsBack, &axes.into(), Some(n))
    }

    /// The spectrum of complex numbers along an axis, whose parts are along a last axis of 2:
    /// `X[k]`, the sum of `x[j] e^(-2 pi i j k / n)`. No axis that is named counts the parts: -1 is
    /// the one before them. With a length `n` the axis is cut, or filled up with zeros, to that; of
    /// several axes the last one that is named. As [`Tensor::rfft`] otherwise. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[0.0f32, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [4, 2])?;
    /// let spectrum = x.fft(-1, None)?.read_now::<f32>()?;
    /// assert_eq!(spectrum, [1.0, 0.0, 0.0, -1.0, -1.0, 0.0, 0.0, 1.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("fft2", "fftn"))]
    #[track_caller]
    pub fn fft(&self, axes: impl Into<Axes>, n: impl Into<Option<usize>>) -> Result<Self> {
        self.fourier("fft", Fourier::Forward, &axes.into(), n.into())
    }

    /// The complex numbers that have this spectrum: [`Tensor::fft`] back, the sum of
    /// `X[k] e^(2 pi i j k / n) / n`, along axes that are counted without that of the parts.
    /// Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, -4.0], [2, 2])?;
    /// assert_eq!(x.fft(0, None)?.ifft(0, None)?.read_now::<f32>()?, [1.0, 2.0, 3.0, -4.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("ifft2", "ifftn"))]
    #[track_caller]
    pub fn ifft(&self, axes: impl Into<Axes>, n: impl Into<Option<usize>>) -> Result<Self> {
        self.fourier("ifft", Fourier::Back, &axes.into(), n.into())
    }

    fn fourier(
        &self,
        name: &'static str,
        of: Fourier,
        axes: &Axes,
        n: Option<usize>,
    ) -> Result<Self> {
        let along_all = || {
            if !by_f32(self.dtype()) {
                let (what, only) = ("input", FLOATS_BY_F32);
                return Err(TensorCause::Only { what, dtype: self.dtype(), only }.into());
            }
            let [is_complex, _] = of.complex();
            let dims = if is_complex { self.complex_dims()? } else { self.shape().dims() };
            let numbers = Shape::new(dims)?;
            let axes = axes.in_order(&numbers).map_err(|error| match is_complex {
                true => error.during("axes counted without that of the parts"),
                false => error,
            })?;
            let Some((&last, others)) = axes.split_last() else {
                return Err(FourierCause::Axes { shape: numbers }.into());
            };
            // Between axes nothing is rounded to 16 bits.
            let x = if others.is_empty() { self.clone() } else { self.cast(DType::F32)? };
            // Of reals there are the fewest before and after all others.
            let result = match of {
                Fourier::RealsBack => x.each_along(Fourier::Back, others)?.transformed(of, last, n),
                Fourier::Reals => x.transformed(of, last, n)?.each_along(Fourier::Forward, others),
                _ => x.transformed(of, last, n)?.each_along(of, others),
            };
            result?.cast_to(self.dtype)
        };
        asked(along_all).map_err(|error: Error| error.during(name))
    }

    /// Complex numbers along each of these axes, the last of them first.
    fn each_along(&self, of: Fourier, axes: &[usize]) -> Result<Self> {
        axes.iter().rev().try_fold(self.clone(), |x, &axis| x.transformed(of, axis, None))
    }

    fn transformed(&self, of: Fourier, axis: usize, n: Option<usize>) -> Result<Self> {
        let [is_complex, yields_complex] = of.complex();
        let dims = if is_complex { self.complex_dims()? } else { self.shape().dims() };
        let given = dims[axis];
        let size = n.unwrap_or(given);
        if !(1..=LENGTH_MAX).contains(&size) {
            return Err(FourierCause::Length { size }.into());
        }
        let mut lead = dims.to_vec();
        lead.remove(axis);
        let last = with_parts(&[of.kept(size)], yields_complex);
        let to = Shape::new([&*lead, &*last].concat())?;
        let rows: usize = lead.iter().product();
        let result = if rows == 0 || given == 0 {
            self.device.zeros(to, self.dtype())?.on_behalf_of(&[self])?
        } else {
            let given = given.min(of.taken(size));
            let last = with_parts(&[rows, given], is_complex);
            let taken = self.slice(axis, ..given)?.move_axis(axis, lead.len())?;
            taken.reshape_copied(last)?.rows_transformed(FftCore { of, size })?.reshape(to)?
        };
        result.move_axis(lead.len(), axis)?.cast_to(self.dtype)
    }

    /// Defers the kernel on `[rows, numbers]`; if something of it is more than a segment, on some
    /// rows after the others.
    fn rows_transformed(&self, core: FftCore) -> Result<Self> {
        let FftCore { of, size } = core;
        let segment = self.device.engine.segment_elements(DType::F32);
        let (rows, row) = (self.shape().dims()[0], floats(of, size));
        if row > segment {
            return Err(FourierCause::Large { size, row, segment }.into());
        }
        if rows > segment / row {
            return in_two(0, halves(rows), |part| self.slice(0, part)?.rows_transformed(core));
        }
        let to = Shape::new(with_parts(&[rows, of.kept(size)], of.complex()[1]))?;
        Ok(Self::deferred(&self.device, What::core(core), vec![self.arg()], to, Stored::F32))
    }
}

/// The dimensions of numbers, and of both parts of each.
fn with_parts(dims: &[usize], is_complex: bool) -> Vec<usize> {
    dims.iter().copied().chain(is_complex.then_some(2)).collect()
}

causes! {
    /// What can be wrong with what is transformed.
    enum FourierCause;

    Axes { shape: Shape }, Shape:
        ("a transform of {shape} along no axis")
        help ("name at least one; `..` are all");
    Length { size: usize }, Shape:
        ("a transform of length {size}, not 1 to {LENGTH_MAX}")
        help ("another length `n` cuts the axis, or fills it up with zeros");
    Large { size: usize, row: usize, segment: usize }, Limit:
        ("a transform of length {size} takes {row} elements at once, above {segment} of a segment")
        help ("another length `n` cuts the axis; one of no prime factors above 7 takes less");
}
