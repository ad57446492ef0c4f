// f16 without shader-f16: two to a word, computed in f32, converted by integer bits (exactly, both
// ways).
//
// With the exponent moved into place a half is an f32 that is 2^112 times too small. Scaling it
// would do - if no driver flushed subnormals; so those go through an integer conversion instead:
// significand times 2^-24.

fn decode_f16p(w: vec2<u32>) -> vec4<f32> {
    let h = (w.xxyy >> vec4<u32>(0u, 16u, 0u, 16u)) & vec4<u32>(0xffffu);
    let sign = (h & vec4<u32>(0x8000u)) << vec4<u32>(16u);
    let mag = h & vec4<u32>(0x7fffu);
    // 112 is the difference of the exponents' biases; Inf and NaN need it once more to reach 255.
    let moved = (mag << vec4<u32>(13u)) + vec4<u32>(112u << 23u);
    let normal = select(moved, moved + vec4<u32>(112u << 23u), mag >= vec4<u32>(0x7c00u));
    let small = bitcast<vec4<u32>>(vec4<f32>(mag) * 5.9604644775390625e-8);
    return bitcast<vec4<f32>>(sign | select(normal, small, mag < vec4<u32>(0x400u)));
}

fn encode_f16p(v: vec4<f32>) -> vec2<u32> {
    let b = bitcast<vec4<u32>>(v);
    let mag = b & vec4<u32>(0x7fffffffu);
    // Normal: rebias, add half an ulp less one and the lowest kept bit; the carry may go up to
    // infinity.
    let odd = (mag >> vec4<u32>(13u)) & vec4<u32>(1u);
    let near = mag - vec4<u32>((112u << 23u) - 0xfffu) + odd;
    let normal = min(near >> vec4<u32>(13u), vec4<u32>(0x7c00u));
    // Subnormal: beside a half the last bit of an f32 is 2^-24, so that adding one rounds, half to
    // even.
    let shifted = bitcast<vec4<u32>>(bitcast<vec4<f32>>(mag) + 0.5);
    let small = shifted - vec4<u32>(126u << 23u);
    let finite = select(normal, small, mag < vec4<u32>(113u << 23u));
    let nan = vec4<u32>(0x7e00u) | ((mag >> vec4<u32>(13u)) & vec4<u32>(0x3ffu));
    let sign = (b >> vec4<u32>(16u)) & vec4<u32>(0x8000u);
    let h = select(finite, nan, mag > vec4<u32>(0x7f800000u)) | sign;
    return h.xz | (h.yw << vec2<u32>(16u));
}
