// Attention: y = sum_j w_j v_j, w = softmax_j(scale q.k_j + mask_j), one query to an invocation.
//
// Keys come four at a time. The highest score so far, the sum of weights below it and the weighted
// sum of values are kept as they come (streaming softmax), so no row of scores is ever stored. All
// lanes of a group have the same head, so that keys and values are read once for all of them.
// A query with every key masked yields 0; one with a NaN or infinite score, NaN.
// Trips: keys / 4.
override workgroup: u32 = 64u;

struct Job {
    sizes: vec4<u32>,  // heads of all batches, queries, keys, groups per head
    share: vec4<u32>,  // heads per batch, query heads per key head, 1 if causal, scale
    query: vec4<u32>,  // quads from batch to batch, head to head, row to row
    key: vec4<u32>,
    value: vec4<u32>,
    mask: vec4<u32>,   // elements from batch to batch, head to head, row to row, key to key
}

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
fn head_0(q: u32) -> vec4<f32> {
    return in_0[q];
}

fn head_1(q: u32) -> vec4<f32> {
    return in_1[q];
}

fn head_2(q: u32) -> vec4<f32> {
    return in_2[q];
}

fn head_3(q: u32) -> vec4<f32> {
    return vec4<f32>(in_3[q]);
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q] = x0;
}
// end functions

// region alone
fn exp_below(x: vec4<f32>) -> vec4<f32> { return exp(x); }
fn nan_where(x: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return x; }
// end alone

// region masked
fn mask_at(at: u32, step: u32) -> vec4<f32> {
    return vec4<f32>(head_3(at).x, head_3(at + step).x, head_3(at + 2u * step).x,
        head_3(at + 3u * step).x);
}
// end masked

const ABS = vec4<u32>(0x7fffffffu);
const FOUR = vec4<u32>(0u, 1u, 2u, 3u);

// Minus infinity where a key is not to be seen: WGSL has no literal of it.
fn hidden(s: vec4<f32>, key: vec4<u32>, seen: u32) -> vec4<f32> {
    return select(bitcast<vec4<f32>>(vec4<u32>(0xff800000u)), s, key < vec4<u32>(seen));
}

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let linear = group.x + groups.x * (group.y + groups.y * group.z);
    let all = linear / p.job.sizes.w;
    if all >= p.job.sizes.x {
        return;
    }
    let queries = p.job.sizes.y;
    let keys = p.job.sizes.z;
    let block = (linear - all * p.job.sizes.w) * workgroup;
    // Lanes past the last query do that one again, and store nothing.
    let row = min(block + lane, queries - 1u);
    let batch = all / p.job.share.x;
    let head = all - batch * p.job.share.x;
    let shared_head = head / p.job.share.y;
    let scale = bitcast<f32>(p.job.share.w);
    let at = batch * p.job.query.x + head * p.job.query.y + row * p.job.query.z;
    let key_base = batch * p.job.key.x + shared_head * p.job.key.y;
    let value_base = batch * p.job.value.x + shared_head * p.job.value.y;
    let mask_base = batch * p.job.mask.x + head * p.job.mask.y + row * p.job.mask.z;
    // The last queries are those that see the last keys.
    let causal = p.job.share.z == 1u;
    let seen = select(keys, max(row + 1u + keys, queries) - queries, causal);
    let seen_by_all = max(min(block + workgroup, queries) + keys, queries) - queries;
    let end = select(keys, seen_by_all, causal);
    // region query
    let q0 = head_0(at) * scale;
    var a0 = vec4<f32>(0.0);
    // end query
    var m = -3.4028234e38;
    var sum = 0.0;
    var bits = vec4<u32>(0u);
    for (var j = 0u; j < end; j += 4u) {
        let near = vec4<u32>(j) + FOUR;
        let key = min(near, vec4<u32>(keys - 1u));
        let k = vec4<u32>(key_base) + key * p.job.key.z;
        var s = vec4<f32>(0.0);
        // region score
        s += vec4<f32>(dot(q0, head_1(k.x)), dot(q0, head_1(k.y)),
            dot(q0, head_1(k.z)), dot(q0, head_1(k.w)));
        // end score
        // region mask
        s += mask_at(mask_base + j * p.job.mask.w, p.job.mask.w);
        // end mask
        s = hidden(s, near, seen);
        bits = max(bits, bitcast<vec4<u32>>(s) & ABS);
        let most = max(m, max(max(s.x, s.y), max(s.z, s.w)));
        let fall = exp_below(vec4<f32>(m - most)).x;
        let w = exp_below(s - most);
        sum = sum * fall + ((w.x + w.y) + (w.z + w.w));
        m = most;
        let v = vec4<u32>(value_base) + key * p.job.value.z;
        // region weigh
        a0 = a0 * fall + ((w.x * head_2(v.x) + w.y * head_2(v.y))
            + (w.z * head_2(v.z) + w.w * head_2(v.w)));
        // end weigh
    }
    if block + lane >= queries {
        return;
    }
    let nan = any(bits > vec4<u32>(0x7f800000u)) | (bitcast<u32>(m) == 0x7f800000u);
    let fault = vec4<bool>(nan);
    let part = select(1.0 / sum, 0.0, sum == 0.0);
    // region write
    finish(all * queries + row, nan_where(a0 * part, fault));
    // end write
}
