// The lanes of a subgroup become one: the highest, and the first place of it.

fn joined(s: State) -> State {
    let v = subgroupMax(s.v);
    return State(v, subgroupMin(select(vec4<u32>(0xffffffffu), s.place, s.v == v)));
}

// region alone
struct State {
    v: vec4<i32>,
    place: vec4<u32>,
}
// end alone
