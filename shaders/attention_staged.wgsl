// Attention on GPUs: streamed as in attention.wgsl, by workgroups that take 4 * groups rows.
//
// Queries and keys come in stages along their length and are multiplied like matrices: a lane has
// the scores of four rows against `each` keys. The rows' highest scores, and then their weights, go
// through workgroup memory; values come in stages of keys; and a lane sums `quads` quads of a value
// for its four rows. Lane (i, j) has row group i, and key j, or of a value the column c of part g:
//
//     for every block of keys:   scores, weights, and for all keys of the block, by stages: values
//
// Values with fewer columns than there are lanes across are dealt to `parts`. Then, and where the
// keys of a row are split among workgroups, each leaves a state: attention_join.wgsl has the rest.
//
// Rows are counted query by query, so that keys which no row of a workgroup sees are skipped by
// blocks. All of workgroup memory is written before it is read. Trips: see `Staged::trips`.
//
// What compilers said, of f32 and heads of 64 (Mesa 25.0.7; more in docs/measured/attention.md):
//
//                                        dg2: spills   navi31:     RTX 30:     Adreno 740:
//                                        (registers)   VGPRs       registers   registers
//     a query to a lane, as it was       263 (-)       192         255, stack  spilled
//     this                               0 (122)       120         163         192
//       two quads of length to a trip    33 (148)      144         165         128
//       keys seen by row, NaN by bits    15 (139)      132         171         128
//       two keys to a lane               0 (110)       108         150         96
//       three quads of a value           20 (140)      120         197         192
//     few rows                           0 (109)       120         127         128
//       two quads of a value             32 (149)      144         192         192
struct Job {
    heads: u32,     // of keys, of all batches
    queries: u32,
    keys: u32,
    per_head: u32,  // workgroups of a head of keys, but for splits
    per_batch: u32, // heads of keys of a batch
    sharing: u32,   // heads of queries of a head of keys
    causal: u32,    // 1 if no query sees keys after its own place
    scale: f32,
    query: vec4<u32>, // units from batch to batch, head to head, row to row
    key: vec4<u32>,
    value: vec4<u32>,
    mask: vec4<u32>,  // elements from batch to batch, head to head, row to row, key to key
    splits: u32,      // workgroups that share the keys of a row
    chunk: u32,       // keys of a split, whole blocks
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
fn nan_where(x: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return x; }
// end alone

alias Quad = vec4<f32>;

// The innermost index of each is a lane's own, and the outermost that of a trip: what a trip reads
// lies at constant places from one that is found, and checked, once. Each takes 4 KiB at most.
var<workgroup> sh_query: array<array<array<Quad, groups>, 4>, depth>;
var<workgroup> sh_key: array<array<array<Quad, across>, each>, depth>;
var<workgroup> sh_value: array<array<array<array<Quad, columns>, quads>, parts>, run>;
// A quad of four rows for each of the keys that lie across.
var<workgroup> sh_row: array<array<array<Quad, groups>, parts>, columns>;

const LOWEST = -3.4028234e38;

fn put_query(d: u32, row: u32, x: Quad) {
    sh_query[d][row / groups][row % groups] = x;
}

fn put_key(d: u32, key: u32, x: Quad) {
    sh_key[d][key / across][key % across] = x;
}

fn put_value(key: u32, q: u32, x: Quad) {
    sh_value[key / parts][key % parts][q / columns][q % columns] = x;
}

fn put_row(key: u32, i: u32, x: Quad) {
    sh_row[key / parts][key % parts][i] = x;
}

// region mask
fn mask(at: vec4<u32>, place: u32) -> Quad {
    let e = at + place;
    return Quad(head_3(e.x).x, head_3(e.y).x, head_3(e.z).x, head_3(e.w).x);
}
// end mask

// The first row that sees a key; none sees one after the last. The last queries are those that see
// the last keys.
fn first_row(key: u32) -> i32 {
    let own = i32(min(key, p.job.keys) + p.job.queries - p.job.keys) * i32(p.job.sharing);
    return select(select(0, own, p.job.causal == 1u), 0x7fffffff, key >= p.job.keys);
}

// A score as it counts: minus infinity where a row does not see the key, infinity where it is NaN.
// WGSL has no literal of them, and no constant.
fn counted(s: Quad, row: vec4<i32>, first: i32) -> Quad {
    let bits = bitcast<vec4<u32>>(s);
    let nan = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
    let clear = select(bits, vec4<u32>(0x7f800000u), nan);
    return bitcast<Quad>(select(vec4<u32>(0xff800000u), clear, row >= vec4(first)));
}

// How many keys are seen by a row.
fn seen_by(row: u32) -> u32 {
    let keys = p.job.keys;
    let queries = p.job.queries;
    let query = row / p.job.sharing;
    return select(keys, max(query + 1u + keys, queries) - queries, p.job.causal == 1u);
}

// The result that a row's weighted sum stands for.
fn ended(all: Quad, most: f32, sum: f32) -> Quad {
    let nan = vec4<bool>(bitcast<u32>(most) == 0x7f800000u);
    return nan_where(all * select(1.0 / sum, 0.0, sum == 0.0), nan);
}

// The highest, and the sum, of what all lanes of a row group have: of those of each part, and then
// of all parts.
fn highest(own: Quad, key: u32, i: u32) -> Quad {
    let part = key % parts;
    workgroupBarrier();
    put_row(key, i, own);
    workgroupBarrier();
    var all = own;
    for (var t = 0u; t < columns; t++) {
        all = max(all, sh_row[t][part][i]);
    }
    if parts > 1u {
        share(all, key, i);
        for (var n = 0u; n < parts; n++) {
            all = max(all, sh_row[0][n][i]);
        }
    }
    return all;
}

fn total(own: Quad, key: u32, i: u32) -> Quad {
    let part = key % parts;
    workgroupBarrier();
    put_row(key, i, own);
    workgroupBarrier();
    var all = Quad();
    for (var t = 0u; t < columns; t++) {
        all += sh_row[t][part][i];
    }
    if parts > 1u {
        share(all, key, i);
        all = Quad();
        for (var n = 0u; n < parts; n++) {
            all += sh_row[0][n][i];
        }
    }
    return all;
}

// Hands over what a part has.
fn share(all: Quad, key: u32, i: u32) {
    workgroupBarrier();
    if key < parts {
        put_row(key, i, all);
    }
    workgroupBarrier();
}

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let linear = group.x + workgroups.x * group.y;
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
    let row = vec4<i32>(i32(begin + i)) + vec4<i32>(0, 1, 2, 3) * i32(groups);
    let stop = min(begin + groups * 4u, rows);
    let first = split * p.job.chunk;
    let end = min(first + p.job.chunk, seen_by(stop - 1u));
    // region masked
    let near = min(vec4<u32>(row), vec4(rows - 1u));
    let mask_at = batch * p.job.mask.x + (head + near % sharing) * p.job.mask.y
        + near / sharing * p.job.mask.z;
    let mask_step = p.job.mask.w;
    // end masked
    // region query
    let query_0 = query_base + min(begin + lane, rows - 1u) * p.job.query.z;
    var a0_0 = Quad();
    var a1_0 = Quad();
    var a2_0 = Quad();
    var a3_0 = Quad();
    // end query
    var most = Quad(LOWEST);
    var sum = Quad();
    for (var b = first; b < end; b += block) {
        // region clear
        var s0_0 = 0.0;
        var s1_0 = 0.0;
        var s2_0 = 0.0;
        var s3_0 = 0.0;
        // end clear
        for (var d = 0u; d < length; d += depth) {
            workgroupBarrier();
            // region stage
            if lane < 4u * groups {
                put_query(0u, lane, head_0(query_0 + d) * scale);
            }
            if lane < block {
                put_key(0u, lane, head_1(key_base + min(b + lane, keys - 1u) * key_step + d));
            }
            // end stage
            workgroupBarrier();
            for (var t = 0u; t < depth; t++) {
                // region multiply
                let k0 = sh_key[t][0][j];
                s0_0 += dot(sh_query[t][0][i], k0);
                s1_0 += dot(sh_query[t][1][i], k0);
                s2_0 += dot(sh_query[t][2][i], k0);
                s3_0 += dot(sh_query[t][3][i], k0);
                // end multiply
            }
        }
        // region weigh
        var w0 = Quad(s0_0, s1_0, s2_0, s3_0);
        w0 += mask(mask_at, min(b + j, keys - 1u) * mask_step);
        w0 = counted(w0, row, first_row(b + j));
        let top = highest(max(most, w0), j, i);
        let fall = exp_below(most - top);
        w0 = exp_below(w0 - top);
        sum = sum * fall + w0;
        a0_0 *= fall.x;
        a1_0 *= fall.y;
        a2_0 *= fall.z;
        a3_0 *= fall.w;
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
            let v = head_2(value_base + min(from_key + lane, keys - 1u) * value_step);
            if lane < run {
                put_value(lane, 0u, select(Quad(), v, from_key + lane < keys));
            }
            // end fetch
            workgroupBarrier();
            for (var t = 0u; t < run; t++) {
                // region add
                let x = sh_row[place + t][g][i];
                let v0 = sh_value[t][g][0][c];
                a0_0 += x.x * v0;
                a1_0 += x.y * v0;
                a2_0 += x.z * v0;
                a3_0 += x.w * v0;
                // end add
            }
        }
    }
    sum = total(sum, j, i);
    var r = 0u;
    for (var at = begin + i; at < stop; at += groups) {
        let result = (all * sharing + at % sharing) * p.job.queries + at / sharing;
        // region write
        let a0 = select(select(a0_0, a1_0, r == 1u), select(a2_0, a3_0, r == 3u), r > 1u);
        if c < width {
            finish(result * width + c, ended(a0, most[r], sum[r]));
        }
        // end write
        r++;
    }
}
