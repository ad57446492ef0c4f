// Running sums, last step, as running.wgsl: a workgroup does a block, four numbers that follow each
// other to a lane. What the lanes before hold is summed over twice as many of them in each step,
// from one half of the memory to the other. A block has no more fours than there are lanes.
const lanes = 256u;

struct Params {
    count: u32, // numbers
    blocks: u32,
    each: u32,  // fours of a block
}
@group(1) @binding(0) var<uniform> p: Params;

@group(0) @binding(0) var<storage, read> numbers: array<u32>;
@group(0) @binding(1) var<storage, read> bases: array<u32>;
@group(0) @binding(2) var<storage, read_write> before: array<u32>;

var<workgroup> sh_sum: array<u32, 2u * lanes>;

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
    let begin = 4u * (block * p.each + lane);
    let end = min(begin + 4u, p.count);
    var held = 0u;
    for (var i = begin; i < end; i++) {
        held += numbers[i];
    }
    var sum = held;
    var side = 0u;
    sh_sum[lane] = sum;
    workgroupBarrier();
    for (var reach = 1u; reach < lanes; reach <<= 1u) {
        if lane >= reach {
            sum += sh_sum[side + lane - reach];
        }
        side = lanes - side;
        sh_sum[side + lane] = sum;
        workgroupBarrier();
    }
    if p.blocks > 1u {
        sum += bases[block];
    }
    sum -= held;
    for (var i = begin; i < end; i++) {
        before[i] = sum;
        sum += numbers[i];
    }
}
