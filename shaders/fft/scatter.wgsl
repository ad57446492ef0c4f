// How the numbers of a tile are stored where its lines are no rows, or two reals are a number.

// region alone
const lanes = 64u;
struct Job { line: vec4<u32>, run: vec4<u32>, beside: u32 }
struct Params { job: Job }
@group(1) @binding(0) var<uniform> p: Params;
var<workgroup> sh_tile: array<vec2<f32>, 2048>;
fn quotient(b: u32, part: f32) -> u32 { return u32(f32(b) * part); }
fn parted(a: vec2<f32>, b: vec2<f32>, k: u32) -> vec2<f32> { return a + b; }
fn leave(z: vec2<f32>, at: u32) -> vec2<f32> { return z; }
fn store(row: u32, at: u32, z: vec2<f32>) {}
// end alone

// Number k of line t.
fn store_of_line(row: u32, before: u32, t: u32, k: u32, z: vec2<f32>) {
    let at = before * p.job.line.x + t * p.job.beside + k * p.job.line.w;
    store(row, at, leave(z, at));
}

// Neighbouring lanes store the same number of neighbouring lines.
fn scatter_across(lane: u32, side: u32, row: u32, before: u32, begin: u32) {
    let mask = (1u << p.job.line.y) - 1u;
    for (var i = lane; i < p.job.line.x << p.job.line.y; i += lanes) {
        let t = begin + (i & mask);
        if t < p.job.run.x {
            store_of_line(row, before, t, i >> p.job.line.y, sh_tile[side + i]);
        }
    }
}

// Neighbouring lanes store neighbouring numbers of a line. Lines past the last are past the row, of
// which `store` takes nothing.
fn scatter_lines(lane: u32, side: u32, row: u32, before: u32, begin: u32) {
    let part = 1.0 / f32(p.job.line.x);
    for (var i = lane; i < p.job.line.x << p.job.line.y; i += lanes) {
        let c = quotient(i, part);
        let k = i - c * p.job.line.x;
        store_of_line(row, before, begin + c, k, sh_tile[side + (k << p.job.line.y) + c]);
    }
}

// The spectrum of numbers that hold two reals each, stored as half of that of the reals.
fn scatter_halves(lane: u32, side: u32, begin: u32) {
    let more = p.job.line.x + 1u;
    for (var i = lane; i < more << p.job.line.y; i += lanes) {
        let c = quotient(i, 1.0 / f32(more));
        let k = i - c * more;
        let row = begin + c;
        if row < p.job.run.x {
            let ahead = select(k, 0u, k == p.job.line.x);
            let behind = select(p.job.line.x - k, 0u, k == 0u);
            let a = sh_tile[side + (ahead << p.job.line.y) + c];
            let b = sh_tile[side + (behind << p.job.line.y) + c];
            store(row, k, leave(parted(a, b, k), k));
        }
    }
}
