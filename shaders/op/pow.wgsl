// Powers, in f32: |x|^y = 2^(y log2 |x|), with the sign and the ends of C's pow.
//
// The error of the logarithm grows with y log2 |x|; so does the contract's bound.

fn pow_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let a = abs_f32(x);
    let r = exp2_f32(y * log2_f32(a));
    // From 2^24 on every float is even.
    let whole = (trunc(y) == y) | is_inf_f32(y);
    let half = 0.5 * y;
    let odd = whole & (abs_f32(y) < vec4<f32>(16777216.0)) & (trunc(half) != half);
    let negative = bitcast<vec4<i32>>(x) < vec4<i32>(0);
    var p = select(r, neg_f32(abs_f32(r)), negative & odd);
    p = nan_where(p, (key(x) < vec4<i32>(0)) & !whole & !is_inf_f32(x));
    p = nan_where(p, is_nan_f32(x) | is_nan_f32(y));
    // x^0 and 1^y are 1 whatever the other one is; so is (-1)^inf. A subnormal exponent counts as
    // 0.
    let unit = (x == vec4<f32>(1.0)) | ((x == vec4<f32>(-1.0)) & is_inf_f32(y));
    return select(p, vec4<f32>(1.0), unit | (abs_f32(y) < vec4<f32>(1.1754944e-38)));
}

// region alone
fn abs_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn exp2_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn is_inf_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn key(x: vec4<f32>) -> vec4<i32> { return vec4<i32>(0); }
fn log2_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
fn neg_f32(x: vec4<f32>) -> vec4<f32> { return x; }
// end alone
