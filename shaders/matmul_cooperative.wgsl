// Matmul by cooperative matrices: C[m, n] = sum over k of A[m, k] B[k, n].
//
// A workgroup computes a tile of C in stages along k, as matmul_group.wgsl does: whatever strides
// and edges the operands have, they end in workgroup memory. From there a subgroup loads squares
// of `side` by `side` and multiplies them as one; it sums `rows` by `columns`. A square is an
// array of its own, with k along its rows: what a lane holds of it lies together, at a place that
// compilers see to be aligned. After a chunk of k the sums go through workgroup memory, square by
// square, to the lanes, which add the chunks and store: which lane holds what of a matrix is up to
// the driver. So is the size of a subgroup: there are at least down * across of them, and others,
// if they are smaller, only help fetching.
//
// Workgroup memory is written before it is read. Trips: k / 4, k / side, the chunks of k, squares.
// The regions are what the generator writes for a tile; as it lies here a tile has 8 by 8.

enable f16;
enable wgpu_cooperative_matrix;

// matmul.wgsl says what they mean.
struct Job {
    size: vec4<u32>,
    first: vec4<u32>,
    result: vec4<u32>,
    step: vec4<u32>,
    batch: array<vec4<u32>, 6>,
}

// region types
alias Part = f16;
alias Left = coop_mat8x8<f16, A>;
alias Right = coop_mat8x8<f16, B>;
alias Sum = coop_mat8x8<f32, C>;
const side = 8u;
const rows = 8u;
const columns = 8u;
const down = 1u;
const across = 1u;
const lanes = 16u;
const depth = 8u;
const pitch = 8u;
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
fn square_put(into: u32, at: u32, x: vec4<Part>) { sh_parts[into][at] = x.x; }
fn square_quad(i: u32) -> Quad { return Quad(sh_sums[4u * i % shared_sums]); }
fn square_store(b: u32, first: vec2<u32>, s: u32, i: u32, x: Quad) { finish(s + i, x); }
// end alone

alias Quad = vec4<f32>;

// Quads of a stage.
const k_quads = depth / 4u;
const row_quads = down * rows / 4u;
const column_quads = across * columns / 4u;
const left_blocks = k_quads * row_quads;
const blocks = left_blocks + k_quads * column_quads;
// Squares of a stage along k, and those of both operands.
const k_squares = depth / side;
const left_squares = down * rows / side * k_squares;
const right_squares = across * columns / side * k_squares;
// Squares of one subgroup; elements of one, and of one of each subgroup.
const squares = (rows / side) * (columns / side);
const square = side * side;
const shared_sums = down * across * square;

var<workgroup> sh_parts: array<array<Part, side * pitch>, left_squares + right_squares>;
// A square of each subgroup, and zeros.
var<workgroup> sh_sums: array<f32, shared_sums + square>;

// Four of k, each with a quad of rows or columns.
alias Factors = Quad;
alias Block = array<Factors, 4>;

// region blocks
fn left_place(block: u32) -> vec2<u32> { return vec2(block % row_quads, block / row_quads); }
fn right_place(block: u32) -> vec2<u32> { return vec2(block % column_quads, block / column_quads); }
fn fetch(at: vec2<u32>, first: vec2<u32>, k: u32, block: u32) -> Block { return Block(); }
// end blocks

// Operands are stored as parts, so this cast only undoes the one of reading them.
fn put(block: u32, b: Block) {
    let of_left = block < left_blocks;
    let place = 4u * select(right_place(block - left_blocks), left_place(block), of_left);
    let begin = select(left_squares, 0u, of_left);
    let into = begin + place.x / side * k_squares + place.y / side;
    let at = place.x % side * pitch + place.y % side;
    if block < blocks {
        square_put(into, at, vec4<Part>(vec4(b[0].x, b[1].x, b[2].x, b[3].x)));
        square_put(into, at + pitch, vec4<Part>(vec4(b[0].y, b[1].y, b[2].y, b[3].y)));
        square_put(into, at + 2u * pitch, vec4<Part>(vec4(b[0].z, b[1].z, b[2].z, b[3].z)));
        square_put(into, at + 3u * pitch, vec4<Part>(vec4(b[0].w, b[1].w, b[2].w, b[3].w)));
    }
}

// naga does not know that subgroup_id is the same in all of a subgroup, and has one switch for all
// that must be uniform.
@diagnostic(off, derivative_uniformity)
@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(subgroup_id) team: u32,
) {
    // region prepare
    // end prepare
    let at = product_batch(group.z);
    let first = product_tile(group.xy, groups.x, 4u * vec2(row_quads, column_quads));
    let own = vec2(team / across * rows, team % across * columns) / side * k_squares;
    let end = (p.job.size.z + 3u) >> 2u;
    for (var i = lane; i < square; i += lanes) {
        sh_sums[shared_sums + i] = 0.0;
    }
    var k = 0u;
    // region fetch
    var block_0 = fetch(at, first, k, lane);
    // end fetch
    // region totals
    var t0_0 = Quad();
    // end totals
    workgroupBarrier();
    while k < end {
        let stop = min(k + p.job.size.w, end);
        // region clear
        var s0 = coopLoadT<Sum>(&sh_sums[shared_sums], side);
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
            if team < down * across {
                for (var d = 0u; d < k_squares; d++) {
                    let a = own.x + d;
                    let b = left_squares + own.y + d;
                    // region step
                    let a0 = coopLoadT<Left>(&sh_parts[a][0], pitch);
                    let b0 = coopLoad<Right>(&sh_parts[b][0], pitch);
                    s0 = coopMultiplyAdd(a0, b0, s0);
                    // end step
                }
            }
            workgroupBarrier();
        }
        let to = team * square;
        // region add
        if team < down * across {
            coopStoreT(s0, &sh_sums[to], side);
        }
        workgroupBarrier();
        t0_0 += square_quad(lane);
        workgroupBarrier();
        // end add
    }
    for (var s = 0u; s < squares; s++) {
        // region store
        square_store(group.z, first, s, lane, t0_0);
        // end store
    }
}
