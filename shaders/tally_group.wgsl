// Tally by groups: as tally, where totals are few. Each workgroup adds up a part of all values in
// its own memory first: of what a whole device adds to one number, one after the other waits.
struct Params {
    count: u32,   // values
    columns: u32, // of a key
    totals: u32,
    each: u32,    // values of a workgroup
}
@group(1) @binding(0) var<uniform> p: Params;

// region sizes
const TOTALS = 1024u;
const lanes = 256u;
// end sizes

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<atomic<u32>>;

var<workgroup> sh_totals: array<atomic<u32>, TOTALS>;

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    for (var at = lane; at < TOTALS; at += lanes) {
        atomicStore(&sh_totals[at], 0u);
    }
    workgroupBarrier();
    let begin = (group.x + groups.x * group.y) * p.each;
    let end = min(begin + p.each, p.count);
    for (var i = begin + lane; i < end; i += lanes) {
        let row = i / p.columns;
        let key = keys[row];
        // A key of all ones is nobody's.
        if key < p.totals / p.columns {
            atomicAdd(&sh_totals[key * p.columns + i - row * p.columns], values[i]);
        }
    }
    workgroupBarrier();
    for (var at = lane; at < p.totals; at += lanes) {
        let sum = atomicLoad(&sh_totals[at]);
        if sum != 0u {
            atomicAdd(&totals[at], sum);
        }
    }
}
