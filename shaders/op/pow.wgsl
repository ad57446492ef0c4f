// Powers and the cube root, in f32: |x|^y = 2^(y log2 |x|), with the sign and the ends of C's pow.
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

// |x| = m 2^(3 q) with m from 1 to 8, by bits. A third of the bits of m is its root to 5 %; a step
// of Halley's leaves 6e-5 of that, one of Newton's 3e-9.
fn cbrt_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
    // A subnormal is its bits times 2^-149: twice as many times 2^-150.
    let tiny = bits < vec4<u32>(0x800000u);
    let b = select(bits, bitcast<vec4<u32>>(2.0 * vec4<f32>(bits)), tiny);
    // The exponent has a bias of 127: 43 thirds less 2.
    let e = (b >> vec4<u32>(23u)) + 2u;
    let thirds = e / 3u;
    let m_bits = (b & vec4<u32>(0x7fffffu)) | ((e - 3u * thirds + 127u) << vec4<u32>(23u));
    let m = bitcast<vec4<f32>>(m_bits);
    let guess = bitcast<vec4<f32>>(m_bits / 3u + 709958130u);
    let cube = guess * guess * guess;
    let near = guess * ((m + m + cube) / (m + cube + cube));
    let y = near - (near * near * near - m) / (3.0 * near * near);
    let q = thirds - 43u - select(vec4<u32>(0u), vec4<u32>(50u), tiny);
    let root = bitcast<vec4<f32>>(bitcast<vec4<u32>>(y) + (q << vec4<u32>(23u)));
    let itself = (bits == vec4<u32>(0u)) | (bits >= vec4<u32>(0x7f800000u));
    return select(copysign_f32(root, x), x, itself);
}

// region alone
fn copysign_f32(x: vec4<f32>, sign: vec4<f32>) -> vec4<f32> { return x; }
fn abs_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn exp2_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn is_inf_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn key(x: vec4<f32>) -> vec4<i32> { return vec4<i32>(0); }
fn log2_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
fn neg_f32(x: vec4<f32>) -> vec4<f32> { return x; }
// end alone
