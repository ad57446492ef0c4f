// Convolution, flat: step 1, over an input whose borders are in it and whose lines are whole quads.
//
// A plane is taken as one long line: pixel (y, x) of the result and tap (j, k) are a fixed distance
// apart in it. So four quads of pixels that follow each other need the same weights, and quads of
// the input that follow each other; what a tap is away along x is picked out of these. Pixels past
// the end of a line are summed as well, and not stored.
//
// An invocation sums a strip of the weights, of eight or sixteen rows - channels of the result - at
// sixteen pixels. Neighbouring lanes take neighbouring pixels of the same strip, in which the rows
// of one term lie side by side. Behind the last plane there are three quads and a tap's more.
//
// The taps of one line are added up, then the lines of a chunk of channels, then the chunks. Trips:
// channels, taps along y, chunks, rows. The regions are what the generator writes; as it lies here
// a strip has two rows at four pixels.
override workgroup: u32 = 8u;

struct Job {
    // Tiles of pixels and workgroups of a plane; strips of a group, of all groups.
    tiles: vec4<u32>,
    // Of a group: rows, channels. Taps along y. Channels of a chunk.
    size: vec4<u32>,
    // Quads of a plane, of a line, from tap to tap along y; images.
    input: vec4<u32>,
    // Lines of a plane, pixels of a line, rows of all groups; quads of a strip of weights.
    result: vec4<u32>,
}

// region types
alias Quad = vec4<f32>;
const rows = 2u;
const quads = 1u;
const taps = 1u;
// end types

// region params
struct Params {
    job: Job,
    offset: array<vec4<u32>, 1>,
}
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out_0: array<vec4<f32>>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> {
    return in_0[q + p.offset[0].x];
}

fn head_1(q: u32) -> vec4<f32> {
    return in_1[q + p.offset[0].y];
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q + p.offset[0].z] = x0;
}
// end functions

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    // region share
    // end share
) {
    // region prepare
    // end prepare
    let linear = group.x + groups.x * group.y;
    let strip = linear % p.job.tiles.w;
    let block = linear / p.job.tiles.w;
    let image = block / p.job.tiles.y;
    if image >= p.job.input.w {
        return;
    }
    let tile = (block - image * p.job.tiles.y) * workgroup + lane;
    let first = min(tile, p.job.tiles.x - 1u) * quads;
    let part = strip / p.job.tiles.z;
    let row = (strip - part * p.job.tiles.z) * rows;
    let channels = p.job.size.y;
    let of_image = image * (p.job.tiles.w / p.job.tiles.z) * channels;
    var plane = (of_image + part * channels) * p.job.input.x + first;
    var w = strip * p.job.result.w;
    // region sums
    var s0_0 = Quad();
    var s1_0 = Quad();
    var t0_0 = Quad();
    var t1_0 = Quad();
    // end sums
    for (var c = 0u; c < channels;) {
        let stop = min(c + p.job.size.w, channels);
        for (; c < stop; c++) {
            var line = plane;
            for (var j = 0u; j < p.job.size.z; j++) {
                // region step
                let x0 = head_0(line);
                let a0_0 = head_1(w);
                s0_0 += a0_0.x * x0;
                s1_0 += a0_0.y * x0;
                // end step
                line += p.job.input.z;
                w += taps * rows / 4u;
            }
            plane += p.job.input.x;
        }
        // region add
        t0_0 += s0_0;
        s0_0 = Quad();
        t1_0 += s1_0;
        s1_0 = Quad();
        // end add
    }
    // region total
    s0_0 += t0_0;
    s1_0 += t1_0;
    // end total
    if tile >= p.job.tiles.x {
        return;
    }
    let lines = p.job.result.x;
    let pixels = p.job.result.y;
    // No compiler can tell how many there are, so none unrolls the loops.
    let last_row = min(row + rows, p.job.size.x);
    let last_quad = min(first + quads, lines * p.job.input.y);
    for (var r = 0u; row + r < last_row; r++) {
        let above = (image * p.job.result.z + part * p.job.size.x + row + r) * lines;
        for (var q = 0u; first + q < last_quad; q++) {
            let y = (first + q) / p.job.input.y;
            let x = 4u * (first + q - y * p.job.input.y);
            if x < pixels {
                // region store
                let v = select(s0_0, s1_0, r == 1u);
                finish(((above + y) * pixels + x) >> 2u, v);
                // end store
            }
        }
    }
}
