// Sort, first step of a round: how often each digit - some bits of the key - occurs in each chunk
// of a row. An invocation counts a chunk; the counts of a row lie digit by digit.
override workgroup: u32 = 64u;

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
@group(0) @binding(0) var<storage, read> items: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
fn word(i: u32) -> u32 { return items[i].x; }
// end operands

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = group.x + groups.x * group.y;
    let chunk = linear * workgroup + lane;
    let row = chunk / p.chunks;
    if row >= p.rows {
        return;
    }
    let part = chunk - row * p.chunks;
    var count = array<u32, DIGITS>();
    let begin = row * p.length + part * p.each;
    let end = min(begin + p.each, (row + 1u) * p.length);
    for (var i = begin; i < end; i++) {
        let digit = (word(i) >> p.bit) & (DIGITS - 1u);
        count[digit] += 1u;
    }
    let to = row * DIGITS * p.chunks + part;
    for (var d = 0u; d < DIGITS; d++) {
        counts[to + d * p.chunks] = count[d];
    }
}
