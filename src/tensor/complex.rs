//! Complex numbers: both parts of each along a last axis of 2, as PyTorch's `view_as_real` has
//! them. What there is of them is what spectra need.

use super::Tensor;
use super::cause::float;
use super::reduce::computed;
use crate::engine::site::asked;
use crate::error::{Error, Result, causes};
use crate::op::Refusal;
use crate::shape::Shape;

impl Tensor {
    /// Products of complex numbers, whose parts are along a last axis of 2; the axes before it
    /// broadcast. Of two spectra it is that of a convolution: see [`Tensor::rfft`]. Each part,
    /// `a c - b d` or `a d + b c`, is off by at most 2 ulp of `|a c| + |b d|` or `|a d| + |b c|`
    /// ([contract](crate::op)). Of floats, f16 and bf16 computed in f32 and rounded once. Deferred,
    /// in one kernel.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 0.0, 1.0], [2, 2])?; // 1 + 2i, i
    /// let (y, _) = device.upload(&[3.0f32, -1.0], [2])?; // 3 - i
    /// assert_eq!(x.complex_mul(&y)?.read_now::<f32>()?, [5.0, 5.0, 1.0, 3.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn complex_mul(&self, other: &Self) -> Result<Self> {
        let what = "complex_mul";
        let (left, right) = (self.dtype(), other.dtype());
        if left != right {
            return Err(Refusal::Mixed { doing: what, left, right }.into());
        }
        let product = || {
            let [x, y] = [self, other].map(|x| x.complex_parts()?.cast(computed(left)));
            let (x, y) = (x?, y?);
            y.turned_by(-1, &x.slice(-1, ..1)?, &x.slice(-1, 1..)?)?.cast(left)
        };
        asked(product).map_err(|error: Error| error.during(what))
    }

    /// The conjugates of complex numbers, whose parts are along a last axis of 2: the second one
    /// changes its sign, and no bit else. A product by those of a spectrum is that of a
    /// correlation. Deferred, in one kernel.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 0.0, -1.0], [2, 2])?;
    /// assert_eq!(x.complex_conj()?.read_now::<f32>()?, [1.0, -2.0, 0.0, 1.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn complex_conj(&self) -> Result<Self> {
        let conjugate = || {
            let x = self.complex_parts()?;
            self.device.iota(2)?.broadcast_to(*x.shape())?.eq(0u32)?.choose(x, &(-x)?)
        };
        asked(conjugate).map_err(|error: Error| error.during("complex_conj"))
    }

    /// The magnitudes of complex numbers, whose parts are along a last axis of 2, which is gone
    /// afterwards: the [`Tensor::hypot`] of both, by its contract. Deferred, in one kernel.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3.0f32, -4.0, 0.0, 2.0], [2, 2])?;
    /// assert_eq!(x.complex_abs()?.read_now::<f32>()?, [5.0, 2.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn complex_abs(&self) -> Result<Self> {
        let size = || {
            let x = self.complex_parts()?;
            x.select(-1, 0)?.hypot(&x.select(-1, 1)?)
        };
        asked(size).map_err(|error: Error| error.during("complex_abs"))
    }

    /// It, if it is of floats, with both parts of each number.
    fn complex_parts(&self) -> Result<&Self> {
        float("input", self.dtype())?;
        self.complex_dims().map(|_| self)
    }

    /// The axes of complex numbers without that of their parts.
    pub(super) fn complex_dims(&self) -> Result<&[usize]> {
        match self.shape().dims() {
            [dims @ .., 2] => Ok(dims),
            _ => Err(ComplexCause::Parts { shape: *self.shape() }.into()),
        }
    }
}

causes! {
    /// What can be wrong with complex numbers.
    enum ComplexCause;

    Parts { shape: Shape }, Shape:
        ("complex numbers in {shape}, whose last axis is not 2")
        help ("a last axis has both parts of each: `Tensor::stack(&[re, im], -1)`; reals have \
               `rfft`");
}
