// Sorts short rows in one step: the place of an item is how many come before it - those of a lower
// key, and those of the same key that came first. Each invocation counts for four items of a row.
override workgroup: u32 = 64u;

struct Params {
    rows: u32,
    length: u32, // items of a row
    fours: u32,  // of a row, the last perhaps not whole
    mask: u32,   // the bits of a key that count
    first_group: u32,
}
@group(1) @binding(0) var<uniform> p: Params;

// region operands
@group(0) @binding(0) var<storage, read> items: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> sorted: array<vec2<u32>>;
// end operands

fn word(i: u32) -> u32 {
    // region word
    return items[i].x;
    // end word
}

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

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = p.first_group + group.x + groups.x * group.y;
    let four = linear * workgroup + lane;
    let row = four / p.fours;
    if row >= p.rows {
        return;
    }
    let first = row * p.length;
    let own = vec4<u32>(4u * (four - row * p.fours)) + vec4<u32>(0u, 1u, 2u, 3u);
    // What lies beyond the end is counted for like the last, and written by nobody.
    let there = vec4<u32>(first) + min(own, vec4<u32>(p.length - 1u));
    let keys = vec4<u32>(word(there.x), word(there.y), word(there.z), word(there.w))
        & vec4<u32>(p.mask);
    var before = vec4<u32>();
    for (var i = 0u; i < p.length; i++) {
        let other = vec4<u32>(word(first + i) & p.mask);
        let came_first = (other == keys) & (vec4<u32>(i) < own);
        before += select(vec4<u32>(0u), vec4<u32>(1u), (other < keys) | came_first);
    }
    for (var j = 0u; j < 4u; j++) {
        if own[j] < p.length {
            put(first + before[j], first, item(there[j], first));
        }
    }
}
