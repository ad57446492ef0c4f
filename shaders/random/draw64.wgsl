// Draws of 64 bits, as in draw.wgsl.

// 53 bits of two streams as a fraction of one.
fn draw_uniform64(q: u32) -> vec4<f64> {
    let high = vec4<u64>(random_block(q, 0u)) << vec4<u32>(21u);
    let low = vec4<u64>(random_block(q, 1u)) >> vec4<u32>(11u);
    return vec4<f64>(high | low) * 1.1102230246251565e-16lf;
}

// region alone
fn random_block(q: u32, stream: u32) -> vec4<u32> { return vec4<u32>(q, stream, 0u, 0u); }
// end alone
