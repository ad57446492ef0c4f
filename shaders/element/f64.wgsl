// f64: stored as it is computed, where the adapter has it.

fn decode_f64(w: vec4<f64>) -> vec4<f64> {
    return w;
}

fn encode_f64(v: vec4<f64>) -> vec4<f64> {
    return v;
}
