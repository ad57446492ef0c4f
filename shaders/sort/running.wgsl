// Running sums, last step: what comes before every number, from what comes before its block; one
// block to an invocation.
override workgroup: u32 = 64u;
const BLOCK: u32 = 256u;

struct Params {
    count: u32, // numbers
    blocks: u32,
}
@group(1) @binding(0) var<uniform> p: Params;

@group(0) @binding(0) var<storage, read> numbers: array<u32>;
@group(0) @binding(1) var<storage, read> bases: array<u32>;
@group(0) @binding(2) var<storage, read_write> before: array<u32>;

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
    var sum = bases[block];
    let end = min((block + 1u) * BLOCK, p.count);
    for (var i = block * BLOCK; i < end; i++) {
        before[i] = sum;
        sum += numbers[i];
    }
}
