// What kernels of weights in blocks share: a short sum, and a place in the result.
//
// region alone
struct Job {
    size: vec4<u32>,
    first: vec4<u32>,
    result: vec2<u32>,
}

struct Params {
    job: Job,
}
@group(1) @binding(0) var<uniform> p: Params;

fn finish(q: u32, x0: vec4<f32>) {}
// end alone

// The sum of the products of two quads: short, and independent of all other sums.
fn quad_sum(a: vec4<f32>, b: vec4<f32>) -> f32 {
    let c = a * b;
    return (c.x + c.y) + (c.z + c.w);
}

fn blockwise_store(row: u32, column: u32, x: vec4<f32>) {
    let q = ((p.job.first.x + row) * p.job.first.z + p.job.first.y + column) >> 2u;
    let inside = row < p.job.size.x && column < p.job.size.y;
    if inside && q - p.job.result.x < p.job.result.y {
        finish(q, x);
    }
}
