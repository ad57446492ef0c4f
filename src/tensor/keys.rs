//! Keys: what elements are sorted by.
//!
//! A value becomes one or two words that are ordered as unsigned numbers where the values are: NaN
//! after all others, whichever way, and both zeros alike.

use super::Tensor;
use crate::device::Device;
use crate::dtype::{Class, DType};
use crate::engine::Site;
use crate::engine::site::asked;
use crate::error::Result;
use crate::kernel::cores::Task;
use crate::kernel::sort::text::Ranking;
use crate::kernel::sort::{self, PAIR_BYTES, SortedRows, WORD_BYTES};
use crate::kernel::{Operand, moves};
use crate::plan::Stored;
use crate::proof::Oracle;
use crate::shape::Shape;

/// Which way an axis is sorted: see [`Tensor::sort`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The smallest first.
    Ascending,
    /// The largest first.
    Descending,
}

/// A word of a key for every element, and how many of its bits count; the others are zero.
pub(super) type Word = (Tensor, u32);

/// The keys of rows, `[rows, length]`.
pub(super) struct Keys {
    /// The lowest first.
    pub(super) words: Vec<Word>,
}

const SIGN: u32 = 1 << 31;

impl Keys {
    /// The keys of a dense tensor of rows.
    pub(super) fn of(rows: &Tensor, order: Order) -> Result<Self> {
        sort::check(&rows.device.engine, rows.shape().elements(), PAIR_BYTES)?;
        let list = rows.flatten(..)?;
        Self { words: list.ordered_as(order)? }.each(|word| word.reshape(*rows.shape()))
    }

    /// Each word made another.
    pub(super) fn each(&self, make: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        let words = self.words.iter().map(|(word, bits)| Ok((make(word)?, *bits)));
        Ok(Self { words: words.collect::<Result<_>>()? })
    }

    /// Where the keys of each row come from once it is sorted, equal ones as they came.
    #[track_caller]
    pub(super) fn sorted(&self) -> Tensor {
        let shape = *self.words[0].0.shape();
        let rows = rows_of(&self.words[0].0.device, &shape);
        let bits: Vec<u32> = self.words.iter().map(|(_, bits)| *bits).collect();
        let oracle = Oracle::Ordered { bits: bits.clone(), length: rows.length };
        let keys: Vec<&Tensor> = self.words.iter().map(|(word, _)| word).collect();
        let sorted = move |site: Site<'_>, keys: &[Operand]| {
            let words: Vec<_> = keys.iter().cloned().zip(bits.iter().copied()).collect();
            sort::positions(site, &words, rows)
        };
        keys[0].alone(Task::by("argsort", oracle), &keys, (shape, Stored::U32), sorted)
    }

    /// How many rows there are, and keys in each.
    pub(super) fn dims(&self) -> [usize; 2] {
        let dims = self.words[0].0.shape().dims();
        [dims[0], dims[1]]
    }
}

/// The rows of a shape, and how they are sorted if that was tuned.
fn rows_of(device: &Device, shape: &Shape) -> SortedRows {
    let rows = SortedRows::of(shape);
    SortedRows { by: device.tuned(rows.size()), ..rows }
}

impl Tensor {
    /// These rows sorted, equal elements as they came, by keys that are nowhere in memory. `None`
    /// of elements that are no words.
    #[track_caller]
    pub(super) fn sorted_rows(&self, order: Order) -> Result<Option<Self>> {
        if self.dtype.width() != WORD_BYTES as usize {
            return Ok(None);
        }
        sort::check(&self.device.engine, self.shape().elements(), WORD_BYTES)?;
        let descending = order == Order::Descending;
        let by = Ranking { class: self.dtype.class(), descending };
        let rows = rows_of(&self.device, self.shape());
        let task = Task::by("sort", Oracle::Sorted { descending, length: rows.length });
        let sorted = move |site: Site<'_>, list: &[Operand]| sort::sorted(site, &list[0], by, rows);
        Ok(Some(self.alone(task, &[self], (*self.shape(), self.dtype), sorted)))
    }

    /// Words that are ordered as these elements, a dense list, are; the lowest first.
    #[track_caller]
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
                let word = self.cast(DType::I32)?.as_words()?.bit_xor(1u32 << (bits - 1))?;
                (vec![(word, bits)], None)
            }
            (Class::Unsigned, 64) => (self.halves()?.map(|half| (half, 32)).into(), None),
            (Class::Unsigned | Class::Bool, _) => (vec![(self.cast(DType::U32)?, bits)], None),
        };
        let turn = |(word, bits): Word| -> Result<Word> {
            let word = if order == Order::Descending { word.bit_not()? } else { word };
            // What a narrow number is widened by is no part of its key.
            let word = if bits < 32 { word.bit_and((1u32 << bits) - 1)? } else { word };
            let last = nan.as_ref().map(|nan| nan.choose(u32::MAX, &word)).transpose()?;
            Ok((last.unwrap_or(word), bits))
        };
        words.into_iter().map(turn).collect()
    }

    /// The word of an f32, and whether it is NaN. Magnitudes of negative numbers fall.
    #[track_caller]
    fn float_word(&self) -> Result<(Vec<Word>, Option<Self>)> {
        let word = self.as_words()?;
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
        let words = self.as_words()?.reshape([self.shape().elements(), 2])?;
        let half = |i: usize| words.slice(1, i..i + 1)?.squeeze(1)?.contiguous();
        asked(|| Ok([half(0)?, half(1)?]))
    }

    /// The words of a dense list, as they lie in memory.
    #[track_caller]
    fn as_words(&self) -> Result<Self> {
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
