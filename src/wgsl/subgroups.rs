//! Kernels of groups by subgroups, where an adapter has them: `shared/team.wgsl` in the place of
//! `shared/tree.wgsl`.

use super::needs::Needs;
use super::region::Region;
use super::source::{Source, source};
use crate::caps::{Backend, Caps, Feature};

const TEAM: Source = source!("shared/team.wgsl", Needs::SUBGROUPS);
/// Lanes whose states are added up.
pub const SUM: Source = source!("shared/joined_sum.wgsl", Needs::SUBGROUPS);
/// The files that a kernel of groups is written with if its states are added up.
pub const PARTS: &[Source] = &[TEAM, SUM];

/// Whether they run there. In a browser which subgroup a lane is in is asked otherwise, by an
/// extension of its own.
#[must_use]
pub fn run_on(caps: &Caps) -> bool {
    caps.has(Feature::Subgroup) && caps.identity.backend != Backend::Browser
}

/// Whether they run there, in the same width in each kernel if it may not matter how large a batch
/// is: where widths vary a compiler chooses one for each.
#[must_use]
pub(crate) fn run_in(caps: &Caps, batch_invariant: bool) -> bool {
    run_on(caps) && (!batch_invariant || caps.subgroup_exact().is_some())
}

/// What `main` is told.
const PLACE: &str = "\
@builtin(subgroup_invocation_id) place: u32,
@builtin(subgroup_id) which: u32,
@builtin(num_subgroups) many: u32,
@builtin(subgroup_size) width: u32,
";

const BEGIN: &str = "own_place = vec4<u32>(place, which, many, width);\n";

/// The regions of a kernel whose state is joined by the function `joined` of this file.
#[must_use]
pub fn regions(joined: Source) -> [Region; 4] {
    [
        Region::text("place", PLACE),
        Region::text("begin", BEGIN),
        Region::file("tree", TEAM),
        Region::file("tree", joined),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;

    #[test]
    fn no_browser_runs_them() {
        let mut caps = fixtures::lavapipe();
        assert!(run_on(&caps));
        caps.identity.backend = Backend::Browser;
        assert!(!run_on(&caps), "whatever features it has");
        assert!(!run_on(&Caps::webgpu_baseline()));
    }
}
