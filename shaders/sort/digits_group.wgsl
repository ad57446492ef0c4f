// Sort, first step of a round, as digits.wgsl: a workgroup counts a chunk. Nothing but sums is made
// in workgroup memory, so it does not matter who comes first.

struct Params {
    rows: u32,
    length: u32, // items of a row
    chunks: u32, // of a row
    each: u32,   // items of a chunk
    bit: u32,    // the digit's lowest
}
@group(1) @binding(0) var<uniform> p: Params;

// region operands
const DIGITS = 16u;
const lanes = 256u;
@group(0) @binding(0) var<storage, read> items: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
// end operands

fn word(i: u32) -> u32 {
    // region word
    return items[i].x;
    // end word
}

var<workgroup> sh_count: array<atomic<u32>, DIGITS>;

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let chunk = group.x + groups.x * group.y;
    let row = chunk / p.chunks;
    if row >= p.rows {
        return;
    }
    for (var d = lane; d < DIGITS; d += lanes) {
        atomicStore(&sh_count[d], 0u);
    }
    workgroupBarrier();
    let part = chunk - row * p.chunks;
    let begin = row * p.length + part * p.each;
    let end = min(begin + p.each, (row + 1u) * p.length);
    for (var i = begin + lane; i < end; i += lanes) {
        let digit = (word(i) >> p.bit) & (DIGITS - 1u);
        atomicAdd(&sh_count[digit], 1u);
    }
    workgroupBarrier();
    let to = row * DIGITS * p.chunks + part;
    for (var d = lane; d < DIGITS; d += lanes) {
        counts[to + d * p.chunks] = atomicLoad(&sh_count[d]);
    }
}
