// Sorts a short list in one step: the place of a pair is how many come before it - those of a lower
// key, and those of the same key that came first. Each invocation counts for four pairs.
override workgroup: u32 = 64u;

struct Params {
    count: u32, // pairs
    mask: u32,  // the bits of a key that count
}
@group(1) @binding(0) var<uniform> p: Params;

@group(0) @binding(0) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> sorted: array<vec2<u32>>;

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = group.x + groups.x * group.y;
    let first = 4u * (linear * workgroup + lane);
    if first >= p.count {
        return;
    }
    let own = vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u);
    // What lies beyond the end is counted for like the last, and written by nobody.
    let there = min(own, vec4<u32>(p.count - 1u));
    let four = array<vec2<u32>, 4>(
        pairs[there.x], pairs[there.y], pairs[there.z], pairs[there.w],
    );
    let keys = vec4<u32>(four[0].x, four[1].x, four[2].x, four[3].x) & vec4<u32>(p.mask);
    var before = vec4<u32>();
    for (var i = 0u; i < p.count; i++) {
        let other = vec4<u32>(pairs[i].x & p.mask);
        let came_first = (other == keys) & (vec4<u32>(i) < own);
        before += select(vec4<u32>(0u), vec4<u32>(1u), (other < keys) | came_first);
    }
    for (var j = 0u; j < 4u; j++) {
        if own[j] < p.count {
            sorted[before[j]] = four[j];
        }
    }
}
