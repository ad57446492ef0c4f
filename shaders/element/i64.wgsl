// i64: stored as it is computed, where the adapter has it.

fn decode_i64(w: vec4<i64>) -> vec4<i64> {
    return w;
}

fn encode_i64(v: vec4<i64>) -> vec4<i64> {
    return v;
}
