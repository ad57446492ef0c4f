// Transpose: a copy between two orders of the same elements, where the input is dense along one
// dimension and the output along another.
//
// The unit is a tile of 4 x 4 elements: four quads read along the input's dense dimension, turned
// in registers, written as four quads along the output's. Tile t has coordinates in p.shape (rank
// dimensions, innermost first); view 0 is the input, view 1 the output, all strides in quads. The
// host sends only views whose two dimensions, strides and offset are multiples of four; everything
// else goes through reindex.
override workgroup: u32 = 64u;

struct Params {
    grid: vec4<u32>, // tiles, lead, step, trips
    row: vec2<u32>,  // from one row of a tile to the next: input, output
    offset: array<vec4<u32>, 1>,
    shape: array<vec4<u32>, 2>,
    stride: array<vec4<u32>, 4>,
}
@group(1) @binding(0) var<uniform> p: Params;

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> out_0: array<vec4<u32>>;

fn load_0(q: u32) -> vec4<u32> {
    return in_0[q + p.offset[0].x];
}

fn store_0(q: u32, v: vec4<u32>) {
    out_0[q + p.offset[0].y] = v;
}
// end bindings

// region alone
fn index(e: u32, view: u32) -> u32 {
    return e * p.stride[2u * view].x;
}

fn turn(a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32>) -> array<vec4<u32>, 4> {
    return array<vec4<u32>, 4>(a, b, c, d);
}
// end alone

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = group.x + groups.x * group.y;
    let first = (linear * workgroup + lane) * p.grid.y;
    for (var trip = 0u; trip < p.grid.w; trip++) {
        let tile = first + trip * p.grid.z;
        if tile >= p.grid.x {
            break;
        }
        let source = index(tile, 0u);
        let a = load_0(source);
        let b = load_0(source + p.row.x);
        let c = load_0(source + 2u * p.row.x);
        let d = load_0(source + 3u * p.row.x);
        let turned = turn(a, b, c, d);
        let sink = index(tile, 1u);
        store_0(sink, turned[0]);
        store_0(sink + p.row.y, turned[1]);
        store_0(sink + 2u * p.row.y, turned[2]);
        store_0(sink + 3u * p.row.y, turned[3]);
    }
}
