// u32: stored as it is computed.

fn decode_u32(w: vec4<u32>) -> vec4<u32> {
    return w;
}

fn encode_u32(v: vec4<u32>) -> vec4<u32> {
    return v;
}
