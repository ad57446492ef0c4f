// Running sums, first step: the sum of every block of numbers, one block to an invocation, four
// numbers at once. What lies behind the last number is in the last sum, which nobody needs.
override workgroup: u32 = 64u;

struct Params {
    count: u32, // numbers
    blocks: u32,
    each: u32,  // fours of a block
}
@group(1) @binding(0) var<uniform> p: Params;

@group(0) @binding(0) var<storage, read> numbers: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

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
    var sum = vec4<u32>();
    let end = min((block + 1u) * p.each, (p.count + 3u) / 4u);
    for (var q = block * p.each; q < end; q++) {
        sum += numbers[q];
    }
    sums[block] = sum.x + sum.y + sum.z + sum.w;
}
