// A quad loaded as 64-bit integers, as the words it consists of, and back. llvmpipe loads lane by
// lane, and a wide load takes no longer than a narrow one: half the loads are half the time.

fn words2(w: u64) -> vec2<u32> {
    return vec2<u32>(u32(w & 0xfffffffflu), u32(w >> 32u));
}

fn words4(w: vec2<u64>) -> vec4<u32> {
    return vec4<u32>(words2(w.x), words2(w.y));
}

// Always 32, but computed before the loop from a parameter, so that no compiler knows it. Results
// are stored lane by lane, and LLVM moves the last steps of a computation there too, each with a
// copy of a whole vector. It cannot move a shift by this: an addition of halves takes 0.76 of the
// time.
var<private> half_bits: u32;

fn wide2(v: vec2<u32>) -> u64 {
    return u64(v.x) | (u64(v.y) << half_bits);
}

fn wide4(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(wide2(v.xy), wide2(v.zw));
}
