// Any 32-bit element, moved as bits: a quad is four words.

// A tile of 4 x 4, rows to columns.
fn turn(a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32>) -> array<vec4<u32>, 4> {
    return array<vec4<u32>, 4>(
        vec4<u32>(a.x, b.x, c.x, d.x),
        vec4<u32>(a.y, b.y, c.y, d.y),
        vec4<u32>(a.z, b.z, c.z, d.z),
        vec4<u32>(a.w, b.w, c.w, d.w),
    );
}

// Of two quads, the elements of `b` where it holds, and of `a` elsewhere.
fn merge(a: vec4<u32>, b: vec4<u32>, here: vec4<bool>) -> vec4<u32> {
    return select(a, b, here);
}
