// Running sums, first step, as sums.wgsl: a workgroup adds up a block, four numbers to a lane.
const lanes = 256u;

struct Params {
    count: u32, // numbers
    blocks: u32,
    each: u32,  // fours of a block
}
@group(1) @binding(0) var<uniform> p: Params;

@group(0) @binding(0) var<storage, read> numbers: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

var<workgroup> sh_sum: array<u32, lanes>;

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = group.x + groups.x * group.y;
    if block >= p.blocks {
        return;
    }
    var sum = 0u;
    let end = min(4u * (block + 1u) * p.each, p.count);
    for (var i = 4u * block * p.each + lane; i < end; i += lanes) {
        sum += numbers[i];
    }
    sh_sum[lane] = sum;
    workgroupBarrier();
    for (var half = lanes / 2u; half > 0u; half >>= 1u) {
        if lane < half {
            sh_sum[lane] += sh_sum[lane + half];
        }
        workgroupBarrier();
    }
    if lane == 0u {
        sums[block] = sh_sum[0];
    }
}
