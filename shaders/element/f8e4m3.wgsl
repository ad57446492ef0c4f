// f8e4m3: OCP's float of 8 bits with 4 of exponent, four to a word, computed in f32, converted by
// integer bits. It has no infinity: all ones are NaN, and what lies beyond 448 becomes that.

fn decode_f8e4m3(w: u32) -> vec4<f32> {
    let h = (vec4<u32>(w) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
    let sign = (h & vec4<u32>(0x80u)) << vec4<u32>(24u);
    let mag = h & vec4<u32>(0x7fu);
    // 120 is the difference of the exponents' biases.
    let moved = (mag << vec4<u32>(20u)) + vec4<u32>(120u << 23u);
    let normal = select(moved, vec4<u32>(0x7fc00000u), mag == vec4<u32>(0x7fu));
    // No driver flushes these: a subnormal number of 8 bits is a normal f32.
    let small = bitcast<vec4<u32>>(vec4<f32>(mag) * 0.001953125);
    return bitcast<vec4<f32>>(sign | select(normal, small, mag < vec4<u32>(8u)));
}

fn encode_f8e4m3(v: vec4<f32>) -> u32 {
    let b = bitcast<vec4<u32>>(v);
    let mag = b & vec4<u32>(0x7fffffffu);
    // Normal: rebias, add half an ulp less one and the lowest kept bit. Past 464 that is all ones
    // or more, of infinity and NaN too.
    let odd = (mag >> vec4<u32>(20u)) & vec4<u32>(1u);
    let near = mag - vec4<u32>((120u << 23u) - 0x7ffffu) + odd;
    let normal = min(near >> vec4<u32>(20u), vec4<u32>(0x7fu));
    // Subnormal: beside 2^14 the last bit of an f32 is 2^-9, so that adding it rounds, half to
    // even.
    let shifted = bitcast<vec4<u32>>(bitcast<vec4<f32>>(mag) + 16384.0);
    let small = shifted - vec4<u32>(141u << 23u);
    let sign = (b >> vec4<u32>(24u)) & vec4<u32>(0x80u);
    let h = select(normal, small, mag < vec4<u32>(121u << 23u)) | sign;
    let placed = h << vec4<u32>(0u, 8u, 16u, 24u);
    return placed.x | placed.y | placed.z | placed.w;
}
