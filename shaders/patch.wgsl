// Patch: the elements of an output that come from one source; the others stay as they are.
//
// An element is the source's if its place - a linear form of its coordinates, such as the
// coordinate along the axis of a concatenation, or column less row - is one of `count` from
// `first` on, and if what it comes from is one of the `there` elements from `start` on that the
// source has in the bound segment. Indices wrap, so a place may lie before what is bound. View 0 is
// the source, view 1 the form.
override workgroup: u32 = 64u;

struct Params {
    grid: vec4<u32>,  // quads, lead, step, trips
    first: u32,       // place
    count: u32,       // of places
    start: u32,       // of the source's elements there
    there: u32,       // how many they are
    space: vec4<u32>, // the first element of this window, the last of all
    shape: array<vec4<u32>, 2>,
    offset: array<vec4<u32>, 1>,
    stride: array<vec4<u32>, 4>,
}
@group(1) @binding(0) var<uniform> p: Params;

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<u32>;
@group(0) @binding(1) var<storage, read_write> out_0: array<vec4<u32>>;

fn load_0(e: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(in_0[e.x], in_0[e.y], in_0[e.z], in_0[e.w]);
}

fn load_1(q: u32) -> vec4<u32> {
    return out_0[q + p.offset[0].y];
}

fn store_0(q: u32, v: vec4<u32>) {
    out_0[q + p.offset[0].y] = v;
}
// end bindings

// region alone
fn elements(q: u32) -> vec4<u32> {
    return vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u);
}

fn index4(e: vec4<u32>, view: u32) -> vec4<u32> {
    return e * p.stride[2u * view].x;
}

fn merge(a: vec4<u32>, b: vec4<u32>, here: vec4<bool>) -> vec4<u32> {
    return select(a, b, here);
}
// end alone

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = group.x + groups.x * group.y;
    let begin = linear * p.grid.y + lane;
    for (var trip = 0u; trip < p.grid.w; trip++) {
        let q = begin + trip * p.grid.z;
        if q >= p.grid.x {
            break;
        }
        let e = elements(q);
        let place = index4(e, 1u) - vec4<u32>(p.first);
        let at = index4(e, 0u) + vec4<u32>(p.offset[0].x);
        let here = (place < vec4<u32>(p.count)) & (at - vec4<u32>(p.start) < vec4<u32>(p.there));
        if all(here) {
            store_0(q, load_0(at));
        } else if any(here) {
            store_0(q, merge(load_1(q), load_0(select(vec4<u32>(0u), at, here)), here));
        }
    }
}
