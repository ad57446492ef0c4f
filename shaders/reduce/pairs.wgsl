// States of a choice as neighbours in memory: each value, then its place. By quads two quads hold
// four of them; by elements each is one, four times.
//
// By way of an unsigned integer as wide as what is held: naga extends the sign when it converts in
// one step.

fn pairs_from_quads(q: u32) -> State {
    let low = head_0(2u * q);
    let high = head_0(2u * q + 1u);
    let n = vec4<Held>(low.yw, high.yw);
    return State(vec4<Held>(low.xz, high.xz), vec4<u32>(vec4<Place>(n)));
}

fn pairs_from_elements(q: u32) -> State {
    return State(head_0(2u * q), vec4<u32>(vec4<Place>(head_0(2u * q + 1u))));
}

fn pairs_to_quads(at: u32, s: State) {
    let n = vec4<Held>(vec4<Place>(s.place));
    finish(2u * at, vec4<Held>(s.v.x, n.x, s.v.y, n.y));
    finish(2u * at + 1u, vec4<Held>(s.v.z, n.z, s.v.w, n.w));
}

fn pairs_to_elements(at: u32, s: State) {
    finish(2u * at, s.v);
    finish(2u * at + 1u, vec4<Held>(vec4<Place>(s.place)));
}

// region alone
alias Held = i32;
alias Place = u32;
struct State {
    v: vec4<Held>,
    place: vec4<u32>,
}
fn head_0(q: u32) -> vec4<Held> { return vec4<Held>(); }
fn finish(q: u32, x0: vec4<Held>) {}
// end alone
