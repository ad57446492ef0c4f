// Random: quad q of a tensor is drawn from block q of a counter-based generator, so any part of it
// is the same whoever computes it, in whatever order.
//
// Numbers that take more than 32 bits use several streams. The region names the draw; as it lies
// here the bits are stored.
override workgroup: u32 = 64u;

struct Params {
    grid: vec4<u32>, // quads, lead, step, trips
    key: vec4<u32>,  // the key, the first quad of this window
    draw: vec2<u32>,
    offset: array<vec4<u32>, 1>,
}
@group(1) @binding(0) var<uniform> p: Params;

// region bindings
@group(0) @binding(0) var<storage, read_write> out_0: array<vec4<u32>>;

fn store_0(q: u32, v: vec4<u32>) {
    out_0[q + p.offset[0].x] = v;
}
// end bindings

// region alone
fn draw_bits(q: u32) -> vec4<u32> { return vec4<u32>(q); }
// end alone

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = group.x + groups.x * group.y;
    let first = linear * p.grid.y + lane;
    for (var trip = 0u; trip < p.grid.w; trip++) {
        let q = first + trip * p.grid.z;
        if q >= p.grid.x {
            break;
        }
        // region draw
        let v = draw_bits(q);
        // end draw
        store_0(q, v);
    }
}
