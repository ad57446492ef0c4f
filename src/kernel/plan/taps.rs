//! Taps: what windows over an input are made of, of a convolution as of a pool.

use crate::proof::Oracle;
use crate::shape::Shape;

/// How taps lie over an input, along z, y and x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taps {
    /// From pixel to pixel of the result.
    pub(crate) step: [usize; 3],
    /// From tap to tap.
    pub(crate) reach: [usize; 3],
    /// Where the first tap of the first pixel lies.
    pub(crate) first: [isize; 3],
    /// Groups of channels that are convolved by themselves.
    pub(crate) groups: usize,
    /// The lengths of the result.
    pub(crate) result: [usize; 3],
}

impl Taps {
    /// One tap over one element along every axis.
    pub(crate) const fn single(groups: usize) -> Self {
        Self { step: [1; 3], reach: [1; 3], first: [0; 3], groups, result: [1; 3] }
    }

    /// What computes a convolution by them once more.
    pub(in crate::kernel) const fn convolved(&self) -> Oracle {
        let Self { step, reach, first, groups, .. } = *self;
        Oracle::Convolved { step, reach, first, groups }
    }

    /// So many taps along an axis of this length, which covers them with its padding. From one tap
    /// or pixel of the result to the next is as far as is said; where there is no next one, that
    /// may be farther than a kernel can be told.
    pub(crate) fn along(
        &mut self,
        axis: usize,
        [length, taps]: [usize; 2],
        [reach, step]: [usize; 2],
        padding: usize,
    ) {
        let pixels = (padded(length, padding) - covers(taps, reach)) / step + 1;
        self.reach[axis] = apart(taps, reach);
        self.step[axis] = apart(pixels, step);
        self.first[axis] = -padding.cast_signed();
        self.result[axis] = pixels;
    }
}

/// How far one of so many lies from the next: where there is no next one, 1, whatever is said.
pub(crate) const fn apart(count: usize, distance: usize) -> usize {
    if count > 1 { distance } else { 1 }
}

/// The elements from the first of so many taps to the last.
pub(crate) const fn covers(taps: usize, reach: usize) -> usize {
    reach.saturating_mul(taps.saturating_sub(1)).saturating_add(1)
}

/// The elements of an axis with its padding on both sides.
pub(crate) const fn padded(length: usize, padding: usize) -> usize {
    padding.saturating_mul(2).saturating_add(length)
}

/// The last three of five dimensions.
pub(crate) fn inner(dims: &[usize]) -> [usize; 3] {
    [dims[2], dims[3], dims[4]]
}

/// Terms of a sum: channels of a group and taps.
pub(crate) fn terms(weight: &Shape) -> usize {
    weight.dims()[1..].iter().product()
}

/// Multiplications and additions of so many terms to each result, those of the padding counted.
pub(crate) fn flops(result: &Shape, terms: usize) -> u64 {
    2 * result.elements() as u64 * terms as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiplication_and_an_addition_count_two() {
        let shape = |dims: [usize; 5]| Shape::new(dims).expect("small");
        let result = shape([2, 8, 1, 5, 5]);
        assert_eq!(flops(&result, terms(&shape([8, 3, 1, 2, 2]))), 2 * 400 * 12);
    }
}
