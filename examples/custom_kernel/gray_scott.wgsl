// One step: `x` and `next` hold pairs, of how much there is of each chemical. Edges meet.

override SIDE: u32;
struct Rates { feed: f32, kill: f32, spread_u: f32, spread_v: f32 }
@group(0) @binding(0) var<uniform> rates: Rates;
@group(0) @binding(1) var<storage> x: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> next: array<vec2<f32>>;

fn at(column: u32, row: u32) -> vec2<f32> { return x[(row % SIDE) * SIDE + column % SIDE]; }

@compute @workgroup_size(8, 8)
fn step(@builtin(global_invocation_id) id: vec3<u32>) {
    let c = id.x + SIDE;
    let r = id.y + SIDE;
    let here = at(c, r);
    let straight = at(c - 1, r) + at(c + 1, r) + at(c, r - 1) + at(c, r + 1);
    let slanted = at(c - 1, r - 1) + at(c + 1, r - 1) + at(c - 1, r + 1) + at(c + 1, r + 1);
    let spread = 0.2 * straight + 0.05 * slanted - here;
    let made = here.x * here.y * here.y;
    let reacted = vec2(rates.feed * (1 - here.x) - made, made - (rates.feed + rates.kill) * here.y);
    next[id.y * SIDE + id.x] = here + vec2(rates.spread_u, rates.spread_v) * spread + reacted;
}
