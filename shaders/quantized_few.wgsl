// Products of a few rows with weights quantized in blocks: as fast as the weights are read.
//
// `across` lanes have four columns each, and `down` rows of lanes stand along k: each lane takes
// every so many sixteen bytes of its columns. Lanes that are neighbours need the same of X, or what
// lies beside it: a load of X meets few lines of a cache. Then sums are put together in workgroup
// memory, by a tree.
//
// The regions are what the generator writes for a tile and a form of blocks; as it lies here it has
// one row, and values of eight bits.
// Workgroup memory is written before it is read. Trips: loads of a column by lanes; log2 lanes.
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
const lanes = 64u;
const down = 32u;
const loads = 2u;
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

const across = lanes / down;

var<workgroup> sh_sums: array<array<array<vec4<f32>, rows>, across>, down>;

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let along = lane / across;
    let own = lane % across;
    let column = (group.y * across + own) * 4u;
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
    for (var b = along; b < loads * blocks; b += down) {
        // region step
        var s0_0 = 0.0;
        var s0_1 = 0.0;
        var s0_2 = 0.0;
        var s0_3 = 0.0;
        let w0_0 = head_1(weight.x + b);
        let w0_1 = head_1(weight.y + b);
        let w0_2 = head_1(weight.z + b);
        let w0_3 = head_1(weight.w + b);
        let a0_0 = head_0(x0 + 4u * b);
        s0_0 += quad_sum(a0_0, vec4<f32>(decode_i8(w0_0.x)));
        s0_1 += quad_sum(a0_0, vec4<f32>(decode_i8(w0_1.x)));
        s0_2 += quad_sum(a0_0, vec4<f32>(decode_i8(w0_2.x)));
        s0_3 += quad_sum(a0_0, vec4<f32>(decode_i8(w0_3.x)));
        // end step
        // region add
        let block = b >> 1u;
        let scales = vec4<f32>(head_2(scale.x + block).x, head_2(scale.y + block).x,
            head_2(scale.z + block).x, head_2(scale.w + block).x);
        t0 += scales * vec4<f32>(s0_0, s0_1, s0_2, s0_3);
        // end add
    }
    // region together
    sh_sums[along][own][0] = t0;
    // end together
    for (var reach = down / 2u; reach > 0u; reach /= 2u) {
        workgroupBarrier();
        if along < reach {
            // region join
            sh_sums[along][own][0] += sh_sums[along + reach][own][0];
            // end join
        }
    }
    if along > 0u {
        return;
    }
    // region store
    blockwise_store(row, column, sh_sums[0][own][0]);
    // end store
}
