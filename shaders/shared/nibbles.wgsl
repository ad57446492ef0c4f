// Weights of four bits: two to a byte.

// 2^23 and four neighbours, whose bytes are a word. The lowest bits of such a number say what is
// above 2^23, so that it takes no conversion, of which GPUs do few at a time.
fn above_nibbles(w: u32, shift: u32) -> vec4<f32> {
    let bits = (vec4<u32>(w) >> (vec4<u32>(0u, 8u, 16u, 24u) + shift)) & vec4<u32>(15u);
    return bitcast<vec4<f32>>(bits | vec4<u32>(0x4b000000u));
}

// From 0 to 15.
fn nibbles(w: u32, shift: u32) -> vec4<f32> {
    return above_nibbles(w, shift) - vec4<f32>(8388608.0);
}

// The scale and the minimum of one of eight blocks that have this in common: two factors of f16,
// and twelve bytes. Of the first four blocks the lower six bits of a byte are it; of the others
// half a byte, and the upper bits of those. The products are exact.
fn scale_q4_k(head: vec4<u32>, block: u32) -> vec2<f32> {
    let bytes = (head.yzw >> vec3<u32>(8u * (block & 3u))) & vec3<u32>(255u);
    let low = vec2<u32>(bytes.z & 15u, bytes.z >> 4u);
    let others = low | ((bytes.xy >> vec2<u32>(6u)) << vec2<u32>(4u));
    let bits = select(others, bytes.xy & vec2<u32>(63u), block < 4u);
    return decode_f16p(vec2<u32>(head.x, 0u)).xy * vec2<f32>(bits);
}

// region alone
fn decode_f16p(w: vec2<u32>) -> vec4<f32> { return vec4<f32>(); }
// end alone

// From -8 to 7, which the scale of the block is still to multiply.
fn quad_q4(w: u32, shift: u32) -> vec4<f32> {
    return above_nibbles(w, shift) - vec4<f32>(8388616.0);
}
