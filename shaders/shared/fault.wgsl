// Elements that went wrong: those of a quad that lie in the window, not in its padding. A fault
// slot keeps their count and the complement of the first position: both only ever grow.

fn count_faults(bad: vec4<bool>, q: u32, count: u32) -> u32 {
    let inside = vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(count);
    let ones = select(vec4<u32>(0u), vec4<u32>(1u), bad & inside);
    return ones.x + ones.y + ones.z + ones.w;
}

// The complement of the first one's position, `base` being the window's own; 0 if there is none.
fn first_fault(bad: vec4<bool>, q: u32, count: u32, base: u32) -> u32 {
    let e = vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u);
    let first = select(vec4<u32>(0u), ~(e + base), bad & (e < vec4<u32>(count)));
    return max(max(first.x, first.y), max(first.z, first.w));
}
