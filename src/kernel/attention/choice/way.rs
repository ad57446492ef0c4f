//! By what attention is computed: its kernels, or products.

use core::ops::Range;

use super::{is_products, is_staged};
use crate::kernel::attention::plan::keys_max;
use crate::reference::Sight;
use crate::wgsl::Target;

/// How many queries and keys there are, and the lengths of a query and of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) queries: usize,
    pub(crate) keys: usize,
    pub(crate) d: usize,
    pub(crate) e: usize,
}

/// How attention is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttentionWay {
    /// By products, with scores that are stored between them; whether what is out of sight is
    /// hidden by a mask.
    Stored { hidden: bool },
    /// By products, where the scores of a head are a row.
    Products,
    /// By lanes with queries of their own, or by workgroups that share the rows of a head.
    Kernel { staged: bool },
    /// There are more keys than the kernel takes.
    TooMany { keys_max: usize },
}

impl Sizes {
    /// The way, where segments have so many elements. Whether a mask is added to scores, and
    /// whether scores have to be stored, because more is done with them.
    pub(crate) fn way(
        &self,
        sight: &Sight,
        [masked, stored]: [bool; 2],
        segment: usize,
        target: Target,
    ) -> AttentionWay {
        let Self { queries, keys, d, e } = *self;
        let hidden = sight.hides(queries, keys);
        if stored {
            return AttentionWay::Stored { hidden };
        }
        if is_products(queries, masked || hidden, target) {
            return AttentionWay::Products;
        }
        match keys_max(d.max(e), segment) {
            keys_max if keys > keys_max => AttentionWay::TooMany { keys_max },
            _ => AttentionWay::Kernel { staged: is_staged(d, e, target) },
        }
    }

    /// The keys that are read, where queries do not see all of them. A mask is read by quads.
    pub(crate) fn seen(&self, sight: &Sight, masked: bool) -> Option<Range<usize>> {
        let seen = sight.reached(self.queries, self.keys);
        let start = if masked { seen.start / 4 * 4 } else { seen.start };
        (seen.len() < self.keys).then_some(start..seen.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_has_its_attention() {
        let sizes = |queries, keys, d| Sizes { queries, keys, d, e: 64 };
        let (all, causal) = (Sight::FULL, Sight { after: 0, ..Sight::FULL });
        let (plain, masked, stored) = ([false; 2], [true, false], [false, true]);
        let (lanes, groups) =
            (AttentionWay::Kernel { staged: false }, AttentionWay::Kernel { staged: true });
        let (seen, hidden) =
            (AttentionWay::Stored { hidden: false }, AttentionWay::Stored { hidden: true });
        let many = AttentionWay::TooMany { keys_max: 50 };
        for (why, sizes, sight, scores, on_cpu, on_gpu) in [
            ("many queries", sizes(9, 50, 64), all, plain, lanes, groups),
            ("long ones", sizes(9, 50, 256), all, plain, groups, groups),
            ("a query", sizes(1, 50, 64), all, plain, AttentionWay::Products, groups),
            ("a masked query", sizes(1, 50, 64), all, masked, lanes, groups),
            ("a query that sees itself", sizes(1, 50, 64), causal, plain, lanes, groups),
            ("weights, or a cap", sizes(1, 50, 64), all, stored, seen, seen),
            ("weights of some", sizes(9, 50, 64), causal, stored, hidden, hidden),
            ("more keys than a segment", sizes(9, 51, 64), all, plain, many, many),
        ] {
            let way = |target| sizes.way(&sight, scores, 50 * sizes.d.max(64), target);
            assert_eq!([Target::Cpu, Target::Gpu].map(way), [on_cpu, on_gpu], "{why}");
        }
    }

    #[test]
    fn keys_out_of_sight_are_not_read() {
        let sizes = Sizes { queries: 2, keys: 10, d: 4, e: 4 };
        let sight = |before, after| Sight { first: 0, before, after }.last_aligned(2, 10);
        assert_eq!(sizes.seen(&sight(9, 0), false), None, "all of them");
        assert_eq!(sizes.seen(&sight(1, 0), false), Some(7..10));
        assert_eq!(sizes.seen(&sight(1, 0), true), Some(4..10), "from a quad on");
        assert_eq!(sizes.seen(&Sight { first: 0, before: 1, after: 1 }, true), Some(0..3));
    }
}
