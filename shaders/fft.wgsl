// A pass of Fourier transforms: lines of complex numbers of a row, each in workgroup memory.
//
//     row             numbers t + across * j of a row are line t, of `length` numbers j
//     turned          by w^(j t), what passes before have left to do
//     steps           of radix 4, 2, 3, 5 or 7, each from one half of the memory to the other
//     stored          number k of line t: in order once all passes are done (Stockham)
//
// A tile is some lines that follow each other, number j of all side by side. All passes go forward:
// the way back swaps both parts of a number before and after. Trips: numbers of a tile.
// region lanes
const lanes = 64u;
const HALF = 1024u; // numbers of a tile, and of each half of the memory
// end lanes

struct Job {
    // From row to row, number to number, and part to part; how many parts a row has: others are 0.
    source: vec4<u32>,
    // Numbers of a line; lines of a tile, as a power of two; from number to number of a line; and
    // of the result.
    line: vec4<u32>,
    // Lines that follow each other; tiles of those; how many such runs a row has; in all.
    run: vec4<u32>,
    // Steps of radix 4, 2, 3, 5.
    steps: vec4<u32>,
    sevens: u32,
    // From line to line of the result, in a run.
    beside: u32,
    // Numbers of a row that is transformed, and those of it that are kept.
    size: u32,
    kept: u32,
    // Whether both parts are swapped, before and after; and what the result is multiplied by.
    swapped: u32,
    swaps: u32,
    scale: f32,
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

var<workgroup> sh_tile: array<vec2<f32>, 2u * HALF>;

// b / by, of b below 2^20, from 1 / by.
fn quotient(b: u32, part: f32) -> u32 {
    return u32((f32(b) + 0.5) * part);
}

fn product(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// a / i
fn back(a: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(a.y, -a.x);
}

// region roots
fn root(k: i32, whole: u32) -> vec2<f32> { return vec2<f32>(0.0); }
// end roots

// e^(-pi i k^2 / n): k^2 modulo 2 n, of which 32 bits are right.
fn chirp(k: u32) -> vec2<f32> {
    let whole = 2u * p.job.size;
    let turns = round(f32(k) * f32(k) / f32(whole));
    return root(bitcast<i32>(k * k - u32(turns) * whole), whole);
}

// What comes to E + w^k O, where a is E + i O at k and b at -k.
fn parted(a: vec2<f32>, b: vec2<f32>, k: u32) -> vec2<f32> {
    let even = vec2<f32>(a.x + b.x, a.y - b.y);
    let odd = back(vec2<f32>(a.x - b.x, a.y + b.y));
    return 0.5 * (even + product(odd, root(i32(k), 2u * p.job.size)));
}

fn arrive(row: u32, at: u32) -> vec2<f32> {
    // region arrive
    return vec2<f32>(head_0(row).x, head_0(at).x);
    // end arrive
}

fn swapped(z: vec2<f32>, swaps: u32) -> vec2<f32> {
    return select(z, z.yx, swaps != 0u);
}

fn enter(row: u32, at: u32) -> vec2<f32> {
    // region enter
    return swapped(arrive(row, at), p.job.swapped);
    // end enter
}
fn leave(z: vec2<f32>, at: u32) -> vec2<f32> {
    // region leave
    return p.job.scale * swapped(z, p.job.swaps);
    // end leave
}

fn store(row: u32, at: u32, z: vec2<f32>) {
    // region store
    if at < p.job.kept {
        let to = 2u * (row * p.job.kept + at);
        finish(to, vec4<f32>(z.x));
        finish(to + 1u, vec4<f32>(z.y));
    }
    // end store
}

// A butterfly: its first term, from term to term; its first result, from one to the next; its root.
struct Step { first: u32, apart: u32, to: u32, on: u32, k: i32, whole: u32 }

fn taken(b: u32, radix: u32, side: u32, width: u32) -> Step {
    let block = quotient(b, 1.0 / f32(width));
    let rest = b - block * width;
    let apart = (p.job.line.x << p.job.line.y) / radix;
    let to = HALF - side + block * width * radix + rest;
    let whole = (width >> p.job.line.y) * radix;
    return Step(side + b, apart, to, width, i32(rest >> p.job.line.y), whole);
}

// region radices
fn step_4(s: Step) { sh_tile[s.to] = root(s.k, s.whole); }
// end radices

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let linear = group.x + groups.x * group.y;
    let run = linear / p.job.run.y;
    if run >= p.job.run.w {
        return;
    }
    let begin = (linear - run * p.job.run.y) << p.job.line.y;
    let tile = p.job.line.x << p.job.line.y;
    let mask = (1u << p.job.line.y) - 1u;
    let part = 1.0 / f32(p.job.line.x);
    // region place
    let row = run / p.job.run.z;
    let before = (run - row * p.job.run.z) * p.job.run.x;
    // end place
    for (var i = lane; i < tile; i += lanes) {
        // region gather
        let c = quotient(i, part);
        let j = i - c * p.job.line.x;
        // end gather
        let t = begin + c;
        var z = vec2<f32>(0.0);
        if t < p.job.run.x {
            // region load
            z = enter(t, j);
            // end load
        }
        sh_tile[(j << p.job.line.y) + c] = z;
    }
    workgroupBarrier();
    var side = 0u;
    var width = 1u << p.job.line.y;
    // region steps
    for (var n = 0u; n < p.job.steps.x; n++) {
        for (var b = lane; b < tile / 4u; b += lanes) {
            step_4(taken(b, 4u, side, width));
        }
        workgroupBarrier();
        side = HALF - side;
        width *= 4u;
    }
    // end steps
    // region scatter
    for (var i = lane; i < tile; i += lanes) {
        let c = quotient(i, part);
        let k = i - c * p.job.line.x;
        let t = begin + c;
        if t < p.job.run.x {
            store(t, k, leave(sh_tile[side + (k << p.job.line.y) + c], k));
        }
    }
    // end scatter
}
