// A quad loaded as 64-bit integers, as the words it consists of. llvmpipe pays by load and lane,
// whatever the width: half the loads are half the time.

fn words2(w: u64) -> vec2<u32> {
    return vec2<u32>(u32(w & 0xfffffffflu), u32(w >> 32u));
}

fn words4(w: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(w & vec2<u64>(0xfffffffflu));
    let high = vec2<u32>(w >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}
