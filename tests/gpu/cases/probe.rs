//! Values that reveal mistakes, as raw bits: what a passport carries, followed by random ones.

use crate::passport::probe::specials;
pub(crate) use crate::passport::probe::{Probe, difference as first_difference, of_dtype};
pub(crate) use crate::passport::random::Random;

/// `n` values: the special ones first, then random bits.
pub(crate) fn values<T: Probe>(n: usize, seed: u64) -> Vec<T> {
    let mut random = Random::new(seed);
    let bits = core::iter::repeat_with(move || random.bits());
    specials(T::DTYPE).into_iter().chain(bits).take(n).map(T::from_bits).collect()
}
