//! The kernels that bring values to destinations.

use std::sync::Arc;

use crate::op::Kind;
use crate::wgsl::grid::TRIPS_MAX;
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

    struct RunsJob {
        count: u32,
        blocks: u32,
        columns: u32,
        first: u32,
        keys: u32,
    }
}

/// Who comes last at each destination.
pub const SCATTER: Entry = Entry {
    outputs: 0,
    ..Entry::new("scatter", source!("scatter.wgsl"), TRIPS_MAX)
        .of(&[&[Form::U32]])
        .told(ScatterJob::MEMBERS)
};
/// Sums of runs of equal keys.
pub const RUNS: Entry = Entry::own("runs", source!("runs.wgsl"), 64).told(RunsJob::MEMBERS);

/// What `runs` adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SumOf(Kind);

impl Writes for SumOf {
    fn regions(&self) -> Vec<Region> {
        let alias = format!("alias Sum = {};\n", self.0.name());
        vec![Region::text("sum", alias).needing(Needs::of(self.0))]
    }
}

/// `runs` of sums in this kind of number.
#[must_use]
pub fn runs(kind: Kind, target: Target) -> Arc<Assembled> {
    kept::worded(&RUNS, &SumOf(kind), &[], 0, target)
}
