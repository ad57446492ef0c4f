// Triangle: X = T^-1 B, for a small lower triangle T.
//
// An invocation takes one column of B, row after row from the top. What it has found so far stays
// in workgroup memory, of which it reads only what it wrote: there is nothing to wait for. The
// triangle is the same for its neighbours. Trips: half the square of the rows.
override lanes: u32 = 32u;

const ROWS = 32u;

struct Job {
    // Columns of all matrices, of one; rows; whether the diagonal counts as ones.
    shape: vec4<u32>,
    // From matrix to matrix, row to row, and along a row: of T, and of B.
    triangle: vec4<u32>,
    right: vec4<u32>,
}

// region params
struct Params {
    job: Job,
    offset: array<vec4<u32>, 1>,
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
    return vec4<f32>(in_0[q + p.offset[0].x]);
}

fn head_1(q: u32) -> vec4<f32> {
    return vec4<f32>(in_1[q + p.offset[0].y]);
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q + p.offset[0].z] = x0.x;
}
// end functions

// What lanes have found: row k of a lane is at k * ROWS + lane, of at most 32 rows and 32 lanes.
var<workgroup> sh_found: array<f32, 1024>;

// region alone
fn div_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> { return a / b; }
// end alone

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let linear = group.x + groups.x * group.y;
    let i = linear * lanes + lane;
    if i >= p.job.shape.x {
        return;
    }
    let matrix = i / p.job.shape.y;
    let column = i - matrix * p.job.shape.y;
    let rows = p.job.shape.z;
    var begin = matrix * p.job.triangle.x;
    var right = matrix * p.job.right.x + column * p.job.right.z;
    var to = matrix * rows * p.job.shape.y + column;
    for (var row = 0u; row < rows; row++) {
        var sum = 0.0;
        var at = begin;
        for (var k = 0u; k < row; k++) {
            sum += head_0(at).x * sh_found[k * ROWS + lane];
            at += p.job.triangle.z;
        }
        var x = head_1(right).x - sum;
        if p.job.shape.w == 0u {
            x = div_f32(vec4<f32>(x), vec4<f32>(head_0(at).x)).x;
        }
        sh_found[row * ROWS + lane] = x;
        finish(to, vec4<f32>(x));
        begin += p.job.triangle.y;
        right += p.job.right.y;
        to += p.job.shape.y;
    }
}
