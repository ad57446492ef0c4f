//! Order: where the elements of an axis stand once it is sorted.
//!
//! A value becomes one or two words that are ordered as unsigned numbers where the values are: NaN
//! after all others, whichever way, and both zeros alike. Sorting is by digits of those words, the
//! lowest first, and by rows last, so that all rows are sorted at once and equal values stay as
//! they came.

use super::Tensor;
use crate::dtype::{Class, DType};
use crate::engine::Site;
use crate::engine::site::asked;
use crate::error::{Error, Result};
use crate::kernel::cores::Task;
use crate::kernel::{Operand, moves, sort};
use crate::plan::Stored;
use crate::proof::Oracle;
use crate::shape::{Axis, Shape};

/// Which way an axis is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The smallest first.
    Ascending,
    /// The largest first.
    Descending,
}

/// A word of a key for every element, and how many of its bits count.
type Word = (Tensor, u32);

const SIGN: u32 = 1 << 31;

impl Tensor {
    /// Where the elements of an axis come from once it is sorted, as u32: what `gather` takes.
    ///
    /// Equal elements stay as they came, `-0.0` equals `0.0`, and NaN comes last, whichever way.
    /// Of any dtype; deferred. All elements are one list on the way, of 8 bytes each, which has to
    /// lie in one segment.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Order;
    ///
    /// let (x, _) = device.upload(&[3.0f32, f32::NAN, 1.0, 3.0], [4])?;
    /// let order = x.argsort(0, Order::Descending)?;
    /// assert_eq!(order.to_vec::<u32>()?, [0, 3, 2, 1]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn argsort(&self, axis: impl Into<Axis>, order: Order) -> Result<Self> {
        self.sorted_places(axis.into(), order).map_err(|error| error.during("argsort"))
    }

    /// An axis sorted, bit by bit: see [`Tensor::argsort`]. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Order;
    ///
    /// let (x, _) = device.upload(&[3, 1, 2, 5, 4, 6], [2, 3])?;
    /// assert_eq!(x.sort(1, Order::Ascending)?.to_vec::<i32>()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn sort(&self, axis: impl Into<Axis>, order: Order) -> Result<Self> {
        let sorted = || {
            let (axis, _) = self.shape().find(axis)?;
            // Places need no check.
            self.picked("sort", &self.sorted_places(axis.into(), order)?, axis, 1)
        };
        asked(sorted).map_err(|error: Error| error.during("sort"))
    }

    /// The `k` largest of an axis, the largest first, and where they come from, as u32; of more
    /// than there are, all. NaN comes last. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[0.5f32, 0.1, 0.4], [3])?;
    /// let (values, places) = x.top_k(2, 0)?;
    /// assert_eq!(values.to_vec::<f32>()?, [0.5, 0.4]);
    /// assert_eq!(places.to_vec::<u32>()?, [0, 2]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn top_k(&self, k: usize, axis: impl Into<Axis>) -> Result<(Self, Self)> {
        let largest = || {
            let (axis, length) = self.shape().find(axis)?;
            let places = self.sorted_places(axis.into(), Order::Descending)?;
            let places = places.slice(axis, 0..k.min(length))?;
            Ok((self.picked("top_k", &places, axis, 1)?, places))
        };
        asked(largest).map_err(|error: Error| error.during("top_k"))
    }

    #[track_caller]
    fn sorted_places(&self, axis: Axis, order: Order) -> Result<Self> {
        let ((place, length), count) = (self.shape().find(axis)?, self.shape().elements());
        if count == 0 {
            return self.device.zeros(*self.shape(), DType::U32);
        }
        sort::check(&self.device.engine, count)?;
        let axes = self.layout.order_along(place);
        let rows = self.permute(&axes)?;
        let list = rows.contiguous()?.reshape([count])?;
        let words = asked(|| list.ordered_as(order))?;
        let bits: Vec<u32> = words.iter().map(|(_, bits)| *bits).collect();
        let keys: Vec<&Self> = words.iter().map(|(word, _)| word).collect();
        let several = count > length;
        let named = Task::by("argsort", Oracle::Ordered { bits: bits.clone(), length });
        let sorted = move |site: Site<'_>, keys: &[Operand]| {
            let mut words: Vec<_> = keys.iter().cloned().zip(bits.iter().copied()).collect();
            if several {
                words.push(sort::rows(site, count / length, length)?);
            }
            moves::contiguous(site, &sort::order(site, &words)?)
        };
        let places = list.alone(named, &keys, (Shape::new([count])?, Stored::U32), sorted);
        // A position below 2^32 is one in its row.
        let places = if several { places.rem(length as u32)? } else { places };
        places.reshape(rows.shape())?.unpermute(&axes)
    }

    /// Words that are ordered as these elements, a dense list, are; the lowest first.
    fn ordered_as(&self, order: Order) -> Result<Vec<Word>> {
        let bits = 8 * self.dtype.width() as u32;
        let (words, nan) = match (self.dtype.class(), bits) {
            (Class::Float, 64) => self.double_words()?,
            (Class::Float, _) => self.cast(DType::F32)?.float_word()?,
            (Class::Signed, 64) => {
                let [low, high] = self.halves()?;
                (vec![(low, 32), (high.bit_xor(SIGN)?, 32)], None)
            }
            (Class::Signed, _) => {
                let word = self.cast(DType::I32)?.words()?.bit_xor(1u32 << (bits - 1))?;
                (vec![(word, bits)], None)
            }
            (Class::Unsigned, 64) => (self.halves()?.map(|half| (half, 32)).into(), None),
            (Class::Unsigned | Class::Bool, _) => (vec![(self.cast(DType::U32)?, bits)], None),
        };
        let turn = |(word, bits): Word| -> Result<Word> {
            let word = if order == Order::Descending { word.bit_not()? } else { word };
            let last = nan.as_ref().map(|nan| nan.choose(u32::MAX, &word)).transpose()?;
            Ok((last.unwrap_or(word), bits))
        };
        words.into_iter().map(turn).collect()
    }

    /// The word of an f32, and whether it is NaN. Magnitudes of negative numbers fall.
    #[track_caller]
    fn float_word(&self) -> Result<(Vec<Word>, Option<Self>)> {
        let word = self.words()?;
        let key = word.gt(SIGN)?.choose(&word.bit_not()?, &word.bit_or(SIGN)?)?;
        let nan = word.bit_and(SIGN - 1)?.gt(0x7f80_0000u32)?;
        Ok((vec![(key, 32)], Some(nan)))
    }

    /// The words of an f64, and whether it is NaN.
    #[track_caller]
    fn double_words(&self) -> Result<(Vec<Word>, Option<Self>)> {
        let [low, high] = self.halves()?;
        let some = low.gt(0u32)?;
        let negative = high.gt(SIGN)?.or(high.eq(SIGN)?.and(&some)?)?;
        let words = [
            negative.choose(&low.bit_not()?, &low)?,
            negative.choose(&high.bit_not()?, &high.bit_or(SIGN)?)?,
        ];
        let magnitude = high.bit_and(SIGN - 1)?;
        let nan = magnitude.gt(0x7ff0_0000u32)?.or(magnitude.eq(0x7ff0_0000u32)?.and(&some)?)?;
        Ok((words.map(|word| (word, 32)).into(), Some(nan)))
    }

    /// The lower and the upper words of elements of 64 bits.
    #[track_caller]
    fn halves(&self) -> Result<[Self; 2]> {
        let words = self.words()?.reshape([self.shape().elements(), 2])?;
        let half = |i: usize| words.slice(1, i..i + 1)?.squeeze(1)?.contiguous();
        asked(|| Ok([half(0)?, half(1)?]))
    }

    /// The words of a dense list, as they lie in memory.
    #[track_caller]
    fn words(&self) -> Result<Self> {
        let count = self.shape().elements() * self.dtype.width() / DType::U32.width();
        let words = |site: Site<'_>, from: &[Operand]| match from[0].layout.offset() {
            0 => Ok(from[0].value.clone()),
            _ => moves::copied(site, &from[0], &[]),
        };
        Ok(self.alone(
            Task::by("words", Oracle::Words),
            &[self],
            (Shape::new([count])?, Stored::U32),
            words,
        ))
    }
}
