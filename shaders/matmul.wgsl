// Matmul by register tiles, straight from storage: C[m, n] = sum over k of A[m, k] B[k, n].
//
// An invocation computes a tile of `rows` rows and `quads` quads of columns. Neighbouring lanes
// take neighbouring columns of the same rows, so that all of them need the same elements of A.
// Neighbouring workgroups walk down the rows and share a panel of B in the caches.
//
// Four of k are summed, then a chunk of such fours, then the chunks: rounding grows with the fours
// of a chunk and with the number of chunks, not with k. Where A was copied into strips, in which
// the rows of one k lie side by side, a trip takes one of k, or as many as the lanes load at once.
//
// The regions are what the generator writes for a tile; as it lies here it has two rows of one
// quad, A is read along k and B along columns.
override workgroup: u32 = 8u;

struct Job {
    // Of this pass: rows, columns, k, trips of a chunk.
    size: vec4<u32>,
    // Where the pass begins in the result: batch, row, column; rows of a whole batch.
    first: vec4<u32>,
    // Columns of a whole row, in fours; what lies in the bound part of the result: first quad, how
    // many.
    result: vec4<u32>,
    // From row to row and from k to k of A; from k to k and from column to column of B.
    step: vec4<u32>,
    // The batch, innermost first: lengths, and strides of A and B.
    batch: array<vec4<u32>, 6>,
}

// region types
alias Quad = vec4<f32>;
const rows = 2u;
const quads = 1u;
struct Sum { x: f32, y: f32, z: f32, w: f32 }
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

// region alone
fn product_batch(b: u32) -> vec2<u32> { return vec2<u32>(0u); }

fn product_store(b: u32, row: u32, column: u32, x: Quad) {
    finish(row * p.job.result.x + (column >> 2u), x);
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
    // region batch
    let at = product_batch(group.z);
    // end batch
    let row = group.x * rows;
    let column = (group.y * workgroup + lane) * 4u * quads;
    // region trips
    let trips = (p.job.size.z + 3u) >> 2u;
    // end trips
    // region places
    let step = p.job.step;
    let size = p.job.size;
    let pa0 = at.x + min(row, size.x - 1u) * step.x;
    let pa1 = at.x + min(row + 1u, size.x - 1u) * step.x;
    let pb0 = at.y + (min(column, size.y - 1u) >> 2u);
    // end places
    // region sums
    var t0_0 = Sum();
    var t1_0 = Sum();
    // end sums
    for (var k = 0u; k < trips;) {
        let stop = min(k + p.job.size.w, trips);
        // region clear
        var s0_0 = Sum();
        var s1_0 = Sum();
        // end clear
        for (; k < stop; k++) {
            // region step
            let b0 = head_1(pb0 + (4u * k) * step.z);
            let b1 = head_1(pb0 + (4u * k + 1u) * step.z);
            let b2 = head_1(pb0 + (4u * k + 2u) * step.z);
            let b3 = head_1(pb0 + (4u * k + 3u) * step.z);
            let a0 = head_0(pa0 + k);
            let n0_0 = a0.x * b0 + a0.y * b1 + a0.z * b2 + a0.w * b3;
            s0_0.x += n0_0.x; s0_0.y += n0_0.y; s0_0.z += n0_0.z; s0_0.w += n0_0.w;
            let a1 = head_0(pa1 + k);
            let n1_0 = a1.x * b0 + a1.y * b1 + a1.z * b2 + a1.w * b3;
            s1_0.x += n1_0.x; s1_0.y += n1_0.y; s1_0.z += n1_0.z; s1_0.w += n1_0.w;
            // end step
        }
        // region add
        t0_0.x += s0_0.x; t0_0.y += s0_0.y; t0_0.z += s0_0.z; t0_0.w += s0_0.w;
        t1_0.x += s1_0.x; t1_0.y += s1_0.y; t1_0.z += s1_0.z; t1_0.w += s1_0.w;
        // end add
    }
    // No compiler can tell how many rows there are, so none unrolls the loop.
    let stop = min(row + rows, size.x);
    for (var r = 0u; row + r < stop; r++) {
        // region store
        let t0 = Quad(t0_0.x, t0_0.y, t0_0.z, t0_0.w);
        let t1 = Quad(t1_0.x, t1_0.y, t1_0.z, t1_0.w);
        product_store(group.z, row + r, column, select(t0, t1, r == 1u));
        // end store
    }
}
