// Circular functions and their inverses, in f32.
//
// x = n pi/2 + r + low, pi/2 taken off in four parts of 8, 11, 11 and 24 bits: n times the first
// three is exact for |x| <= 8192, the stated domain, and so are the first two differences. What the
// third one rounds away is in `low`, and the fourth part. Beyond it the result keeps its range, not
// its meaning.
// Clamps that change nothing keep compilers from putting the parts together again. Polynomials from
// cephes.

struct Turned {
    n: vec4<i32>,
    r: vec4<f32>,
    low: vec4<f32>,
}

fn quarter_turns(x: vec4<f32>) -> Turned {
    let n = round(x * 0.636619772367581343);
    let far = clamp(fma(n, vec4<f32>(-1.5703125), x), vec4<f32>(-4.0), vec4<f32>(4.0));
    let near = fma(n, vec4<f32>(-4.837512969970703125e-4), far);
    let two = clamp(near, vec4<f32>(-2.0), vec4<f32>(2.0));
    let r = clamp(fma(n, vec4<f32>(-7.549533620476723e-8), two), vec4<f32>(-2.0), vec4<f32>(2.0));
    let taken = clamp(two - r, vec4<f32>(-1.0), vec4<f32>(1.0));
    let lost = fma(n, vec4<f32>(-7.549533620476723e-8), taken);
    let kept = clamp(lost, vec4<f32>(-1.0), vec4<f32>(1.0));
    let low = fma(n, vec4<f32>(-2.5633440682570896e-12), kept);
    return Turned(vec4<i32>(clamp(n, vec4<f32>(-1e9), vec4<f32>(1e9))), r, low);
}

fn sin_poly(r: vec4<f32>, low: vec4<f32>) -> vec4<f32> {
    let z = r * r;
    var p = fma(vec4<f32>(-1.9515295891e-4), z, vec4<f32>(8.3321608736e-3));
    p = fma(p, z, vec4<f32>(-1.6666654611e-1));
    return r + clamp(fma(p * z, r, low), vec4<f32>(-1.0), vec4<f32>(1.0));
}

fn cos_poly(r: vec4<f32>, low: vec4<f32>) -> vec4<f32> {
    let z = r * r;
    var p = fma(vec4<f32>(2.443315711809948e-5), z, vec4<f32>(-1.388731625493765e-3));
    p = fma(p, z, vec4<f32>(4.166664568298827e-2));
    let rest = clamp(fma(p * z, z, -r * low), vec4<f32>(-1.0), vec4<f32>(1.0));
    return fma(vec4<f32>(-0.5), z, vec4<f32>(1.0)) + rest;
}

// The sine n quarters on.
fn sin_turned(t: Turned, n: vec4<i32>) -> vec4<f32> {
    let odd = (n & vec4<i32>(1)) != vec4<i32>(0);
    let y = select(sin_poly(t.r, t.low), cos_poly(t.r, t.low), odd);
    let back = (n & vec4<i32>(2)) != vec4<i32>(0);
    return clamp(select(y, -y, back), vec4<f32>(-1.0), vec4<f32>(1.0));
}

// The sine of k / 2^24 of a whole turn, n quarters on. Quarters are taken off k, where nothing is
// rounded.
fn sin_part(k: vec4<u32>, n: vec4<u32>) -> vec4<f32> {
    let near = (k + 0x200000u) >> vec4<u32>(22u);
    let rest = vec4<f32>(bitcast<vec4<i32>>(k - (near << vec4<u32>(22u))));
    let t = Turned(bitcast<vec4<i32>>(near + n), rest * 3.7450702829238413e-7, vec4<f32>(0.0));
    return sin_turned(t, t.n);
}

fn sin_f32(x: vec4<f32>) -> vec4<f32> {
    let t = quarter_turns(x);
    return nan_where(sin_turned(t, t.n), !is_finite_f32(x));
}

fn cos_f32(x: vec4<f32>) -> vec4<f32> {
    let t = quarter_turns(x);
    return nan_where(sin_turned(t, t.n + vec4<i32>(1)), !is_finite_f32(x));
}

fn tan_f32(x: vec4<f32>) -> vec4<f32> {
    let t = quarter_turns(x);
    return nan_where(sin_turned(t, t.n) / sin_turned(t, t.n + vec4<i32>(1)), !is_finite_f32(x));
}

// Of |t| <= 1; above tan(pi/8) from the other side of pi/4.
fn atan_poly(t: vec4<f32>) -> vec4<f32> {
    let far = t > vec4<f32>(0.41421356);
    let r = select(t, (t - 1.0) / (t + 1.0), far);
    let z = r * r;
    var p = fma(vec4<f32>(8.05374449538e-2), z, vec4<f32>(-1.38776856032e-1));
    p = fma(p, z, vec4<f32>(1.99777106478e-1));
    p = fma(p, z, vec4<f32>(-3.33329491539e-1));
    return fma(p * z, r, r) + select(vec4<f32>(0.0), vec4<f32>(0.785398163397448310), far);
}

fn atan_f32(x: vec4<f32>) -> vec4<f32> {
    let a = abs_f32(x);
    let steep = a > vec4<f32>(1.0);
    let y = atan_poly(select(a, 1.0 / a, steep));
    return nan_where(copysign_f32(select(y, 1.57079632679489662 - y, steep), x), is_nan_f32(x));
}

fn atan2_f32(y: vec4<f32>, x: vec4<f32>) -> vec4<f32> {
    let a = abs_f32(y);
    let b = abs_f32(x);
    let high = max(a, b);
    // 0 / 0 counts as 0, inf / inf as 1.
    let ratio = div_f32(min(a, b), select(high, vec4<f32>(1.0), key(high) == vec4<i32>(0)));
    var r = atan_poly(select(ratio, vec4<f32>(1.0), is_inf_f32(a) & is_inf_f32(b)));
    r = select(r, 1.57079632679489662 - r, a > b);
    // By the sign bit: a negative zero lies to the left as well.
    r = select(r, 3.14159265358979324 - r, bitcast<vec4<i32>>(x) < vec4<i32>(0));
    return nan_where(copysign_f32(r, y), is_nan_f32(x) | is_nan_f32(y));
}

// arcsin of 0 <= t <= 1/2.
fn asin_poly(t: vec4<f32>) -> vec4<f32> {
    let z = t * t;
    var p = fma(vec4<f32>(4.2163199048e-2), z, vec4<f32>(2.4181311049e-2));
    p = fma(p, z, vec4<f32>(4.5470025998e-2));
    p = fma(p, z, vec4<f32>(7.4953002686e-2));
    p = fma(p, z, vec4<f32>(1.6666752422e-1));
    return fma(p * z, t, t);
}

// Above 1/2 by half the angle from the right: arccos(a) = 2 arcsin(sqrt((1 - a) / 2)).
fn asin_f32(x: vec4<f32>) -> vec4<f32> {
    let a = abs_f32(x);
    let far = a > vec4<f32>(0.5);
    let y = asin_poly(select(a, sqrt_f32(max(0.5 - 0.5 * a, vec4<f32>(0.0))), far));
    let r = copysign_f32(select(y, 1.57079632679489662 - 2.0 * y, far), x);
    return nan_where(r, (a > vec4<f32>(1.0)) | is_nan_f32(x));
}

fn acos_f32(x: vec4<f32>) -> vec4<f32> {
    let a = abs_f32(x);
    let far = a > vec4<f32>(0.5);
    let y = asin_poly(select(a, sqrt_f32(max(0.5 - 0.5 * a, vec4<f32>(0.0))), far));
    let near = 1.57079632679489662 - copysign_f32(y, x);
    let r = select(near, select(2.0 * y, 3.14159265358979324 - 2.0 * y, x < vec4<f32>(0.0)), far);
    return nan_where(r, (a > vec4<f32>(1.0)) | is_nan_f32(x));
}

// region alone
fn abs_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn copysign_f32(x: vec4<f32>, sign: vec4<f32>) -> vec4<f32> { return x; }
fn div_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> { return a; }
fn is_finite_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(true); }
fn is_inf_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn key(x: vec4<f32>) -> vec4<i32> { return vec4<i32>(0); }
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
fn sqrt_f32(x: vec4<f32>) -> vec4<f32> { return x; }
// end alone
