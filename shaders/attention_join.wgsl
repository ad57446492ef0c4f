// What attention_staged.wgsl leaves of a row, joined: eight invocations take a quad of a result.
//
// A state has the quads of a weighted sum, and in one more the highest score and the sum of weights
// below it; where a score was NaN, the highest is infinite. Each of the eight joins every eighth
// state, whoever left them first, and one of them joins what they have.
// Workgroup memory is written before it is read. Trips: a quarter of the states.
const lanes = 64u;
const sharers = 8u;

struct Job {
    rows: u32,
    states: u32, // of a row
    width: u32,  // quads of a value
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
fn exp_below(x: vec4<f32>) -> vec4<f32> { return exp(x); }
fn lowest(few: u32) -> f32 { return 0.0; }
fn attended(all: vec4<f32>, most: f32, sum: f32) -> vec4<f32> { return all; }
// end alone

var<workgroup> sh_most: array<f32, lanes>;
var<workgroup> sh_sum: array<f32, lanes>;
var<workgroup> sh_all: array<vec4<f32>, lanes>;

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let linear = group.x + groups.x * group.y;
    let own = lane % sharers;
    let q = linear * (lanes / sharers) + lane / sharers;
    let width = p.job.width;
    // Quads past the last repeat it, and store nothing.
    let row = min(q / width, p.job.rows - 1u);
    let first = row * (width + 1u);
    let step = p.job.rows * (width + 1u);
    var most = lowest(p.job.rows);
    for (var n = own; n < p.job.states; n += sharers) {
        most = max(most, head_0(first + n * step + width).x);
    }
    sh_most[lane] = most;
    workgroupBarrier();
    for (var i = 0u; i < sharers; i++) {
        most = max(most, sh_most[lane - own + i]);
    }
    var all = vec4<f32>(0.0);
    var sum = 0.0;
    for (var n = own; n < p.job.states; n += sharers) {
        let at = first + n * step;
        let state = head_0(at + width);
        let share = exp_below(vec4<f32>(state.x - most)).x;
        all += head_0(at + q % width) * share;
        sum += state.y * share;
    }
    sh_sum[lane] = sum;
    sh_all[lane] = all;
    workgroupBarrier();
    if own > 0u || q / width > row {
        return;
    }
    for (var i = 1u; i < sharers; i++) {
        all += sh_all[lane + i];
        sum += sh_sum[lane + i];
    }
    finish(q, attended(all, most, sum));
}
