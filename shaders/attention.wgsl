// Attention: y = sum_j w_j v_j, w = softmax_j(scale q.k_j + mask_j), `count` rows to an invocation.
//
// Keys come a block at a time. The highest score so far, the sum of weights below it and the
// weighted sum of values are kept as they come (streaming softmax), so no row of scores is ever
// stored. All lanes of a group have the same keys: the rows are the queries of every head that
// shares them. Where the group is one subgroup, each lane loads one key of a block and hands it to
// the others: llvmpipe loads lane by lane, even what is the same for all of them.
//
// Results lie query by query, the heads of one beside each other, as what follows wants them.
//
// A query with every key masked yields 0; one with a NaN or infinite score, NaN.
// The regions are what the generator writes for a tile; as it lies here it has one query of one
// quad, and meets four keys at once. A unit is a quad, or two. Trips: twice the keys at most.
override workgroup: u32 = 64u;

struct Job {
    heads: u32,     // of keys, of all batches
    queries: u32,
    keys: u32,
    per_head: u32,  // groups of a head of keys
    per_batch: u32, // heads of keys of a batch
    sharing: u32,   // heads of queries of a head of keys
    first: u32,     // the first key that the first query sees, perhaps one before all
    span: u32,      // keys that a query sees, if they are there
    query: vec4<u32>, // units from batch to batch, head to head, row to row, and of a row
    key: vec4<u32>,
    value: vec4<u32>,
    mask: vec4<u32>,  // elements from batch to batch, head to head, row to row, key to key
    scale: f32,
}

// region tile
const count = 1u;
const block = 4u;
// end tile

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
fn nan_where(x: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return x; }
// end alone

// region masked
// Of four keys, which lie so far from a query's first.
fn mask_at(first: u32, far: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(first) + far;
    return vec4<f32>(head_3(at.x).x, head_3(at.y).x, head_3(at.z).x, head_3(at.w).x);
}
// end masked

// region sight
fn seen(key: vec4<u32>, first: vec4<u32>) -> vec4<bool> { return key >= first; }
fn reached(first: u32, last: u32) -> vec2<u32> { return vec2<u32>(first, last); }
// end sight

const ABS = vec4<u32>(0x7fffffffu);
const FOUR = vec4<u32>(0u, 1u, 2u, 3u);

// Minus infinity where a key is not to be seen: WGSL has no literal of it, and no constant. Nor may
// a compiler know that it is: to one that thinks nothing is infinite all keys are seen.
fn hidden(s: vec4<f32>, key: vec4<u32>, first: u32) -> vec4<f32> {
    let is_seen = seen(key, vec4<u32>(first));
    let unseen = vec4<u32>(0xff800000u + (p.job.queries >> 31u));
    return bitcast<vec4<f32>>(select(unseen, bitcast<vec4<u32>>(s), is_seen));
}

fn highest(x: vec4<f32>) -> f32 {
    return max(max(x.x, x.y), max(x.z, x.w));
}

fn total(x: vec4<f32>) -> f32 {
    return (x.x + x.y) + (x.z + x.w);
}

// What the weighted sum of a query is multiplied by, and whether it has none.
struct End {
    part: f32,
    fault: vec4<bool>,
}

fn ends(most: f32, sum: f32, bits: vec4<u32>) -> End {
    let nan = any(bits > vec4<u32>(0x7f800000u)) | (bitcast<i32>(most) >= 0x7f800000);
    return End(select(1.0 / sum, 0.0, sum == 0.0), vec4<bool>(nan));
}

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    // region place
    // end place
) {
    // region prepare
    // end prepare
    let linear = group.x + groups.x * group.y;
    let all = linear / p.job.per_head;
    if all >= p.job.heads {
        return;
    }
    let queries = p.job.queries;
    let keys = p.job.keys;
    let rows = queries * p.job.sharing;
    let begin = (linear - all * p.job.per_head) * workgroup * count;
    let first = begin + lane;
    let batch = all / p.job.per_batch;
    let shared_head = all - batch * p.job.per_batch;
    let head = shared_head * p.job.sharing;
    let heads = p.job.per_batch * p.job.sharing;
    let scale = p.job.scale;
    let query_base = batch * p.job.query.x + head * p.job.query.y;
    let key_base = batch * p.job.key.x + shared_head * p.job.key.y;
    let key_step = p.job.key.z;
    let value_base = batch * p.job.value.x + shared_head * p.job.value.y;
    let value_step = p.job.value.z;
    let mask_base = batch * p.job.mask.x + head * p.job.mask.y;
    let mask_step = p.job.mask.w;
    // Compilers unroll what they can count: not the group's rows up to here, nor a row's units.
    let stop = min(begin + workgroup * count, rows);
    // If all rows of the group are of one head, none sees a key before those that the first one
    // sees, and none after those of the last.
    let one_head = begin / queries == (stop - 1u) / queries;
    let own = reached(begin % queries, (stop - 1u) % queries);
    let walked = select(vec2<u32>(0u, keys), own, one_head);
    // Rows past the last repeat it, and are not stored.
    // region query
    let row0 = min(first, rows - 1u);
    let part0 = row0 / queries;
    let query0 = row0 - part0 * queries;
    let first0 = query0 + p.job.first;
    let mask0 = mask_base + part0 * p.job.mask.y + query0 * p.job.mask.z;
    let q0_0 = head_0(query_base + part0 * p.job.query.y + query0 * p.job.query.z) * scale;
    var a0_0 = vec4<f32>(0.0);
    var most0 = lowest(p.job.queries);
    var sum0 = 0.0;
    var bits0 = vec4<u32>(0u);
    // end query
    for (var j = walked.x / block * block; j < walked.y; j += block) {
        // region score
        let at = vec4<u32>(key_base) + min(j + FOUR, vec4<u32>(keys - 1u)) * key_step;
        var s0_0 = vec4<f32>(dot(q0_0, head_1(at.x)), dot(q0_0, head_1(at.y)),
            dot(q0_0, head_1(at.z)), dot(q0_0, head_1(at.w)));
        // end score
        // region weigh
        s0_0 += mask_at(mask0, min(j + FOUR, vec4<u32>(keys - 1u)) * mask_step);
        s0_0 = hidden(s0_0, j + FOUR, first0);
        bits0 = max(bits0, bitcast<vec4<u32>>(s0_0) & ABS);
        let top0 = max(most0, highest(s0_0));
        let fall0 = exp_below(vec4<f32>(most0 - top0)).x;
        let w0_0 = exp_below(s0_0 - top0);
        sum0 = sum0 * fall0 + total(w0_0);
        most0 = top0;
        // end weigh
        // region value
        let v = vec4<u32>(value_base) + min(j + FOUR, vec4<u32>(keys - 1u)) * value_step;
        a0_0 = a0_0 * fall0 + ((w0_0.x * head_2(v.x) + w0_0.y * head_2(v.y))
            + (w0_0.z * head_2(v.z) + w0_0.w * head_2(v.w)));
        // end value
    }
    // region write
    if first < rows {
        let end0 = ends(most0, sum0, bits0);
        let put = (batch * queries + query0) * heads + head + part0;
        finish(put, nan_where(a0_0 * end0.part, end0.fault));
    }
    // end write
}
