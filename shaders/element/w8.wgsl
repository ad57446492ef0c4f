// Any 8-bit element, moved as bits: a quad is one word.

// A tile of 4 x 4, rows to columns.
fn turn(a: u32, b: u32, c: u32, d: u32) -> array<u32, 4> {
    // First pairs of bytes, then pairs of pairs.
    let ab_even = (a & 0x00ff00ffu) | ((b & 0x00ff00ffu) << 8u);
    let ab_odd = ((a >> 8u) & 0x00ff00ffu) | (b & 0xff00ff00u);
    let cd_even = (c & 0x00ff00ffu) | ((d & 0x00ff00ffu) << 8u);
    let cd_odd = ((c >> 8u) & 0x00ff00ffu) | (d & 0xff00ff00u);
    return array<u32, 4>(
        (ab_even & 0xffffu) | (cd_even << 16u),
        (ab_odd & 0xffffu) | (cd_odd << 16u),
        (ab_even >> 16u) | (cd_even & 0xffff0000u),
        (ab_odd >> 16u) | (cd_odd & 0xffff0000u),
    );
}

// Of two quads, the elements of `b` where it holds, and of `a` elsewhere.
fn merge(a: u32, b: u32, here: vec4<bool>) -> u32 {
    let bytes = select(vec4<u32>(0u), vec4<u32>(0xffu, 0xff00u, 0xff0000u, 0xff000000u), here);
    let mask = bytes.x | bytes.y | bytes.z | bytes.w;
    return (a & ~mask) | (b & mask);
}
