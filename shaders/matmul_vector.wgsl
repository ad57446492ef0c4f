// Matmul of a few rows: as fast as B is read.
//
// A workgroup computes `rows` rows of so many columns; `across` lanes stand along the columns, the
// others along k, and each sums every so many quads of k. Then the lanes along k are put together
// in workgroup memory, by a tree. Where B is dense along k, all lanes stand along k and share their
// columns; where it is dense along its columns, a row of lanes reads a row of B: either way
// neighbours read neighbours.
//
// Workgroup memory is written before it is read. Trips: k / 4 / lanes along k, chunks, log2 lanes.
// The regions are what the generator writes; as it lies here there is one row.

// matmul.wgsl says what they mean.
struct Job {
    size: vec4<u32>,
    first: vec4<u32>,
    result: vec4<u32>,
    step: vec4<u32>,
    batch: array<vec4<u32>, 6>,
}

// region types
alias Quad = vec4<f32>;
const rows = 1u;
const quads = 1u;
// end types

// region team
const lanes = 64u;
const across = 16u;
// end team

fn place_of(lane: u32) -> vec2<u32> {
    // region place
    return vec2<u32>(lane % across, lane / across);
    // end place
}

// region params
struct Params {
    job: Job,
}
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out_0: array<vec4<f32>>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> {
    return in_0[q];
}

fn head_1(q: u32) -> vec4<f32> {
    return in_1[q];
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q] = x0;
}
// end functions

// region alone
fn product_batch(b: u32) -> vec2<u32> { return vec2<u32>(0u); }

fn product_store(b: u32, row: u32, column: u32, x: Quad) {
    finish(row * p.job.result.x + (column >> 2u), x);
}
// end alone

// Lanes along k.
const down = lanes / across;

var<workgroup> sh_sums: array<Quad, rows * quads * lanes>;

@compute @workgroup_size(lanes)
fn main(
    // region arguments
    // end arguments
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    // region batch
    let at = product_batch(group.z);
    // end batch
    let own = place_of(lane);
    let tile = group.x + groups.x * group.y;
    let down_tiles = (p.job.size.x + rows - 1u) / rows;
    let row = tile % down_tiles * rows;
    let column = (tile / down_tiles * across + own.x) * 4u * quads;
    let k_quads = (p.job.size.z + 3u) >> 2u;
    // region places
    let step = p.job.step;
    let size = p.job.size;
    let pa0 = at.x + min(row, size.x - 1u) * step.x;
    let pb0 = at.y + (min(column, size.y - 1u) >> 2u);
    // end places
    // region sums
    var t0_0 = Quad();
    // end sums
    for (var k = own.y; k < k_quads;) {
        let stop = min(k + p.job.size.w, k_quads);
        // region clear
        var s0_0 = Quad();
        // end clear
        for (; k < stop; k += down) {
            // region step
            let b0 = head_1(pb0 + (4u * k) * step.z);
            let b1 = head_1(pb0 + (4u * k + 1u) * step.z);
            let b2 = head_1(pb0 + (4u * k + 2u) * step.z);
            let b3 = head_1(pb0 + (4u * k + 3u) * step.z);
            let a0 = head_0(pa0 + k);
            s0_0 += a0.x * b0 + a0.y * b1 + a0.z * b2 + a0.w * b3;
            // end step
        }
        // region add
        t0_0 += s0_0;
        // end add
    }
    // region together
    let home = own.y * across + own.x;
    sh_sums[home] = t0_0;
    for (var reach = down / 2u; reach > 0u; reach /= 2u) {
        workgroupBarrier();
        if own.y < reach {
            let other = home + reach * across;
            sh_sums[home] += sh_sums[other];
        }
    }
    if own.y > 0u {
        return;
    }
    t0_0 = sh_sums[home];
    // end together
    // region store
    product_store(group.z, row, column, t0_0);
    // end store
}
