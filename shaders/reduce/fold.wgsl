// The state of a fold: for each of the four places of a quad, what its elements come to.
//
// What is held, how an element becomes that and back, how two become one and what changes nothing
// depend on the operation; as it lies here it is the sum.

alias State = vec4<Held>;

fn start() -> State {
    return neutral();
}

fn take(s: State, q: u32, e: vec4<u32>) -> State {
    return merge(s, lift(head_0(q)));
}

fn take_some(s: State, q: u32, e: vec4<u32>, inside: vec4<bool>) -> State {
    return merge(s, select(start(), lift(head_0(q)), inside));
}

// What a block begins with, and what it leaves: so that each term is rounded seldom.
fn afresh(so_far: State) -> State {
    return start();
}

fn closed(so_far: State, block: State) -> State {
    return merge(so_far, block);
}

fn turn_state(s: State, by: u32) -> State {
    return select(s.yxwz, s.zwxy, by == 2u);
}

fn put(at: u32, s: State) {
    finish(at, lower(s));
}

// region alone
alias Held = f32;
fn neutral() -> vec4<Held> { return vec4<Held>(0.0); }
fn lift(x: vec4<f32>) -> vec4<Held> { return x; }
fn lower(x: vec4<Held>) -> vec4<f32> { return x; }
fn merge(a: vec4<Held>, b: vec4<Held>) -> vec4<Held> { return a + b; }
fn head_0(q: u32) -> vec4<f32> { return vec4<f32>(); }
fn finish(q: u32, x0: vec4<f32>) {}
// end alone
