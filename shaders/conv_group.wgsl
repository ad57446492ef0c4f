// Convolution by tiles in workgroup memory: Y[n, o, y] = sum over c and t of
// W[o, c, t] X[n, c, step y + reach t + first].
//
// A workgroup of 8 by 8 lanes computes some rows - channels of the result - at 64 pixels, in stages
// of 16 channels of one tap. A lane fetches the channels of one pixel, whose neighbours its own
// neighbours fetch, and quads of rows of the weights, in which rows lie side by side. What the next
// stage needs is on its way meanwhile: put, barrier, fetch, multiply, barrier. The input is read
// where it lies, whatever its strides; beside it there is zero.
//
// Of a pixel four channels are a quad of a stage; of the weights four rows of one channel. A lane
// sums every eighth quad of rows at two quads of pixels: neighbours read neighbours, and whoever
// puts or reads at the same time meets in no bank. In a turn all places but one are constant.
//
// After 16 stages their sum is added to the others, so that rounding grows with a chunk and the
// number of chunks. Workgroup memory is written before it is read.
// Trips: turns, stages, chunks of them, rows.
// The regions are what the generator writes; as it lies here a lane has one quad of rows.

// conv.wgsl says what they mean; steps of the weights are in quads.
struct Job {
    tiles: vec4<u32>,
    size: vec4<u32>,
    space: vec4<u32>,
    result: vec4<u32>,
    taps: vec4<u32>,
    step: vec4<u32>,
    reach: vec4<u32>,
    first: vec4<u32>,
    input: vec4<u32>,
    weight: vec4<u32>,
    outer: vec2<u32>,
    first_group: u32,
}

// region types
alias Quad = vec4<f32>;
const quads = 1u;
const side = 8u;
const depth = 16u;
const chunk = 16u;
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
@group(0) @binding(1) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out_0: array<vec4<f32>>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> {
    return vec4<f32>(in_0[q + p.offset[0].x]);
}

fn head_1(q: u32) -> vec4<f32> {
    return in_1[q + p.offset[0].y];
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q + p.offset[0].z] = x0;
}
// end functions

const row_quads = side * quads;
// Channels whose weights the lanes fetch at once.
const at_once = side * side / row_quads;
const pitch = 2u * side + 2u;

// [half of a turn][half of the pixels][place in a quad of pixels][turn, lane]
var<workgroup> sh_x: array<array<array<array<Quad, pitch>, 4>, 2>, 2>;
// [channel of a turn][quad of a lane][turn, lane]
var<workgroup> sh_w: array<array<array<Quad, 2u * side>, quads>, side>;

// Where the first channel of a stage lies, of the input and of the weights.
struct Place {
    input: u32,
    weight: u32,
    channel: u32,
    inside: bool,
}

fn place_of(stage: u32, pixel: vec3<u32>, begin: u32) -> Place {
    let of_tap = (p.job.size.y + depth - 1u) / depth;
    let tap = stage / of_tap;
    let line = tap / p.job.taps.z;
    let t = vec3<u32>(line / p.job.taps.y, line % p.job.taps.y, tap % p.job.taps.z);
    let at = pixel + t * p.job.reach.xyz;
    let inside = all(at < p.job.space.xyz);
    let channel = (stage - tap * of_tap) * depth;
    let x = at * p.job.input.xyz;
    let w = t * p.job.weight.xyz;
    let from_c = channel * p.job.input.w;
    return Place(
        begin + select(0u, x.x + x.y + x.z, inside) + from_c,
        w.x + w.y + w.z + channel * p.job.weight.w,
        channel,
        inside,
    );
}

fn store(quad: u32, part: u32, row: u32, v: Quad) {
    if row >= p.job.size.x || quad >= p.job.tiles.x {
        return;
    }
    let pixel = quad % p.job.tiles.y * 4u;
    let above = quad / p.job.tiles.y * p.job.size.z + part * p.job.size.x + row;
    let to = above * p.job.size.w + pixel;
    // region finish
    finish(to >> 2u, v);
    // end finish
}

@compute @workgroup_size(side * side)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let linear = p.job.first_group + group.x + groups.x * group.y;
    let tile = linear % p.job.tiles.z;
    let first_quad = linear / p.job.tiles.z * 2u * side;
    let part = tile / p.job.tiles.w;
    let row = tile % p.job.tiles.w * 4u * row_quads;

    // What the lane fetches. Pixels and rows past the last repeat it, and store nothing.
    let here = min(first_quad + lane / 4u, p.job.tiles.x - 1u);
    let pixel = min(here % p.job.tiles.y * 4u + lane % 4u, p.job.size.w - 1u);
    let line = pixel / p.job.result.z;
    let places = vec3<u32>(line / p.job.result.y, line % p.job.result.y, pixel % p.job.result.z);
    let at = places * p.job.step.xyz + p.job.first.xyz;
    let begin = here / p.job.tiles.y * p.job.outer.x + part * p.job.size.y * p.job.input.w;
    let fetched = lane % row_quads;
    let row_quad = min((row >> 2u) + fetched, (p.job.size.x - 1u) >> 2u);
    let of_row = ((part * p.job.size.x) >> 2u) + row_quad;
    let own = vec2<u32>(lane / side, lane % side);

    let end = p.job.taps.x * p.job.taps.y * p.job.taps.z * ((p.job.size.y + depth - 1u) / depth);
    // region fetch
    var place = place_of(0u, at, begin);
    var f0 = Quad();
    var f1 = Quad();
    var f2 = Quad();
    var f3 = Quad();
    var g0 = Quad();
    var g1 = Quad();
    // end fetch
    // region sums
    var s0_0 = Quad();
    // end sums
    for (var stage = 0u; stage < end;) {
        let stop = min(stage + chunk, end);
        // region clear
        // end clear
        while stage < stop {
            // region put
            sh_x[0][lane / 32u][lane % 4u][lane / 4u % side] = f0;
            sh_w[0][0][fetched] = g0;
            // end put
            workgroupBarrier();
            stage += 1u;
            // region next
            if stage < end {
                place = place_of(stage, at, begin);
            }
            // end next
            for (var turn = 0u; turn < 2u; turn++) {
                let a = turn * side + own.x;
                let b = turn * side + own.y;
                // region step
                s0_0 += sh_w[0][0][a] * sh_x[0][0][0][b].x;
                // end step
            }
            workgroupBarrier();
        }
        // region add
        // end add
    }
    // No compiler can tell how many rows there are, so none unrolls the loop.
    let first_row = row + 4u * own.x;
    let stop = min(first_row + 4u * quads, first_row + p.job.size.x);
    for (var r = 0u; first_row + r < stop; r++) {
        let of_group = first_row + 4u * side * (r >> 2u) + (r & 3u);
        // region store
        store(first_quad + own.y, part, of_group, s0_0);
        // end store
    }
}
