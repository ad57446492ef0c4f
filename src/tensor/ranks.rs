//! Where values stand among others: places in a sorted list, counts of bins, quantiles, and draws
//! by weight.

use core::ops::RangeInclusive;

use super::Tensor;
use super::cause::{FLOATS_BY_F32, TensorCause, by_f32, float};
use super::keys::Order;
use super::random::Key;
use super::reduce::computed;
use crate::dtype::DType;
use crate::engine::site::asked;
use crate::error::{Error, Result, causes};
use crate::kernel::index_space;
use crate::kernel::scatter::Merging;
use crate::plan::Stored;
use crate::shape::cause::ShapeCause;
use crate::shape::{Axes, Shape};

/// On which side of equal elements a value stands: see [`Tensor::searchsorted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Insert {
    /// Before all of them.
    Left,
    /// After all of them.
    Right,
}

/// Random numbers of 32 bits.
const TIMES: f32 = 4_294_967_296.0;
/// How far the largest luck stays below 1.
const LATEST: f32 = f32::EPSILON / 2.0;

impl Tensor {
    /// How many elements of this, which is sorted along its last axis, lie before each value, as
    /// u32: where it would be inserted. Of one list values of any shape are looked for; of several,
    /// in the list that is at the same place of the axes before the last.
    ///
    /// Where this is not sorted, a place that means nothing. NaN stands after all numbers. By
    /// halves, a step for every bit of the length, each of them a gather. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Insert;
    ///
    /// let (ends, _) = device.upload(&[10, 20, 20, 30], [4])?;
    /// let (x, _) = device.upload(&[5, 20, 99], [3])?;
    /// assert_eq!(ends.searchsorted(&x, Insert::Left)?.read_now::<u32>()?, [0, 1, 4]);
    /// assert_eq!(ends.searchsorted(&x, Insert::Right)?.read_now::<u32>()?, [0, 3, 4]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("bucketize", "digitize"))]
    #[track_caller]
    pub fn searchsorted(&self, values: &Self, side: Insert) -> Result<Self> {
        let what = "searchsorted";
        let found = || {
            let (shape, rank) = (*values.shape(), self.shape().rank());
            let Some((&length, lists)) = self.shape().dims().split_last() else {
                return Err(ShapeCause::Ranks { shape: *self.shape(), takes: "1 or more" }.into());
            };
            self.device.engine.same_device(&values.device.engine)?;
            if self.dtype != values.dtype {
                let (left, right) = (self.dtype(), values.dtype());
                return Err(TensorCause::Dtypes { what: "list and values", left, right }.into());
            }
            index_space(shape.elements().max(length))?;
            let values = match rank {
                1 => values.flatten(..)?,
                _ if shape.rank() == rank && shape.dims()[..rank - 1] == *lists => values.clone(),
                _ => {
                    let (left, right, what) = (*self.shape(), shape, "lists and values differ");
                    return Err(ShapeCause::Same { what, left, right }.into());
                }
            };
            let mut before = self.device.constant(*values.shape(), Stored::U32, 0u8)?;
            if length == 0 {
                return before.reshape_copied(shape)?.on_behalf_of(&[self, &values]);
            }
            let bits = usize::BITS - length.leading_zeros();
            for step in (0..bits).rev().map(|bit| 1u32 << bit) {
                // The last of those that would lie before it, if there are so many.
                let last = (&before + (step - 1))?;
                let place = last.minimum((length - 1) as u32)?;
                let element = self.picked(what, &place, rank - 1, 1)?;
                let is_before = last.lt(length as u32)?.and(element.stands(&values, side)?)?;
                before = is_before.choose(&(&before + step)?, &before)?;
            }
            before.reshape_copied(shape)
        };
        asked(found).map_err(|error: Error| error.during(what))
    }

    /// Whether elements stand before values that are equal to those of this side.
    #[track_caller]
    fn stands(&self, values: &Self, side: Insert) -> Result<Self> {
        let before = match side {
            Insert::Left => self.lt(values)?,
            Insert::Right => self.le(values)?,
        };
        if !self.dtype.is_float() {
            return Ok(before);
        }
        let nan = match side {
            Insert::Left => values.is_nan()?.and(self.is_nan()?.not()?)?,
            Insert::Right => values.is_nan()?,
        };
        before.or(&nan)
    }

    /// How often each of the integers below `bins` occurs, as u32: of any integer dtype. Another
    /// one is an error at the next read. Recorded at once, but for the last addition.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[2, 0, 2, 2], [4])?;
    /// assert_eq!(x.bincount(4)?.read_now::<u32>()?, [1, 0, 3, 0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn bincount(&self, bins: usize) -> Result<Self> {
        let is_narrow = self.dtype.is_integer() && self.dtype.width() < DType::I32.width();
        let whole = if is_narrow { self.cast(DType::I32) } else { Ok(self.clone()) };
        whole.map_err(|error| error.during("bincount"))?.counted("bincount", bins)
    }

    #[track_caller]
    fn counted(&self, what: &'static str, bins: usize) -> Result<Self> {
        let index = self.flatten(..)?;
        let one = self.device.ones(1, DType::U32)?.broadcast_to(*index.shape())?;
        let none = self.device.zeros(bins, DType::U32)?;
        none.merging(what, Merging::Sum, 0.into(), &index, &one)
    }

    /// How many elements lie in each of `bins` equal parts of a range, as u32. A part has its lower
    /// end, the last one its upper end too; what lies outside, and NaN, counts nowhere.
    /// Of floats. Which part has it is computed in f32 (f64 for f64), where the range has to be
    /// finite; an element within rounding of an end may count on its other side. Recorded at once,
    /// but for the last addition.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[0.1f32, 0.9, 1.0, 2.0, 7.0], [5])?;
    /// assert_eq!(x.histogram(2, 0.0..=2.0)?.read_now::<u32>()?, [2, 2]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "histc")]
    #[track_caller]
    pub fn histogram(&self, bins: usize, range: RangeInclusive<f64>) -> Result<Self> {
        let (low, high) = range.into_inner();
        let counted = || {
            float("input", self.dtype())?;
            let (wide, each) = (computed(self.dtype()), bins as f64 / (high - low));
            let is_number = |x: f64| match wide {
                DType::F64 => x.is_normal(),
                _ => (x as f32).is_normal(),
            };
            let some = bins > 0 && low < high && is_number(high - low) && is_number(each);
            let Some(all) = bins.checked_add(1).filter(|_| some) else {
                return Err(RankCause::Bins { bins, low, high }.into());
            };
            let x = self.cast(wide)?;
            let part = ((&x - low)? * each)?;
            let part = part.clamp(0.0, bins as f64)?.cast(DType::U32)?.minimum(bins - 1)?;
            let inside = x.ge(low)?.and(x.le(high)?)?;
            inside.choose(&part, bins)?.counted("histogram", all)?.slice(0, ..bins)
        };
        asked(counted).map_err(|error| error.during("histogram"))
    }

    /// What so large a part of the elements lies below, over [some axes](Axes): 0 is the smallest,
    /// 1 the largest; between two elements `a` and `b` it is `a (1 - t) + b t`, and where they are
    /// equal, `a`: infinities are neighbours as well, and only those of both signs make NaN. An
    /// element is exact, what lies between two off by at most 3 ulp of `|a| (1 - t) + |b| t`
    /// ([contract](crate::op)). NaN if an element is. Of floats, f16 and bf16 computed in f32; of
    /// no elements it is an error. [Sorts](Tensor::sort) all elements as one list of 8 bytes each,
    /// of f32 of 4, which has to lie in one segment. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[4.0f32, 1.0, 3.0, 2.0], [4])?;
    /// assert_eq!(x.quantile(0, 0.25)?.read_scalar_now::<f32>()?, 1.75);
    /// assert_eq!(x.median(..)?.read_scalar_now::<f32>()?, 2.5);
    /// # Ok(()) });
    /// ```
    #[doc(alias("percentile", "kthvalue"))]
    #[track_caller]
    pub fn quantile(&self, axes: impl Into<Axes>, part: f64) -> Result<Self> {
        let axes = axes.into();
        asked(|| self.lying_at(part, &axes)).map_err(|error| error.during("quantile"))
    }

    /// The [quantile](Tensor::quantile) of a half, by its contract: the element in the middle, or
    /// the mean of both that are. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[9.0f32, 1.0, 2.0], [3])?;
    /// assert_eq!(x.median(..)?.read_scalar_now::<f32>()?, 2.0);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn median(&self, axes: impl Into<Axes>) -> Result<Self> {
        let axes = axes.into();
        asked(|| self.lying_at(0.5, &axes)).map_err(|error| error.during("median"))
    }

    fn lying_at(&self, part: f64, axes: &Axes) -> Result<Self> {
        float("input", self.dtype())?;
        if !(0.0..=1.0).contains(&part) {
            return Err(RankCause::Part { part }.into());
        }
        let among = axes.of(self.shape())?;
        let (inner, outer): (Vec<usize>, Vec<usize>) =
            (0..among.len()).partition(|&axis| among[axis]);
        let rows = self.permute([&outer[..], &inner].concat())?;
        let (outside, within) = rows.shape().dims().split_at(outer.len());
        let length: usize = within.iter().product();
        let Some(last) = length.checked_sub(1) else {
            return Err(RankCause::Nothing { shape: *self.shape() }.into());
        };
        let sorted =
            rows.reshape_copied([outside, &[length]].concat())?.sort(-1, Order::Ascending)?;
        let sorted = sorted.cast(computed(self.dtype()))?;
        let place = part * last as f64;
        let at = |place: f64| sorted.select(-1, place as usize);
        let between = match place.fract() {
            0.0 => at(place)?,
            fract => {
                let (low, high) = (at(place.floor())?, at(place.ceil())?);
                // No difference, which would overflow, and be NaN of two infinities.
                let mixed = ((&low * (1.0 - fract))? + (&high * fract)?)?;
                low.eq(&high)?.choose(&low, &mixed)?
            }
        };
        let largest = sorted.select(-1, last)?;
        let result = largest.is_nan()?.choose(&largest, &between)?.cast(self.dtype())?;
        if !axes.are_kept() {
            return Ok(result);
        }
        inner.iter().try_fold(result, |result, &axis| result.unsqueeze(axis))
    }

    /// Draws `count` places of the last axis, as u32 `[.., count]`, each with a probability in
    /// proportion to its weight, which is a float of 0 or more. Each is put back, and may be drawn
    /// again: [`Tensor::multinomial_distinct`] keeps it out. Drawn in f32; the same key draws the
    /// same. What it draws with is recorded at once, the rest is deferred.
    ///
    /// A row of zeros alone draws its last place, again and again. A row with NaN, or whose sum is
    /// infinite, draws places that mean nothing.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Key;
    ///
    /// let (weights, _) = device.upload(&[0.0f32, 3.0, 0.0, 1.0], [4])?;
    /// let drawn = weights.multinomial(Key::new(1), 100)?.read_now::<u32>()?;
    /// assert!(drawn.iter().all(|place| [1, 3].contains(place)));
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn multinomial(&self, key: Key, count: usize) -> Result<Self> {
        let drawn = || {
            let (weights, axis, places) = self.draws_by()?;
            if places == 0 {
                return Err(RankCause::Draws { count, places }.into());
            }
            let mut dims = self.shape().dims().to_vec();
            dims[axis] = count;
            let luck = self.device.uniform(key, Shape::new(dims)?, DType::F32)?;
            // Sums of blocks are rounded: they must not fall, nor rise where there is no weight.
            let sums = weights.gt(0.0)?.choose(&weights.cumsum(axis)?, 0.0f32)?.cummax(axis)?;
            let all = sums.slice(axis, -1..)?;
            sums.searchsorted(&(luck * all)?, Insert::Right)?.minimum((places - 1) as u32)
        };
        asked(drawn).map_err(|error: Error| error.during("multinomial"))
    }

    /// [`Tensor::multinomial`] without putting back: each place is drawn at most once. Where fewer
    /// have a weight, those of weight 0 come last; a row of zeros alone draws its places from the
    /// first on.
    ///
    /// They are the [`Tensor::top_k`] of all weights, which as one list of 8 bytes each have to lie
    /// in one segment. What it draws with is recorded at once, the rest is deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Key;
    ///
    /// let (weights, _) = device.upload(&[0.0f32, 3.0, 0.0, 1.0], [4])?;
    /// let mut both = weights.multinomial_distinct(Key::new(1), 2)?.read_now::<u32>()?;
    /// both.sort();
    /// assert_eq!(both, [1, 3]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn multinomial_distinct(&self, key: Key, count: usize) -> Result<Self> {
        let drawn = || {
            let (weights, axis, places) = self.draws_by()?;
            if places == 0 || count > places {
                return Err(RankCause::Draws { count, places }.into());
            }
            // The first of races whose speeds are the weights.
            // By all bits, because the shortest times win: a coarse one of many rare places
            // would beat what is likely. A time is neither 0 nor infinite.
            let bits = self.device.random_bits(key, *self.shape())?.cast(DType::F32)?;
            let luck = (bits.mul_add(-1.0 / TIMES, -0.5 / TIMES)?).maximum(LATEST - 1.0)?;
            let time = luck.log1p()?.neg()?;
            // By roots, whose quotients neither leave the range of f32 nor come to 0.
            Ok((weights.sqrt()? / time.sqrt()?)?.top_k(axis, count)?.1)
        };
        asked(drawn).map_err(|error: Error| error.during("multinomial_distinct"))
    }

    /// What is drawn by, its last axis, and how many places that has.
    fn draws_by(&self) -> Result<(Self, usize, usize)> {
        if !by_f32(self.dtype()) {
            let (what, dtype) = ("weights", self.dtype());
            return Err(TensorCause::Only { what, dtype, only: FLOATS_BY_F32 }.into());
        }
        let (axis, places) = self.shape().find(-1)?;
        Ok((self.cast(DType::F32)?, axis, places))
    }
}

causes! {
    /// What can be wrong with bins, quantiles and draws.
    enum RankCause;

    Bins { bins: usize, low: f64, high: f64 }, Argument:
        ("{bins} bins of {low:?} to {high:?}")
        help ("one bin at least, of a finite range whose lower end comes first; a bin is as wide \
               as a normal number of f32: fewer bins, another range, or f64");
    Part { part: f64 }, Argument:
        ("{part:?} is outside 0..=1")
        help ("a part of all elements: the median is 0.5");
    Nothing { shape: Shape }, Shape:
        ("no elements in {shape}, which has 0 along the axes")
        help ("there is no value to yield: check the length first");
    Draws { count: usize, places: usize }, Shape:
        ("{count} draws from {places} places")
        help ("from one place at least, and from as many as are drawn: `multinomial` puts back");
}
