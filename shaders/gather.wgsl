// Gather: the elements of an output that an index names in one segment of a source; the others
// stay as they are.
//
// Where an element comes from is where its coordinates say (view 0), plus its index (view 1) times
// `step`. The index must be below `bound`, and be one of the `indices` from `index_start` on that
// there are in the bound segment; what it names must be one of the `there` elements from `start` on
// that the source has in its own. Positions in both wrap.
override workgroup: u32 = 64u;

struct Params {
    grid: vec4<u32>,  // quads, lead, step, trips
    step: u32,        // from index to index, in elements of the source
    bound: u32,       // of indices
    start: u32,       // of the source's elements there
    there: u32,       // how many they are
    index_start: u32, // of the indices there
    indices: u32,     // how many they are
    space: vec4<u32>, // the first element of this window, the last of all
    shape: array<vec4<u32>, 2>,
    offset: array<vec4<u32>, 1>,
    stride: array<vec4<u32>, 4>,
}
@group(1) @binding(0) var<uniform> p: Params;

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<u32>;
@group(0) @binding(1) var<storage, read> in_1: array<u32>;
@group(0) @binding(2) var<storage, read_write> out_0: array<vec4<u32>>;

fn load_0(e: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(in_0[e.x], in_0[e.y], in_0[e.z], in_0[e.w]);
}

fn load_1(e: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(in_1[e.x], in_1[e.y], in_1[e.z], in_1[e.w]);
}

fn load_2(q: u32) -> vec4<u32> {
    return out_0[q + p.offset[0].z];
}

fn store_0(q: u32, v: vec4<u32>) {
    out_0[q + p.offset[0].z] = v;
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
        let mine = index4(e, 1u) + vec4<u32>(p.offset[0].y);
        let known = mine - vec4<u32>(p.index_start) < vec4<u32>(p.indices);
        let i = load_1(select(vec4<u32>(0u), mine, known));
        let at = index4(e, 0u) + i * vec4<u32>(p.step) + vec4<u32>(p.offset[0].x);
        let lies = at - vec4<u32>(p.start) < vec4<u32>(p.there);
        let here = known & (i < vec4<u32>(p.bound)) & lies;
        if all(here) {
            store_0(q, load_0(at));
        } else if any(here) {
            store_0(q, merge(load_2(q), load_0(select(vec4<u32>(0u), at, here)), here));
        }
    }
}
