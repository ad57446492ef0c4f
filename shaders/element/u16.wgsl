// u16: two to a word, computed in u32. Storing keeps the low 16 bits: arithmetic wraps.

fn decode_u16(w: vec2<u32>) -> vec4<u32> {
    return (w.xxyy >> vec4<u32>(0u, 16u, 0u, 16u)) & vec4<u32>(0xffffu);
}

fn encode_u16(v: vec4<u32>) -> vec2<u32> {
    return (v.xz & vec2<u32>(0xffffu)) | (v.yw << vec2<u32>(16u));
}

fn wrap_u16(v: vec4<u32>) -> vec4<u32> {
    return v & vec4<u32>(0xffffu);
}

// What a cast saturates to, from the compute type.
fn clamp_to_u16(v: vec4<u32>) -> vec4<u32> {
    return min(v, vec4<u32>(0xffffu));
}
