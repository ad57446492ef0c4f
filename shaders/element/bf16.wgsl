// bf16: the upper half of an f32, two to a word, computed in f32.
//
// Rounded to nearest, ties to even, by integer bits: adding 0x7fff and the lowest kept bit carries
// into the kept half exactly when it should, into the next binade and into infinity too. NaN is
// kept NaN (the carry could clear it) and quiet.

fn decode_bf16(w: vec2<u32>) -> vec4<f32> {
    let high = w & vec2<u32>(0xffff0000u);
    return bitcast<vec4<f32>>(vec4<u32>(w.x << 16u, high.x, w.y << 16u, high.y));
}

fn encode_bf16(v: vec4<f32>) -> vec2<u32> {
    let b = bitcast<vec4<u32>>(v);
    let odd = (b >> vec4<u32>(16u)) & vec4<u32>(1u);
    let rounded = (b + vec4<u32>(0x7fffu) + odd) >> vec4<u32>(16u);
    let quiet = (b >> vec4<u32>(16u)) | vec4<u32>(0x40u);
    let h = select(rounded, quiet, (b & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u));
    return h.xz | (h.yw << vec2<u32>(16u));
}
