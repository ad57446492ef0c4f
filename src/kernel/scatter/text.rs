//! The kernels that bring values to destinations.

use std::sync::Arc;

use crate::op::Kind;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::grid::TRIPS_MAX;
use crate::wgsl::lines::consts;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Assembled, Entry, Form, Grid, Needs, Region, Target, Writes, kept};

params! {
    struct ScatterJob {
        grid: Grid,
        first: u32,
        keys: u32,
        begin: u32,
        count: u32,
    }

    struct TallyJob {
        grid: Grid,
        count: u32,
        columns: u32,
        first: u32,
        keys: u32,
    }

    struct TallyGroupJob {
        count: u32,
        columns: u32,
        totals: u32,
        each: u32,
    }

    struct RunsJob {
        count: u32,
        blocks: u32,
        columns: u32,
        first: u32,
        keys: u32,
    }
}

/// Finds the last position that names each destination.
pub const SCATTER: Entry = Entry {
    outputs: 0,
    ..Entry::new("scatter", source!("scatter.wgsl"), TRIPS_MAX)
        .of(&[&[Form::U32]])
        .told(ScatterJob::MEMBERS)
};
/// Pairs that one invocation walks.
pub(super) const RUNS_BLOCK: u32 = 64;
/// Sums or products of runs of equal keys.
pub const RUNS: Entry = Entry::own("runs", source!("runs.wgsl"), RUNS_BLOCK).told(RunsJob::MEMBERS);

/// Integers added to the totals that their keys name.
pub const TALLY: Entry =
    Entry::own("tally", source!("tally.wgsl"), TRIPS_MAX).told(TallyJob::MEMBERS);

/// The totals that a workgroup adds up for itself at most: a quarter of the memory that every GPU
/// gives it, so that several have room on a core.
pub(super) const TOTALS: u32 = 1024;
const TALLY_LANES: u32 = 256;
/// Integers added up by workgroups, and then to the few totals that their keys name.
pub const TALLY_GROUP: Entry = Entry::own("tally_group", source!("tally_group.wgsl"), CORE_TRIPS)
    .clearing()
    .told(TallyGroupJob::MEMBERS);

/// `tally_group`'s sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TallySizes;

impl Writes for TallySizes {
    fn regions(&self) -> Vec<Region> {
        vec![Region::text("sizes", consts([("TOTALS", TOTALS), ("lanes", TALLY_LANES)]))]
    }
}

/// `tally` by workgroups.
#[must_use]
pub fn tally_group(target: Target) -> Arc<Assembled> {
    kept::worded(&TALLY_GROUP, &TallySizes, &[], 0, target)
}

/// How values of one destination become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Merging {
    /// Their sum.
    Sum,
    /// Their product.
    Product,
}

#[cfg(feature = "testing")]
impl Merging {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Sum, Self::Product];
}

/// What `runs` makes of values of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Merged {
    how: Merging,
    kind: Kind,
}

impl Writes for Merged {
    fn regions(&self) -> Vec<Region> {
        let kind = self.kind.name();
        let (nothing, folded) = match self.how {
            Merging::Sum => (0, "return a + b;"),
            Merging::Product => (1, "return a * b;"),
        };
        let fold = format!("alias Fold = {kind};\nconst NOTHING = Fold({nothing});\n");
        let fold = consts([("BLOCK", RUNS_BLOCK)]) + &fold;
        let fold = Region::text("fold", fold).needing(Needs::of(self.kind));
        vec![fold, Region::text("folded", folded)]
    }
}

/// `runs` of values of this kind.
#[must_use]
pub fn runs(how: Merging, kind: Kind, target: Target) -> Arc<Assembled> {
    kept::worded(&RUNS, &Merged { how, kind }, &[], 0, target)
}
