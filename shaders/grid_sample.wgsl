// Grid sample: Y[n, c, y, x] is X[n, c] at the place that G[n, y, x] names, of the elements there.
//
// An invocation takes four pixels that follow each other: it finds their places once, and then
// walks its share of the channels. The image and the grid are read where they lie.
//
// A place is counted in elements: `reach` from the middle of the image at 1. What has no weight
// does not count, be it infinite; a place that is NaN gives NaN. Trips: channels, and four.
override workgroup: u32 = 64u;

struct Job {
    // Quads of pixels: of all images, of one. Pixels: of an image, of a line.
    tiles: vec4<u32>,
    // Channels: of all, of an invocation. Invocations for all of them.
    channels: vec4<u32>,
    // From image to image, channel to channel, line to line, and along a line.
    input: vec4<u32>,
    // From grid to grid, line to line, along a line, and from x to y.
    grid: vec4<u32>,
    // The size of an image, and how far from its middle 1 lies.
    columns: u32,
    lines: u32,
    reach_x: f32,
    reach_y: f32,
    // What lies beside it, where that is a number.
    around: f32,
}

// region params
struct Params { job: Job }
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<f32>;
@group(0) @binding(1) var<storage, read> in_1: array<f32>;
@group(0) @binding(2) var<storage, read_write> out_0: array<vec4<f32>>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> { return vec4<f32>(in_0[q]); }
fn head_1(q: u32) -> vec4<f32> { return vec4<f32>(in_1[q]); }
fn finish(q: u32, x0: vec4<f32>) { out_0[q] = x0; }
// end functions

// Four elements of the input, or of the grid, wherever they lie.
fn four_0(at: vec4<u32>) -> vec4<f32> {
    let left_two = vec2<f32>(head_0(at.x).x, head_0(at.y).x);
    return vec4<f32>(left_two, head_0(at.z).x, head_0(at.w).x);
}

fn four_1(at: vec4<u32>) -> vec4<f32> {
    let left_two = vec2<f32>(head_1(at.x).x, head_1(at.y).x);
    return vec4<f32>(left_two, head_1(at.z).x, head_1(at.w).x);
}

// region alone
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn nan_where(x: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return x; }
// end alone

// A g beyond 4 lies outside the image, as 4 does; with a reach of 0 every g is on the only element.
fn place_by_number(g: vec4<f32>, reach: f32, size: u32) -> vec4<f32> {
    return clamp(g, vec4<f32>(-4.0), vec4<f32>(4.0)) * reach + 0.5 * f32(size - 1u);
}

fn place_by_ends(g: vec4<f32>, reach: f32, size: u32) -> vec4<f32> {
    return clamp(place_by_number(g, reach, size), vec4<f32>(0.0), vec4<f32>(f32(size - 1u)));
}

// From mirror to mirror lies twice the reach, which may be 0.
fn place_by_mirrors(g: vec4<f32>, reach: f32, size: u32) -> vec4<f32> {
    let both = max(4.0 * reach, 1.0);
    let begun = abs(g + 1.0) * reach;
    let rest = begun - both * floor(begun / both);
    let there = min(rest, both - rest) - reach + 0.5 * f32(size - 1u);
    return clamp(there, vec4<f32>(0.0), vec4<f32>(f32(size - 1u)));
}

fn place_by_copies(g: vec4<f32>, reach: f32, size: u32) -> vec4<f32> {
    let there = g * reach + 0.5 * f32(size - 1u);
    let rest = there - f32(size) * floor(there / f32(size));
    return clamp(rest, vec4<f32>(0.0), vec4<f32>(f32(size)));
}

// A negative number becomes one beyond the last element, so that `taps` finds it outside as well.
fn tap_by_number(i: vec4<i32>, size: u32) -> vec4<u32> {
    return vec4<u32>(i);
}

fn tap_by_ends(i: vec4<i32>, size: u32) -> vec4<u32> {
    return vec4<u32>(clamp(i, vec4<i32>(0), vec4<i32>(i32(size) - 1)));
}

fn tap_by_copies(i: vec4<i32>, size: u32) -> vec4<u32> {
    return tap_by_ends(select(i, i - i32(size), i >= vec4<i32>(i32(size))), size);
}

// Where a coordinate lies.
fn place(g: vec4<f32>, reach: f32, size: u32) -> vec4<f32> {
    // region place
    return place_by_number(g, reach, size);
    // end place
}

// The element of a whole number.
fn tap(i: vec4<i32>, size: u32) -> vec4<u32> {
    // region tap
    return tap_by_number(i, size);
    // end tap
}

// What is read where that is no element.
fn beside(x: vec4<f32>, inside: vec4<bool>) -> vec4<f32> {
    // region beside
    return select(vec4<f32>(p.job.around), x, inside);
    // end beside
}

// Which coordinates make NaN: infinite ones as well where the image repeats without end.
fn is_lost(g: vec4<f32>) -> vec4<bool> {
    // region lost
    return is_nan_f32(g);
    // end lost
}

// Elements of four lines and columns: where they lie in an image, and whether they are in it.
struct Taps {
    at: vec4<u32>,
    inside: vec4<bool>,
}

fn taps(line: vec4<u32>, column: vec4<u32>) -> Taps {
    let inside = (line < vec4<u32>(p.job.lines)) & (column < vec4<u32>(p.job.columns));
    let at = select(vec4<u32>(0u), line * p.job.input.z + column * p.job.input.w, inside);
    return Taps(at, inside);
}

fn elements(t: Taps, begin: u32) -> vec4<f32> {
    return beside(four_0(t.at + begin), t.inside);
}

fn weighted(x: vec4<f32>, weight: vec4<f32>) -> vec4<f32> {
    return select(x * weight, vec4<f32>(0.0), weight == vec4<f32>(0.0));
}

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let linear = group.x + groups.x * group.y;
    let share = linear % p.job.channels.z;
    let quad = linear / p.job.channels.z * workgroup + lane;
    if quad >= p.job.tiles.x {
        return;
    }
    let image = quad / p.job.tiles.y;
    let pixel = quad % p.job.tiles.y * 4u;
    let pixels = min(vec4<u32>(pixel) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.job.tiles.z - 1u));
    let line = pixels / p.job.tiles.w;
    let named = line * p.job.grid.y + pixels % p.job.tiles.w * p.job.grid.z;
    let gx = four_1(named + image * p.job.grid.x);
    let gy = four_1(named + image * p.job.grid.x + p.job.grid.w);
    let lost = is_lost(gx) | is_lost(gy);
    let x = place(gx, p.job.reach_x, p.job.columns);
    let y = place(gy, p.job.reach_y, p.job.lines);
    // region taps
    let x0 = floor(x);
    let y0 = floor(y);
    let left = tap(vec4<i32>(x0), p.job.columns);
    let right = tap(vec4<i32>(x0) + 1, p.job.columns);
    let above = tap(vec4<i32>(y0), p.job.lines);
    let below = tap(vec4<i32>(y0) + 1, p.job.lines);
    let a = taps(above, left);
    let b = taps(above, right);
    let c = taps(below, left);
    let d = taps(below, right);
    let far_x = x - x0;
    let far_y = y - y0;
    // end taps
    let stop = min(p.job.channels.x, (share + 1u) * p.job.channels.y);
    for (var channel = share * p.job.channels.y; channel < stop; channel++) {
        let begin = image * p.job.input.x + channel * p.job.input.y;
        // region blend
        var v = weighted(elements(a, begin), (1.0 - far_x) * (1.0 - far_y));
        v += weighted(elements(b, begin), far_x * (1.0 - far_y));
        v += weighted(elements(c, begin), (1.0 - far_x) * far_y);
        v += weighted(elements(d, begin), far_x * far_y);
        // end blend
        v = nan_where(v, lost);
        let to = (image * p.job.channels.x + channel) * p.job.tiles.z + pixel;
        // region store
        finish(to >> 2u, v);
        // end store
    }
}
