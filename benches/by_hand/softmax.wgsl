// The best softmax of rows found by hand for a CPU adapter, without wharf. A lane takes a row of
// `quads` quads in two passes; the first keeps the highest value and the running sum. It uses the
// builtin exponential, and ignores NaN, infinity and masks.
override lanes: u32 = 8u;
override quads: u32 = 1024u;

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = (group.x + groups.x * group.y) * lanes + lane;
    let first = row * quads;
    var m = vec4<f32>(-3e38);
    var s = vec4<f32>(0.0);
    for (var t = 0u; t < quads; t += 4u) {
        let w = a[first + t];
        let x = a[first + t + 1u];
        let y = a[first + t + 2u];
        let z = a[first + t + 3u];
        let high = max(m, max(max(w, x), max(y, z)));
        s = s * exp(m - high) + ((exp(w - high) + exp(x - high)) + (exp(y - high) + exp(z - high)));
        m = high;
    }
    let most = max(max(m.x, m.y), max(m.z, m.w));
    let parts = s * exp(m - most);
    let factor = 1.0 / ((parts.x + parts.y) + (parts.z + parts.w));
    for (var t = 0u; t < quads; t += 4u) {
        out[first + t] = exp(a[first + t] - most) * factor;
        out[first + t + 1u] = exp(a[first + t + 1u] - most) * factor;
        out[first + t + 2u] = exp(a[first + t + 2u] - most) * factor;
        out[first + t + 3u] = exp(a[first + t + 3u] - most) * factor;
    }
}
