// Fill: a constant into every element, as bits. The host repeats an element of any width to eight
// bytes; a quad of words is that pattern twice. Bounds: grid.x quads from offset, which the host
// has checked against the binding.
override workgroup: u32 = 64u;

struct Params {
    grid: vec4<u32>, // quads of words, lead, step, trips
    bits: vec4<u32>, // the pattern, twice
    offset: array<vec4<u32>, 1>,
}
@group(1) @binding(0) var<uniform> p: Params;

// region bindings
@group(0) @binding(0) var<storage, read_write> out_0: array<vec4<u32>>;

fn store_0(q: u32, v: vec4<u32>) {
    out_0[q + p.offset[0].x] = v;
}
// end bindings

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
        store_0(q, p.bits);
    }
}
