// Sort, first step of a round: how often each digit - four bits of the key - occurs in each block
// of pairs (key, position). Each invocation counts one block; the counts lie digit by digit.
override workgroup: u32 = 64u;
const BLOCK: u32 = 256u;
const DIGITS: u32 = 16u;

struct Params {
    count: u32, // pairs
    blocks: u32,
    bit: u32,   // the digit's lowest
}
@group(1) @binding(0) var<uniform> p: Params;

@group(0) @binding(0) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = group.x + groups.x * group.y;
    let block = linear * workgroup + lane;
    if block >= p.blocks {
        return;
    }
    var count = array<u32, DIGITS>();
    let end = min((block + 1u) * BLOCK, p.count);
    for (var i = block * BLOCK; i < end; i++) {
        let digit = (pairs[i].x >> p.bit) & (DIGITS - 1u);
        count[digit] += 1u;
    }
    for (var d = 0u; d < DIGITS; d++) {
        counts[d * p.blocks + block] = count[d];
    }
}
