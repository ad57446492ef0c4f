// i16: two to a word, computed in i32. Storing keeps the low 16 bits: arithmetic wraps.

fn decode_i16(w: vec2<u32>) -> vec4<i32> {
    // Up to the sign bit, then down with the sign.
    return vec4<i32>(w.xxyy << vec4<u32>(16u, 0u, 16u, 0u)) >> vec4<u32>(16u);
}

fn encode_i16(v: vec4<i32>) -> vec2<u32> {
    let b = vec4<u32>(v);
    return (b.xz & vec2<u32>(0xffffu)) | (b.yw << vec2<u32>(16u));
}

fn wrap_i16(v: vec4<i32>) -> vec4<i32> {
    return (v << vec4<u32>(16u)) >> vec4<u32>(16u);
}

// What a cast saturates to, from the compute type.
fn clamp_to_i16(v: vec4<i32>) -> vec4<i32> {
    return clamp(v, vec4<i32>(-32768), vec4<i32>(32767));
}
