//! Axes at another length: which elements of the source one of the result is made of.

/// Where elements of a resized axis lie in its source, in whole elements and parts of one: element
/// `i` at `(i factor + term) / parts`, and of what it is the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resampling {
    pub(crate) factor: u32,
    pub(crate) term: i64,
    pub(crate) parts: u32,
    /// Of four by a cubic. Otherwise of two, and none lies before the first.
    pub(crate) cubic: bool,
}

impl Resampling {
    /// The elements of a source that one of the result is made of, and their weights. What has no
    /// weight does not count.
    pub(crate) fn terms(self, i: usize, length: usize) -> impl Iterator<Item = (usize, f64)> {
        let Self { factor, term, parts, cubic } = self;
        let counted = i as i64 * i64::from(factor) + term;
        let counted = if cubic { counted } else { counted.max(0) };
        let (whole, part) = (counted.div_euclid(parts.into()), counted.rem_euclid(parts.into()));
        let part = part as f64 / f64::from(parts);
        let one = move |tap: i32| {
            let far = (f64::from(tap) - part).abs();
            let weight = match (cubic, far <= 1.0) {
                (false, _) => 1.0 - far,
                (true, true) => (1.25 * far - 2.25) * far * far + 1.0,
                (true, false) => ((3.75 - 0.75 * far) * far - 6.0) * far + 3.0,
            };
            let from = (whole + i64::from(tap)).clamp(0, length as i64 - 1) as usize;
            (weight != 0.0).then_some((from, weight))
        };
        if cubic { -1..3 } else { 0..2 }.filter_map(one)
    }
}

/// What weighs elements of an axis by how far their centres are from that of the element which is
/// made of them. Of axes of the lengths `from` and `to`, element `j` of the one lies at
/// `(2 j + 1) to`, and `i` of the other at `(2 i + 1) from`: distances are integers.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// All that an element covers, at least in part, alike.
    Even,
    /// Less and less, to nothing at one element of the longer axis.
    Linear,
    /// By the cubic of Keys with -0.5, to nothing at two.
    Cubic,
}

impl Filter {
    /// The distance at which nothing is weighed any more.
    pub(crate) const fn end(self, from: u64, to: u64) -> u64 {
        let longer = if from > to { from } else { to };
        match self {
            Self::Even => from + to,
            Self::Linear => 2 * longer,
            Self::Cubic => 4 * longer,
        }
    }

    /// The weight of an element that is so far away, in elements of the longer axis.
    pub(crate) fn weigh(self, far: f64) -> f64 {
        match self {
            Self::Even => 1.0,
            Self::Linear => 1.0 - far,
            Self::Cubic if far <= 1.0 => (1.5 * far - 2.5) * far * far + 1.0,
            Self::Cubic => ((2.5 - 0.5 * far) * far - 4.0) * far + 2.0,
        }
    }

    /// The elements of a source that one of the result is made of, and their weights, which are
    /// shares of one.
    pub(crate) fn terms(self, i: usize, from: usize, to: usize) -> Vec<(usize, f64)> {
        let [i, from, to] = [i as u64, from as u64, to as u64];
        let (centre, end) = ((2 * i + 1) * from, self.end(from, to));
        let longer = 2.0 * from.max(to) as f64;
        let bound = ((centre + end) / (2 * to) + 1).min(from);
        let reached = centre.saturating_sub(end) / (2 * to)..bound;
        let far = |j: u64| ((2 * j + 1) * to).abs_diff(centre);
        let of = |j: u64| (far(j) < end).then(|| (j as usize, self.weigh(far(j) as f64 / longer)));
        let terms: Vec<_> = reached.filter_map(of).collect();
        let all: f64 = terms.iter().map(|(_, weight)| weight).sum();
        terms.into_iter().map(|(j, weight)| (j, weight / all)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_weights_by_hand() {
        let terms = |at: Resampling, i: usize| at.terms(i, 2).collect::<Vec<_>>();
        // Two at four: -1/4, 1/4, 3/4 and 5/4, of which none lies before the first.
        let linear = Resampling { factor: 4, term: -2, parts: 8, cubic: false };
        assert_eq!(terms(linear, 0), [(0, 1.0)], "before the first");
        assert_eq!(terms(linear, 1), [(0, 0.75), (1, 0.25)], "between them");
        assert_eq!(terms(linear, 3), [(1, 0.75), (1, 0.25)], "beyond the last");
        let cubic = Resampling { cubic: true, ..linear };
        let halves = terms(Resampling { factor: 1, term: 0, parts: 2, cubic: true }, 1);
        let of = [(0, -0.09375), (0, 0.59375), (1, 0.59375), (1, -0.09375)];
        assert_eq!(halves, of, "half way");
        let sum: f64 = terms(cubic, 0).iter().map(|(_, weight)| weight).sum();
        assert_eq!(sum, 1.0, "all of one element");
    }

    #[test]
    fn what_an_element_covers_by_hand() {
        // Five as two: 0 to 2.5 and 2.5 to 5.
        let third = |from: usize| (0..3).map(|j| (from + j, 1.0 / 3.0)).collect::<Vec<_>>();
        assert_eq!(Filter::Even.terms(0, 5, 2), third(0));
        assert_eq!(Filter::Even.terms(1, 5, 2), third(2));
        // Four as two: centres at 1 and 3, elements at 0.5 to 3.5, nothing from 2 on.
        let linear = Filter::Linear.terms(0, 4, 2);
        assert_eq!(linear, [(0, 3.0 / 7.0), (1, 3.0 / 7.0), (2, 1.0 / 7.0)]);
        // Two as four is what lies beside each place.
        assert_eq!(Filter::Linear.terms(1, 2, 4), [(0, 0.75), (1, 0.25)]);
        assert_eq!(Filter::Linear.terms(0, 2, 4), [(0, 1.0)]);
        // One of four lies half way between the middle two, and reaches all: 1/8 and 3/8 of its
        // own length away.
        let [far, near] = [3.0f64, 1.0].map(|eighths| {
            let x = eighths / 8.0;
            1.5 * x * x * x - 2.5 * x * x + 1.0
        });
        let cubic = Filter::Cubic.terms(0, 4, 1);
        assert_eq!(cubic.iter().map(|(j, _)| *j).collect::<Vec<_>>(), [0, 1, 2, 3]);
        for ((_, weight), want) in cubic.iter().zip([far, near, near, far]) {
            assert!((weight - want / (2.0 * (far + near))).abs() < 1e-15, "{weight}");
        }
    }
}
