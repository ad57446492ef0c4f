// Scan rows: y[i] = x[0] + .. + x[i] along each row; products and maxima alike.
//
// An invocation takes one chunk of one row, element by element, and begins with what the chunks
// before it came to: the second input, where rows have several. What chunks come to is found by a
// pass of this same kernel, and scanned by another. Trips: elements of a chunk, and a 64th.
override workgroup: u32 = 64u;

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
    let chunk = i - row * p.job.chunks;
    let begin = row * p.job.length + chunk * p.job.each;
    let end = min(begin + p.job.each, (row + 1u) * p.job.length);
    let before = carry(i, chunk == 0u);
    var q = begin;
    var all = start();
    while q < end {
        // In blocks of 64, so that a sum is not added up one by one.
        let block = min(q + 64u, end);
        var s = start();
        while q < block {
            s = merge(s, lift(head_0(q)));
            put(q, merge(before, merge(all, s)));
            q += 1u;
        }
        all = merge(all, s);
    }
    close(i, all);
}
