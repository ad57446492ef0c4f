// Which elements of the index space lie in a part of it: a box, given by where it begins and how
// long it is along each dimension. Both follow each other among the scalars, innermost first.
//
// Trips: rank - 1, a constant.

// region alone
override rank: u32 = 8u;

struct Params {
    shape: array<vec4<u32>, 2>,
    scalar: array<vec4<u32>, 4>,
}
@group(1) @binding(0) var<uniform> p: Params;
// end alone

// An unsigned difference is small only at or after the beginning.
fn beyond_part(at: vec4<u32>, d: u32) -> vec4<bool> {
    let begin = p.scalar[d >> 2u][d & 3u];
    let length = p.scalar[2u + (d >> 2u)][d & 3u];
    return at - begin >= vec4<u32>(length);
}

// What lies outside is gathered, and not what is left inside: FXC takes what a loop begins as true
// and only ever narrows for true.
fn lies_in_part(e: vec4<u32>) -> vec4<bool> {
    var rest = e;
    var outside = vec4<bool>(false);
    for (var d = 0u; d + 1u < rank; d++) {
        let n = p.shape[d >> 2u][d & 3u];
        let next = rest / n;
        outside = outside | beyond_part(rest - next * n, d);
        rest = next;
    }
    return !(outside | beyond_part(rest, rank - 1u));
}
