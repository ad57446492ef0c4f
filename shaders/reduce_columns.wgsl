// Reduce columns: of a dense space [outer, length, columns] the middle is reduced, by column.
//
// The unit is a quad of columns, or one column where these are not whole quads. An invocation takes
// up to four units, `step` apart, and one of `chunks` parts of the length; what it yields has the
// space [outer, chunks, columns]. Sums are added up in blocks of 64. Trips: 1 per row and 64.
// As it lies here an invocation has four units.
override workgroup: u32 = 64u;

struct Job {
    count: u32,   // invocations
    length: u32,  // rows for each place on the outer axes
    chunks: u32,  // of a length
    each: u32,    // rows of a chunk
    place: u32,   // of the first row
    first: u32,   // unit of the output
    units: u32,   // of a row
    per_row: u32, // invocations of a row
    step: u32,    // invocations that take turns, so from one unit of theirs to its next
    mask: u32,    // of an invocation's number in its row: its turn
}

// region units
const units_each = 4u;
// end units

// region params
struct Params {
    job: Job,
}
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out_0: array<vec4<f32>>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> {
    return in_0[q];
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q] = x0;
}
// end functions

// region state
// end state

// region alone
alias State = vec4<f32>;
fn start() -> State { return State(0.0); }
fn take(s: State, q: u32, e: vec4<u32>) -> State { return merge(s, head_0(q)); }
fn merge(a: State, b: State) -> State { return a + b; }
fn afresh(a: State) -> State { return start(); }
fn closed(a: State, block: State) -> State { return merge(a, block); }
fn put(at: u32, s: State) { finish(at, s); }
// end alone

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
    if i >= p.job.count {
        return;
    }
    let units = p.job.units;
    let part = i / p.job.per_row; // outer, then chunk
    let outer = part / p.job.chunks;
    let begin = (part - outer * p.job.chunks) * p.job.each;
    let to = min(begin + p.job.each, p.job.length);
    // Units past the last are the last again, and not put.
    let nth = i - part * p.job.per_row;
    let turn = nth & p.job.mask;
    let first = (nth - turn) * units_each + turn;
    let unit = vec4<u32>(first) + p.job.step * vec4<u32>(0u, 1u, 2u, 3u);
    let column = min(unit, vec4<u32>(units - 1u));
    var a = start();
    var b = start();
    var c = start();
    var d = start();
    var r = begin;
    while r < to {
        let block = min(r + 64u, to);
        var s = afresh(a);
        var t = afresh(b);
        var u = afresh(c);
        var v = afresh(d);
        while r < block {
            let q = column + (outer * p.job.length + r) * units;
            let e = vec4<u32>(r + p.job.place);
            s = take(s, q.x, e);
            t = take(t, q.y, e);
            if units_each > 2u {
                u = take(u, q.z, e);
                v = take(v, q.w, e);
            }
            r += 1u;
        }
        a = closed(a, s);
        b = closed(b, t);
        c = closed(c, u);
        d = closed(d, v);
    }
    let at = vec4<u32>(p.job.first + part * units) + unit;
    if unit.x < units {
        put(at.x, a);
    }
    if unit.y < units {
        put(at.y, b);
    }
    if units_each > 2u && unit.z < units {
        put(at.z, c);
    }
    if units_each > 2u && unit.w < units {
        put(at.w, d);
    }
}
