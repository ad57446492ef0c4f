// Enlarge: the last two axes of images at lengths that are no shorter, each element a sum of some
// of the source by weights, of each axis as in a resize.
//
// An invocation takes a quad of each of some lines of the result, and walks down lines of the
// source. What a line is along the quad is summed once and kept, as many of them as a sum down the
// image is of; between them lie some lines of the result, or none. How far the walk has come is
// counted as places are, in integers.
//
// Trips: lines of the source and of the result, four elements of each.
// The regions are what the generator writes; as it lies here it is linear, of two elements a quad.

struct Job {
    // Lanes; quads of a line; blocks of lines; lines of a lane.
    columns: vec4<u32>,
    // Of the result: lines of an image, elements of a line and of an image.
    size: vec4<u32>,
    // Along a line: the factor, the term and the parts, and the last element of the source.
    place: vec4<u32>,
    // Down an image: the same, and the last line.
    down: vec4<i32>,
    // Of the source: from image to image, along a line and from line to line.
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
    let image = rest / p.job.columns.z;
    let block = rest - image * p.job.columns.z;
    let four = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.job.size.y - 1u));
    // region place
    let i = four;
    // end place
    let places = places_of(i, p.job.place, least);
    let before = places.before;
    // region taps
    let on = before - before.x;
    let u0 = weigh(abs(vec4<Real>(0) - places.part));
    let u1 = weigh(abs(vec4<Real>(1) - places.part));
    let p0 = held_inside(vec4<i32>(before.x + 0), p.job.place.w).x * p.job.stride.y;
    let w0 = select(vec4<Real>(), u0, on == vec4<i32>(0));
    let p1 = held_inside(vec4<i32>(before.x + 1), p.job.place.w).x * p.job.stride.y;
    let w1 = select(select(vec4<Real>(), u0, on == vec4<i32>(1)), u1, on == vec4<i32>(0));
    // end taps
    // region kept
    var l0 = vec4<Real>();
    var l1 = vec4<Real>();
    // end kept
    var y = block * p.job.columns.w;
    let end = min(y + p.job.columns.w, p.job.size.x);
    // Down the image, too, by one whole more than there is.
    var counted_y = i32(y) * p.job.down.x + p.job.down.y + p.job.down.z;
    var reached = max(counted_y, i32(least) * p.job.down.z);
    // region begun
    // The last line that is kept.
    var last = reached / p.job.down.z - 1;
    // Where lines of the result begin that need another.
    var bound = (last + 1) * p.job.down.z;
    // end begun
    while y < end {
        let line = u32(clamp(last, 0, p.job.down.w)) * p.job.stride.z;
        let begin = image * p.job.stride.x + line;
        var s = vec4<Real>();
        // region take
        let e0 = head_0(begin + p0);
        s += part_of_sum(e0, w0);
        let e1 = head_0(begin + p1);
        s += part_of_sum(e1, w1);
        // end take
        // region keep
        l0 = l1;
        l1 = s;
        // end keep
        while y < end && reached < bound {
            let part_y = Real(reached - bound + p.job.down.z) / Real(p.job.down.z);
            // region sum
            let v = weigh(abs(vec4<Real>(0, 1, 2, 3) - part_y));
            var t = vec4<Real>();
            t += part_of_sum(l0, vec4<Real>(v.x));
            t += part_of_sum(l1, vec4<Real>(v.y));
            // end sum
            let to = image * p.job.size.z + y * p.job.size.y + first;
            // region store
            finish(to >> 2u, t);
            // end store
            y += 1u;
            counted_y += p.job.down.x;
            reached = max(counted_y, i32(least) * p.job.down.z);
        }
        last += 1;
        bound += p.job.down.z;
    }
}
