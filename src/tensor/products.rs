//! Products of lists and of vectors, and turns of pairs.

use super::Tensor;
use super::cause::{TensorCause, computed_with, float};
use super::reduce::{computed, computed_wrapping};
use crate::engine::site::asked;
use crate::error::{Error, Result, causes};
use crate::op::{Op, Refusal};
use crate::shape::cause::ShapeCause;
use crate::shape::{Axis, Shape};

impl Tensor {
    /// The sum of the products of two lists, as a scalar, by the contract of a [sum](crate::op) of
    /// products that are rounded; f16 and bf16 computed in f32, and integers narrower than 32 bits
    /// become 32 wide. Deferred, in one kernel.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0], [3])?;
    /// assert_eq!(x.dot(&x)?.read_scalar_now::<f32>()?, 14.0);
    /// assert_eq!(x.outer(&x.slice(0, ..2)?)?.read_now::<f32>()?, [1.0, 2.0, 2.0, 4.0, 3.0, 6.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("inner", "vdot"))]
    #[track_caller]
    pub fn dot(&self, other: &Self) -> Result<Self> {
        let what = "dot";
        let [x, y] = self.lists(other, what)?;
        let summed = || {
            if x.shape() != y.shape() {
                let (what, left, right) = ("lengths differ", *x.shape(), *y.shape());
                return Err(ShapeCause::Same { what, left, right }.into());
            }
            computed_with("input", self.dtype())?;
            let wide = computed(self.dtype());
            let sum = (x.cast(wide)? * y.cast(wide)?)?.sum(..)?;
            if self.dtype.is_float() { sum.cast(self.dtype()) } else { Ok(sum) }
        };
        asked(summed).map_err(|error: Error| error.during(what))
    }

    /// Every element of a list times every element of another, `[n]` and `[m]` as `[n, m]`: see
    /// [`Tensor::dot`]. Of the dtype of both: integers wrap, narrow ones are not widened. Deferred,
    /// and fused.
    #[doc(alias = "ger")]
    #[track_caller]
    pub fn outer(&self, other: &Self) -> Result<Self> {
        let what = "outer";
        let [x, y] = self.lists(other, what)?;
        asked(|| x.unsqueeze(1)? * y).map_err(|error: Error| error.during(what))
    }

    /// The cross product of vectors of three numbers along an axis, at right angles to both; other
    /// axes broadcast. Each number `a b - c d` is off by at most 2 ulp of `|a b| + |c d|`
    /// ([contract](crate::op)). Of f16 and bf16 computed in f32, and rounded once; integers wrap.
    /// Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 0, 0, 0, 1, 0], [2, 3])?;
    /// let (y, _) = device.upload(&[0, 2, 3], 3)?;
    /// assert_eq!(x.cross(-1, &y)?.read_now::<i32>()?, [0, -3, 2, 3, 0, 0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn cross(&self, axis: impl Into<Axis>, other: &Self) -> Result<Self> {
        let what = "cross";
        let (left, right) = (self.dtype(), other.dtype());
        if left != right {
            return Err(Refusal::Mixed { doing: what, left, right }.into());
        }
        let product = || {
            computed_with("input", left)?;
            Op::Mul.result(&[left; 2])?;
            let shape = self.shape().broadcast(other.shape())?;
            let (axis, _) = shape.find(axis)?;
            let wide = computed_wrapping(left);
            let vectors = |x: &Self| {
                // What broadcasts along the axis is no vector.
                let own = (axis + x.shape().rank()).checked_sub(shape.rank());
                let length = own.map_or(1, |own| x.shape().dims()[own]);
                match length {
                    3 => x.broadcast_to(shape)?.cast(wide),
                    _ => Err(ProductCause::Vectors { length, shape: *x.shape() }.into()),
                }
            };
            let (x, y) = (vectors(self)?, vectors(other)?);
            let part = |n: usize| {
                let at = |x: &Self, n: usize| x.select(axis, n % 3);
                (at(&x, n + 1)? * at(&y, n + 2)?)? - (at(&x, n + 2)? * at(&y, n + 1)?)?
            };
            Self::stack(&[part(0)?, part(1)?, part(2)?], axis)?.cast(left)
        };
        asked(product).map_err(|error: Error| error.during(what))
    }

    /// Both of them, if they are lists of one dtype.
    fn lists(&self, other: &Self, doing: &'static str) -> Result<[Self; 2]> {
        let named = |error: Error| error.during(doing);
        self.device.engine.same_device(&other.device.engine).map_err(named)?;
        for shape in [*self.shape(), *other.shape()] {
            if shape.rank() != 1 {
                return Err(named(ShapeCause::Ranks { shape, takes: "1" }.into()));
            }
        }
        let (left, right) = (self.dtype(), other.dtype());
        if left != right {
            return Err(Refusal::Mixed { doing, left, right }.into());
        }
        Ok([self.clone(), other.clone()])
    }

    /// Rotary positions: the first half of the last axis and its second half, taken as pairs, are
    /// turned by angles whose cosines and sines are given, `[.., d / 2]`, which broadcast: what
    /// most models do. A result `x cos - y sin` is off by at most 2 ulp of `|x cos| + |y sin|`
    /// ([contract](crate::op)). Of floats, f16 and bf16 computed in f32, and rounded once.
    /// Deferred, and fused.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [1, 4])?; // pairs (1, 3), (2, 4)
    /// let (cos, _) = device.upload(&[0.0f32, 1.0], [1, 2])?;
    /// let (sin, _) = device.upload(&[1.0f32, 0.0], [1, 2])?;
    /// assert_eq!(x.rope(&cos, &sin)?.read_now::<f32>()?, [-3.0, 2.0, 1.0, 4.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "rotary_embedding")]
    #[track_caller]
    pub fn rope(&self, cos: &Self, sin: &Self) -> Result<Self> {
        asked(|| self.turned(cos, sin, -2)).map_err(|error| error.during("rope"))
    }

    /// [`Tensor::rope`] whose pairs are neighbours, as in GPT-J. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [1, 4])?; // pairs (1, 2), (3, 4)
    /// let (cos, _) = device.upload(&[0.0f32, 1.0], [1, 2])?;
    /// let (sin, _) = device.upload(&[1.0f32, 0.0], [1, 2])?;
    /// assert_eq!(x.rope_interleaved(&cos, &sin)?.read_now::<f32>()?, [-2.0, 1.0, 3.0, 4.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "rope_i")]
    #[track_caller]
    pub fn rope_interleaved(&self, cos: &Self, sin: &Self) -> Result<Self> {
        asked(|| self.turned(cos, sin, -1)).map_err(|error| error.during("rope_interleaved"))
    }

    /// The last axis is split into pairs, which are this axis then.
    fn turned(&self, cos: &Self, sin: &Self, pair: i32) -> Result<Self> {
        float("input", self.dtype())?;
        let (axis, length) = self.shape().find(-1)?;
        if !length.is_multiple_of(2) {
            let (what, axis) = ("pairs", axis.into());
            return Err(TensorCause::Parts { what, axis, dim: length, count: 2 }.into());
        }
        let wide = computed(self.dtype());
        let half = length / 2;
        let split = if pair == -1 { [half, 2] } else { [2, half] };
        let dims = [&self.shape().dims()[..axis], &split].concat();
        let angles = Shape::new([&dims[..axis], &[half]].concat())?;
        let angle = |given: &Self| {
            self.device.engine.same_device(&given.device.engine)?;
            if given.dtype != self.dtype {
                let (what, left, right) = ("input and angles", self.dtype(), given.dtype());
                return Err(TensorCause::Dtypes { what, left, right }.into());
            }
            given.broadcast_to(angles)?.cast(wide)?.unsqueeze(pair)
        };
        let pairs = self.reshape(dims)?.cast(wide)?;
        let cos = angle(cos).map_err(|error| error.during("cos"))?;
        let sin = angle(sin).map_err(|error| error.during("sin"))?;
        let turned = pairs.turned_by(pair, &cos, &sin)?;
        turned.cast(self.dtype())?.reshape_copied(*self.shape())
    }

    /// Pairs `(x, y)` along one of the last two axes as `(x cos - y sin, y cos + x sin)`.
    pub(super) fn turned_by(&self, pair: i32, cos: &Self, sin: &Self) -> Result<Self> {
        let shape = self.shape().broadcast(cos.shape())?;
        let place = self.device.iota(2)?;
        let place = if pair == -1 { place } else { place.unsqueeze(-1)? };
        // Of the first of a pair it is turned: by a number that is computed on the way, as what is
        // smaller than the result would not be.
        let sign = ((place.broadcast_to(shape)?.cast(self.dtype())? * 2.0)? - 1.0)?;
        (self * cos)? + ((self.flip(pair)? * sin)? * sign)?
    }
}

causes! {
    /// What can be wrong with products.
    enum ProductCause;

    Vectors { length: usize, shape: Shape }, Shape:
        ("{length} numbers along the axis of {shape}, not 3")
        help ("a cross product is of three numbers each; of two, `pad` makes three");
}
