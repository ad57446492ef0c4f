// The best sum of rows found by hand for a CPU adapter, without wharf. A lane takes `quads` quads
// that follow each other, eight at a time, and stores their sum. With one lane per row this is the
// sum over dim 1. With fewer quads per lane it is the first and longer part of the sum of
// everything. It is not tuned for a GPU, where neighbouring lanes should read neighbours.
override lanes: u32 = 8u;
override quads: u32 = 1024u;

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = (group.x + groups.x * group.y) * lanes + lane;
    let end = (row + 1u) * quads;
    var s = vec4<f32>(0.0);
    var t = vec4<f32>(0.0);
    for (var q = row * quads; q < end; q += 8u) {
        s += (a[q] + a[q + 1u]) + (a[q + 2u] + a[q + 3u]);
        t += (a[q + 4u] + a[q + 5u]) + (a[q + 6u] + a[q + 7u]);
    }
    s += t;
    out[row] = (s.x + s.y) + (s.z + s.w);
}
