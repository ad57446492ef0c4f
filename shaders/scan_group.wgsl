// Scan rows by groups: as scan_rows, but a whole workgroup takes a chunk of a row.
//
// Of a tile each lane scans four neighbours, so that lanes beside each other read neighbours; what
// they come to is scanned in workgroup memory, each state merged with that of a lane twice as far
// to the left every time. Then everybody knows what came before.
//
// Workgroup memory is written before it is read. Trips: tiles of a chunk, log2 lanes.
// region lanes
const lanes = 256u;
// end lanes

struct Job {
    rows: u32,
    length: u32, // elements of a row
    chunks: u32, // of a row
    each: u32,   // elements of a chunk
}

// region params
struct Params {
    job: Job,
}
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<f32>;
@group(0) @binding(1) var<storage, read> in_1: array<f32>;
@group(0) @binding(2) var<storage, read_write> out_0: array<f32>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> {
    return vec4<f32>(in_0[q]);
}

fn head_1(q: u32) -> vec4<f32> {
    return vec4<f32>(in_1[q]);
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q] = x0.x;
}
// end functions

// region kind
alias Held = f32;

fn neutral() -> vec4<Held> {
    return vec4<Held>(0.0);
}

fn lift(x: vec4<f32>) -> vec4<Held> {
    return x;
}

fn lower(x: vec4<Held>) -> vec4<f32> {
    return x;
}

fn merge(a: vec4<Held>, b: vec4<Held>) -> vec4<Held> {
    return a + b;
}
// end kind

alias State = vec4<Held>;

fn start() -> State {
    return neutral();
}

// region carry
// What comes before a chunk: nothing, if it is the first of its row.
fn carry(i: u32, first: bool) -> State {
    return select(head_1(i - 1u + u32(first)), start(), vec4<bool>(first));
}
// end carry

// region put
fn put(q: u32, s: State) {
    finish(q, lower(s));
}

fn close(i: u32, s: State) {
}
// end put

var<workgroup> sh_states: array<State, lanes>;

// An element, or nothing past the end of the chunk.
fn element(q: u32, end: u32) -> State {
    return select(start(), lift(head_0(min(q, end - 1u))), vec4<bool>(q < end));
}

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let i = group.x + groups.x * group.y;
    let row = i / p.job.chunks;
    if row >= p.job.rows {
        return;
    }
    let chunk = i - row * p.job.chunks;
    let begin = row * p.job.length + chunk * p.job.each;
    let end = min(begin + p.job.each, (row + 1u) * p.job.length);
    var before = carry(i, chunk == 0u);
    for (var tile = begin; tile < end; tile += 4u * lanes) {
        let q = tile + 4u * lane;
        let s0 = element(q, end);
        let s1 = merge(s0, element(q + 1u, end));
        let s2 = merge(s1, element(q + 2u, end));
        let s3 = merge(s2, element(q + 3u, end));
        sh_states[lane] = s3;
        for (var reach = 1u; reach < lanes; reach *= 2u) {
            workgroupBarrier();
            let left = sh_states[max(lane, reach) - reach];
            workgroupBarrier();
            if lane >= reach {
                sh_states[lane] = merge(left, sh_states[lane]);
            }
        }
        workgroupBarrier();
        var own = before;
        if lane > 0u {
            own = merge(own, sh_states[lane - 1u]);
        }
        before = merge(before, sh_states[lanes - 1u]);
        if q < end {
            put(q, merge(own, s0));
        }
        if q + 1u < end {
            put(q + 1u, merge(own, s1));
        }
        if q + 2u < end {
            put(q + 2u, merge(own, s2));
        }
        if q + 3u < end {
            put(q + 3u, merge(own, s3));
        }
        workgroupBarrier();
    }
    if lane == 0u {
        close(i, before);
    }
}
