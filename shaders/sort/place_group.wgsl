// Sort, last step of a round, as place.wgsl: a workgroup places a chunk, each lane a part of it.
//
// How often each digit occurs in the parts of all lanes is counted first, two digits to a word: a
// chunk has fewer items than 2^16. What the lanes before hold of a digit is where a lane's begin.
//
//     lanes -> sums of eight lanes -> what comes before each eight -> before each lane

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
const lanes = 256u;
@group(0) @binding(0) var<storage, read> items: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read_write> sorted: array<vec2<u32>>;
// end operands

fn item(i: u32, first: u32) -> vec2<u32> {
    // region item
    return items[i];
    // end item
}

fn put(at: u32, first: u32, item: vec2<u32>) {
    // region put
    sorted[at] = item;
    // end put
}

const PAIRS = DIGITS / 2u;
const EIGHTS = lanes / 8u;

// Of each pair of digits, what every lane holds.
var<workgroup> sh_held: array<u32, PAIRS * lanes>;
var<workgroup> sh_eights: array<u32, PAIRS * EIGHTS>;

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let chunk = group.x + groups.x * group.y;
    let row = chunk / p.chunks;
    if row >= p.rows {
        return;
    }
    let part = chunk - row * p.chunks;
    let first = row * p.length;
    let end = min(first + part * p.each + p.each, first + p.length);
    let own = (p.each + lanes - 1u) / lanes;
    let begin = min(first + part * p.each + lane * own, end);
    let to = min(begin + own, end);
    for (var pair = 0u; pair < PAIRS; pair++) {
        sh_held[pair * lanes + lane] = 0u;
    }
    for (var i = begin; i < to; i++) {
        let digit = (item(i, first).x >> p.bit) & (DIGITS - 1u);
        sh_held[digit % PAIRS * lanes + lane] += 1u << (digit / PAIRS * 16u);
    }
    workgroupBarrier();
    for (var e = lane; e < PAIRS * EIGHTS; e += lanes) {
        var sum = 0u;
        for (var j = 0u; j < 8u; j++) {
            sum += sh_held[8u * e + j];
        }
        sh_eights[e] = sum;
    }
    workgroupBarrier();
    for (var e = lane; e < PAIRS * EIGHTS; e += lanes) {
        var sum = 0u;
        for (var other = e - e % EIGHTS; other < e; other++) {
            sum += sh_eights[other];
        }
        for (var j = 0u; j < 8u; j++) {
            let held = sh_held[8u * e + j];
            sh_held[8u * e + j] = sum;
            sum += held;
        }
    }
    workgroupBarrier();
    let counted = row * DIGITS * p.chunks + part;
    for (var i = begin; i < to; i++) {
        let moved = item(i, first);
        let digit = (moved.x >> p.bit) & (DIGITS - 1u);
        let place = digit % PAIRS * lanes + lane;
        let shift = digit / PAIRS * 16u;
        let before = (sh_held[place] >> shift) & 0xffffu;
        sh_held[place] += 1u << shift;
        put(starts[counted + digit * p.chunks] + before, first, moved);
    }
}
