// Counting elements that went wrong: those of a quad that lie in the tensor, not in its padding.

fn count_faults(bad: vec4<bool>, q: u32, count: u32) -> u32 {
    let inside = vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(count);
    let ones = select(vec4<u32>(0u), vec4<u32>(1u), bad & inside);
    return ones.x + ones.y + ones.z + ones.w;
}
