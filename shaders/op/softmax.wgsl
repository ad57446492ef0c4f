// What softmax and attention share.

// e^x for x of 0 and below; 0 from 87.3 below on, where the result would be subnormal. As in
// exp.wgsl, without its ends.
fn exp_below(x: vec4<f32>) -> vec4<f32> {
    let c = max(x, vec4<f32>(-88.0));
    let e = exp_reduce(c);
    let y = fma(e.p, pow2(vec4<i32>(e.n)), pow2(vec4<i32>(e.n)));
    return select(y, vec4<f32>(0.0), x < vec4<f32>(-87.3));
}

// Whether a row has no softmax: one of its values is NaN - then the highest of their magnitudes'
// bits are - or it is infinite, or all are minus infinity.
fn softmax_fault(bits: vec4<u32>, m: f32, s: f32) -> bool {
    let nan = any(bits > vec4<u32>(0x7f800000u));
    return nan | (bitcast<u32>(m) == 0x7f800000u) | (s == 0.0);
}

// region alone
struct Reduced {
    n: vec4<f32>,
    p: vec4<f32>,
}

fn exp_reduce(x: vec4<f32>) -> Reduced { return Reduced(x, x); }
fn pow2(n: vec4<i32>) -> vec4<f32> { return vec4<f32>(n); }
// end alone
