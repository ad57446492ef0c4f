// Which keys a query of attention sees: `span` of them, of which the first query's begin at
// `first`, and each other's one later. They may lie before all keys, or after them: words wrap, and
// what lies before the first is many after it.

// region alone
struct Job {
    keys: u32,
    first: u32,
    span: u32,
}
struct Params {
    job: Job,
}
@group(1) @binding(0) var<uniform> p: Params;
// end alone

fn seen(key: vec4<u32>, first: vec4<u32>) -> vec4<bool> {
    let span = select(vec4<u32>(), vec4<u32>(p.job.span), key < vec4<u32>(p.job.keys));
    return key - first < span;
}

// From the first key that the first of some queries sees up to behind the one that the last sees.
fn reached(first: u32, last: u32) -> vec2<u32> {
    let ends = vec2<i32>(vec2<u32>(first, last + p.job.span) + p.job.first);
    return vec2<u32>(clamp(ends, vec2<i32>(), vec2<i32>(i32(p.job.keys))));
}
