// Which scores count in attention_staged.wgsl.

// region alone
struct Job {
    queries: u32,
    keys: u32,
    sharing: u32,
    causal: u32,
}
struct Params {
    job: Job,
}
@group(1) @binding(0) var<uniform> p: Params;
alias Quad = vec4<f32>;
// end alone

// The first row that sees a key; none sees one after the last. The last queries are those that see
// the last keys.
fn first_row(key: u32) -> i32 {
    let own = i32(min(key, p.job.keys) + p.job.queries - p.job.keys) * i32(p.job.sharing);
    return select(select(0, own, p.job.causal == 1u), 0x7fffffff, key >= p.job.keys);
}

// A score as it counts: minus infinity where a row does not see the key, infinity where it is NaN.
// WGSL has no literal of them, and no constant.
fn counted(s: Quad, row: vec4<i32>, first: i32) -> Quad {
    let bits = bitcast<vec4<u32>>(s);
    let nan = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
    let clear = select(bits, vec4<u32>(0x7f800000u), nan);
    return bitcast<Quad>(select(vec4<u32>(0xff800000u), clear, row >= vec4(first)));
}

// How many keys are seen by a row.
fn seen_by(row: u32) -> u32 {
    let keys = p.job.keys;
    let queries = p.job.queries;
    let query = row / p.job.sharing;
    return select(keys, max(query + 1u + keys, queries) - queries, p.job.causal == 1u);
}
