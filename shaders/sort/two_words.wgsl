// Keys of two words each.

const WORDS = 2u;
@group(0) @binding(0) var<storage, read> low: array<u32>;
@group(0) @binding(1) var<storage, read> high: array<u32>;
@group(0) @binding(2) var<storage, read_write> places: array<u32>;

fn key(i: u32) -> vec2<u32> {
    return vec2<u32>(low[i], high[i]);
}
