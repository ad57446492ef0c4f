//! Which keys the queries of attention see, by their places among them.

use core::ops::Range;

/// Each query sees the key at its own place, so many before it and so many after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    /// The place of the first query among the keys; the others follow.
    pub(crate) first: i64,
    pub(crate) before: u32,
    pub(crate) after: u32,
}

impl Sight {
    /// As many keys as nobody has: all of them.
    pub(crate) const ALL: u32 = 1 << 30;
    /// Every query sees every key.
    pub(crate) const FULL: Self = Self { first: 0, before: Self::ALL, after: Self::ALL };

    /// With the last of so many queries at the place of the last key, not the first at the first's.
    pub(crate) fn last_aligned(self, queries: usize, keys: usize) -> Self {
        // Later by as many places as there are keys more than queries.
        self.from(keys, queries)
    }

    /// The keys that a query sees, of so many.
    pub(crate) fn of(self, query: usize, keys: usize) -> Range<usize> {
        let place = i128::from(self.first) + query as i128;
        let within = |key: i128| key.clamp(0, keys as i128) as usize;
        let begin = within(place - i128::from(self.before));
        begin..within(place + i128::from(self.after) + 1).max(begin)
    }

    /// The keys from the first that any of so many queries sees to the last.
    pub(crate) fn reached(self, queries: usize, keys: usize) -> Range<usize> {
        let begin = self.of(0, keys).start;
        begin..self.of(queries.saturating_sub(1), keys).end.max(begin)
    }

    /// Whether a key is hidden from any of so many queries.
    pub(crate) fn hides(self, queries: usize, keys: usize) -> bool {
        let last = queries.saturating_sub(1);
        self.of(last, keys).start > 0 || self.of(0, keys).end < keys
    }

    /// That of the queries from one on, to the keys from one on.
    pub(crate) fn from(self, query: usize, key: usize) -> Self {
        match self {
            Self::FULL => self,
            _ => Self { first: self.first + query as i64 - key as i64, ..self },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_see_what_is_near_their_place() {
        let sight = Sight { first: 3, before: 2, after: 1 };
        let seen: Vec<_> = (0..5).map(|query| sight.of(query, 6)).collect();
        assert_eq!(seen, [1..5, 2..6, 3..6, 4..6, 5..6]);
        assert_eq!((sight.reached(5, 6), sight.reached(2, 9)), (1..6, 1..6));
        assert_eq!(sight.of(20, 6), 6..6, "none is near");
        assert_eq!(Sight { first: -9, ..sight }.of(0, 6), 0..0);
    }

    #[test]
    fn parts_see_what_the_whole_sees() {
        let sight = Sight { first: -2, before: 4, after: 3 };
        for (query, key) in [(0, 0), (3, 2), (7, 5)] {
            for i in 0..9 {
                let (whole, part) =
                    (sight.of(query + i, 12), sight.from(query, key).of(i, 12 - key));
                let cut = |at: usize| at.saturating_sub(key);
                assert_eq!(part, cut(whole.start)..cut(whole.end), "{query} {key} {i}");
            }
        }
    }

    #[test]
    fn nothing_is_hidden_where_all_reach_both_ends() {
        assert!(!Sight::FULL.hides(usize::MAX >> 40, 1 << 20));
        let band = |first, before, after| Sight { first, before, after };
        assert!(!band(0, 4, 4).hides(5, 5));
        assert!(band(0, 3, 4).hides(5, 5) && band(0, 4, 3).hides(5, 5));
        assert!(!band(7, 7, 0).hides(1, 8), "a last query sees all before it");
    }
}
