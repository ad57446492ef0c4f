// Cover: an axis at another length, each element the mean of those of the source that it covers, by
// weights that fall with their distance.
//
// Of axes of the lengths `from` and `to`, element j of the source has its centre at (2 j + 1) to
// parts, and i of the result at (2 i + 1) from: distances are integers, and nothing is rounded
// before a weight is. What has no weight does not count, be it infinite.
//
// An invocation takes a quad of the result in some rows. A quad lies across the axis, where all
// four are at the same place, or along it; then it takes all elements from the first to the last
// that any of the four needs, and each of them has four weights, some of them zero.
//
// Trips: rows, elements of the source of each.
// The regions are what the generator writes; as it lies here it is linear, across, by elements.

struct Job {
    // Lanes; quads of a line; lines of a row; rows of a lane.
    columns: vec4<u32>,
    // Rows; elements of a line, of an axis and of a row of the result.
    size: vec4<u32>,
    // Lengths of the axis before and after; from where on nothing is weighed; an element of the
    // longer axis. Both in parts.
    axis: vec4<u32>,
    // From row to row, along the axis and across it. Of quads, where these are loaded.
    stride: vec4<u32>,
}

override workgroup: u32 = 8u;

// region params
struct Params {
    job: Job,
    offset: array<vec4<u32>, 1>,
}
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<f32>;
@group(0) @binding(1) var<storage, read_write> out_0: array<vec4<f32>>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> {
    return vec4<f32>(in_0[q + p.offset[0].x]);
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q + p.offset[0].y] = x0;
}
// end functions

// region real
alias Real = f32;
// end real

fn weigh(far: vec4<Real>) -> vec4<Real> {
    // region weigh
    return Real(1) - far;
    // end weigh
}

// region alone
fn part_of_sum(x: vec4<Real>, weight: vec4<Real>) -> vec4<Real> { return weight * x; }
// end alone

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let column = (group.x + groups.x * group.y) * workgroup + lane;
    if column >= p.job.columns.x {
        return;
    }
    let rest = column / p.job.columns.y;
    let first = 4u * (column - rest * p.job.columns.y);
    let block = rest / p.job.columns.z;
    let line = rest - block * p.job.columns.z;
    let four = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.job.size.y - 1u));
    // region place
    let i = vec4<u32>(line);
    // end place
    let centre = (2u * i + 1u) * p.job.axis.x;
    let end = p.job.axis.z;
    let step = 2u * p.job.axis.y;
    let lowest = (max(centre.x, end) - end) / step;
    let bound = min((centre.w + end) / step + 1u, p.job.axis.x);
    let one = Real(1) / Real(p.job.axis.w);
    for (var n = 0u; n < p.job.columns.w; n++) {
        let row = block * p.job.columns.w + n;
        let begin = min(row, p.job.size.x - 1u) * p.job.stride.x;
        var s = vec4<Real>();
        var all = vec4<Real>();
        for (var j = lowest; j < bound; j++) {
            let at = vec4<u32>(j * step + p.job.axis.y);
            let far = max(at, centre) - min(at, centre);
            // At a whole distance a cubic is zero: its quotient may not be whole.
            let counts = (far < vec4<u32>(end)) & (far != vec4<u32>(p.job.axis.w));
            let weight = select(vec4<Real>(), weigh(vec4<Real>(far) * one), counts);
            let place = begin + j * p.job.stride.y;
            // region take
            let e = head_0(place + first * p.job.stride.z);
            // end take
            s += part_of_sum(e, weight);
            all += weight;
        }
        if row < p.job.size.x {
            let to = row * p.job.size.w + line * p.job.size.y + first;
            s /= all;
            // region store
            finish(to >> 2u, s);
            // end store
        }
    }
}
