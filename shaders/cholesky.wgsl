// Cholesky: A = L L^T, for a small A, of which the lower triangle is read.
//
// A workgroup takes one matrix, an invocation a row of it. Column after column, each takes off what
// is known so far; all of them find the pivot, so that they wait once a column. Pivots stay as they
// were in `sh_rows`: nobody needs their roots again. A pivot that is no positive number has the
// root 0, and what comes after it is not to be read. Trips: the square of the rows.
override lanes: u32 = 32u;

const ACROSS = 33u;
// The bits of the largest finite number: a compiler may think that no number is beyond it, or none.
const LARGEST = 0x7f7fffffu;

struct Job {
    matrices: u32,
    size: u32,
    // From matrix to matrix, row to row, and along a row.
    step: u32,
    down: u32,
    along: u32,
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
@group(0) @binding(1) var<storage, read_write> out_0: array<f32>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> {
    return vec4<f32>(in_0[q + p.offset[0].x]);
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q + p.offset[0].y] = x0.x;
}
// end functions

var<workgroup> sh_rows: array<f32, 1056>;

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let matrix = group.x + groups.x * group.y;
    if matrix >= p.job.matrices {
        return;
    }
    let size = p.job.size;
    let own = lane * ACROSS;
    let to = (matrix * size + lane) * size;
    let begin = matrix * p.job.step + lane * p.job.down;
    if lane < size {
        for (var k = 0u; k <= lane; k++) {
            sh_rows[own + k] = head_0(begin + k * p.job.along).x;
        }
        for (var k = lane + 1u; k < size; k++) {
            finish(to + k, vec4<f32>(0.0));
        }
    }
    workgroupBarrier();
    for (var j = 0u; j < size; j++) {
        let other = j * ACROSS;
        var left = 0.0;
        var taken = 0.0;
        // Not within the branch: FXC takes a column that a loop reads there for one that depends on
        // the lane, and allows no barrier then.
        let is_below = lane >= j && lane < size;
        let known = select(0u, j, is_below);
        for (var k = 0u; k < known; k++) {
            let x = sh_rows[other + k];
            left += sh_rows[own + k] * x;
            taken += x * x;
        }
        if is_below {
            let pivot = sh_rows[other + j] - taken;
            let is_one = pivot > 0.0 && bitcast<u32>(pivot) <= LARGEST;
            let root = select(0.0, sqrt(pivot), is_one);
            if lane == j {
                finish(to + j, vec4<f32>(root));
            } else {
                let x = (sh_rows[own + j] - left) / root;
                sh_rows[own + j] = x;
                finish(to + j, vec4<f32>(x));
            }
        }
        workgroupBarrier();
    }
}
