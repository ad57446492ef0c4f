// Select: where the first k of each row of keys are, in the order in which they lie. Of equal keys
// those that lie first are taken.
//
// A workgroup takes a row. It finds the k-th key from its highest bits on, two at a time, by
// counting what lies below; then each lane walks a part of the row and names what is not behind
// that key. Trips: 16 for each word of a key, times length / (4 lanes); then twice a part.
// region lanes
const lanes = 256u;
// end lanes

struct Params {
    rows: u32,
    length: u32,     // keys of a row
    k: u32,          // at most the length
    part: u32,       // keys that a lane walks
    bits: vec2<u32>, // of each word of a key, the lowest first; the rest of a word is zero
}
@group(1) @binding(0) var<uniform> p: Params;

// region keys
const WORDS = 1u;
@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> places: array<u32>;

// A key's words, the lowest first.
fn key(i: u32) -> vec2<u32> { return vec2<u32>(keys[i], 0u); }
// end keys

var<workgroup> sh_counts: array<vec4<u32>, lanes>;

// What all lanes hold together. Every lane comes here.
fn added(lane: u32, own: vec4<u32>) -> vec4<u32> {
    workgroupBarrier();
    sh_counts[lane] = own;
    for (var reach = lanes / 2u; reach > 0u; reach /= 2u) {
        workgroupBarrier();
        if lane < reach {
            sh_counts[lane] += sh_counts[lane + reach];
        }
    }
    workgroupBarrier();
    return sh_counts[0];
}

// What the lanes before this one hold. Every lane comes here.
fn before(lane: u32, own: vec4<u32>) -> vec4<u32> {
    workgroupBarrier();
    sh_counts[lane] = own;
    for (var reach = 1u; reach < lanes; reach *= 2u) {
        workgroupBarrier();
        var other = vec4<u32>();
        if lane >= reach {
            other = sh_counts[lane - reach];
        }
        workgroupBarrier();
        sh_counts[lane] += other;
    }
    workgroupBarrier();
    return sh_counts[lane] - own;
}

// How many of four keys, as far as they count, lie below each of three bounds.
fn below(words: vec4<u32>, counts: vec4<bool>, bounds: vec3<u32>) -> vec3<u32> {
    let x = select(vec4<u32>(), vec4<u32>(1u), counts & (words < vec4<u32>(bounds.x)));
    let y = select(vec4<u32>(), vec4<u32>(1u), counts & (words < vec4<u32>(bounds.y)));
    let z = select(vec4<u32>(), vec4<u32>(1u), counts & (words < vec4<u32>(bounds.z)));
    let xy = vec2<u32>(x.x, y.x) + vec2<u32>(x.y, y.y) + vec2<u32>(x.z, y.z) + vec2<u32>(x.w, y.w);
    return vec3<u32>(xy, z.x + z.y + z.z + z.w);
}

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = group.x + groups.x * group.y;
    if row >= p.rows {
        return;
    }
    let first = row * p.length;
    let last = p.length - 1u;
    // The k-th key, as far as it is known, and how many lie below it.
    var limit = vec2<u32>();
    var less = 0u;
    for (var w = WORDS; w > 0u; w--) {
        let word = w - 1u;
        // Keys count whose higher word is the limit's.
        var bound = 0u;
        var under = 0u;
        for (var bit = (p.bits[word] + 1u) & 62u; bit > 0u; bit -= 2u) {
            let step = 1u << (bit - 2u);
            let bounds = vec3<u32>(bound) + step * vec3<u32>(1u, 2u, 3u);
            var own = vec3<u32>();
            for (var i = lane; i < p.length; i += 4u * lanes) {
                let at = vec4<u32>(i) + lanes * vec4<u32>(0u, 1u, 2u, 3u);
                let there = vec4<u32>(first) + min(at, vec4<u32>(last));
                let a = key(there.x);
                let b = key(there.y);
                let c = key(there.z);
                let d = key(there.w);
                let high = vec4<u32>(a.y, b.y, c.y, d.y);
                var counts = at <= vec4<u32>(last);
                if word == 0u {
                    counts = counts & (high == vec4<u32>(limit.y));
                    own += below(vec4<u32>(a.x, b.x, c.x, d.x), counts, bounds);
                } else {
                    own += below(high, counts, bounds);
                }
            }
            let all = added(lane, vec4<u32>(own, 0u)).xyz;
            // Bounds that the k-th key is not below.
            let passed = vec3<u32>(less) + all < vec3<u32>(p.k);
            bound = select(bound, bounds.x, passed.x);
            bound = select(bound, bounds.y, passed.y);
            bound = select(bound, bounds.z, passed.z);
            under = select(under, all.x, passed.x);
            under = select(under, all.y, passed.y);
            under = select(under, all.z, passed.z);
        }
        less += under;
        if word == 0u {
            limit.x = bound;
        } else {
            limit.y = bound;
        }
    }
    let begin = min(lane * p.part, p.length);
    let end = min(begin + p.part, p.length);
    var own = vec4<u32>();
    for (var i = begin; i < end; i++) {
        let here = key(first + i);
        let same = here.y == limit.y;
        own.x += u32(here.y < limit.y || (same && here.x < limit.x));
        own.y += u32(same && here.x == limit.x);
    }
    var so_far = before(lane, own);
    let ties = p.k - less;
    for (var i = begin; i < end; i++) {
        let here = key(first + i);
        let same = here.y == limit.y;
        let is_less = here.y < limit.y || (same && here.x < limit.x);
        let is_equal = same && here.x == limit.x;
        if is_less || (is_equal && so_far.y < ties) {
            places[row * p.k + so_far.x + min(so_far.y, ties)] = i;
        }
        so_far.x += u32(is_less);
        so_far.y += u32(is_equal);
    }
}
