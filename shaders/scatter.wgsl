// Scatter: who comes last. Every position of a list of destinations notes itself, plus one, at its
// destination; the largest stays, whatever order they come in. Destinations are those of the bound
// segment, `keys` from `first` on.
override workgroup: u32 = 64u;

struct Params {
    grid: vec4<u32>, // quads, lead, step, trips
    first: u32, // destination of the bound segment
    keys: u32,  // destinations there
    begin: u32, // of the bound list in all of it
    count: u32, // positions there
    offset: array<vec4<u32>, 1>,
}
@group(1) @binding(0) var<uniform> p: Params;

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<vec4<u32>>;

fn load_0(q: u32) -> vec4<u32> {
    return in_0[q + p.offset[0].x];
}
// end bindings

@group(0) @binding(1) var<storage, read_write> last: array<atomic<u32>>;

fn note(to: u32, position: u32) {
    let at = to - p.first;
    if at < p.keys && position < p.count {
        atomicMax(&last[at], p.begin + position + 1u);
    }
}

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
        let to = load_0(q);
        note(to.x, 4u * q);
        note(to.y, 4u * q + 1u);
        note(to.z, 4u * q + 2u);
        note(to.w, 4u * q + 3u);
    }
}
