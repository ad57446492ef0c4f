// The best convolution found by hand on a CPU adapter: 3 x 3, 64 to 64 channels of 56 x 56. Its
// input has its borders already, and lines of whole quads: `[channel][59 lines][60]`; its weights
// lie by the rows of a strip: `[strip][term][16]`. Each lane sums 16 rows at 16 pixels.
override lanes: u32 = 8u;
const CHANNELS = 64u;
const SIDE = 56u;
// Quads of a line and of a plane; tiles of four quads, and workgroups of those.
const LINE = 15u;
const PLANE = 59u * LINE;
const TILES = SIDE * LINE / 4u;
const ACROSS = 27u;
// Fours of a strip's rows.
const FOURS = 4u;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let strip = group.x % (CHANNELS / (4u * FOURS));
    let tile = group.x / (CHANNELS / (4u * FOURS)) * lanes + lane;
    let first = min(tile, TILES - 1u) * 4u;
    var s = array<vec4<f32>, 64>();
    var weight = strip * CHANNELS * 9u * FOURS;
    for (var c = 0u; c < CHANNELS; c++) {
        for (var j = 0u; j < 3u; j++) {
            let at = c * PLANE + j * LINE + first;
            let q = array<vec4<f32>, 5>(x[at], x[at + 1u], x[at + 2u], x[at + 3u], x[at + 4u]);
            for (var f = 0u; f < FOURS; f++) {
                let a = w[weight + f];
                let b = w[weight + FOURS + f];
                let d = w[weight + 2u * FOURS + f];
                for (var i = 0u; i < 4u; i++) {
                    let one = vec4<f32>(q[i].yzw, q[i + 1u].x);
                    let two = vec4<f32>(q[i].zw, q[i + 1u].xy);
                    let to = 16u * f + i;
                    s[to] += a.x * q[i] + b.x * one + d.x * two;
                    s[to + 4u] += a.y * q[i] + b.y * one + d.y * two;
                    s[to + 8u] += a.z * q[i] + b.z * one + d.z * two;
                    s[to + 12u] += a.w * q[i] + b.w * one + d.w * two;
                }
            }
            weight += 3u * FOURS;
        }
    }
    if tile >= TILES {
        return;
    }
    for (var i = 0u; i < 4u; i++) {
        let line = (first + i) / LINE;
        let quad = first + i - line * LINE;
        if quad < SIDE / 4u {
            for (var r = 0u; r < 4u * FOURS; r++) {
                let row = strip * 4u * FOURS + r;
                out[(row * SIDE + line) * (SIDE / 4u) + quad] = s[4u * r + i];
            }
        }
    }
}
