// Norms of rows by groups: as norm_rows, but a whole workgroup takes a row, lane by lane.
//
// Three passes: the mean, the squares about it, and the results; a tree in workgroup memory puts
// the lanes together. Rows that are short enough stay in registers from the first pass on.
// Trips: 3 units / lanes + 2 log2 lanes.

// region lanes
const lanes = 256u;
// end lanes

struct Job {
    rows: u32,
    units: u32,      // of a row
    quads: u32,      // 1 where a unit is a quad
    about_zero: u32, // 1 where the mean stays
    eps: f32,
}

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

// region alone
struct Spread {
    mean: vec4<f32>,
    squares: vec4<f32>,
}

fn spread_scale(s: Spread, n: f32, quads: bool, about_zero: bool, eps: f32) -> vec2<f32> {
    return vec2<f32>(0.0, 1.0);
}
fn together(lane: u32, own: State) -> State { return own; }
// end alone

alias State = vec4<f32>;

var<workgroup> sh_state: array<State, lanes>;

fn start() -> State {
    return State();
}

fn merge(a: State, b: State) -> State {
    return a + b;
}

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
    // Groups past the last row, of which a folded grid may have some, repeat it.
    let row = min(group.x + groups.x * group.y, p.job.rows - 1u);
    let units = p.job.units;
    let first = row * units;
    var own = vec4<f32>(0.0);
    // region sum
    for (var t = lane; t < units; t += lanes) {
        own += head_0(first + t);
    }
    // end sum
    let mean = together(lane, own) / f32(units);
    own = vec4<f32>(0.0);
    // region squares
    for (var t = lane; t < units; t += lanes) {
        let off = head_0(first + t) - mean;
        own += off * off;
    }
    // end squares
    let about_zero = p.job.about_zero == 1u;
    let eps = p.job.eps;
    let s = Spread(mean, together(lane, own));
    let all = spread_scale(s, f32(units), p.job.quads == 1u, about_zero, eps);
    // region results
    for (var t = lane; t < units; t += lanes) {
        finish(first + t, (head_0(first + t) - all.x) * all.y);
    }
    // end results
}
