// What softmax and attention share.

// e^x for x of 0 and below; 0 from 87.3 below on, where the result would be subnormal. The builtin
// is within 3 + 2 |x| units in the last place: enough for a weight, and faster than exp.wgsl.
fn exp_below(x: vec4<f32>) -> vec4<f32> {
    return select(exp(x), vec4<f32>(0.0), x < vec4<f32>(-87.3));
}

// The lowest finite number; `few` is any number below 2^31. A compiler that thinks nothing is
// infinite takes the greater of the lowest and x for x, and minus infinity stays: it is not told
// which number this is.
fn lowest(few: u32) -> f32 {
    return bitcast<f32>(0xff7fffffu + (few >> 31u));
}

// Whether a row has no softmax: one of its values is NaN - then the highest of their magnitudes'
// bits are - or it is infinite, or all are minus infinity. A compiler that thinks nothing is
// infinite knows what is equal to infinity, but not what is no less.
fn softmax_fault(bits: vec4<u32>, m: f32, s: f32) -> bool {
    let nan = any(bits > vec4<u32>(0x7f800000u));
    return nan | (bitcast<i32>(m) >= 0x7f800000) | (s == 0.0);
}

// What a weighted sum of values stands for, by the highest score - infinite where a score was
// NaN - and the sum of weights.
fn attended(all: vec4<f32>, most: f32, sum: f32) -> vec4<f32> {
    let nan = vec4<bool>(bitcast<i32>(most) >= 0x7f800000);
    return nan_where(all * select(1.0 / sum, 0.0, sum == 0.0), nan);
}

// region alone
fn nan_where(x: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return x; }
// end alone
