// Only what each chunk comes to is stored.

fn put(q: u32, s: State) {
}

fn close(i: u32, s: State) {
    finish(i, s);
}

// region alone
alias State = vec4<f32>;
fn finish(q: u32, x0: vec4<f32>) {}
// end alone
