//! Kernels of groups by subgroups: what replaces `shared/tree.wgsl` where an adapter has them.
//!
//! ```text
//! lanes -> joined in each subgroup -> a place in workgroup memory each -> joined by every subgroup
//! ```
//!
//! How wide a subgroup is, the kernel asks when it runs; two barriers take the place of one for
//! every halving.

/// What `main` is told.
const PLACE: &str = "\
@builtin(subgroup_invocation_id) place: u32,
@builtin(subgroup_id) which: u32,
@builtin(num_subgroups) many: u32,
@builtin(subgroup_size) width: u32,
";

const BEGIN: &str = "own_place = vec4<u32>(place, which, many, width);\n";

const TOGETHER: &str = "\
// The lane in its subgroup, which one that is, how many there are, the lanes of each.
var<private> own_place: vec4<u32>;

fn together(lane: u32, own: State) -> State {
    workgroupBarrier();
    let part = joined(own);
    if own_place.x == 0u {
        sh_state[own_place.y] = part;
    }
    workgroupBarrier();
    var all = start();
    for (var i = 0u; i < own_place.z; i += own_place.w) {
        var other = start();
        if i + own_place.x < own_place.z {
            other = sh_state[i + own_place.x];
        }
        all = merge(all, other);
    }
    return joined(all);
}

";

/// The regions of a kernel whose state is joined by this function `joined`.
#[must_use]
pub fn regions(joined: &str) -> Vec<(&'static str, String)> {
    vec![("place", PLACE.into()), ("begin", BEGIN.into()), ("tree", format!("{TOGETHER}{joined}"))]
}

/// The state of a softmax.
pub const SOFTMAX: &str = "\
fn joined(s: State) -> State {
    let m = subgroupMax(s.m);
    return State(m, subgroupAdd(s.s * exp_below(s.m - m)), subgroupMax(s.bits));
}
";

/// Sums.
pub const SUM: &str = "\
fn joined(s: State) -> State {
    return subgroupAdd(s);
}
";
