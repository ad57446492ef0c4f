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

// Always 32, set before the loop from what no compiler can know. LLVM does the last steps of a
// computation lane by lane where the result is stored lane by lane, each with a copy of a whole
// vector; it stops at this shift. An addition of halves takes 0.76 of the time.
var<private> half_bits: u32;

fn wide2(v: vec2<u32>) -> u64 {
    return u64(v.x) | (u64(v.y) << half_bits);
}

fn wide4(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(v.xz) | (vec2<u64>(v.yw) << vec2<u32>(half_bits));
}
