//! What is more than a segment holds is made in two parts.

use core::ops::Range;

use super::Tensor;
use crate::error::Result;

/// The two halves of a length.
pub(super) const fn halves(length: usize) -> [Range<usize>; 2] {
    let middle = length / 2;
    [0..middle, middle..length]
}

/// What is made of each of two parts, one after the other along an axis.
pub(super) fn in_two<T>(
    axis: usize,
    [before, after]: [T; 2],
    make: impl Fn(T) -> Result<Tensor>,
) -> Result<Tensor> {
    Tensor::concat(&[make(before)?, make(after)?], axis)
}
