// Kernels of groups by subgroups: what replaces shared/tree.wgsl where an adapter has them.
//
//     lanes -> joined in each subgroup -> a place in workgroup memory each -> joined by every one
//
// The kernel asks for the width of a subgroup when it runs. There are two barriers, instead of one
// for every halving.

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

// region alone
alias State = vec4<f32>;
var<workgroup> sh_state: array<State, 256>;
fn start() -> State { return State(0.0); }
fn merge(a: State, b: State) -> State { return a + b; }
fn joined(s: State) -> State { return subgroupAdd(s); }
// end alone
