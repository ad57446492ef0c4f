// Four pairs of a word and what goes along with it, two to a load.

fn four(q: u32, first: u32) -> Four {
    let a = items[2u * q];
    let b = items[2u * q + 1u];
    return Four(vec4<u32>(a.xz, b.xz), vec4<u32>(a.yw, b.yw));
}

// region alone
struct Four {
    words: vec4<u32>,
    along: vec4<u32>,
}
@group(0) @binding(0) var<storage, read> items: array<vec4<u32>>;
// end alone
