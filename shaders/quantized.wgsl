// Products with weights quantized in blocks: Y[m, n] = sum over blocks b of
// S[n, b] (sum over the block of X[m, k] Q[n, k]), 32 of k to a block.
//
// An invocation computes a tile of some rows and four columns. A load takes sixteen bytes of one
// column; a quad of them is unpacked once for all rows of the tile. Neighbouring lanes take
// neighbouring columns of the same rows, so that all of them need the same elements of X; where a
// subgroup is as wide as a block has quads, each lane loads one of those and broadcasts it.
//
// The regions are what the generator writes for a tile and a form of blocks; as it lies here it has
// one row, and values of eight bits.
// Trips: blocks.
override workgroup: u32 = 8u;

struct Job {
    // Of this part: rows, columns, blocks of k; quads from row to row of X.
    size: vec4<u32>,
    // Where it begins in the result: row, column; elements of a whole row.
    first: vec4<u32>,
    // What lies in the bound part of the result: first quad, how many.
    result: vec2<u32>,
}

// region types
const rows = 1u;
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
@group(0) @binding(1) var<storage, read> in_1: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> in_2: array<f32>;
@group(0) @binding(3) var<storage, read_write> out_0: array<vec4<f32>>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> {
    return in_0[q + p.offset[0].x];
}

fn head_1(q: u32) -> vec4<u32> {
    return in_1[q + p.offset[0].y];
}

fn head_2(e: u32) -> vec4<f32> {
    return vec4<f32>(in_2[e + p.offset[0].z]);
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q + p.offset[0].w] = x0;
}
// end functions

// region alone
fn decode_i8(w: u32) -> vec4<i32> {
    return vec4<i32>(vec4<u32>(w) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u);
}

fn quad_sum(a: vec4<f32>, b: vec4<f32>) -> f32 { return dot(a, b); }

fn blockwise_store(row: u32, column: u32, x: vec4<f32>) {
    finish(row * p.job.first.z + column, x);
}
// end alone

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    // region share
    // end share
) {
    // region prepare
    // end prepare
    let column = (group.y * workgroup + lane) * 4u;
    let blocks = p.job.size.z;
    // Rows and columns past the last repeat it, and store nothing.
    let columns = min(vec4<u32>(column) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.job.size.y - 1u));
    let scale = columns * blocks;
    let row = group.x * rows;
    // region begin
    let weight = 2u * scale;
    let x0 = min(row, p.job.size.x - 1u) * p.job.size.w;
    var t0 = vec4<f32>();
    // end begin
    for (var b = 0u; b < blocks; b++) {
        // region step
        var s0_0 = 0.0;
        var s0_1 = 0.0;
        var s0_2 = 0.0;
        var s0_3 = 0.0;
        let w0_0 = head_1(weight.x + 2u * b);
        let w0_1 = head_1(weight.y + 2u * b);
        let w0_2 = head_1(weight.z + 2u * b);
        let w0_3 = head_1(weight.w + 2u * b);
        let a0_0 = head_0(x0 + 8u * b);
        s0_0 += quad_sum(a0_0, vec4<f32>(decode_i8(w0_0.x)));
        s0_1 += quad_sum(a0_0, vec4<f32>(decode_i8(w0_1.x)));
        s0_2 += quad_sum(a0_0, vec4<f32>(decode_i8(w0_2.x)));
        s0_3 += quad_sum(a0_0, vec4<f32>(decode_i8(w0_3.x)));
        // end step
        // region add
        let scales = vec4<f32>(head_2(scale.x + b).x, head_2(scale.y + b).x,
            head_2(scale.z + b).x, head_2(scale.w + b).x);
        t0 += scales * vec4<f32>(s0_0, s0_1, s0_2, s0_3);
        // end add
    }
    // No compiler can tell how many rows there are, so none unrolls the loop.
    let stop = min(row + rows, p.job.size.x);
    for (var r = 0u; row + r < stop; r++) {
        // region store
        blockwise_store(row + r, column, t0);
        // end store
    }
}
