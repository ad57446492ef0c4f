// The exponential and its kin, in f32.
//
// e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2; e^r is a polynomial fitted to 3e-9 of
// it, e^r - 1 one of cephes. ln 2 is taken off in two parts, the first so short that n times it is
// exact. Compilers put the parts together again (Mesa does, fast-math may); clearing a bit that is
// only set from 2 on stands between them, because nobody looks through it.
//
// Adding 1.5 * 2^23 to a whole number leaves it in the low bits, from where 2^n goes in by adding n
// to the exponent: by bits, where fast-math sees nothing to cancel.

struct Reduced {
    n: vec4<f32>,
    r: vec4<f32>,
}

fn exp_reduce(x: vec4<f32>) -> Reduced {
    let n = round(x * 1.44269504088896341);
    let less = bitcast<vec4<u32>>(fma(n, vec4<f32>(-0.693359375), x));
    let near = bitcast<vec4<f32>>(less & vec4<u32>(0xbfffffffu));
    return Reduced(n, fma(n, vec4<f32>(2.12194440e-4), near));
}

// e^r for |r| <= ln 2 / 2.
fn exp_small(r: vec4<f32>) -> vec4<f32> {
    var p = vec4<f32>(1.381453391e-3);
    p = fma(p, r, vec4<f32>(8.368746217e-3));
    p = fma(p, r, vec4<f32>(4.166839095e-2));
    p = fma(p, r, vec4<f32>(1.666652039e-1));
    p = fma(p, r, vec4<f32>(4.999999343e-1));
    p = fma(p, r, vec4<f32>(1.0));
    return fma(p, r, vec4<f32>(1.0));
}

// e^r - 1 for |r| <= ln 2 / 2.
fn expm1_small(r: vec4<f32>) -> vec4<f32> {
    var p = vec4<f32>(1.9875691500e-4);
    p = fma(p, r, vec4<f32>(1.3981999507e-3));
    p = fma(p, r, vec4<f32>(8.3334519073e-3));
    p = fma(p, r, vec4<f32>(4.1665795894e-2));
    p = fma(p, r, vec4<f32>(1.6666665459e-1));
    p = fma(p, r, vec4<f32>(5.0000001201e-1));
    return fma(p * r, r, r);
}

// y 2^n, for y from 0.7 to 1.42 and results that are normal.
fn scaled_by(y: vec4<f32>, n: vec4<f32>) -> vec4<f32> {
    let exponent = bitcast<vec4<i32>>(n + 12582912.0) << vec4<u32>(23u);
    return bitcast<vec4<f32>>(bitcast<vec4<i32>>(y) + exponent);
}

// 2^n for n from -126 to 127: the bias of the exponent, 127, is added beforehand.
fn pow2(n: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<i32>>(n + 12583039.0) << vec4<u32>(23u));
}

// e^x where it is normal, x from -87.33 to 88.72; something below the normal numbers down to -88.
fn exp_within(x: vec4<f32>) -> vec4<f32> {
    let e = exp_reduce(x);
    return scaled_by(exp_small(e.r), e.n);
}

// The ends of an exponential: 0 below the normal numbers, infinity above them, NaN of NaN. By bits:
// what lies beyond `high` in magnitude takes the greater bits of its own and those of infinity; and
// of that, what lies below `low` becomes 0.
fn exp_ends(y: vec4<f32>, x: vec4<f32>, low: f32, high: f32) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(x);
    let beyond = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(bitcast<u32>(high));
    let inside = select(bitcast<vec4<u32>>(y), max(bits, vec4<u32>(0x7f800000u)), beyond);
    // Minus infinity becomes the greatest integer, and no NaN comes near it.
    let from_top = bitcast<vec4<i32>>(bits + 0x807fffffu);
    let below = from_top > vec4<i32>(bitcast<i32>(bitcast<u32>(low) + 0x807fffffu));
    return bitcast<vec4<f32>>(select(inside, vec4<u32>(0u), below));
}

fn exp_f32(x: vec4<f32>) -> vec4<f32> {
    return exp_ends(exp_within(x), x, -87.336544, 88.722835);
}

// e^x / 2, which is finite a little longer.
fn half_exp(x: vec4<f32>) -> vec4<f32> {
    let e = exp_reduce(x);
    return exp_ends(scaled_by(exp_small(e.r), e.n - 1.0), x, -86.6434, 89.415985);
}

// 2^n is exact: only the fraction goes through e^x.
fn exp2_f32(x: vec4<f32>) -> vec4<f32> {
    let n = round(x);
    let r = (x - n) * 0.693147180559945309;
    return exp_ends(scaled_by(exp_small(r), n), x, -126.0, 127.999995);
}

// 2^n (e^r - 1) + (2^n - 1), with half the scale so that n = 128 exists.
fn expm1_f32(x: vec4<f32>) -> vec4<f32> {
    let e = exp_reduce(clamp(x, vec4<f32>(-30.0), vec4<f32>(89.0)));
    let s = pow2(e.n - 1.0);
    let y = 2.0 * fma(s, expm1_small(e.r), s - 0.5);
    let mended = select(y, x, abs(x) < vec4<f32>(1e-8));
    return nan_where(inf_where(mended, x > vec4<f32>(88.73)), is_nan_f32(x));
}

fn sinh_f32(x: vec4<f32>) -> vec4<f32> {
    let a = abs_f32(x);
    let m = expm1_f32(min(a, vec4<f32>(1.0)));
    let e = half_exp(a);
    let y = select(e - 0.25 / e, 0.5 * (m + m / (m + 1.0)), a < vec4<f32>(1.0));
    return copysign_f32(y, x);
}

fn cosh_f32(x: vec4<f32>) -> vec4<f32> {
    let e = half_exp(abs_f32(x));
    return e + 0.25 / e;
}

fn tanh_f32(x: vec4<f32>) -> vec4<f32> {
    // From 10 on it is 1.
    let m = expm1_f32(2.0 * min(abs_f32(x), vec4<f32>(10.0)));
    return nan_where(copysign_f32(m / (m + 2.0), x), is_nan_f32(x));
}

// region alone
fn abs_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn copysign_f32(x: vec4<f32>, sign: vec4<f32>) -> vec4<f32> { return x; }
fn inf_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
// end alone
