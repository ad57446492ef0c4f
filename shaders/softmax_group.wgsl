// Softmax of rows by groups: as softmax_rows, but a whole workgroup takes a row, lane by lane.
//
// Every lane keeps m and s of its own; a tree in workgroup memory, or subgroups, put them together.
// Rows that are short enough stay in registers meanwhile.
// Trips: 2 units / lanes + log2 lanes.

// region lanes
const lanes = 256u;
// end lanes

struct Job {
    rows: u32,
    units: u32, // of a row
    quads: u32, // 1 where a unit is a quad
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

// region write
fn value(x: vec4<f32>, m: f32, s: f32) -> vec4<f32> {
    return exp_below(x - m) * (1.0 / s);
}
// end write

// region alone
fn exp_below(x: vec4<f32>) -> vec4<f32> { return exp(x); }
fn lowest(few: u32) -> f32 { return 0.0; }
fn ln_f32(x: vec4<f32>) -> vec4<f32> { return log(x); }
fn nan_where(x: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return x; }
fn softmax_fault(bits: vec4<u32>, m: f32, s: f32) -> bool { return false; }
fn together(lane: u32, own: State) -> State { return own; }
// end alone

struct State {
    m: vec4<f32>,
    s: vec4<f32>,
    bits: vec4<u32>,
}

var<workgroup> sh_state: array<State, lanes>;

fn start() -> State {
    return State(vec4<f32>(lowest(p.job.rows)), vec4<f32>(0.0), vec4<u32>(0u));
}

fn merge(a: State, b: State) -> State {
    let m = max(a.m, b.m);
    return State(m, a.s * exp_below(a.m - m) + b.s * exp_below(b.m - m), max(a.bits, b.bits));
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
    var own = start();
    // region sum
    for (var t = lane; t < units; t += lanes) {
        let x = head_0(first + t);
        let bits = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
        let m = max(own.m, x);
        own = State(m, own.s * exp_below(own.m - m) + exp_below(x - m), max(own.bits, bits));
    }
    // end sum
    let all = together(lane, own);
    let most = max(max(all.m.x, all.m.y), max(all.m.z, all.m.w));
    let parts = all.s * exp_below(all.m - most);
    // By element the four places are the same one.
    let sum = select(parts.x, (parts.x + parts.y) + (parts.z + parts.w), p.job.quads == 1u);
    let fault = vec4<bool>(softmax_fault(all.bits, most, sum));
    // region results
    for (var t = lane; t < units; t += lanes) {
        finish(first + t, nan_where(value(head_0(first + t), most, sum), fault));
    }
    // end results
}
