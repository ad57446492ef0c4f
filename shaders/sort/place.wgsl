// Sort, last step of a round: every pair to its place. `starts` is where the pairs of each digit
// and block begin; each invocation walks one block in order, so equal keys keep theirs.
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
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read_write> sorted: array<vec2<u32>>;

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
    var next = array<u32, DIGITS>();
    for (var d = 0u; d < DIGITS; d++) {
        next[d] = starts[d * p.blocks + block];
    }
    let end = min((block + 1u) * BLOCK, p.count);
    for (var i = block * BLOCK; i < end; i++) {
        let pair = pairs[i];
        let digit = (pair.x >> p.bit) & (DIGITS - 1u);
        sorted[next[digit]] = pair;
        next[digit] += 1u;
    }
}
