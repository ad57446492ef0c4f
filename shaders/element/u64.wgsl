// u64: stored as it is computed, where the adapter has it.

fn decode_u64(w: vec4<u64>) -> vec4<u64> {
    return w;
}

fn encode_u64(v: vec4<u64>) -> vec4<u64> {
    return v;
}
