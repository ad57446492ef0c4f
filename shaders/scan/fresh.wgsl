// Chunks of which each begins with nothing: what they come to is asked for, or they are whole rows.

fn carry(i: u32, first: bool) -> State {
    return start();
}

// region alone
alias State = vec4<f32>;
fn start() -> State { return State(0.0); }
// end alone
