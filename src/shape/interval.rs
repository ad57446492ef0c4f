//! A part of an axis as an argument: any range of Rust's, or a single place.

use core::fmt;
use core::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use super::axis::{Integer, counted};

/// A range of one axis, as any of Rust's: `..`, `1..`, `..3`, `1..3`, `..=2`, `1..=2`. An end below
/// 0 counts back from the end of the axis: `-2..` are the last two, `..-1` all but the last.
///
/// Nothing is cut to fit: a range that ends outside the axis is an error. Clippy takes a literal
/// such as `1..-1` for an empty range; who writes them allows `clippy::reversed_empty_ranges`.
///
/// ```
/// # wharf::testing::example(async |device| {
/// let (x, _) = device.upload(&[1, 2, 3, 4, 5], [5])?;
/// assert_eq!(x.slice(0, 1..=2)?.read_now::<i32>()?, [2, 3]);
/// assert_eq!(x.slice(0, -2..)?.read_now::<i32>()?, [4, 5]);
/// assert_eq!(x.slice(0, 1..-1)?.read_now::<i32>()?, [2, 3, 4]);
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval {
    start: Option<i128>,
    end: Option<i128>,
    includes_end: bool,
}

impl Interval {
    /// Its places on an axis of this length; `None` if one lies outside.
    pub(super) fn ends(self, length: usize) -> Option<(usize, usize)> {
        let start = self.start.map_or(Some(0), |start| counted(start, length))?;
        let end = self.end.map_or(Some(length), |end| counted(end, length))?;
        Some((start, end + usize::from(self.includes_end))).filter(|&(_, end)| end <= length)
    }

    /// What of an axis of this length it names, the lower end first.
    pub(super) fn clipped(self, length: usize) -> Range<usize> {
        let place = |place: Option<i128>, or: usize| {
            let place = place.map_or(or as i128, |place| match place {
                ..0 => place.saturating_add(length as i128),
                _ => place,
            });
            place.clamp(-1, length as i128 + 1)
        };
        let (start, end) = (place(self.start, 0), place(self.end, length));
        let is_backwards = self.start.is_some() && self.end.is_some() && end < start;
        let (low, high) = if is_backwards { (end, start) } else { (start, end) };
        let [low, high] = [low, high + i128::from(self.includes_end)]
            .map(|place| place.clamp(0, length as i128) as usize);
        low..high.max(low)
    }
}

macro_rules! ranges {
    ($($range:ident { $($start:ident)? .. $($end:ident)? } $includes_end:literal;)*) => {$(
        impl<I: Integer> From<$range<I>> for Interval {
            fn from(range: $range<I>) -> Self {
                Self {
                    start: [$(range.$start.wide())?].first().copied(),
                    end: [$(range.$end.wide())?].first().copied(),
                    includes_end: $includes_end,
                }
            }
        }
    )*};
}

ranges! {
    Range { start..end } false;
    RangeFrom { start.. } false;
    RangeTo { ..end } false;
    RangeToInclusive { ..end } true;
}

impl<I: Integer> From<RangeInclusive<I>> for Interval {
    fn from(range: RangeInclusive<I>) -> Self {
        let (start, end) = range.into_inner();
        Self { start: Some(start.wide()), end: Some(end.wide()), includes_end: true }
    }
}

impl From<RangeFull> for Interval {
    fn from(_: RangeFull) -> Self {
        Self { start: None, end: None, includes_end: false }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |place: Option<i128>| place.map_or(String::new(), |place| place.to_string());
        let sign = if self.includes_end { "..=" } else { ".." };
        write!(f, "{}{sign}{}", end(self.start), end(self.end))
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What [`Tensor::at`](crate::Tensor::at) takes of one axis: a place, which takes the axis away, or
/// an [`Interval`], with steps or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// One place, counted from 0, or below it back from the end.
    Place(i128),
    /// A range of places.
    Interval(Interval),
    /// Every so many-th place of a range, backwards from its last one if the step is below 0.
    Stepped(Interval, isize),
}

impl Cut {
    /// Every `step`th place of a range, as [`Tensor::slice_step`](crate::Tensor::slice_step) takes
    /// them; in [`s!`](crate::s) it is `range; step`.
    #[must_use]
    pub fn stepped(range: impl Into<Interval>, step: isize) -> Self {
        Self::Stepped(range.into(), step)
    }
}

impl<I: Integer> From<I> for Cut {
    fn from(place: I) -> Self {
        Self::Place(place.wide())
    }
}

macro_rules! cuts {
    ($([$($of:tt)*] $range:ty;)*) => {$(
        impl<$($of)*> From<$range> for Cut {
            fn from(range: $range) -> Self {
                Self::Interval(range.into())
            }
        }
    )*};
}

cuts! {
    [] Interval;
    [] RangeFull;
    [I: Integer] Range<I>;
    [I: Integer] RangeFrom<I>;
    [I: Integer] RangeTo<I>;
    [I: Integer] RangeInclusive<I>;
    [I: Integer] RangeToInclusive<I>;
}

/// What [`Tensor::at`](crate::Tensor::at) takes: a [`Cut`] of the first axis, or a tuple with one
/// for each of the first axes. With steps they are written by [`s!`](crate::s).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cuts(Vec<Cut>);

impl Cuts {
    pub(crate) fn all(&self) -> &[Cut] {
        &self.0
    }
}

impl From<Vec<Cut>> for Cuts {
    fn from(cuts: Vec<Cut>) -> Self {
        Self(cuts)
    }
}

impl<C: Into<Cut>> From<C> for Cuts {
    fn from(cut: C) -> Self {
        Self(vec![cut.into()])
    }
}

macro_rules! tuples {
    ($($first:ident $($name:ident)*;)*) => {$(
        impl<$first: Into<Cut>, $($name: Into<Cut>),*> From<($first, $($name,)*)> for Cuts {
            #[expect(non_snake_case, reason = "a value is called like its type")]
            fn from(($first, $($name,)*): ($first, $($name,)*)) -> Self {
                Self(vec![$first.into(), $($name.into()),*])
            }
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}

/// A part of several axes, with steps: of each of the first axes a place, a range, or
/// `range; step`, of which a negative step goes backwards from the last place of the range.
///
/// Without steps a tuple says the same: `x.at((1.., -1))`.
///
/// ```
/// # use wharf::s;
/// # wharf::testing::example(async |device| {
/// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3])?;
/// assert_eq!(x.at(s![..;2, -1])?.read_now::<i32>()?, [3, 9]);
/// assert_eq!(x.at(s![1.., ..;-1])?.read_now::<i32>()?, [6, 5, 4, 9, 8, 7]);
/// # Ok(()) });
/// ```
#[macro_export]
macro_rules! s {
    (@ $cut:expr) => {
        $crate::shape::Cut::from($cut)
    };
    (@ $range:expr; $step:expr) => {
        $crate::shape::Cut::stepped($range, $step)
    };
    ($($cut:expr $(; $step:expr)?),+ $(,)?) => {
        $crate::shape::Cuts::from(::std::vec![$($crate::s!(@ $cut $(; $step)?)),+])
    };
}
