//! What became of the values of one conversion: every value in exactly one category, the worst
//! errors by index.
//!
//! A tally is exact, not an estimate. It does not depend on the blocks or the vector width of the
//! loop that made it.

/// What a conversion did to the values of one tensor.
///
/// The five categories partition the values. Indices count the elements of the whole tensor, in the
/// order of the host's view; of a file, as they lie in it.
///
/// ```
/// # use wharf::host::Tally;
/// // 1.0, 0.1 and 1e300 as f32: kept, rounded, and turned into infinity.
/// let mut tally = Tally::default();
/// (tally.exact, tally.rounded, tally.overflowed) = (1, 1, 1);
/// assert_eq!(tally.values(), 3);
/// assert!(!tally.is_exact());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Tally {
    /// Values that arrived equal to their source; `-0` as `-0`, an infinity as itself.
    pub exact: u64,
    /// Values that became a neighbour: finite and not zero, but not equal.
    pub rounded: u64,
    /// Finite values too large for the target, now infinite; where it has no infinity, infinite
    /// ones too, now NaN.
    pub overflowed: u64,
    /// Values other than zero that became zero.
    pub flushed: u64,
    /// NaNs. They arrive as quiet NaNs with their sign and as much of their payload as fits.
    pub nan: u64,
    /// Index of the first value that was rounded, overflowed or flushed.
    pub first_changed: Option<u64>,
    /// The largest `|converted - source|` of a value that was rounded or flushed.
    pub abs_error_max: Option<Worst>,
    /// The largest `|converted - source| / |source|` of a value that was rounded or flushed.
    pub rel_error_max: Option<Worst>,
}

/// The largest of many errors, and the first value that has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// How large the error is.
    pub error: f64,
    /// Index of the value.
    pub index: u64,
}

impl Tally {
    /// How many values were converted.
    #[must_use]
    pub const fn values(&self) -> u64 {
        self.exact + self.rounded + self.overflowed + self.flushed + self.nan
    }

    /// Whether every value that is a number arrived equal to its source.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.rounded == 0 && self.overflowed == 0 && self.flushed == 0
    }

    /// Adds the tally of values that come after all of these.
    pub(crate) fn merge(&mut self, later: &Self) {
        self.exact += later.exact;
        self.rounded += later.rounded;
        self.overflowed += later.overflowed;
        self.flushed += later.flushed;
        self.nan += later.nan;
        self.first_changed = self.first_changed.or(later.first_changed);
        for (worst, other) in [
            (&mut self.abs_error_max, later.abs_error_max),
            (&mut self.rel_error_max, later.rel_error_max),
        ] {
            if let Some(Worst { error, index }) = other {
                Worst::raise(worst, error, index);
            }
        }
    }
}

impl Worst {
    /// Replaces `worst` by a later value's error if that is larger. The first index keeps a tie.
    pub(crate) fn raise(worst: &mut Option<Self>, error: f64, index: u64) {
        if error > Self::bound(*worst) {
            *worst = Some(Self { error, index });
        }
    }

    /// The error a later value must exceed. Zero is no error.
    pub(crate) fn bound(worst: Option<Self>) -> f64 {
        worst.map_or(0.0, |w| w.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_adds_and_keeps_the_first_of_equals() {
        let worst = |error, index| Some(Worst { error, index });
        let early = Tally {
            exact: 3,
            rounded: 1,
            first_changed: Some(2),
            abs_error_max: worst(0.5, 2),
            rel_error_max: worst(0.25, 2),
            ..Tally::default()
        };
        let late = Tally {
            rounded: 2,
            overflowed: 1,
            flushed: 1,
            nan: 1,
            first_changed: Some(4),
            abs_error_max: worst(0.5, 4),
            rel_error_max: worst(1.0, 7),
            ..Tally::default()
        };
        let mut sum = early;
        sum.merge(&late);
        assert_eq!(sum.values(), early.values() + late.values());
        assert_eq!(sum.first_changed, Some(2));
        assert_eq!(sum.abs_error_max, worst(0.5, 2), "the first index keeps a tie");
        assert_eq!(sum.rel_error_max, worst(1.0, 7));

        let mut from_nothing = Tally::default();
        from_nothing.merge(&late);
        assert_eq!(from_nothing, late);
    }

    #[test]
    fn a_nan_alone_changes_no_number() {
        assert!(Tally { exact: 2, nan: 1, ..Tally::default() }.is_exact());
        assert!(!Tally { exact: 2, flushed: 1, ..Tally::default() }.is_exact());
    }
}
