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
}
