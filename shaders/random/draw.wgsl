// What is made of random bits: a quad of each draw. `draw` in the parameters is said with each.

// Block q of a stream. The counter is (quad, quad >> 32, stream, 0).
fn random_block(q: u32, stream: u32) -> vec4<u32> {
    let low = p.key.z + q;
    let high = p.key.w + select(0u, 1u, low < q);
    return philox(vec4<u32>(low, high, stream, 0u), p.key.xy);
}

// The bits of a stream: its number.
fn draw_bits(q: u32) -> vec4<u32> {
    return random_block(q, p.draw.x);
}

// The highest bits as a fraction of one: how many are shifted out, the bits of the f32 that scales
// the rest.
fn draw_uniform(q: u32) -> vec4<f32> {
    let kept = random_block(q, 0u) >> vec4<u32>(p.draw.x);
    return vec4<f32>(kept) * bitcast<f32>(p.draw.y);
}

// Box and Muller: two normal numbers from two words, from 2^-32 to 1 and from 0 to a whole turn.
fn draw_normal(q: u32) -> vec4<f32> {
    let b = random_block(q, 0u);
    let r = sqrt_f32(max(-2.0 * ln_part(b.xxzz), vec4<f32>(0.0)));
    // A cosine is the sine a quarter on.
    return r * sin_part(b.yyww >> vec4<u32>(8u), vec4<u32>(1u, 0u, 1u, 0u));
}

// One of as many integers (0 for 2^32), from a lowest one on.
fn draw_below(q: u32) -> vec4<u32> {
    let a = random_block(q, 0u);
    let b = random_block(q, 1u);
    let n = p.draw.x;
    return vec4<u32>(part_of(a.x, b.x, n), part_of(a.y, b.y, n), part_of(a.z, b.z, n),
        part_of(a.w, b.w, n)) + vec4<u32>(p.draw.y);
}

// Whether the bits are below a threshold.
fn draw_chance(q: u32) -> vec4<bool> {
    return random_block(q, 0u) < vec4<u32>(p.draw.x);
}

// region alone
struct Params {
    key: vec4<u32>,
    draw: vec4<u32>,
}
@group(1) @binding(0) var<uniform> p: Params;
fn philox(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> { return counter; }
fn part_of(a: u32, b: u32, count: u32) -> u32 { return a; }
fn ln_part(bits: vec4<u32>) -> vec4<f32> { return vec4<f32>(bits); }
fn sqrt_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn sin_part(k: vec4<u32>, n: vec4<u32>) -> vec4<f32> { return vec4<f32>(k + n); }
// end alone
