// The exponential and its kin, in f64, as in exp.wgsl.
//
// ln 2 is taken off in two parts, the first of 40 bits: n times it is exact, with fma or without.
// The clamp changes nothing, but keeps compilers from putting the parts together again. The
// polynomial is by tests/goldens/exact/polynomials.py, off by 3e-19.

struct Reduced64 {
    n: vec4<i32>,
    r: vec4<f64>,
}

// A whole number below 2^24, by way of f32: from f64 it would be clamped by two constants of 64
// bits, for which Vega 10 has no registers left beside those of a power.
fn whole_f64(n: vec4<f64>) -> vec4<i32> {
    return vec4<i32>(vec4<f32>(n));
}

// Of x from -760 to 720.
fn exp_reduce_f64(x: vec4<f64>) -> Reduced64 {
    let n = floor(x * 1.4426950408889634lf + 0.5lf);
    let near = clamp(x - n * 0.6931471805592082lf, vec4<f64>(-1.0lf), vec4<f64>(1.0lf));
    return Reduced64(whole_f64(n), near - n * 7.371002565167799e-13lf);
}

// e^r - 1 for |r| <= ln 2 / 2.
fn expm1_small_f64(r: vec4<f64>) -> vec4<f64> {
    var p = vec4<f64>(2.0915581025151344e-09lf);
    p = p * r + 2.5105230170824773e-08lf;
    p = p * r + 2.755727122863106e-07lf;
    p = p * r + 2.7557255368562957e-06lf;
    p = p * r + 2.4801587327801084e-05lf;
    p = p * r + 0.0001984126987484558lf;
    p = p * r + 0.0013888888888882905lf;
    p = p * r + 0.008333333333326127lf;
    p = p * r + 0.04166666666666667lf;
    p = p * r + 0.1666666666666667lf;
    p = p * r + 0.5lf;
    return p * r * r + r;
}

// e^x 2^more, from 0 to infinity. Element by element, `one_exp_f64` of the same value four times,
// of which compilers keep one: with all four under way at once Battlemage ran half as many lanes,
// and what is made of exponentials spilled there.
fn exp_scaled_f64(x: vec4<f64>, more: i32) -> vec4<f64> {
    let low = vec2<f64>(one_exp_f64(x.xxxx, more).x, one_exp_f64(x.yyyy, more).x);
    return vec4<f64>(low, one_exp_f64(x.zzzz, more).x, one_exp_f64(x.wwww, more).x);
}

fn one_exp_f64(x: vec4<f64>, more: i32) -> vec4<f64> {
    let e = exp_reduce_f64(clamp(x, vec4<f64>(-760.0lf), vec4<f64>(720.0lf)));
    let y = scaled_f64(1.0lf + expm1_small_f64(e.r), e.n + vec4<i32>(more));
    return nan_where_f64(y, is_nan_f64(x));
}

fn exp_f64(x: vec4<f64>) -> vec4<f64> {
    return exp_scaled_f64(x, 0);
}

// 2^n is exact: only the fraction goes through e^x.
fn exp2_f64(x: vec4<f64>) -> vec4<f64> {
    let low = vec2<f64>(one_exp2_f64(x.xxxx).x, one_exp2_f64(x.yyyy).x);
    return vec4<f64>(low, one_exp2_f64(x.zzzz).x, one_exp2_f64(x.wwww).x);
}

fn one_exp2_f64(x: vec4<f64>) -> vec4<f64> {
    let c = clamp(x, vec4<f64>(-1090.0lf), vec4<f64>(1030.0lf));
    let n = floor(c + 0.5lf);
    let y = 1.0lf + expm1_small_f64((c - n) * 0.6931471805599453lf);
    return nan_where_f64(scaled_f64(y, whole_f64(n)), is_nan_f64(x));
}

// 2^n (e^r - 1) + (2^n - 1), with half the scale so that n = 1024 exists: beyond it is infinity.
fn expm1_f64(x: vec4<f64>) -> vec4<f64> {
    let e = exp_reduce_f64(clamp(x, vec4<f64>(-60.0lf), vec4<f64>(709.8lf)));
    let s = pow2_f64(e.n - vec4<i32>(1));
    let y = 2.0lf * (s * expm1_small_f64(e.r) + (s - 0.5lf));
    return nan_where_f64(select(y, x, abs(x) < vec4<f64>(1e-17lf)), is_nan_f64(x));
}

fn sinh_f64(x: vec4<f64>) -> vec4<f64> {
    let a = abs(x);
    let m = expm1_f64(min(a, vec4<f64>(1.0lf)));
    let e = exp_scaled_f64(a, -1);
    let near = 0.5lf * (m + m / (m + 1.0lf));
    return copysign_f64(select(e - 0.25lf / e, near, a < vec4<f64>(1.0lf)), x);
}

fn cosh_f64(x: vec4<f64>) -> vec4<f64> {
    let e = exp_scaled_f64(abs(x), -1);
    return e + 0.25lf / e;
}

fn tanh_f64(x: vec4<f64>) -> vec4<f64> {
    // From 20 on it is 1.
    let m = expm1_f64(2.0lf * min(abs(x), vec4<f64>(20.0lf)));
    return nan_where_f64(copysign_f64(m / (m + 2.0lf), x), is_nan_f64(x));
}

// region alone
fn copysign_f64(x: vec4<f64>, sign: vec4<f64>) -> vec4<f64> { return x; }
fn is_nan_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
fn nan_where_f64(value: vec4<f64>, test: vec4<bool>) -> vec4<f64> { return value; }
fn pow2_f64(n: vec4<i32>) -> vec4<f64> { return vec4<f64>(n); }
fn scaled_f64(y: vec4<f64>, n: vec4<i32>) -> vec4<f64> { return y; }
// end alone
