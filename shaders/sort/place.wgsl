// Sort, last step of a round: every item to its place. `starts` is where the items of each digit
// and chunk begin; an invocation walks a chunk in order, so equal keys keep theirs.
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
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read_write> sorted: array<vec2<u32>>;
// end operands

fn put(at: u32, first: u32, item: vec2<u32>) {
    // region put
    sorted[at] = item;
    // end put
}

// region four
fn four(q: u32, first: u32) -> Four { return Four(items[q], vec4<u32>()); }
// end four

var<private> next: array<u32, DIGITS>;

fn place(first: u32, item: vec2<u32>) {
    let digit = (item.x >> p.bit) & (DIGITS - 1u);
    let at = next[digit];
    next[digit] = at + 1u;
    put(at, first, item);
}

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
    let first = row * p.length;
    let counted = row * DIGITS * p.chunks + part;
    for (var d = 0u; d < DIGITS; d++) {
        next[d] = starts[counted + d * p.chunks];
    }
    let begin = first + part * p.each;
    let end = min(begin + p.each, first + p.length);
    for (var q = begin / 4u; 4u * q < end; q++) {
        let own = four(q, first);
        // Neighbours in the first four and in the last are of other chunks.
        let i = vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u);
        let inside = (i >= vec4<u32>(begin)) & (i < vec4<u32>(end));
        if inside.x {
            place(first, vec2<u32>(own.words.x, own.along.x));
        }
        if inside.y {
            place(first, vec2<u32>(own.words.y, own.along.y));
        }
        if inside.z {
            place(first, vec2<u32>(own.words.z, own.along.z));
        }
        if inside.w {
            place(first, vec2<u32>(own.words.w, own.along.w));
        }
    }
}
