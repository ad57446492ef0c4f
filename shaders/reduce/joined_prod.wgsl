// The lanes of a subgroup become one: products.

fn joined(s: State) -> State {
    return subgroupMul(s);
}

// region alone
alias State = vec4<f32>;
// end alone
