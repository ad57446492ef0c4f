// i32: stored as it is computed.

fn decode_i32(w: vec4<i32>) -> vec4<i32> {
    return w;
}

fn encode_i32(v: vec4<i32>) -> vec4<i32> {
    return v;
}
