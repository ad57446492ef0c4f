// Weights of a few bits: several to a byte.

// Four bits of each byte of a word, less a number that is added to 2^23. The lowest bits of such a
// number say what is above 2^23, so that it takes no conversion, of which GPUs do few at a time.
fn nibbles(w: u32, shift: u32, zero: f32) -> vec4<f32> {
    let bits = (vec4<u32>(w) >> (vec4<u32>(0u, 8u, 16u, 24u) + shift)) & vec4<u32>(15u);
    return bitcast<vec4<f32>>(bits | vec4<u32>(0x4b000000u)) - vec4<f32>(zero);
}

// region alone
fn decode_f16p(w: vec2<u32>) -> vec4<f32> { return vec4<f32>(); }
// end alone

// Two factors of f16.
fn factors(word: u32) -> vec2<f32> {
    return decode_f16p(vec2<u32>(word, 0u)).xy;
}

// The scale and the minimum of one of eight blocks that have this in common: two factors of f16,
// and twelve bytes. Of the first four blocks the lower six bits of a byte are it; of the others
// half a byte, and the upper bits of those. The products are exact. Places are shifted, not
// multiplied by 8: of a sum with a constant FXC took the constant alone.
fn scale_q4_k(head: vec4<u32>, block: u32) -> vec2<f32> {
    let bytes = (head.yzw >> vec3<u32>((block & 3u) << 3u)) & vec3<u32>(255u);
    let low = vec2<u32>(bytes.z & 15u, bytes.z >> 4u);
    let others = low | ((bytes.xy >> vec2<u32>(6u)) << vec2<u32>(4u));
    let bits = select(others, bytes.xy & vec2<u32>(63u), block < 4u);
    return factors(head.x) * vec2<f32>(bits);
}

// The bytes of a word, less a number that is added to 2^23.
fn bytes_from(w: u32, zero: f32) -> vec4<f32> {
    let bits = (vec4<u32>(w) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u);
    return bitcast<vec4<f32>>(bits | vec4<u32>(0x4b000000u)) - vec4<f32>(zero);
}

// The scales of the halves of a block: two of 8 bits, by a factor of f16.
fn scale_q6_k(both: u32, factor: u32) -> vec2<f32> {
    let bits = vec2<i32>(vec2<u32>(both) << vec2<u32>(24u, 16u)) >> vec2<u32>(24u);
    return factors(factor).x * vec2<f32>(bits);
}

// Two of 6 bits: the lower four of each, and the upper two.
fn scale_q3_k(low: u32, high: u32, factor: u32) -> vec2<f32> {
    let bits = (low & 0x0f0fu) | ((high & 0x0303u) << 4u);
    let both = vec2<f32>(vec2<u32>(bits & 255u, bits >> 8u)) - vec2<f32>(32.0);
    return factors(factor).x * both;
}

// Two of 4 bits, and two minima of 4 bits, by a factor each.
fn scale_q2_k(both: u32, scale: u32, least: u32) -> vec4<f32> {
    let bits = (vec4<u32>(both) >> vec4<u32>(0u, 8u, 4u, 12u)) & vec4<u32>(15u);
    return factors(scale | (least << 16u)).xxyy * vec4<f32>(bits);
}

// Of a quad of words the two of a block.
fn own_words(quad: vec4<u32>, block: u32) -> vec2<u32> {
    return select(quad.xy, quad.zw, (block & 1u) > 0u);
}

// Four neighbouring bits of a word, each above half a byte.
fn fifth_bits(w: u32, first: u32) -> u32 {
    return (((w >> first) & 15u) * 0x02040810u) & 0x10101010u;
}
