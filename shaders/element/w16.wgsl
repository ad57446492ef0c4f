// Any 16-bit element, moved as bits: a quad is two words.

// A tile of 4 x 4, rows to columns.
fn turn(a: vec2<u32>, b: vec2<u32>, c: vec2<u32>, d: vec2<u32>) -> array<vec2<u32>, 4> {
    let low = vec2<u32>(0xffffu);
    let high = vec2<u32>(0xffff0000u);
    let even = vec4<u32>((a & low) | (b << vec2<u32>(16u)), (c & low) | (d << vec2<u32>(16u)));
    let odd = vec4<u32>((a >> vec2<u32>(16u)) | (b & high), (c >> vec2<u32>(16u)) | (d & high));
    return array<vec2<u32>, 4>(even.xz, odd.xz, even.yw, odd.yw);
}

// Of two quads, the elements of `b` where it holds, and of `a` elsewhere.
fn merge(a: vec2<u32>, b: vec2<u32>, here: vec4<bool>) -> vec2<u32> {
    let halves = select(vec4<u32>(0u), vec4<u32>(0xffffu, 0xffff0000u, 0xffffu, 0xffff0000u), here);
    let mask = halves.xz | halves.yw;
    return (a & ~mask) | (b & mask);
}
