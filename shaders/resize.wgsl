// Resize: an axis at another length, each element a sum of some of the source by weights.
//
// Element i of the result lies at (i factor + term) / parts in the source: how many whole elements
// from the first one, and by what part of the way to the next, are found in integers, so that
// nothing is rounded before a weight is. What lies beyond an end is the element at the end; what
// has no weight does not count, be it infinite.
//
// An invocation takes a quad of the result in some rows, for which places and weights are found
// once. A quad lies across the axis, where all four have the same place, or along it. There the
// elements that the four need are loaded once for all of them, if they are few: each has four
// weights then, some of them zero. Otherwise every tap loads its four.
//
// Trips: rows, four elements of each.
// The regions are what the generator writes; as it lies here it is linear, across, by elements.

struct Job {
    // Lanes; quads of a line; lines of a row; rows of a lane.
    columns: vec4<u32>,
    // Rows; elements of a line, of an axis and of a row of the result.
    size: vec4<u32>,
    // The factor, the term and the parts, and the last element of the source.
    place: vec4<u32>,
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
const least = 1u;
// end real

fn weigh(far: vec4<Real>) -> vec4<Real> {
    // region weigh
    return Real(1) - far;
    // end weigh
}

// region alone
struct Places { before: vec4<i32>, part: vec4<Real> }

fn places_of(i: vec4<u32>, place: vec4<u32>, least: u32) -> Places { return Places(); }
fn held_inside(place: vec4<i32>, last: u32) -> vec4<u32> { return vec4<u32>(place); }
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
    let places = places_of(i, p.job.place, least);
    let before = places.before;
    // region taps
    let p0 = held_inside(before, p.job.place.w).x * p.job.stride.y;
    let w0 = weigh(abs(vec4<Real>(0) - places.part));
    let p1 = held_inside(before + 1, p.job.place.w).x * p.job.stride.y;
    let w1 = weigh(abs(vec4<Real>(1) - places.part));
    // end taps
    for (var n = 0u; n < p.job.columns.w; n++) {
        let row = block * p.job.columns.w + n;
        let begin = min(row, p.job.size.x - 1u) * p.job.stride.x;
        var s = vec4<Real>();
        // region take
        let e0 = head_0(begin + p0 + first * p.job.stride.z);
        s += part_of_sum(e0, w0);
        let e1 = head_0(begin + p1 + first * p.job.stride.z);
        s += part_of_sum(e1, w1);
        // end take
        if row < p.job.size.x {
            let to = row * p.job.size.w + line * p.job.size.y + first;
            // region store
            finish(to >> 2u, s);
            // end store
        }
    }
}
