// Elementwise over few elements: one to a lane, without a loop. The last lanes may reach past the
// tensor's end, into its padding.
//
// For llvmpipe, where a first run mostly waits for the compiler: from text to result this takes 0.6
// of the time of elementwise.wgsl. A test of the lane's place would cost a tenth of it, as would
// parameters for offsets that are zero.
//
// The regions are what the generator writes; as it lies here the kernel negates.
override workgroup: u32 = 8u;

// region params
struct Params {
    grid: vec4<u32>,
}
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<f32>;
@group(0) @binding(1) var<storage, read_write> out_0: array<f32>;

fn load_0(q: u32) -> vec4<f32> {
    let e = q;
    return vec4<f32>(in_0[e]);
}

fn store_0(q: u32, v: vec4<f32>) {
    let e = q;
    out_0[e] = v.x;
}
// end bindings

@compute @workgroup_size(workgroup)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let q = id.x;
    // region body
    let v0 = load_0(q);
    let v1 = -v0; // neg
    store_0(q, v1);
    // end body
}
