// Attention on GPUs: streamed as in attention.wgsl, by workgroups that take 4 * groups rows.
//
// Queries and keys come in stages along their length and are multiplied like matrices: a lane has
// the scores of four rows against `each` keys. The rows' highest scores, and then their weights, go
// through workgroup memory; values come in stages of keys; and a lane sums `quads` quads of a value
// for its four rows. Lane (i, j) has row group i, and key j, or of a value the column c of part g:
//
//     for every block of keys:   scores, weights, and for all keys of the block, by stages: values
// Values with fewer columns than there are lanes across are dealt to `parts`. Then, and where the
// keys of a row are split among workgroups, each leaves a state: attention_join.wgsl has the rest.
// Rows are counted, and results lie, query by query: keys that no row of a workgroup sees are left
// out by blocks. All of workgroup memory is written before it is read. Trips: see `Staged::trips`.
// What was tried: docs/measured/attention.md.
struct Job {
    heads: u32,     // of keys, of all batches
    queries: u32,
    keys: u32,
    per_head: u32,  // workgroups of a head of keys, but for splits
    per_batch: u32, // heads of keys of a batch
    sharing: u32,   // heads of queries of a head of keys
    first: u32,     // the first key that the first query sees, perhaps one before all
    span: u32,      // keys that a query sees, if they are there
    query: vec4<u32>, // units from batch to batch, head to head, row to row, and of a row
    key: vec4<u32>,
    value: vec4<u32>,
    mask: vec4<u32>,  // elements from batch to batch, head to head, row to row, key to key
    scale: f32,
    splits: u32,      // workgroups that share the keys of a row
    chunk: u32,       // keys of a split, whole blocks
    first_group: u32, // of all workgroups
}

// region tile
const groups = 8u; // of four rows
const parts = 1u;
const columns = 8u;
const each = 1u;   // keys of a lane in a block
const quads = 1u;  // of a value, of a lane
const length = 1u; // quads of a query, and of a key
const width = 1u;  // quads of a value
const depth = 1u;  // quads of a stage of queries and keys
const run = 8u;    // keys of a stage of values, of each part
// end tile

const across = columns * parts;
const lanes = groups * across;
const block = each * across;

// region params
struct Params {
    job: Job,
}
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in_3: array<f32>;
@group(0) @binding(4) var<storage, read_write> out_0: array<vec4<f32>>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> { return in_0[q]; }
fn head_1(q: u32) -> vec4<f32> { return in_1[q]; }
fn head_2(q: u32) -> vec4<f32> { return in_2[q]; }
fn head_3(q: u32) -> vec4<f32> { return vec4<f32>(in_3[q]); }
fn finish(q: u32, x0: vec4<f32>) { out_0[q] = x0; }
// end functions

// region alone
fn exp_below(x: vec4<f32>) -> vec4<f32> { return exp(x); }
fn lowest(few: u32) -> f32 { return 0.0; }
// end alone

alias Quad = vec4<f32>;
// region staging
fn put_row(key: u32, i: u32, x: Quad) {}
fn highest(own: Quad, key: u32, i: u32) -> Quad { return own; }
fn total(own: Quad, key: u32, i: u32) -> Quad { return own; }
// end staging
// region sight
fn reached(first: u32, last: u32) -> vec2<u32> { return vec2<u32>(first, last); }
// end sight
// region scores
fn counted(s: Quad, key: u32, first: vec4<u32>) -> Quad { return s; }
fn attended(all: Quad, most: f32, sum: f32) -> Quad { return all; }
// end scores

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let linear = p.job.first_group + group.x + workgroups.x * group.y;
    let tile = linear / p.job.splits;
    let split = linear - tile * p.job.splits;
    let all = tile / p.job.per_head;
    if all >= p.job.heads {
        return;
    }
    let keys = p.job.keys;
    let sharing = p.job.sharing;
    let rows = p.job.queries * sharing;
    let begin = (tile - all * p.job.per_head) * groups * 4u;
    let batch = all / p.job.per_batch;
    let shared_head = all - batch * p.job.per_batch;
    let head = shared_head * sharing;
    let query_base = batch * p.job.query.x + head * p.job.query.y;
    let key_base = batch * p.job.key.x + shared_head * p.job.key.y;
    let key_step = p.job.key.z;
    let value_base = batch * p.job.value.x + shared_head * p.job.value.y;
    let value_step = p.job.value.z;
    let scale = p.job.scale;
    let j = lane % across;
    let i = lane / across;
    let g = j / columns;
    let c = j % columns;
    let row = begin + i + vec4<u32>(0u, 1u, 2u, 3u) * groups;
    let stop = min(begin + groups * 4u, rows);
    let near = reached(begin / sharing, (stop - 1u) / sharing);
    let start = max(split * p.job.chunk, near.x / block * block);
    let end = min((split + 1u) * p.job.chunk, near.y);
    // region kept
    // end kept
    // region query
    let query_0 = query_base + min(begin + lane, rows - 1u) * p.job.query.z;
    var a0_0 = Quad();
    // end query
    var most = Quad(lowest(p.job.queries));
    var sum = Quad();
    for (var b = start; b < end; b += block) {
        // region clear
        var s0_0 = 0.0;
        // end clear
        for (var d = 0u; d < length; d += depth) {
            workgroupBarrier();
            // region stage
            let q0 = head_0(query_0 + d) * scale;
            // end stage
            workgroupBarrier();
            for (var t = 0u; t < depth; t++) {
                // region multiply
                s0_0 += dot(q0, head_1(key_base + min(b + j, keys - 1u) * key_step + d));
                // end multiply
            }
        }
        // region masked
        // Found anew for every block: kept, they would not fit in registers beside all else.
        let own = min(row, vec4(rows - 1u));
        let query = own / sharing;
        let first_key = query + p.job.first;
        let mask_at = batch * p.job.mask.x + (head + own % sharing) * p.job.mask.y
            + query * p.job.mask.z;
        // end masked
        // region weigh
        let e0 = mask_at + min(b + j, keys - 1u) * p.job.mask.w;
        var w0 = counted(s0_0 + head_3(e0.x), b + j, first_key);
        let top = highest(max(most, w0), j, i);
        let fall = exp_below(most - top);
        w0 = exp_below(w0 - top);
        sum = sum * fall + w0;
        a0_0 *= fall.x;
        // end weigh
        most = top;
        for (var turn = 0u; turn < block / (run * parts); turn++) {
            let place = turn * run % columns;
            let from_key = b + turn * run * parts;
            workgroupBarrier();
            if place == 0u {
                // region hand
                put_row(j, i, w0);
                // end hand
            }
            // region fetch
            let v0 = head_2(value_base + min(from_key + lane, keys - 1u) * value_step);
            // end fetch
            workgroupBarrier();
            for (var t = 0u; t < run; t++) {
                // region add
                a0_0 += w0.x * v0;
                // end add
            }
        }
    }
    sum = total(sum, j, i);
    var r = 0u;
    for (var at = begin + i; at < stop; at += groups) {
        let result = (batch * p.job.queries + at / sharing) * p.job.per_batch * sharing + head
            + at % sharing;
        // region write
        finish(result * width + c, attended(a0_0, most.x, sum.x));
        // end write
        r++;
    }
}
