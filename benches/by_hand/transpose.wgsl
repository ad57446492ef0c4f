// The best transposition found by hand on a CPU adapter: each lane transposes a tile of 4 x 4 in
// registers. The matrix is square, and its side is a whole number of tiles.
override side: u32 = 4096u;
override lanes: u32 = 8u;

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let quads = side / 4u;
    let tile = (group.x + groups.x * group.y) * lanes + lane;
    let row = tile / quads;
    let column = tile % quads;
    let source = row * 4u * quads + column;
    let m = mat4x4<f32>(a[source], a[source + quads], a[source + 2u * quads], a[source + 3u * quads]);
    let t = transpose(m);
    let to = column * 4u * quads + row;
    out[to] = t[0];
    out[to + quads] = t[1];
    out[to + 2u * quads] = t[2];
    out[to + 3u * quads] = t[3];
}
