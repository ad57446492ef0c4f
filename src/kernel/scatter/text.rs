//! The kernels that bring values to destinations.

use std::sync::Arc;

use crate::op::Kind;
use crate::wgsl::assemble::build;
use crate::wgsl::grid::TRIPS_MAX;
use crate::wgsl::kept::kept;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Assembled, Entry, Form, Grid, Needs, Target};

params! {
    struct ScatterJob {
        grid: Grid,
        first: u32,
        keys: u32,
        begin: u32,
        count: u32,
    }
}

params! {
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

/// `runs` of sums in this kind of number.
#[must_use]
pub fn runs(kind: Kind, target: Target) -> Arc<Assembled> {
    let needs = match kind {
        Kind::F64 => Needs::F64,
        Kind::I64 | Kind::U64 => Needs::INT64,
        _ => Needs::NONE,
    };
    kept(RUNS.name, &[], kind.name(), (0, target), || {
        let sum = format!("alias Sum = {};\n", kind.name());
        build(&RUNS, &[], &[("sum", &sum)], needs, (0, target))
    })
}
