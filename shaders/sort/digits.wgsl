// Sort, first step of a round: how often each digit - some bits of the key - occurs in each chunk
// of a row. An invocation counts a chunk, of which it reads four items at once; the counts of a row
// lie digit by digit.
override workgroup: u32 = 64u;

struct Params {
    rows: u32,
    length: u32, // items of a row
    chunks: u32, // of a row
    each: u32,   // items of a chunk
    bit: u32,    // the digit's lowest
}
@group(1) @binding(0) var<uniform> p: Params;

struct Four {
    words: vec4<u32>,
    along: vec4<u32>, // what goes along with them
}

// region operands
const DIGITS = 16u;
@group(0) @binding(0) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
// end operands

// region four
fn four(q: u32, first: u32) -> Four { return Four(items[q], vec4<u32>()); }
// end four

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
    for (var q = begin / 4u; 4u * q < end; q++) {
        let digit = (four(q, 0u).words >> vec4<u32>(p.bit)) & vec4<u32>(DIGITS - 1u);
        // Neighbours in the first four and in the last are of other chunks.
        let i = vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u);
        let own = select(
            vec4<u32>(), vec4<u32>(1u), (i >= vec4<u32>(begin)) & (i < vec4<u32>(end)),
        );
        count[digit.x] += own.x;
        count[digit.y] += own.y;
        count[digit.z] += own.z;
        count[digit.w] += own.w;
    }
    let to = row * DIGITS * p.chunks + part;
    for (var d = 0u; d < DIGITS; d++) {
        counts[to + d * p.chunks] = count[d];
    }
}
