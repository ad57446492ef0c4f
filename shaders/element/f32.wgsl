// f32: stored as it is computed.

fn decode_f32(w: vec4<f32>) -> vec4<f32> {
    return w;
}

fn encode_f32(v: vec4<f32>) -> vec4<f32> {
    return v;
}
