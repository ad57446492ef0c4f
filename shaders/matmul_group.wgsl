// Matmul by tiles in workgroup memory: C[m, n] = sum over k of A[m, k] B[k, n].
//
// A workgroup computes a tile of C in stages of `depth` along k, which lie in workgroup memory; an
// invocation sums `rows` rows by `quads` quads of columns in registers. What the next stage needs
// is on its way meanwhile: put what was fetched, barrier, fetch the next, multiply, barrier.
//
// A lane fetches blocks of 4 by 4 as four quads, whichever way they lie, and puts them as four
// quads of one k each. A stage lies as [quad of an invocation][k of a turn][turn, lane], so that
// one place serves all loads of a turn: what differs between them is constant, and only the place
// is clamped. `pad` and the odd quad at the end keep neighbouring lanes off one bank when they
// walk along k. The quads of an invocation lie as far apart as there are lanes, so that neighbours
// read and write neighbours. Of bytes that are dense along k a factor is a word of four, and so is
// what is counted as one of k.
//
// What compilers said of this, and of what else was tried: docs/measured/matmul.md.
// Workgroup memory is written before it is read. Trips: turns, k / depth, and the chunks of k.
// The regions are what the generator writes for a tile; as it lies here a tile has 32 by 32.
struct Job { // of a pass: sizes, where it begins, the result, strides of A and B, axes of the batch
    size: vec4<u32>,
    first: vec4<u32>,
    result: vec4<u32>,
    step: vec4<u32>,
    batch: array<vec4<u32>, 6>,
}

// region types
alias Quad = vec4<f32>;
alias Factors = Quad;
const rows = 4u;
const quads = 1u;
const lanes = 64u;
const across = 8u;
const depth = 16u;
const turn = 8u;
// end types

// region params
struct Params {
    job: Job,
}
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out_0: array<vec4<f32>>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> { return in_0[q]; }
fn head_1(q: u32) -> vec4<f32> { return in_1[q]; }
fn finish(q: u32, x0: vec4<f32>) { out_0[q] = x0; }
// end functions

// region alone
fn product_batch(b: u32) -> vec2<u32> { return vec2<u32>(0u); }

fn product_tile(group: vec2<u32>, pitch: u32, tile: vec2<u32>) -> vec2<u32> { return group * tile; }

fn product_store(b: u32, row: u32, column: u32, x: Quad) {
    finish(row * p.job.result.x + (column >> 2u), x);
}
// end alone

// Lanes along the rows; quads of a stage along k, along the rows and along the columns.
const down = lanes / across;
const k_quads = depth / 4u;
const row_quads = rows / 4u * down;
const column_quads = quads * across;
const left_blocks = k_quads * row_quads;
const blocks = left_blocks + k_quads * column_quads;
const pad = 8u / k_quads;
const row_pitch = down + pad;
const column_pitch = across + pad;
const turns = depth / turn;
const row_turns = turns * row_pitch + 1u;
const column_turns = turns * column_pitch + 1u;

var<workgroup> sh_left: array<array<array<Factors, row_turns>, turn>, rows / 4u>;
var<workgroup> sh_right: array<array<array<Factors, column_turns>, turn>, quads>;

// Four of k, each with a quad of rows or columns.
alias Block = array<Factors, 4>;

// region blocks
fn left_place(block: u32) -> vec2<u32> { return vec2(block % row_quads, block / row_quads); }
fn right_place(block: u32) -> vec2<u32> { return vec2(block % column_quads, block / column_quads); }
fn fetch(at: vec2<u32>, first: vec2<u32>, k: u32, block: u32) -> Block { return Block(); }
// end blocks

fn put(block: u32, b: Block) {
    if block < left_blocks {
        let place = left_place(block);
        let to = 4u * place.y / turn * row_pitch + place.x % down;
        let quad = place.x / down;
        let k = 4u * place.y % turn;
        sh_left[quad][k][to] = b[0];
        sh_left[quad][k + 1u][to] = b[1];
        sh_left[quad][k + 2u][to] = b[2];
        sh_left[quad][k + 3u][to] = b[3];
    } else if block < blocks {
        let place = right_place(block - left_blocks);
        let to = 4u * place.y / turn * column_pitch + place.x % across;
        let quad = place.x / across;
        let k = 4u * place.y % turn;
        sh_right[quad][k][to] = b[0];
        sh_right[quad][k + 1u][to] = b[1];
        sh_right[quad][k + 2u][to] = b[2];
        sh_right[quad][k + 3u][to] = b[3];
    }
}

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let at = product_batch(group.z);
    let first = product_tile(group.xy, groups.x, 4u * vec2(row_quads, column_quads));
    let own = vec2(lane / across, lane % across);
    let end = (p.job.size.z + 3u) >> 2u;
    var k = 0u;
    // region fetch
    var block_0 = fetch(at, first, k, lane);
    // end fetch
    // region sums
    var t0_0 = Quad();
    var t1_0 = Quad();
    var t2_0 = Quad();
    var t3_0 = Quad();
    // end sums
    while k < end {
        let stop = min(k + p.job.size.w, end);
        // region clear
        var s0_0 = Quad();
        var s1_0 = Quad();
        var s2_0 = Quad();
        var s3_0 = Quad();
        // end clear
        while k < stop {
            // region put
            put(lane, block_0);
            // end put
            workgroupBarrier();
            k += k_quads;
            // region next
            if k < end {
                block_0 = fetch(at, first, k, lane);
            }
            // end next
            for (var d = 0u; d < turns; d++) {
                let a = d * row_pitch + own.x;
                let b = d * column_pitch + own.y;
                // region step
                let a0_0 = sh_left[0][0][a];
                let b0_0 = sh_right[0][0][b];
                s0_0 = s0_0 + a0_0.x * b0_0;
                s1_0 = s1_0 + a0_0.y * b0_0;
                s2_0 = s2_0 + a0_0.z * b0_0;
                s3_0 = s3_0 + a0_0.w * b0_0;
                // end step
            }
            workgroupBarrier();
        }
        // region add
        t0_0 += s0_0;
        t1_0 += s1_0;
        t2_0 += s2_0;
        t3_0 += s3_0;
        // end add
    }
    let row = first.x + 4u * own.x;
    let column = first.y + 4u * own.y;
    for (var r = 0u; r < rows; r++) {
        // region store
        let low = select(t0_0, t1_0, r == 1u);
        product_store(group.z, row + r, column, select(low, select(t2_0, t3_0, r == 3u), r > 1u));
        // end store
    }
}
