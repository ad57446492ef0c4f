//! Sums of products that are no products of matrices: which terms a result is the sum of.

use super::Estimate;
use super::cells::{Desk, element};
use crate::dtype::DType;

/// How taps lie over an input: steps from pixel to pixel, from tap to tap, and the first tap.
type Sweep<'a> = (&'a [usize; 3], &'a [usize; 3], &'a [isize; 3]);

impl Desk<'_> {
    /// A pixel: every tap that lies in the input by its weight.
    pub(super) fn convolved(
        &self,
        given: DType,
        (step, reach, first): Sweep<'_>,
        groups: usize,
        n: usize,
    ) -> Option<Estimate> {
        let dims = |i: usize| self.claim.heads[i].shape.dims();
        let (input, weight) = (dims(0), dims(1));
        let (x, w) = (self.claim.heads[0].plain()?, self.claim.heads[1].plain()?);
        // The axes that the result lacks are the first of the three, of length 1.
        let result = self.claim.tail.shape.dims();
        let (mut rest, mut pixel) = (n, [0; 3]);
        for (at, &dim) in pixel.iter_mut().rev().zip(result[2..].iter().rev()) {
            *at = rest % dim.max(1);
            rest /= dim.max(1);
        }
        let (image, row) = (rest / result[1].max(1), rest % result[1].max(1));
        let group = row / (weight[0] / groups).max(1);
        let terms: usize = weight[1..].iter().product();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for term in 0..terms {
            let (mut rest, mut from, mut inside) = (term, 0, true);
            // From the last axis to the first; `step` of the dense index of the input.
            let mut stride = 1;
            for axis in (0..3).rev() {
                let tap = rest % weight[2 + axis];
                rest /= weight[2 + axis];
                let at = pixel[axis] as i128 * step[axis] as i128
                    + tap as i128 * reach[axis] as i128
                    + first[axis] as i128;
                let place = usize::try_from(at).ok().filter(|&at| at < input[2 + axis]);
                inside &= place.is_some();
                from += place.unwrap_or(0) * stride;
                stride *= input[2 + axis];
            }
            if inside {
                let channel = group * weight[1] + rest;
                let from = (image * input[1] + channel) * stride + from;
                left.push(element(self.inputs, x, x.layout.place(from)));
                right.push(element(self.inputs, w, w.layout.place(row * terms + term)));
            }
        }
        Estimate::summed(given, terms, &left, &right)
    }
}
