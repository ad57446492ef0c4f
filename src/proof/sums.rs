//! Sums of products that are no products of matrices: which terms a result is the sum of.

use super::cells::{Desk, element};
use super::{Estimate, Sweep};
use crate::dtype::DType;
use crate::op::{Number, Reduction};
use crate::reference::{self, Filter, Resampling};

impl Desk<'_> {
    /// A pixel: every tap that lies in the input by its weight.
    pub(super) fn convolved(
        &self,
        given: DType,
        sweep: Sweep<'_>,
        groups: usize,
        n: usize,
    ) -> Option<Estimate> {
        let dims = |i: usize| self.claim.heads[i].shape.dims();
        let (input, weight) = (dims(0), dims(1));
        let (x, w) = (self.claim.heads[0].plain()?, self.claim.heads[1].plain()?);
        let taps = [weight[2], weight[3], weight[4]];
        // The axes that the result lacks are the first of the three, of length 1.
        let (result, mut lengths) = (&self.claim.tail.shape.dims()[2..], [1; 3]);
        lengths[3 - result.len()..].copy_from_slice(result);
        let (plane, pixel) = volume_of(n, lengths);
        let (image, row) = (plane / weight[0].max(1), plane % weight[0].max(1));
        let group = row / (weight[0] / groups).max(1);
        let terms: usize = weight[1..].iter().product();
        let volume: usize = input[2..].iter().product();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for term in 0..terms {
            let (channel, from) = within(term, taps, pixel, sweep, input);
            if let Some(from) = from {
                let plane = image * input[1] + group * weight[1] + channel;
                let from = plane * volume + from;
                left.push(element(self.inputs, x, x.layout.place(from)));
                right.push(element(self.inputs, w, w.layout.place(row * terms + term)));
            }
        }
        Estimate::summed(given, terms, &left, &right)
    }

    /// What is there of a window.
    pub(super) fn pooled(
        &self,
        given: DType,
        reduction: Reduction,
        (size, result): ([usize; 3], [usize; 3]),
        sweep: Sweep<'_>,
        n: usize,
    ) -> Option<Estimate> {
        let head = &self.claim.heads[0];
        let (dims, x) = (head.shape.dims(), head.plain()?);
        let volume: usize = dims[2..].iter().product();
        let (plane, pixel) = volume_of(n, result);
        let taps = 0..size.iter().product();
        let from = taps.filter_map(|tap| within(tap, size, pixel, sweep, dims).1);
        let at = |from| element(self.inputs, x, x.layout.place(plane * volume + from));
        let window: Vec<Number> = from.map(at).collect();
        let exact = reference::reduce(reduction, given, &window, 0)?;
        Some(Estimate::of(reduction.bound(given), given, exact))
    }

    /// An element of a resized axis: two or four of the source by their weights.
    pub(super) fn resized(
        &self,
        given: DType,
        to: usize,
        at: Resampling,
        n: usize,
    ) -> Option<Estimate> {
        let &[_, length, _] = self.claim.heads[0].shape.dims() else { return None };
        self.along_axis(given, to, n, |i| at.terms(i, length).collect())
    }

    /// The same of all that an element covers.
    pub(super) fn covered(
        &self,
        given: DType,
        to: usize,
        filter: Filter,
        n: usize,
    ) -> Option<Estimate> {
        let &[_, length, _] = self.claim.heads[0].shape.dims() else { return None };
        self.along_axis(given, to, n, |i| filter.terms(i, length, to))
    }

    /// An element of an axis that is so long, from what is known of its place.
    fn along_axis(
        &self,
        given: DType,
        to: usize,
        n: usize,
        terms: impl Fn(usize) -> Vec<(usize, f64)>,
    ) -> Option<Estimate> {
        let (head, x) = (&self.claim.heads[0], self.claim.heads[0].plain()?);
        let &[_, length, across] = head.shape.dims() else { return None };
        let (rest, column) = (n / across.max(1), n % across.max(1));
        let (row, i) = (rest / to.max(1), rest % to.max(1));
        let terms = terms(i).into_iter().map(|(from, weight)| {
            let from = (row * length + from) * across + column;
            (element(self.inputs, x, x.layout.place(from)), weight)
        });
        weighed(given, terms)
    }

    /// An element of a larger image: of lines by their weights, each of elements by theirs.
    pub(super) fn enlarged(
        &self,
        given: DType,
        to: [usize; 2],
        [down, along]: [Resampling; 2],
        n: usize,
    ) -> Option<Estimate> {
        let (head, x) = (&self.claim.heads[0], self.claim.heads[0].plain()?);
        let &[_, height, width] = head.shape.dims() else { return None };
        let (rest, column) = (n / to[1].max(1), n % to[1].max(1));
        let (image, line) = (rest / to[0].max(1), rest % to[0].max(1));
        let terms = down.terms(line, height).flat_map(|(y, high)| {
            let begin = (image * height + y) * width;
            along.terms(column, width).map(move |(at, wide)| (begin + at, high * wide))
        });
        let terms =
            terms.map(|(from, weight)| (element(self.inputs, x, x.layout.place(from)), weight));
        weighed(given, terms)
    }
}

/// A sum of elements of an axis, or of two, by their weights.
fn weighed(given: DType, terms: impl Iterator<Item = (Number, f64)>) -> Option<Estimate> {
    let (mut left, mut right, mut size) = (Vec::new(), Vec::new(), 0.0);
    let mut most: f64 = 0.0;
    for (number, weight) in terms {
        size += number.float().abs();
        most = most.max(weight.abs());
        left.push(number);
        right.push(Number::Float(weight));
    }
    if size.is_infinite() {
        return None;
    }
    // A weight is off by what rounds the part, and the numbers of the cubic, up to six; a share of
    // many by a part of that, where no weight is below half of one before it is shared.
    size *= (2.0 * most).min(1.0);
    let unit = if given == DType::F64 { 2f64.powi(-48) } else { 2f64.powi(-19) };
    Some(Estimate::summed(given, left.len(), &left, &right)?.widened(given, size * unit))
}

/// Which volume of a result with these lengths an element is in, and where.
fn volume_of(n: usize, lengths: [usize; 3]) -> (usize, [usize; 3]) {
    let (mut rest, mut place) = (n, [0; 3]);
    for (at, dim) in place.iter_mut().zip(lengths).rev() {
        *at = rest % dim.max(1);
        rest /= dim.max(1);
    }
    (rest, place)
}

/// A term of a pixel, of so many taps to a channel: its channel, and where in a volume of the
/// input the tap of a pixel lies, if it lies in it.
fn within(
    term: usize,
    taps: [usize; 3],
    pixel: [usize; 3],
    Sweep { step, reach, first }: Sweep<'_>,
    input: &[usize],
) -> (usize, Option<usize>) {
    let (mut rest, mut from, mut inside) = (term, 0, true);
    // From the last axis to the first; a stride of the dense input.
    let mut stride = 1;
    for axis in (0..3).rev() {
        let tap = rest % taps[axis];
        rest /= taps[axis];
        let at = pixel[axis] as i128 * step[axis] as i128
            + tap as i128 * reach[axis] as i128
            + first[axis] as i128;
        let place = usize::try_from(at).ok().filter(|&at| at < input[2 + axis]);
        inside &= place.is_some();
        from += place.unwrap_or(0) * stride;
        stride *= input[2 + axis];
    }
    (rest, inside.then_some(from))
}
