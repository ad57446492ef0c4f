// Where number `at` of a row comes from, as a pass of transforms takes it.

// region alone
struct Job { source: vec4<u32>, size: u32 }
struct Params { job: Job }
@group(1) @binding(0) var<uniform> p: Params;
fn head_0(q: u32) -> vec4<f32> { return vec4<f32>(f32(q)); }
fn head_1(q: u32) -> vec4<f32> { return vec4<f32>(f32(q)); }
fn back(a: vec2<f32>) -> vec2<f32> { return a; }
fn product(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> { return a * b; }
fn root(k: i32, whole: u32) -> vec2<f32> { return vec2<f32>(0.0); }
fn chirp(k: u32) -> vec2<f32> { return vec2<f32>(0.0); }
fn parted(a: vec2<f32>, b: vec2<f32>, k: u32) -> vec2<f32> { return a + b; }
// end alone

// A part of a number, `i` of all parts of the row.
fn part_within(row: u32, at: u32, part: u32, i: u32) -> f32 {
    let inside = i < p.job.source.w;
    let place = row * p.job.source.x + at * p.job.source.y + part * p.job.source.z;
    return select(0.0, head_0(select(0u, place, inside)).x, inside);
}

fn arrive_pair(row: u32, at: u32) -> vec2<f32> {
    return vec2<f32>(part_within(row, at, 0u, 2u * at), part_within(row, at, 1u, 2u * at + 1u));
}

fn arrive_real(row: u32, at: u32) -> vec2<f32> {
    return vec2<f32>(part_within(row, at, 0u, at), 0.0);
}

// The first and the last number of half of a spectrum of reals count as real.
fn real_ends(z: vec2<f32>, at: u32, n: u32) -> vec2<f32> {
    return vec2<f32>(z.x, select(z.y, 0.0, at == 0u || at == n));
}

// Half of a spectrum of reals, made the spectrum of the numbers that hold two reals each.
fn arrive_halved(row: u32, at: u32) -> vec2<f32> {
    let n = p.job.size;
    let a = real_ends(arrive_pair(row, at), at, n);
    let b = real_ends(arrive_pair(row, n - at), n - at, n);
    let even = vec2<f32>(a.x + b.x, a.y - b.y);
    let odd = vec2<f32>(a.x - b.x, a.y + b.y);
    let w = root(i32(at), 2u * n);
    return even - back(product(odd, vec2<f32>(w.x, -w.y)));
}

// Half of a spectrum of reals, made the whole one.
fn arrive_mirrored(row: u32, at: u32) -> vec2<f32> {
    let near = min(at, p.job.size - at);
    let z = real_ends(arrive_pair(row, near), near, 0u);
    return vec2<f32>(z.x, select(z.y, -z.y, near < at));
}

// The spectrum of numbers that hold two reals each, made half of that of the reals.
fn arrive_parted(row: u32, at: u32) -> vec2<f32> {
    let n = p.job.size;
    let a = arrive_pair(row, select(at, 0u, at == n));
    let b = arrive_pair(row, select(n - at, 0u, at == 0u));
    return parted(a, b, at);
}

// Pairs, times those of a filter.
fn arrive_filtered(row: u32, at: u32) -> vec2<f32> {
    return product(arrive_pair(row, at), vec2<f32>(head_1(2u * at).x, head_1(2u * at + 1u).x));
}

// The filter.
fn arrive_chirp(at: u32) -> vec2<f32> {
    let k = min(at, p.job.source.w - at);
    let z = chirp(k);
    return select(vec2<f32>(0.0), vec2<f32>(z.x, -z.y), k < p.job.size);
}
