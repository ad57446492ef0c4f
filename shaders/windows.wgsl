// Windows: every element of the result is folded of the elements of a window of the input that lie
// within it: their maximum, their sum, or their sum by weights.
//
// An invocation takes a quad of a row of the result, and those below it, so many lines at a time:
// what it finds out about places is found out once. Along x the taps are written out, along y those
// of a trip for all of its lines. A row of the input is loaded once for all the windows that it
// lies in, as quads where rows begin at whole ones; beside the input is what changes nothing.
// Neighbouring lanes take neighbouring quads.
//
// Trips: lines times taps along z and y, four elements of each.
// The regions are what the generator writes; as it lies here it is the sum of two neighbours.

struct Job {
    // Columns of quads: of all planes, of a plane, of a line of it. Lines that an invocation takes.
    columns: vec4<u32>,
    // Lengths along z, y and x of the result; channels of an image.
    result: vec4<u32>,
    // Lengths along z, y and x of the input, and the taps along z.
    space: vec4<u32>,
    // Along z and y: from result to result, from tap to tap, and where the first tap of the first
    // result lies, modulo 2^32.
    step: vec2<u32>,
    reach: vec2<u32>,
    first: vec2<u32>,
    // Along x: where the first elements of a quad lie, and those of the next one.
    along: vec2<u32>,
    // Strides along z, y, x and the channels. Of quads, where quads are loaded, but for x.
    input: vec4<u32>,
    weight: vec4<u32>,
    // From image to image of the input, and the trips along y.
    outer: vec2<u32>,
    first_group: u32,
}

override workgroup: u32 = 8u;

// region lines
const lines = 1u;
// end lines

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

// region fold
fn least() -> vec4<f32> {
    return vec4<f32>();
}

fn lift(x: vec4<f32>) -> vec4<f32> {
    return x;
}

fn merge(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return a + b;
}

fn lower(x: vec4<f32>) -> vec4<f32> {
    return x;
}
// end fold

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let column = (p.job.first_group + group.x + groups.x * group.y) * workgroup + lane;
    if column >= p.job.columns.x {
        return;
    }
    let plane = column / p.job.columns.y;
    let rest = column - plane * p.job.columns.y;
    let block = rest / p.job.columns.z;
    let x = rest - block * p.job.columns.z;
    // region place
    let begin = plane * p.job.input.w;
    let z0 = p.job.first.x;
    // end place
    let edge = p.job.along.x + x * p.job.along.y;
    // region across
    let c0 = edge < p.job.space.z;
    let c1 = edge + 1u < p.job.space.z;
    // end across
    let stop = min((block + 1u) * p.job.columns.w, p.job.result.y);
    for (var top = block * p.job.columns.w; top < stop; top += lines) {
        let y0 = top * p.job.step.y + p.job.first.y;
        // region begin
        var s0 = least();
        // end begin
        for (var i = 0u; i < p.job.space.w; i++) {
            let at_z = z0 + i * p.job.reach.x;
            let in_space = at_z < p.job.space.x;
            let plane_begin = begin + at_z * p.job.input.x;
            for (var j = 0u; j < p.job.outer.y; j++) {
                let at_y = y0 + j * p.job.reach.y;
                // region take
                let t0 = in_space && at_y < p.job.space.y;
                let row0 = plane_begin + at_y * p.job.input.y + edge;
                let e0_0 = select(least(), lift(head_0(select(begin, row0, t0 && c0))), t0 && c0);
                let here = t0 && c1;
                let e0_1 = select(least(), lift(head_0(select(begin, row0 + 1u, here))), here);
                s0 = merge(s0, e0_0);
                s0 = merge(s0, e0_1);
                // end take
            }
        }
        let below = min(lines, stop - top);
        for (var line = 0u; line < below; line++) {
            let to = (plane * p.job.result.y + top + line) * p.job.result.z + 4u * x;
            // region store
            finish(to >> 2u, lower(s0));
            // end store
        }
    }
}
