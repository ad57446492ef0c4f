// Four words that are sorted by their own value, which goes along with the key.

fn four(q: u32, first: u32) -> Four {
    let own = items[q];
    return Four(vec4<u32>(key(own.x), key(own.y), key(own.z), key(own.w)), own);
}

// region alone
struct Four {
    words: vec4<u32>,
    along: vec4<u32>,
}
@group(0) @binding(0) var<storage, read> items: array<vec4<u32>>;
fn key(word: u32) -> u32 { return word; }
// end alone
