// Reduce rows: each row of a dense space of rows becomes one element, or one per chunk of it.
//
// An invocation takes one chunk of one row, `quads` long. A row begins and ends anywhere, so its
// first and last quad may belong to its neighbours too: of those it takes its own elements only.
// What lies between are whole quads, two at a time, added up in blocks: no term goes through more
// than some 140 roundings here. Trips: quads / 2 + quads / 128 + 8.
override workgroup: u32 = 64u;

struct Job {
    rows: u32,
    length: u32, // elements of a row
    chunks: u32, // of a row
    each: u32,   // quads of a chunk
    place: u32,  // of a row's first element
    first: u32,  // output
}

// region params
struct Params {
    job: Job,
}
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out_0: array<f32>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> {
    return in_0[q];
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q] = x0.x;
}
// end functions

// region state
// end state

// region alone
alias State = vec4<f32>;
fn start() -> State { return State(0.0); }
fn take(s: State, q: u32, e: vec4<u32>) -> State { return merge(s, head_0(q)); }
fn take_some(s: State, q: u32, e: vec4<u32>, inside: vec4<bool>) -> State { return s; }
fn merge(a: State, b: State) -> State { return a + b; }
fn turn_state(s: State, by: u32) -> State { return s; }
fn put(at: u32, s: State) { finish(at, s); }
// end alone

const LANES = vec4<u32>(0u, 1u, 2u, 3u);

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let linear = group.x + groups.x * group.y;
    let i = linear * workgroup + lane;
    let row = i / p.job.chunks;
    if row >= p.job.rows {
        return;
    }
    let first = row * p.job.length;
    let end = first + p.job.length;
    let begin = (first >> 2u) + (i - row * p.job.chunks) * p.job.each;
    let to = min(begin + p.job.each, (end + 3u) >> 2u);
    // An element's place in its row is its place here less this.
    let zero = vec4<u32>(first - p.job.place) - LANES;
    var all = start();
    let whole_begin = max(begin, (first + 3u) >> 2u);
    let whole_to = min(to, end >> 2u);
    if begin < min(whole_begin, to) {
        let e = vec4<u32>(4u * begin) + LANES;
        let inside = (e >= vec4<u32>(first)) & (e < vec4<u32>(end));
        all = take_some(all, begin, vec4<u32>(4u * begin) - zero, inside);
    }
    var q = whole_begin;
    while q + 2u <= whole_to {
        let pairs = min(64u, (whole_to - q) / 2u);
        var s = start();
        for (var pair = 0u; pair < pairs; pair++) {
            let a = take(start(), q, vec4<u32>(4u * q) - zero);
            s = merge(s, take(a, q + 1u, vec4<u32>(4u * q + 4u) - zero));
            q += 2u;
        }
        all = merge(all, s);
    }
    while q < whole_to {
        all = take(all, q, vec4<u32>(4u * q) - zero);
        q += 1u;
    }
    if whole_to < to && whole_to >= whole_begin {
        let e = vec4<u32>(4u * whole_to) + LANES;
        all = take_some(all, whole_to, e - vec4<u32>(first - p.job.place), e < vec4<u32>(end));
    }
    let half = merge(all, turn_state(all, 2u));
    put(p.job.first + i, merge(half, turn_state(half, 1u)));
}
