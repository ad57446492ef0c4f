// Where an element of the index space lies in a strided view of it.
//
// The index space has `rank` dimensions, innermost first, in p.shape; each view has its strides in
// p.stride, 8 to a view. Strides may be zero or negative: u32 arithmetic wraps, and so does two's
// complement. The outermost dimension needs no remainder. Trips: rank - 1, a constant, so that
// drivers unroll the loop.
override rank: u32 = 8u;

// region alone
struct Params {
    space: vec4<u32>,
    shape: array<vec4<u32>, 2>,
    stride: array<vec4<u32>, 2>,
}
@group(1) @binding(0) var<uniform> p: Params;
// end alone

// The four elements of a quad; past the last of all it is that one again.
fn elements(q: u32) -> vec4<u32> {
    let first = p.space.x + 4u * q;
    return min(vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.space.y));
}

fn stride_of(view: u32, dim: u32) -> u32 {
    return p.stride[2u * view + (dim >> 2u)][dim & 3u];
}

fn index(e: u32, view: u32) -> u32 {
    var rest = e;
    var at = 0u;
    for (var d = 0u; d + 1u < rank; d++) {
        let n = p.shape[d >> 2u][d & 3u];
        let next = rest / n;
        at += (rest - next * n) * stride_of(view, d);
        rest = next;
    }
    return at + rest * stride_of(view, rank - 1u);
}

// Where a row begins: rows are the index space without its innermost dimension.
fn index_row(row: u32, view: u32) -> u32 {
    var rest = row;
    var at = 0u;
    for (var d = 1u; d + 1u < rank; d++) {
        let n = p.shape[d >> 2u][d & 3u];
        let next = rest / n;
        at += (rest - next * n) * stride_of(view, d);
        rest = next;
    }
    // One row begins where the view does.
    return at + select(0u, rest * stride_of(view, rank - 1u), rank > 1u);
}

// An index for each of the four elements of a quad, when a row's end may fall between them.
fn index4(e: vec4<u32>, view: u32) -> vec4<u32> {
    var rest = e;
    var at = vec4<u32>(0u);
    for (var d = 0u; d + 1u < rank; d++) {
        let n = p.shape[d >> 2u][d & 3u];
        let next = rest / n;
        at += (rest - next * n) * stride_of(view, d);
        rest = next;
    }
    return at + rest * stride_of(view, rank - 1u);
}
