// The best elementwise kernel found by hand, without wharf. Each lane computes `run` quads, and
// neighbouring lanes take neighbouring quads: long runs win on a CPU adapter, single quads on a
// GPU. It checks nothing that one formula does not need. The line `let v` is replaced by the
// formula to compute.
override lanes: u32 = 8u;
override run: u32 = 256u;

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> c: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;

// Uses the exponential: tanh is slower.
fn gelu_tanh(x: vec4<f32>) -> vec4<f32> {
    let u = 1.5957691216057308 * (x + 0.044715 * x * x * x);
    return x / (1.0 + exp(-u));
}

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let first = (group.x + groups.x * group.y) * lanes * run + lane;
    let unused = vec4<u32>(arrayLength(&a), arrayLength(&b), arrayLength(&c), 0u);
    for (var i = 0u; i < run; i++) {
        let q = first + i * lanes;
        let v = a[q] * b[q] + c[q];
        out[q] = v;
    }
}
