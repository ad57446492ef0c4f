// Every chunk begins with nothing: only its total is asked for, or it is a whole row.

fn carry(i: u32, first: bool) -> State {
    return start();
}

// region alone
alias State = vec4<f32>;
fn start() -> State { return State(0.0); }
// end alone
