// Four words; their positions in the row that begins at `first` go along.

fn four(q: u32, first: u32) -> Four {
    return Four(items[q], vec4<u32>(4u * q - first) + vec4<u32>(0u, 1u, 2u, 3u));
}

// region alone
struct Four {
    words: vec4<u32>,
    along: vec4<u32>,
}
@group(0) @binding(0) var<storage, read> items: array<vec4<u32>>;
// end alone
