// u8: four to a word, computed in u32. Storing keeps the low 8 bits: arithmetic wraps.

fn decode_u8(w: u32) -> vec4<u32> {
    return (vec4<u32>(w) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
}

fn encode_u8(v: vec4<u32>) -> u32 {
    let b = (v & vec4<u32>(0xffu)) << vec4<u32>(0u, 8u, 16u, 24u);
    return b.x | b.y | b.z | b.w;
}

fn wrap_u8(v: vec4<u32>) -> vec4<u32> {
    return v & vec4<u32>(0xffu);
}

// What a cast saturates to, from the compute type.
fn clamp_to_u8(v: vec4<u32>) -> vec4<u32> {
    return min(v, vec4<u32>(0xffu));
}
