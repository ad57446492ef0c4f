// i8: four to a word, computed in i32. Storing keeps the low 8 bits: arithmetic wraps.

fn decode_i8(w: u32) -> vec4<i32> {
    // Up to the sign bit, then down with the sign.
    return vec4<i32>(vec4<u32>(w) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u);
}

fn encode_i8(v: vec4<i32>) -> u32 {
    let b = (vec4<u32>(v) & vec4<u32>(0xffu)) << vec4<u32>(0u, 8u, 16u, 24u);
    return b.x | b.y | b.z | b.w;
}

fn wrap_i8(v: vec4<i32>) -> vec4<i32> {
    return (v << vec4<u32>(24u)) >> vec4<u32>(24u);
}

// What a cast saturates to, from the compute type.
fn clamp_to_i8(v: vec4<i32>) -> vec4<i32> {
    return clamp(v, vec4<i32>(-128), vec4<i32>(127));
}
