// Gathering elements narrower than a word: element e of a packed tensor lies in word e / (elements
// per word). The word of each of four elements is handed in; the four elements come back as a
// quad's words.

fn join8(words: vec4<u32>, e: vec4<u32>) -> u32 {
    let b = (words >> ((e & vec4<u32>(3u)) * 8u)) & vec4<u32>(0xffu);
    return b.x | (b.y << 8u) | (b.z << 16u) | (b.w << 24u);
}

fn join16(words: vec4<u32>, e: vec4<u32>) -> vec2<u32> {
    let b = (words >> ((e & vec4<u32>(1u)) * 16u)) & vec4<u32>(0xffffu);
    return b.xz | (b.yw << vec2<u32>(16u));
}
