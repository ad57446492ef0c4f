// The best convolution found by hand on a CPU adapter: 3 x 3, 64 to 64 channels of 56 x 56. Its
// input has its borders already, and lines of whole quads: `[channel][59 lines][60]`; its weights
// lie by the rows of a strip: `[strip][term][16]`. Each lane sums 16 rows at 16 pixels.
override lanes: u32 = 8u;
const CHANNELS = 64u;
const SIDE = 56u;
const ROWS = 16u;
// Quads of a line and of a plane; tiles of four quads.
const LINE = 15u;
const PLANE = 59u * LINE;
const TILES = SIDE * LINE / 4u;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;

// Four rows at a quad of pixels: of all four the sums, and what three taps see.
struct Four { a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32> }

fn more(s: Four, i: vec4<f32>, j: vec4<f32>, k: vec4<f32>, p: vec4<f32>, q: vec4<f32>) -> Four {
    let one = vec4<f32>(p.yzw, q.x);
    let two = vec4<f32>(p.zw, q.xy);
    return Four(
        s.a + (i.x * p + j.x * one + k.x * two),
        s.b + (i.y * p + j.y * one + k.y * two),
        s.c + (i.z * p + j.z * one + k.z * two),
        s.d + (i.w * p + j.w * one + k.w * two),
    );
}

fn put(strip: u32, part: u32, quad: u32, s: Four) {
    let line = quad / LINE;
    let column = quad - line * LINE;
    if column < SIDE / 4u {
        let row = strip * ROWS + 4u * part;
        let at = (row * SIDE + line) * (SIDE / 4u) + column;
        out[at] = s.a;
        out[at + SIDE * SIDE / 4u] = s.b;
        out[at + 2u * SIDE * SIDE / 4u] = s.c;
        out[at + 3u * SIDE * SIDE / 4u] = s.d;
    }
}

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let strip = group.x % (CHANNELS / ROWS);
    let tile = group.x / (CHANNELS / ROWS) * lanes + lane;
    let first = min(tile, TILES - 1u) * 4u;
    var s0_0 = Four();
    var s0_1 = Four();
    var s0_2 = Four();
    var s0_3 = Four();
    var s1_0 = Four();
    var s1_1 = Four();
    var s1_2 = Four();
    var s1_3 = Four();
    var s2_0 = Four();
    var s2_1 = Four();
    var s2_2 = Four();
    var s2_3 = Four();
    var s3_0 = Four();
    var s3_1 = Four();
    var s3_2 = Four();
    var s3_3 = Four();
    var at = strip * CHANNELS * 9u * (ROWS / 4u);
    for (var c = 0u; c < CHANNELS; c++) {
        for (var j = 0u; j < 3u; j++) {
            let here = c * PLANE + j * LINE + first;
            let q0 = x[here + 0u];
            let q1 = x[here + 1u];
            let q2 = x[here + 2u];
            let q3 = x[here + 3u];
            let q4 = x[here + 4u];
            let i0 = w[at + 0u];
            let j0 = w[at + 4u];
            let k0 = w[at + 8u];
            s0_0 = more(s0_0, i0, j0, k0, q0, q1);
            s0_1 = more(s0_1, i0, j0, k0, q1, q2);
            s0_2 = more(s0_2, i0, j0, k0, q2, q3);
            s0_3 = more(s0_3, i0, j0, k0, q3, q4);
            let i1 = w[at + 1u];
            let j1 = w[at + 5u];
            let k1 = w[at + 9u];
            s1_0 = more(s1_0, i1, j1, k1, q0, q1);
            s1_1 = more(s1_1, i1, j1, k1, q1, q2);
            s1_2 = more(s1_2, i1, j1, k1, q2, q3);
            s1_3 = more(s1_3, i1, j1, k1, q3, q4);
            let i2 = w[at + 2u];
            let j2 = w[at + 6u];
            let k2 = w[at + 10u];
            s2_0 = more(s2_0, i2, j2, k2, q0, q1);
            s2_1 = more(s2_1, i2, j2, k2, q1, q2);
            s2_2 = more(s2_2, i2, j2, k2, q2, q3);
            s2_3 = more(s2_3, i2, j2, k2, q3, q4);
            let i3 = w[at + 3u];
            let j3 = w[at + 7u];
            let k3 = w[at + 11u];
            s3_0 = more(s3_0, i3, j3, k3, q0, q1);
            s3_1 = more(s3_1, i3, j3, k3, q1, q2);
            s3_2 = more(s3_2, i3, j3, k3, q2, q3);
            s3_3 = more(s3_3, i3, j3, k3, q3, q4);
            at += 3u * ROWS / 4u;
        }
    }
    if tile >= TILES {
        return;
    }
    put(strip, 0u, first + 0u, s0_0);
    put(strip, 0u, first + 1u, s0_1);
    put(strip, 0u, first + 2u, s0_2);
    put(strip, 0u, first + 3u, s0_3);
    put(strip, 1u, first + 0u, s1_0);
    put(strip, 1u, first + 1u, s1_1);
    put(strip, 1u, first + 2u, s1_2);
    put(strip, 1u, first + 3u, s1_3);
    put(strip, 2u, first + 0u, s2_0);
    put(strip, 2u, first + 1u, s2_1);
    put(strip, 2u, first + 2u, s2_2);
    put(strip, 2u, first + 3u, s2_3);
    put(strip, 3u, first + 0u, s3_0);
    put(strip, 3u, first + 1u, s3_1);
    put(strip, 3u, first + 2u, s3_2);
    put(strip, 3u, first + 3u, s3_3);
}
