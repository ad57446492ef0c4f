// bool: one byte each, four to a word. Any byte but zero is true; what is stored is 0 or 1.

fn decode_bool(w: u32) -> vec4<bool> {
    let b = (vec4<u32>(w) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
    return b != vec4<u32>(0u);
}

fn encode_bool(v: vec4<bool>) -> u32 {
    let b = select(vec4<u32>(0u), vec4<u32>(1u, 0x100u, 0x10000u, 0x1000000u), v);
    return b.x | b.y | b.z | b.w;
}
