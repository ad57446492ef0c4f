// What attention_staged.wgsl leaves of a row, joined: an invocation takes a quad of a result.
//
// A state has the quads of a weighted sum, and in one more the highest score and the sum of weights
// below it; where a score was NaN, the highest is infinite. States are joined in their order,
// whoever left them first.
// Trips: twice the states.
override workgroup: u32 = 64u;

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
fn attended(all: vec4<f32>, most: f32, sum: f32) -> vec4<f32> { return all; }
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
    let q = linear * workgroup + lane;
    let width = p.job.width;
    let row = q / width;
    if row >= p.job.rows {
        return;
    }
    let first = row * (width + 1u);
    let step = p.job.rows * (width + 1u);
    var most = head_0(first + width).x;
    for (var n = 1u; n < p.job.states; n++) {
        most = max(most, head_0(first + n * step + width).x);
    }
    var all = vec4<f32>(0.0);
    var sum = 0.0;
    for (var n = 0u; n < p.job.states; n++) {
        let at = first + n * step;
        let state = head_0(at + width);
        let share = exp_below(vec4<f32>(state.x - most)).x;
        all += head_0(at + q - row * width) * share;
        sum += state.y * share;
    }
    finish(q, attended(all, most, sum));
}
