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

/// How values of one destination become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gathering {
    /// Their sum.
    Sum,
    /// Their product.
    Product,
}

impl Gathering {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Sum, Self::Product];
}

/// What `runs` makes of values of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Gathered {
    how: Gathering,
    kind: Kind,
}

impl Writes for Gathered {
    fn regions(&self) -> Vec<Region> {
        let kind = self.kind.name();
        let (nothing, sign) = match self.how {
            Gathering::Sum => (0, '+'),
            Gathering::Product => (1, '*'),
        };
        let text = format!(
            "const BLOCK = {RUNS_BLOCK}u;\nalias Fold = {kind};\n\
             const NOTHING = Fold({nothing});\n\n\
             fn folded(a: Fold, b: Fold) -> Fold {{\n    return a {sign} b;\n}}\n"
        );
        vec![Region::text("fold", text).needing(Needs::of(self.kind))]
    }
}

/// `runs` of values of this kind.
#[must_use]
pub fn runs(how: Gathering, kind: Kind, target: Target) -> Arc<Assembled> {
    kept::worded(&RUNS, &Gathered { how, kind }, &[], 0, target)
}
