// The lanes of a subgroup become one: the highest.

fn joined(s: State) -> State {
    return subgroupMax(s);
}

// region alone
alias State = vec4<f32>;
// end alone
