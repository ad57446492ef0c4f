// Products of many rows with weights quantized in blocks, by workgroups of 8 x 8 lanes.
//
// For each block of k the workgroup loads its rows of X and its 32 columns of weights, as numbers -
// a value by its scale is exact in f32 - and each lane sums some rows by four columns of it, while
// the next block is on its way. Rows of a stage are padded, so that lanes beside each other meet
// other banks of workgroup memory.
//
// The regions are what the generator writes for a tile and a form of blocks; as it lies here a lane
// has one row, and values have eight bits.
// Workgroup memory is written before it is read. Trips: blocks.
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

const side = 8u;
const padded = 9u;

var<workgroup> sh_x: array<array<vec4<f32>, padded>, side * rows>;
var<workgroup> sh_w: array<array<vec4<f32>, padded>, side * 4u>;

@compute @workgroup_size(side * side)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let blocks = p.job.size.z;
    // Rows and columns past the last repeat it, and store nothing.
    let last = p.job.size.xy - 1u;
    let down = lane / side;
    let across = lane % side;
    // What the lane loads: a quad of a row, and half a block of a column.
    let row = group.x * side * rows;
    let column = group.y * side * 4u;
    let scale = min(column + lane / 2u, last.y) * blocks;
    let half_block = lane % 2u;
    // A lane's four columns lie side by side in the result, and eight apart in the stage.
    let slot = lane / 2u % 4u * side + lane / side;
    // region begin
    let x0 = min(row + down, last.x) * p.job.size.w + across;
    var t0 = vec4<f32>();
    // end begin
    var b = 0u;
    // region fetch
    var f0 = head_0(x0 + side * b);
    var w = head_1(2u * scale + 2u * b + half_block);
    var s = head_2(scale + b).x;
    // end fetch
    for (var next = 1u; next <= blocks; next++) {
        // region load
        // end load
        workgroupBarrier();
        // region stage
        sh_x[down][across] = f0;
        sh_w[slot][4u * half_block] = s * vec4<f32>(decode_i8(w.x));
        sh_w[slot][4u * half_block + 1u] = s * vec4<f32>(decode_i8(w.y));
        sh_w[slot][4u * half_block + 2u] = s * vec4<f32>(decode_i8(w.z));
        sh_w[slot][4u * half_block + 3u] = s * vec4<f32>(decode_i8(w.w));
        // end stage
        workgroupBarrier();
        // On its way while this block is multiplied; the last one once more at the end.
        b = min(next, blocks - 1u);
        // region next
        f0 = head_0(x0 + side * b);
        w = head_1(2u * scale + 2u * b + half_block);
        s = head_2(scale + b).x;
        // end next
        // region step
        var s0_0 = 0.0;
        var s0_1 = 0.0;
        var s0_2 = 0.0;
        var s0_3 = 0.0;
        let a0_0 = sh_x[down][0];
        s0_0 += quad_sum(a0_0, sh_w[across][0]);
        s0_1 += quad_sum(a0_0, sh_w[across + side][0]);
        s0_2 += quad_sum(a0_0, sh_w[across + 2u * side][0]);
        s0_3 += quad_sum(a0_0, sh_w[across + 3u * side][0]);
        // end step
        // region add
        t0 += vec4<f32>(s0_0, s0_1, s0_2, s0_3);
        // end add
    }
    // region store
    blockwise_store(row + down, column + 4u * across, t0);
    // end store
}
