// Any 64-bit element, moved as bits: a quad is eight words, two elements to a vector.
alias Quad64 = array<vec4<u32>, 2>;

// A tile of 4 x 4, rows to columns.
fn turn(a: Quad64, b: Quad64, c: Quad64, d: Quad64) -> array<Quad64, 4> {
    return array<Quad64, 4>(
        Quad64(vec4<u32>(a[0].xy, b[0].xy), vec4<u32>(c[0].xy, d[0].xy)),
        Quad64(vec4<u32>(a[0].zw, b[0].zw), vec4<u32>(c[0].zw, d[0].zw)),
        Quad64(vec4<u32>(a[1].xy, b[1].xy), vec4<u32>(c[1].xy, d[1].xy)),
        Quad64(vec4<u32>(a[1].zw, b[1].zw), vec4<u32>(c[1].zw, d[1].zw)),
    );
}

// Of two quads, the elements of `b` where it holds, and of `a` elsewhere.
fn merge(a: Quad64, b: Quad64, here: vec4<bool>) -> Quad64 {
    return Quad64(select(a[0], b[0], here.xxyy), select(a[1], b[1], here.zzww));
}
