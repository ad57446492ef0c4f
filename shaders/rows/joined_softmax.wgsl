// The lanes of a subgroup become one: sums below the highest of all.

fn joined(s: State) -> State {
    let m = subgroupMax(s.m);
    return State(m, subgroupAdd(s.s * exp_below(s.m - m)), subgroupMax(s.bits));
}

// region alone
struct State {
    m: vec4<f32>,
    s: vec4<f32>,
    bits: vec4<u32>,
}
fn exp_below(x: vec4<f32>) -> vec4<f32> { return exp(x); }
// end alone
