// A quad loaded as 64-bit integers, as the words it consists of, and back. llvmpipe pays by load
// and lane, whatever the width: half the loads are half the time.

fn words2(w: u64) -> vec2<u32> {
    return vec2<u32>(u32(w & 0xfffffffflu), u32(w >> 32u));
}

fn words4(w: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(w & vec2<u64>(0xfffffffflu));
    let high = vec2<u32>(w >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

fn wide2(v: vec2<u32>) -> u64 {
    return u64(v.x) | (u64(v.y) << 32u);
}

fn wide4(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(v.xz) | (vec2<u64>(v.yw) << vec2<u32>(32u));
}
