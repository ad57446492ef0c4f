// The lanes of a subgroup become one: sums.

fn joined(s: State) -> State {
    return subgroupAdd(s);
}

// region alone
alias State = vec4<f32>;
// end alone
