// The state of a choice: the highest value so far, and its place; of equals the first.

struct State {
    v: vec4<Held>,
    place: vec4<u32>,
}

fn start() -> State {
    return State(neutral(), vec4<u32>(0xffffffffu));
}

fn take(s: State, q: u32, e: vec4<u32>) -> State {
    return merge(s, load(q, e));
}

fn take_some(s: State, q: u32, e: vec4<u32>, inside: vec4<bool>) -> State {
    let x = load(q, e);
    let none = start();
    let kept = State(select(none.v, x.v, inside), select(none.place, x.place, inside));
    return merge(s, kept);
}

fn merge(a: State, b: State) -> State {
    let other = (b.v > a.v) | ((b.v == a.v) & (b.place < a.place));
    return State(select(a.v, b.v, other), select(a.place, b.place, other));
}

// Nothing is rounded: a block goes on with what there is, which takes half the registers.
fn afresh(so_far: State) -> State {
    return so_far;
}

fn closed(so_far: State, block: State) -> State {
    return block;
}

fn turn_state(s: State, by: u32) -> State {
    if by == 2u {
        return State(s.v.zwxy, s.place.zwxy);
    }
    return State(s.v.yxwz, s.place.yxwz);
}

// region alone
alias Held = i32;
fn neutral() -> vec4<Held> { return vec4<Held>(0); }
fn load(q: u32, e: vec4<u32>) -> State { return State(vec4<Held>(), e); }
// end alone
