// f16, native: computed in f32.
//
// Decoding is exact. Encoding rounds in f32 first, by integer bits: how f16(x) rounds, and what it
// does past 65504, is the driver's choice, and the answer must not depend on it. What remains for
// f16(x) is exact.
enable f16;

fn decode_f16(w: vec4<f16>) -> vec4<f32> {
    return vec4<f32>(w);
}

fn encode_f16(v: vec4<f32>) -> vec4<f16> {
    let b = bitcast<vec4<u32>>(v);
    let mag = b & vec4<u32>(0x7fffffffu);
    // Normal: to nearest, ties to even, at bit 13; from 65520 on to infinity. NaN stays as it is.
    let odd = (mag >> vec4<u32>(13u)) & vec4<u32>(1u);
    let near = (mag + vec4<u32>(0xfffu) + odd) & vec4<u32>(0xffffe000u);
    let normal = select(near, vec4<u32>(0x7f800000u), near >= vec4<u32>(0x47800000u));
    // Subnormal: a whole number of 2^-24.
    let units = round(bitcast<vec4<f32>>(mag) * 16777216.0);
    let small = bitcast<vec4<u32>>(units * 5.9604644775390625e-8);
    let finite = select(normal, small, mag < vec4<u32>(0x38800000u));
    let r = select(finite, mag, mag > vec4<u32>(0x7f800000u)) | (b & vec4<u32>(0x80000000u));
    return vec4<f16>(bitcast<vec4<f32>>(r));
}
