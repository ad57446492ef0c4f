//! Random tensors: made on the device, from a key and nothing else.

use super::Tensor;
use super::cause::{FLOATS_BY_F32, TensorCause, by_f32, float, makes};
use super::number::Scalar;
use crate::caps::Feature;
use crate::device::Device;
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::kernel::cores::Task;
use crate::kernel::random::text::Draw;
use crate::kernel::{Operand, random, sort};
use crate::layout::Layout;
use crate::plan::Stored;
use crate::proof::{Lot, Oracle};
use crate::reference::random::{philox, uniform as drawn};
use crate::shadow::witnessed;
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
/// within their [contract](crate::op). Any part of a tensor is what it would be alone: the
/// generator is Philox 4x32-10, counted by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key([u32; 2]);

impl Key {
    /// The key of a seed.
    #[doc(alias = "manual_seed")]
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
    /// Random bits, as u32, of any [shape](IntoShape). Recorded at once.
    #[track_caller]
    pub fn random_bits(&self, key: Key, shape: impl IntoShape) -> Result<Tensor> {
        self.draw("random_bits", key, shape.into_shape()?, Stored::U32, Draw::Bits, [0; 2])
    }

    /// Uniform in 0..1, of a float dtype and any [shape](IntoShape): every multiple of 2^-24 alike
    /// (2^-11 for f16, 2^-8 for bf16, 2^-53 for f64, which takes 64-bit integers as well).
    /// Recorded at once.
    ///
    /// Where the plan converts f64, they are the numbers of the dtype that it stores, not those of
    /// f64; a lossless policy refuses that.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::tensor::Key;
    ///
    /// let x = device.uniform(Key::new(42), [100], DType::F32)?.read_now::<f32>()?;
    /// assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
    /// # Ok(()) });
    /// ```
    #[doc(alias = "rand")]
    #[track_caller]
    pub fn uniform(&self, key: Key, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        let (what, shape) = ("uniform", shape.into_shape()?);
        makes(what, dtype)?;
        float(what, dtype)?;
        let made = self.making(what, dtype)?;
        if made.rules.lossless {
            let draw = |i| Scalar::from(drawn(key.0, dtype, i as u64));
            let draws = made.check(shape.elements(), draw);
            draws.map_err(|error| error.during(what))?;
        }
        if *made.stored == DType::F64 {
            if !self.caps().has(Feature::ShaderInt64) {
                return Err(TensorCause::Draws64.into());
            }
            return self.draw(what, key, shape, made.stored, Draw::Uniform64, [0; 2]);
        }
        let kept = made.stored.digits();
        // A power of two, by its exponent.
        let scale = (127 - kept) << 23;
        self.draw(what, key, shape, made.stored, Draw::Uniform, [32 - kept, scale])
    }

    /// Normal numbers with mean 0 and deviation 1, of f32, f16 or bf16; none beyond 6.7.
    /// Recorded at once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::tensor::Key;
    ///
    /// let x = device.normal(Key::new(42), [2, 3], DType::F32)?;
    /// let again = device.normal(Key::new(42), [2, 3], DType::F32)?;
    /// assert!(x.equal_now(&again)?, "the same key, the same numbers");
    /// # Ok(()) });
    /// ```
    #[doc(alias = "randn")]
    #[track_caller]
    pub fn normal(&self, key: Key, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        if !by_f32(dtype) {
            return Err(only("normal", dtype, FLOATS_BY_F32));
        }
        let made = self.making("normal", dtype)?;
        self.draw("normal", key, shape.into_shape()?, made.stored, Draw::Normal, [0; 2])
    }

    /// Coins: `true` with this probability, to within 2^-33. Recorded at once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let coins = device.bernoulli(wharf::tensor::Key::new(42), [1000], 0.25)?;
    /// let heads = coins.count_nonzero(..)?.read_scalar_now::<u32>()?;
    /// assert!((200..300).contains(&heads), "{heads}");
    /// # Ok(()) });
    /// ```
    #[doc(alias = "dropout")]
    #[track_caller]
    pub fn bernoulli(&self, key: Key, shape: impl IntoShape, probability: f64) -> Result<Tensor> {
        if !(0.0..=1.0).contains(&probability) {
            return Err(TensorCause::Probability { probability }.into());
        }
        let shape = shape.into_shape()?;
        let threshold = (probability * 2f64.powi(32)).round() as u64;
        match u32::try_from(threshold) {
            Ok(threshold) => {
                self.draw("bernoulli", key, shape, Stored::BOOL, Draw::Chance, [threshold, 0])
            }
            Err(_) => self.full(shape, true, DType::Bool),
        }
    }

    /// Integers in a range of at most 2^32, of any integer dtype that holds it: all alike, to
    /// within 2^-32 of their probability. Where the plan converts the dtype, what is stored must
    /// hold the range. Recorded at once, but for what makes them wider or narrower than 32 bits.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::tensor::Key;
    ///
    /// let dice = device.integers(Key::new(42), [100], 1..7, DType::U8)?.read_now::<u8>()?;
    /// assert!(dice.iter().all(|dice| (1..7).contains(dice)));
    /// # Ok(()) });
    /// ```
    #[doc(alias = "randint")]
    #[track_caller]
    pub fn integers(
        &self,
        key: Key,
        shape: impl IntoShape,
        range: core::ops::Range<i64>,
        dtype: DType,
    ) -> Result<Tensor> {
        let what = "integers";
        if !dtype.is_integer() {
            return Err(only(what, dtype, "an integer"));
        }
        let made = self.making(what, dtype)?;
        let (low, high) = (range.start, range.end);
        let count = i128::from(high) - i128::from(low);
        if !(1..=1 << 32).contains(&count) {
            return Err(TensorCause::Empty { low, high }.into());
        }
        for end in [low, high - 1] {
            made.number(Scalar::from(end)).map_err(|error| error.during(what))?;
        }
        let shape = shape.into_shape()?;
        let draw =
            |dtype, low| self.draw(what, key, shape, dtype, Draw::Below, [count as u32, low]);
        // Drawn as 32 bits, where the range is one of theirs.
        let within = |least: i64, most: i64| least <= low && high - 1 <= most;
        if made.stored != Stored::U32 && within(i32::MIN.into(), i32::MAX.into()) {
            draw(Stored::I32, low as u32)?.cast_to(made.stored)
        } else if within(0, u32::MAX.into()) {
            draw(Stored::U32, low as u32)?.cast_to(made.stored)
        } else {
            let low = made.operand(Scalar::from(low))?;
            draw(Stored::U32, 0)?.cast_to(made.stored)? + low
        }
    }

    /// 0 to `count` in random order, as u32: every order alike, but for ties of 64 bits.
    /// Recorded at once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::{Key, Order};
    ///
    /// let order = device.permutation(Key::new(42), 4)?;
    /// assert_eq!(order.sort(0, Order::Ascending)?.read_now::<u32>()?, [0, 1, 2, 3]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("randperm", "shuffle"))]
    #[track_caller]
    pub fn permutation(&self, key: Key, count: usize) -> Result<Tensor> {
        sort::check(&self.engine, count, sort::PAIR_BYTES)
            .map_err(|error| error.during("permutation"))?;
        let shape = Shape::new([count])?;
        let named = Task::by("permutation", Oracle::Shuffled { key: key.0 });
        let list = |site: Site<'_>, _: &[Operand]| random::permutation(site, key.0, count);
        let value = witnessed(self.site(), named, &[], (shape, DType::U32), list)?;
        Ok(Tensor::of(self.clone(), value, Layout::dense(shape), Stored::U32))
    }

    #[track_caller]
    fn draw(
        &self,
        what: &'static str,
        key: Key,
        shape: Shape,
        dtype: Stored,
        draw: Draw,
        words: [u32; 2],
    ) -> Result<Tensor> {
        let lot = match draw {
            Draw::Bits => Lot::Bits(words[0]),
            Draw::Uniform | Draw::Uniform64 => Lot::Uniform,
            Draw::Normal => Lot::Normal,
            Draw::Below => Lot::Below(words),
            Draw::Chance => Lot::Chance(words[0]),
        };
        let named = Task::by(what, Oracle::Drawn { key: key.0, lot });
        let drawn = |site: Site<'_>, _: &[Operand]| {
            random::random(site, &shape, *dtype, key.0, (draw, words))
        };
        let value = witnessed(self.site(), named, &[], (shape, *dtype), drawn)?;
        Ok(Tensor::of(self.clone(), value, Layout::dense(shape), dtype))
    }
}

fn only(what: &'static str, dtype: DType, only: &'static str) -> crate::Error {
    TensorCause::Only { what, dtype, only }.into()
}
