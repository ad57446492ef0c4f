// Elementwise: every quad of the outputs is a function of the quads of the inputs at the same
// place.
//
// Neighbouring lanes take neighbouring quads: each invocation takes `trips` of them, from first =
// group * lead + lane on in steps of `step`. On a CPU adapter a group walks a run of its own, which
// is one stream through memory (step = its lanes); on a GPU all groups walk together (step = all
// invocations). The last quad may reach past the tensor's end, into its padding.
//
// The regions are what the generator writes; as it lies here the kernel negates.
override workgroup: u32 = 64u;

// region params
struct Params {
    grid: vec4<u32>, // quads, lead, step, trips
    offset: array<vec4<u32>, 1>,
}
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out_0: array<vec4<f32>>;

fn load_0(q: u32) -> vec4<f32> {
    return in_0[q + p.offset[0].x];
}

fn store_0(q: u32, v: vec4<f32>) {
    out_0[q + p.offset[0].y] = v;
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
    // Before the loop: llvmpipe loads a parameter wherever it is named, which took a fifth of the
    // time of an addition.
    let step = p.grid.z;
    // region once
    // end once
    let rest = p.grid.x - min(first, p.grid.x);
    let trips = min(p.grid.w, (rest + step - 1u) / step);
    for (var trip = 0u; trip < trips; trip++) {
        let q = first + trip * step;
        // region body
        let v0 = load_0(q);
        let v1 = -v0; // neg
        store_0(q, v1);
        // end body
    }
    // region after
    // end after
}
