// Running sums, last step: what comes before every number, from what comes before its block; one
// block to an invocation, four numbers at once. Nothing comes before a block that is the only one.
override workgroup: u32 = 64u;

struct Params {
    count: u32, // numbers
    blocks: u32,
    each: u32,  // fours of a block
}
@group(1) @binding(0) var<uniform> p: Params;

@group(0) @binding(0) var<storage, read> numbers: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> bases: array<u32>;
@group(0) @binding(2) var<storage, read_write> before: array<vec4<u32>>;

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
    var sum = 0u;
    if p.blocks > 1u {
        sum = bases[block];
    }
    let end = min((block + 1u) * p.each, (p.count + 3u) / 4u);
    for (var q = block * p.each; q < end; q++) {
        let four = numbers[q];
        let two = four.x + four.y;
        let three = two + four.z;
        before[q] = vec4<u32>(sum) + vec4<u32>(0u, four.x, two, three);
        sum += three + four.w;
    }
}
