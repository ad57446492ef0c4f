// Convolution: Y[n, o, y] = sum over c and t of W[o, c, t] X[n, c, step y + reach t + first].
//
// An invocation sums `rows` rows of the weights - channels of the result - at four pixels that
// follow each other. Neighbouring lanes take neighbouring pixels of the same rows, so that all of
// them need the same weights: on a GPU the lanes of a workgroup put those of `depth` channels into
// workgroup memory. The input is read where it lies, whatever its strides; beside it there is zero.
//
// The channels of one tap are summed before the next tap's; after a chunk of terms its sum is added
// to the others, so that rounding grows with a chunk and the number of chunks, not with all terms.
//
// Workgroup memory is written before it is read. Trips: taps, stages of channels, channels, rows.
// The regions are what the generator writes for a tile; as it lies here it has two rows.

struct Job {
    // Quads of pixels: of all images, of one. Tiles of rows: of all groups, of one.
    tiles: vec4<u32>,
    // Of a group: rows, channels. Of the result: rows, pixels.
    size: vec4<u32>,
    // Lengths along z, y and x: of the input, of the result, of the taps.
    space: vec4<u32>,
    result: vec4<u32>,
    taps: vec4<u32>,
    // Along z, y and x: from pixel to pixel, from tap to tap, and where the first tap of the first
    // pixel lies, modulo 2^32.
    step: vec4<u32>,
    reach: vec4<u32>,
    first: vec4<u32>,
    // Strides along z, y, x and the channels.
    input: vec4<u32>,
    weight: vec4<u32>,
    // From image to image of the input; from row to row of the weights.
    outer: vec2<u32>,
    first_group: u32,
}

// region types
alias Quad = vec4<f32>;
const rows = 2u;
const lanes = 8u;
const depth = 65536u;
const chunk = 256u;
// end types

// region params
struct Params {
    job: Job,
    offset: array<vec4<u32>, 1>,
}
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<f32>;
@group(0) @binding(1) var<storage, read> in_1: array<f32>;
@group(0) @binding(2) var<storage, read_write> out_0: array<vec4<f32>>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> {
    return vec4<f32>(in_0[q + p.offset[0].x]);
}

fn head_1(q: u32) -> vec4<f32> {
    return vec4<f32>(in_1[q + p.offset[0].y]);
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q + p.offset[0].z] = x0;
}
// end functions

// region memory
// end memory

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let linear = p.job.first_group + group.x + groups.x * group.y;
    let tile = linear % p.job.tiles.z;
    let quad = linear / p.job.tiles.z * lanes + lane;
    let here = min(quad, p.job.tiles.x - 1u);
    let image = here / p.job.tiles.y;
    let pixel = here % p.job.tiles.y * 4u;
    let pixels = min(vec4<u32>(pixel) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.job.size.w - 1u));
    let lines = pixels / p.job.result.z;
    let z0 = lines / p.job.result.y * p.job.step.x + p.job.first.x;
    let y0 = lines % p.job.result.y * p.job.step.y + p.job.first.y;
    let x0 = pixels % p.job.result.z * p.job.step.z + p.job.first.z;

    let part = tile / p.job.tiles.w;
    let row = tile % p.job.tiles.w * rows;
    let channels = p.job.size.y;
    let begin = image * p.job.outer.x + part * channels * p.job.input.w;
    // region places
    let w0 = (part * p.job.size.x + min(row, p.job.size.x - 1u)) * p.job.outer.y;
    let w1 = (part * p.job.size.x + min(row + 1u, p.job.size.x - 1u)) * p.job.outer.y;
    // end places
    // region sums
    var s0 = Quad();
    var t0 = Quad();
    var s1 = Quad();
    var t1 = Quad();
    // end sums
    var left = chunk;
    for (var i = 0u; i < p.job.taps.x; i++) {
        let z = z0 + i * p.job.reach.x;
        for (var j = 0u; j < p.job.taps.y; j++) {
            let y = y0 + j * p.job.reach.y;
            let plane = z * p.job.input.x + y * p.job.input.y + begin;
            let in_plane = (z < vec4<u32>(p.job.space.x)) & (y < vec4<u32>(p.job.space.y));
            for (var k = 0u; k < p.job.taps.z; k++) {
                let x = x0 + k * p.job.reach.z;
                let inside = in_plane & (x < vec4<u32>(p.job.space.z));
                let place = select(vec4<u32>(begin), plane + x * p.job.input.z, inside);
                let tap = i * p.job.weight.x + j * p.job.weight.y + k * p.job.weight.z;
                for (var c = 0u; c < channels;) {
                    let stage = c;
                    let stop = c + min(min(depth, left), channels - c);
                    // region put
                    // end put
                    for (; c < stop; c++) {
                        let at = place + c * p.job.input.w;
                        let left_two = vec2(head_0(at.x).x, head_0(at.y).x);
                        let right_two = vec2(head_0(at.z).x, head_0(at.w).x);
                        let a = select(Quad(), Quad(left_two, right_two), inside);
                        let w = tap + c * p.job.weight.w;
                        // region step
                        s0 += head_1(w0 + w).x * a;
                        s1 += head_1(w1 + w).x * a;
                        // end step
                    }
                    // region add
                    left -= stop - stage;
                    if left == 0u {
                        t0 += s0;
                        s0 = Quad();
                        t1 += s1;
                        s1 = Quad();
                        left = chunk;
                    }
                    // end add
                }
            }
        }
    }
    // region total
    s0 += t0;
    s1 += t1;
    // end total
    if quad >= p.job.tiles.x {
        return;
    }
    // No compiler can tell how many rows there are, so none unrolls the loop.
    let stop = min(row + rows, p.job.size.x);
    for (var r = 0u; row + r < stop; r++) {
        let to = (image * p.job.size.z + part * p.job.size.x + row + r) * p.job.size.w + pixel;
        // region store
        finish(to >> 2u, select(s0, s1, r == 1u));
        // end store
    }
}
