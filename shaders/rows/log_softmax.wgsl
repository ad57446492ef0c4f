// The logarithm of a softmax.

fn value(x: vec4<f32>, m: f32, s: f32) -> vec4<f32> {
    return (x - m) - ln_f32(vec4<f32>(s));
}

// region alone
fn ln_f32(x: vec4<f32>) -> vec4<f32> { return log(x); }
// end alone
