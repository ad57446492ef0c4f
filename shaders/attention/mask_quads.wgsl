// A mask that lies by quads of keys.

fn mask_at(first: u32, far: vec4<u32>) -> vec4<f32> {
    return head_3((first + far.x) >> 2u);
}

// region alone
fn head_3(q: u32) -> vec4<f32> { return vec4<f32>(); }
// end alone
