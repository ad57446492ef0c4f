// f8e5m2: OCP's float of 8 bits with 5 of exponent, the upper half of an f16: four to a word,
// computed in f32, converted by integer bits as f16p is.

fn decode_f8e5m2(w: u32) -> vec4<f32> {
    let h = (vec4<u32>(w) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
    let sign = (h & vec4<u32>(0x80u)) << vec4<u32>(24u);
    let mag = h & vec4<u32>(0x7fu);
    // 112 is the difference of the exponents' biases; Inf and NaN need it once more to reach 255.
    let moved = (mag << vec4<u32>(21u)) + vec4<u32>(112u << 23u);
    let normal = select(moved, moved + vec4<u32>(112u << 23u), mag >= vec4<u32>(0x7cu));
    // No driver flushes these: a subnormal number of 8 bits is a normal f32.
    let small = bitcast<vec4<u32>>(vec4<f32>(mag) * 1.52587890625e-5);
    return bitcast<vec4<f32>>(sign | select(normal, small, mag < vec4<u32>(4u)));
}

fn encode_f8e5m2(v: vec4<f32>) -> u32 {
    let b = bitcast<vec4<u32>>(v);
    let mag = b & vec4<u32>(0x7fffffffu);
    // Normal: rebias, add half an ulp less one and the lowest kept bit; the carry may go up to
    // infinity.
    let odd = (mag >> vec4<u32>(21u)) & vec4<u32>(1u);
    let near = mag - vec4<u32>((112u << 23u) - 0xfffffu) + odd;
    let normal = min(near >> vec4<u32>(21u), vec4<u32>(0x7cu));
    // Subnormal: beside 2^7 the last bit of an f32 is 2^-16, so that adding it rounds, half to
    // even.
    let shifted = bitcast<vec4<u32>>(bitcast<vec4<f32>>(mag) + 128.0);
    let small = shifted - vec4<u32>(134u << 23u);
    let finite = select(normal, small, mag < vec4<u32>(113u << 23u));
    let nan = vec4<u32>(0x7eu) | ((mag >> vec4<u32>(21u)) & vec4<u32>(1u));
    let sign = (b >> vec4<u32>(24u)) & vec4<u32>(0x80u);
    let h = select(finite, nan, mag > vec4<u32>(0x7f800000u)) | sign;
    let placed = h << vec4<u32>(0u, 8u, 16u, 24u);
    return placed.x | placed.y | placed.z | placed.w;
}
