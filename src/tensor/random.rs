//! Random tensors: made on the device, from a key and nothing else.

use super::Tensor;
use super::cause::TensorCause;
use super::number::Scalar;
use crate::caps::Feature;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::random::text::Draw;
use crate::kernel::{random, sort};
use crate::layout::Layout;
use crate::reference::random::philox;
use crate::shape::{IntoShape, Shape};

/// What random numbers are drawn with. The same key always draws the same numbers; draw once with
/// each, and split it for more.
///
/// ```
/// use wharf::tensor::Key;
///
/// let (weights, rest) = Key::new(42).split();
/// let (noise, _) = rest.split();
/// assert_ne!(weights, noise);
/// ```
///
/// Bits, uniforms, integers, coins and permutations are the same on every adapter, normal numbers
/// within a few units in the last place. Any part of a tensor is what it would be alone: the
/// generator is Philox 4x32-10, counted by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key([u32; 2]);

impl Key {
    /// The key of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self([seed as u32, (seed >> 32) as u32])
    }

    /// Two keys that are independent of each other and of this one, which is spent.
    #[must_use]
    pub fn split(self) -> (Self, Self) {
        let [a, b, c, d] = philox([0, 0, 0, 1], self.0);
        (Self([a, b]), Self([c, d]))
    }

    /// The `n`th of many independent keys, such as one for each step or layer.
    #[must_use]
    pub fn child(self, n: u64) -> Self {
        let [a, b, ..] = philox([n as u32, (n >> 32) as u32, 0, 2], self.0);
        Self([a, b])
    }

    /// Its words, as [`reference::random`](crate::reference::random) takes them.
    #[must_use]
    pub const fn words(self) -> [u32; 2] {
        self.0
    }
}

impl Device {
    /// Random bits, as u32, of any [shape](IntoShape).
    pub fn random_bits(&self, key: Key, shape: impl IntoShape) -> Result<Tensor> {
        self.draw(key, shape.into_shape()?, DType::U32, Draw::Bits, [0; 2])
    }

    /// Uniform in 0..1, of a float dtype and any [shape](IntoShape): every multiple of 2^-24 alike
    /// (2^-11 for f16, 2^-8 for bf16, 2^-53 for f64).
    pub fn uniform(&self, key: Key, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        let kept = match dtype {
            DType::F32 => 24u32,
            DType::F16 => 11,
            DType::Bf16 => 8,
            DType::F64 if self.caps().has(Feature::ShaderInt64) => {
                return self.draw(key, shape.into_shape()?, dtype, Draw::Uniform64, [0; 2]);
            }
            _ => return Err(only("uniform", dtype, "a float")),
        };
        // A power of two, by its exponent.
        let scale = (127 - kept) << 23;
        self.draw(key, shape.into_shape()?, dtype, Draw::Uniform, [32 - kept, scale])
    }

    /// Normal numbers with mean 0 and deviation 1, of f32, f16 or bf16; none beyond 6.7.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::tensor::Key;
    ///
    /// let x = device.normal(Key::new(42), [2, 3], DType::F32)?;
    /// let again = device.normal(Key::new(42), [2, 3], DType::F32)?;
    /// assert!(x.eq(&again)?.all(..)?.scalar::<bool>()?, "the same key, the same numbers");
    /// # Ok(()) });
    /// ```
    pub fn normal(&self, key: Key, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        if !matches!(dtype, DType::F32 | DType::F16 | DType::Bf16) {
            return Err(only("normal", dtype, "f32, f16 or bf16"));
        }
        self.draw(key, shape.into_shape()?, dtype, Draw::Normal, [0; 2])
    }

    /// Coins: `true` with this probability, to within 2^-33.
    pub fn bernoulli(&self, key: Key, shape: impl IntoShape, probability: f64) -> Result<Tensor> {
        if !(0.0..=1.0).contains(&probability) {
            return Err(TensorCause::Probability { probability }.into());
        }
        let shape = shape.into_shape()?;
        let threshold = (probability * 2f64.powi(32)).round() as u64;
        match u32::try_from(threshold) {
            Ok(threshold) => self.draw(key, shape, DType::Bool, Draw::Chance, [threshold, 0]),
            Err(_) => self.full(shape, DType::Bool, true),
        }
    }

    /// Integers in a range of at most 2^32, of any integer dtype that holds it: all alike, to
    /// within 2^-32 of their probability.
    pub fn integers(
        &self,
        key: Key,
        shape: impl IntoShape,
        range: core::ops::Range<i64>,
        dtype: DType,
    ) -> Result<Tensor> {
        if !dtype.is_integer() {
            return Err(only("integers", dtype, "an integer"));
        }
        let (low, high) = (range.start, range.end);
        let count = i128::from(high) - i128::from(low);
        if !(1..=1 << 32).contains(&count) {
            return Err(TensorCause::Empty { low, high }.into());
        }
        for end in [low, high - 1] {
            Scalar::from(end).encode(dtype).map_err(|error| error.during("integers"))?;
        }
        let shape = shape.into_shape()?;
        let draw = |dtype, low| self.draw(key, shape, dtype, Draw::Below, [count as u32, low]);
        match dtype {
            DType::I32 | DType::U32 => draw(dtype, low as u32),
            DType::I64 | DType::U64 => draw(DType::U32, 0)?.cast(dtype)? + low,
            _ => draw(DType::I32, low as u32)?.cast(dtype),
        }
    }

    /// 0 to `count` in random order, as u32: every order alike, but for ties of 64 bits.
    pub fn permutation(&self, key: Key, count: usize) -> Result<Tensor> {
        sort::check(&self.engine, count).map_err(|error| error.during("permutation"))?;
        self.plan().accept(DType::U32).map_err(|error| error.during("random"))?;
        let list = random::permutation(self.site(), key.0, count)?;
        Ok(Tensor::of(self.clone(), list.value, list.layout, DType::U32))
    }

    fn draw(
        &self,
        key: Key,
        shape: Shape,
        dtype: DType,
        draw: Draw,
        words: [u32; 2],
    ) -> Result<Tensor> {
        self.plan().accept(dtype).map_err(|error| error.during("random"))?;
        let site = self.site();
        let value = random::random(site, &shape, dtype, key.0, (draw, words))?;
        Ok(Tensor::of(self.clone(), value, Layout::dense(shape), dtype))
    }
}

fn only(what: &'static str, dtype: DType, only: &'static str) -> crate::Error {
    TensorCause::Only { what, dtype, only }.into()
}
