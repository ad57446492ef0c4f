//! What is moved, sorted or drawn: the same bits everywhere, but for normal numbers and sums.

use std::collections::BTreeMap;

use super::cells::{Desk, element};
use super::{Estimate, Lot, Oracle};
use crate::dtype::{Class, DType};
use crate::op::{Joint, Number, Reduction};
use crate::reference::{self, random};

/// Bits as a number of a dtype.
fn decoded(dtype: DType, bits: [u32; 2]) -> Number {
    let bytes: [u8; 8] = bytemuck::must_cast(bits);
    Number::decode(dtype, &bytes[..dtype.width()])
}

fn whole(n: usize) -> Number {
    Number::Int(n as i128)
}

/// The place of an element along each axis.
fn place(dims: &[usize], mut n: usize) -> Vec<usize> {
    let mut place = vec![0; dims.len()];
    for (at, &dim) in place.iter_mut().zip(dims).rev() {
        *at = n % dim.max(1);
        n /= dim.max(1);
    }
    place
}

impl Desk<'_> {
    /// The elements of a group; `None` where nothing can be said.
    pub(super) fn moved(&self, given: DType, group: usize) -> Option<Vec<Estimate>> {
        let one = |number: Number| Some(vec![Estimate::Known(number)]);
        let all = |numbers: Vec<usize>| {
            Some(numbers.into_iter().map(|n| Estimate::Known(whole(n))).collect())
        };
        match self.claim.core.as_ref()? {
            Oracle::Words => one(self.word(group)?),
            Oracle::Ordered { bits, length } => {
                all(self.ordered(bits, *length, group)?.into_iter().map(|n| n % length).collect())
            }
            Oracle::Sorted { descending, length } => self.sorted(*descending, *length, group),
            Oracle::Foremost { bits, length, count } => {
                let mut first = self.ordered(bits, *length, group)?;
                first.truncate(*count);
                first.sort_unstable();
                all(first.into_iter().map(|n| n - group * length).collect())
            }
            Oracle::Filled { bits } => one(decoded(given, *bits)),
            Oracle::Counted => one(whole(group)),
            Oracle::Drawn { key, lot } => Some(vec![drawn(given, *key, *lot, group as u64)]),
            Oracle::Shuffled { key } => {
                let count = u32::try_from(self.claim.tail.shape.elements()).ok()?;
                let order = random::permutation(*key, count);
                all(order.into_iter().map(|n| n as usize).collect())
            }
            Oracle::Last => one(whole(self.naming(group).last().map_or(0, |i| i + 1))),
            Oracle::Replaced => {
                let there = self.claim.heads[1].shape.elements();
                let from = self.named(2, group).filter(|&n| n < there);
                Some(vec![from.map_or_else(|| self.head(0, group), |n| self.head(1, n))])
            }
            Oracle::Folded(reduction) => Some(vec![self.folded(*reduction, given, group)?]),
            Oracle::Assigned { first } => {
                let from = self.within(1, first, group);
                Some(vec![from.map_or_else(|| self.head(0, group), |n| self.head(1, n))])
            }
            Oracle::Framed { first, bits } => {
                let around = || Estimate::Known(decoded(given, *bits));
                let from = self.within(0, first, group);
                Some(vec![from.map_or_else(around, |n| self.head(0, n))])
            }
            Oracle::Band { first, end } => {
                let at = place(self.claim.tail.shape.dims(), group);
                let [.., row, column] = *at else { return None };
                let diagonal = column as i64 - row as i64;
                let inside = (*first..*end).contains(&diagonal);
                Some(vec![match inside {
                    true => self.head(0, group),
                    false => Estimate::Known(decoded(given, [0; 2])),
                }])
            }
            _ => None,
        }
    }

    /// Which element of an input lies at this place of the result, where the input is from these
    /// places on.
    fn within(&self, head: usize, first: &[usize], group: usize) -> Option<usize> {
        let dims = self.claim.heads[head].shape.dims();
        let at = place(self.claim.tail.shape.dims(), group);
        at.into_iter().zip(first).zip(dims).try_fold(0, |from, ((at, first), &dim)| {
            let inside = at.checked_sub(*first).filter(|&at| at < dim)?;
            Some(from * dim + inside)
        })
    }

    /// An element of an index.
    fn named(&self, head: usize, n: usize) -> Option<usize> {
        match self.head(head, n) {
            Estimate::Known(Number::Int(i)) => usize::try_from(i).ok(),
            _ => None,
        }
    }

    /// The positions in a list of destinations that name this one, in order.
    fn naming(&self, destination: usize) -> &[usize] {
        let all = self.naming.get_or_init(|| {
            let mut all: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for i in 0..self.claim.heads[0].shape.elements() {
                if let Some(to) = self.named(0, i) {
                    all.entry(to).or_default().push(i);
                }
            }
            all
        });
        all.get(&destination).map_or(&[], |positions| positions)
    }

    fn word(&self, n: usize) -> Option<Number> {
        let list = self.claim.heads[0].plain()?;
        let each = list.dtype.width() / DType::U32.width();
        let at = list.layout.place(n / each) * each + n % each;
        let words = super::Seen { dtype: DType::U32, ..list.clone() };
        Some(element(self.inputs, &words, at))
    }

    /// The positions of the keys of a row among those of all, in their order.
    fn ordered(&self, bits: &[u32], length: usize, row: usize) -> Option<Vec<usize>> {
        let key = |n: usize| -> Option<(Vec<usize>, usize)> {
            // The highest word comes first, so that lists are compared as keys are.
            let words = bits.iter().enumerate().rev();
            let mask = |bits: u32| 1usize.checked_shl(bits).map_or(usize::MAX, |top| top - 1);
            let word = |(i, &bits): (usize, &u32)| Some(self.named(i, n)? & mask(bits));
            Some((words.map(word).collect::<Option<_>>()?, n))
        };
        let mut all: Vec<_> = (row * length..(row + 1) * length).map(key).collect::<Option<_>>()?;
        // Equal keys stay in the order of their positions.
        all.sort_unstable();
        Some(all.into_iter().map(|(_, n)| n).collect())
    }

    /// A row of numbers, all of which a float of 64 bits has.
    fn sorted(&self, descending: bool, length: usize, row: usize) -> Option<Vec<Estimate>> {
        let number = |n: usize| match self.head(0, n) {
            Estimate::Known(number) => Some(number),
            _ => None,
        };
        let mut all: Vec<_> =
            (row * length..(row + 1) * length).map(number).collect::<Option<_>>()?;
        all.sort_by(|a, b| {
            // Both zeros are one: a sum with zero is never the negative one.
            let [a, b] = [a, b].map(|number| number.float() + 0.0);
            let order = a.total_cmp(&b);
            let order = if descending { order.reverse() } else { order };
            a.is_nan().cmp(&b.is_nan()).then(order)
        });
        Some(all.into_iter().map(Estimate::Known).collect())
    }

    /// What was there, and all that is named for it.
    fn folded(&self, reduction: Reduction, dtype: DType, n: usize) -> Option<Estimate> {
        let columns = *self.claim.heads[1].shape.dims().last()?;
        let mine = self.naming(n / columns).iter();
        let mine = mine.map(|row| self.head(1, row * columns + n % columns));
        let known = |estimate| match estimate {
            Estimate::Known(number) => Some(number),
            _ => None,
        };
        let values = [self.head(2, n)].into_iter().chain(mine).map(known);
        let values: Vec<Number> = values.collect::<Option<_>>()?;
        let exact = reference::reduce(reduction, dtype, &values, 0)?;
        Some(Estimate::of(reduction.bound(dtype), dtype, exact))
    }
}

/// An element that is drawn.
fn drawn(dtype: DType, key: [u32; 2], lot: Lot, n: u64) -> Estimate {
    let number = match lot {
        Lot::Bits(stream) => Number::Int(random::word(key, stream, n).into()),
        Lot::Uniform => Number::Float(random::uniform(key, dtype, n)),
        Lot::Normal => {
            let exact = Number::Float(random::normal(key, n)).into();
            return Estimate::of(Joint::Normal.bound(), dtype, exact);
        }
        Lot::Below([count, low]) => {
            let signed = dtype.class() == Class::Signed;
            let low = if signed { i64::from(low.cast_signed()) } else { i64::from(low) };
            let count = if count == 0 { 1 << 32 } else { u64::from(count) };
            Number::Int(random::integer(key, low, count, n).into())
        }
        Lot::Chance(threshold) => Number::Bool(random::chance(key, threshold.into(), n)),
    };
    Estimate::Known(number)
}
