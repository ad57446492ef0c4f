// Any 64-bit element, moved as bits: a quad is eight words, two elements to a vector. The type has
// no alias: naga would write a constructor for each name of it, and to DX12's compiler they would
// be one function, written twice.

// A tile of 4 x 4, rows to columns.
fn turn(
    a: array<vec4<u32>, 2>,
    b: array<vec4<u32>, 2>,
    c: array<vec4<u32>, 2>,
    d: array<vec4<u32>, 2>,
) -> array<array<vec4<u32>, 2>, 4> {
    return array(
        array(vec4<u32>(a[0].xy, b[0].xy), vec4<u32>(c[0].xy, d[0].xy)),
        array(vec4<u32>(a[0].zw, b[0].zw), vec4<u32>(c[0].zw, d[0].zw)),
        array(vec4<u32>(a[1].xy, b[1].xy), vec4<u32>(c[1].xy, d[1].xy)),
        array(vec4<u32>(a[1].zw, b[1].zw), vec4<u32>(c[1].zw, d[1].zw)),
    );
}

// Of two quads, the elements of `b` where it holds, and of `a` elsewhere.
fn merge(
    a: array<vec4<u32>, 2>,
    b: array<vec4<u32>, 2>,
    here: vec4<bool>,
) -> array<vec4<u32>, 2> {
    return array(select(a[0], b[0], here.xxyy), select(a[1], b[1], here.zzww));
}
