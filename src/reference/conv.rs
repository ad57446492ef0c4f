//! Convolutions, tap by tap.

use super::matmul::dot;
use super::{Exact, Number, matmul_dtype, places};
use crate::dtype::DType;

/// A convolution of any number of dimensions, each of which has a stride, a padding and a dilation.
#[derive(Clone, Copy, Debug)]
pub struct Convolution<'a> {
    /// `[n, channels, ..]`
    pub input: &'a [usize],
    /// `[out, channels / groups, ..]`
    pub weight: &'a [usize],
    /// From result to result.
    pub stride: &'a [usize],
    /// Zeros on either side.
    pub padding: &'a [usize],
    /// From tap to tap.
    pub dilation: &'a [usize],
    /// Groups of channels.
    pub groups: usize,
}

impl Convolution<'_> {
    /// The shape of the result, where the kernel fits into the padded input.
    #[must_use]
    pub fn result(&self) -> Vec<usize> {
        let along = (0..self.stride.len()).map(|i| {
            let last = self.dilation[i] * (self.weight[2 + i] - 1);
            (self.input[2 + i] + 2 * self.padding[i] - last - 1) / self.stride[i] + 1
        });
        [self.input[0], self.weight[0]].into_iter().chain(along).collect()
    }
}

/// The convolution of dense elements with a dense weight, in row-major order, as a product's sums:
/// see `matmul`. Terms of the padding are left out.
#[must_use]
pub fn conv(
    how: &Convolution<'_>,
    dtype: DType,
    input: &[Number],
    weight: &[Number],
) -> Vec<Exact> {
    let (result, taps) = (how.result(), &how.weight[1..]);
    let at = |dims: &[usize], place: &[usize]| {
        dims.iter().zip(place).fold(0, |at, (dim, i)| at * dim + i)
    };
    let pixel = |place: Vec<usize>| {
        let (image, row) = (place[0], place[1]);
        let group = row / (how.weight[0] / how.groups);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for tap in places(taps) {
            let mut from = vec![image, group * taps[0] + tap[0]];
            let inside = (0..how.stride.len()).all(|i| {
                let padded = place[2 + i] * how.stride[i] + tap[1 + i] * how.dilation[i];
                from.push(padded.wrapping_sub(how.padding[i]));
                from[2 + i] < how.input[2 + i]
            });
            if inside {
                left.push(input[at(how.input, &from)]);
                right.push(weight[at(how.weight, &[&[row][..], &tap].concat())]);
            }
        }
        dot(matmul_dtype(dtype), &left, &right)
    };
    places(&result).map(pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_convolution_by_hand() {
        // Two groups of one channel each; the second is doubled by a kernel whose second tap is 2.
        let how = Convolution {
            input: &[1, 2, 3],
            weight: &[2, 1, 2],
            stride: &[2],
            padding: &[1],
            dilation: &[2],
            groups: 2,
        };
        let number = |x: f64| Number::Float(x);
        let input = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(number);
        let weight = [1.0, 10.0, 0.0, 2.0].map(number);
        // Taps at -1 and 1, then at 1 and 3.
        let got: Vec<Number> =
            conv(&how, DType::F32, &input, &weight).iter().map(|exact| exact.value).collect();
        assert_eq!(how.result(), [1, 2, 2], "the shape");
        assert_eq!(got, [20.0, 2.0, 10.0, 0.0].map(number), "the values");
    }
}
