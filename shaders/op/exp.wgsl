// The exponential and its kin, in f32.
//
// e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2; e^r - 1 is a polynomial (cephes). ln
// 2 is taken off in two parts, the first so short that n times it is exact. Compilers put the parts
// together again (Mesa does, fast-math may); a clamp that changes nothing stands between them,
// because nobody looks through it.

struct Reduced {
    n: vec4<f32>,
    // e^r - 1
    p: vec4<f32>,
}

fn exp_reduce(x: vec4<f32>) -> Reduced {
    let n = round(x * 1.44269504088896341);
    let near = clamp(fma(n, vec4<f32>(-0.693359375), x), vec4<f32>(-1.0), vec4<f32>(1.0));
    let r = fma(n, vec4<f32>(2.12194440e-4), near);
    var p = vec4<f32>(1.9875691500e-4);
    p = fma(p, r, vec4<f32>(1.3981999507e-3));
    p = fma(p, r, vec4<f32>(8.3334519073e-3));
    p = fma(p, r, vec4<f32>(4.1665795894e-2));
    p = fma(p, r, vec4<f32>(1.6666665459e-1));
    p = fma(p, r, vec4<f32>(5.0000001201e-1));
    return Reduced(n, fma(p * r, r, r));
}

// 2^n for n from -126 to 127.
fn pow2(n: vec4<i32>) -> vec4<f32> {
    return bitcast<vec4<f32>>((n + vec4<i32>(127)) << vec4<u32>(23u));
}

// e^x 2^k. The scale goes in by two steps: 2^n may lie outside f32 where the product does not.
fn exp_scaled(x: vec4<f32>, k: i32) -> vec4<f32> {
    let e = exp_reduce(clamp(x, vec4<f32>(-110.0), vec4<f32>(95.0)));
    let n = vec4<i32>(e.n) + vec4<i32>(k);
    let half = n >> vec4<u32>(1u);
    let y = (1.0 + e.p) * pow2(half) * pow2(n - half);
    return nan_where(inf_where(y, x > vec4<f32>(90.0)), is_nan_f32(x));
}

fn exp_f32(x: vec4<f32>) -> vec4<f32> {
    return exp_scaled(x, 0);
}

// 2^n is exact: only the fraction goes through e^x.
fn exp2_f32(x: vec4<f32>) -> vec4<f32> {
    let c = clamp(x, vec4<f32>(-160.0), vec4<f32>(130.0));
    let whole = round(c);
    let e = exp_reduce((c - whole) * 0.693147180559945309);
    let n = vec4<i32>(whole) + vec4<i32>(e.n);
    let half = n >> vec4<u32>(1u);
    let y = (1.0 + e.p) * pow2(half) * pow2(n - half);
    return nan_where(inf_where(y, x >= vec4<f32>(128.0)), is_nan_f32(x));
}

// 2^n (e^r - 1) + (2^n - 1), with half the scale so that n = 128 exists.
fn expm1_f32(x: vec4<f32>) -> vec4<f32> {
    let e = exp_reduce(clamp(x, vec4<f32>(-30.0), vec4<f32>(89.0)));
    let s = pow2(vec4<i32>(e.n) - vec4<i32>(1));
    let y = 2.0 * fma(s, e.p, s - 0.5);
    let mended = select(y, x, abs(x) < vec4<f32>(1e-8));
    return nan_where(inf_where(mended, x > vec4<f32>(88.73)), is_nan_f32(x));
}

fn sinh_f32(x: vec4<f32>) -> vec4<f32> {
    let a = abs_f32(x);
    let m = expm1_f32(min(a, vec4<f32>(1.0)));
    let e = exp_scaled(a, -1);
    let y = select(e - 0.25 / e, 0.5 * (m + m / (m + 1.0)), a < vec4<f32>(1.0));
    return copysign_f32(y, x);
}

fn cosh_f32(x: vec4<f32>) -> vec4<f32> {
    let e = exp_scaled(abs_f32(x), -1);
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
