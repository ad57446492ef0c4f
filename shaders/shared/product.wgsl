// Products of matrices: where a batch begins in both operands, where a workgroup's tile begins, and
// where a quad of the result goes.
//
// Trips: the dimensions of the batch, 8 at most.

// region alone
struct Job {
    size: vec4<u32>,
    first: vec4<u32>,
    result: vec4<u32>,
    step: vec4<u32>,
    batch: array<vec4<u32>, 6>,
}

struct Params {
    job: Job,
}
@group(1) @binding(0) var<uniform> p: Params;
@group(0) @binding(0) var<storage, read_write> out_0: array<vec4<f32>>;

alias Quad = vec4<f32>;

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q] = x0;
}
// end alone

// Where a batch begins in A and in B. Batches are counted from the first of this dispatch.
fn product_batch(b: u32) -> vec2<u32> {
    var rest = p.job.first.x + b;
    var at = vec2<u32>(0u);
    for (var d = 0u; d < 8u && rest > 0u; d++) {
        let n = p.job.batch[d >> 2u][d & 3u];
        let i = rest % n;
        at += i * vec2(p.job.batch[2u + (d >> 2u)][d & 3u], p.job.batch[4u + (d >> 2u)][d & 3u]);
        rest /= n;
    }
    return at;
}

// Where a batch begins, if all lie one step apart: llvmpipe takes as long to compile the loop above
// as eight rows of a tile.
fn product_batch_even(b: u32) -> vec2<u32> {
    return (p.job.first.x + b) * vec2(p.job.batch[2].x, p.job.batch[4].x);
}

// In bands of eight tiles of rows: workgroups that run at the same time share both operands in the
// caches. Workgroups past the last, of which a folded grid may have some, get a place past the
// edges.
fn product_tile(group: vec2<u32>, pitch: u32, tile: vec2<u32>) -> vec2<u32> {
    let i = group.x + pitch * group.y;
    let tiles = (p.job.size.xy + tile - 1u) / tile;
    let band = i / (8u * tiles.y);
    let high = clamp(tiles.x - min(8u * band, tiles.x), 1u, 8u);
    let rest = i - band * 8u * tiles.y;
    return tile * (vec2(8u * band, 0u) + vec2(rest % high, rest / high));
}

// Stores nothing past the edges, nor what lies in another segment: another dispatch does.
fn product_store(b: u32, row: u32, column: u32, x: Quad) {
    let rows_before = (p.job.first.x + b) * p.job.first.w + p.job.first.y;
    let q = ((rows_before + row) * p.job.result.x + p.job.first.z + column) >> 2u;
    let inside = row < p.job.size.x && column < p.job.size.y;
    if inside && q - p.job.result.y < p.job.result.z {
        finish(q, x);
    }
}
