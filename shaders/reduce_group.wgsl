// Reduce rows by groups: as reduce_rows, but a whole workgroup takes a chunk of a row.
//
// Neighbouring lanes take neighbouring quads; a tree in workgroup memory, or subgroups, put the
// lanes together. Trips: quads / lanes + log2 lanes, or lanes / (width of a subgroup)^2.
override lanes: u32 = 256u;

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
fn take_some(s: State, q: u32, e: vec4<u32>, inside: vec4<bool>) -> State { return s; }
fn merge(a: State, b: State) -> State { return a + b; }
fn turn_state(s: State, by: u32) -> State { return s; }
fn put(at: u32, s: State) { finish(at, s); }
fn together(lane: u32, own: State) -> State { return own; }
// end alone

var<workgroup> sh_state: array<State, lanes>;

// region tree
// end tree

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    // region place
    // end place
) {
    // region begin
    // end begin
    let i = group.x + groups.x * group.y;
    let row = i / p.job.chunks;
    // A folded grid may have groups past the last row.
    if row >= p.job.rows {
        return;
    }
    let first = row * p.job.length;
    let end = first + p.job.length;
    let begin = (first >> 2u) + (i - row * p.job.chunks) * p.job.each;
    let to = min(begin + p.job.each, (end + 3u) >> 2u);
    var all = start();
    for (var q = begin + lane; q < to; q += lanes) {
        let e = vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u);
        let inside = (e >= vec4<u32>(first)) & (e < vec4<u32>(end));
        all = take_some(all, q, e - vec4<u32>(first - p.job.place), inside);
    }
    let s = together(lane, all);
    if lane == 0u {
        let half = merge(s, turn_state(s, 2u));
        put(p.job.first + i, merge(half, turn_state(half, 1u)));
    }
}
