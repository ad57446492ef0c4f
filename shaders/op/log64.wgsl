// Logarithms, the inverse hyperbolic functions and powers, in f64, as in log.wgsl and pow.wgsl.
//
// ln(1 + f) = 2 atanh(s) with s = f / (2 + f), which is f - (f^2 / 2 - s (f^2 / 2 + R(s^2)));
// e ln 2 is added in two parts, the first of 40 bits and exact. The polynomial is by
// tests/goldens/exact/polynomials.py, off by 9e-18.

fn log_poly_f64(f: vec4<f64>, e: vec4<f64>) -> vec4<f64> {
    let s = f / (2.0lf + f);
    let z = s * s;
    var p = vec4<f64>(0.1461703754879165lf);
    p = p * z + 0.1533167403016786lf;
    p = p * z + 0.18182890556695602lf;
    p = p * z + 0.2222221111514416lf;
    p = p * z + 0.2857142862609589lf;
    p = p * z + 0.3999999999989924lf;
    p = p * z + 0.666666666666667lf;
    let half = 0.5lf * f * f;
    let low = half - (s * (half + p * z) + e * 7.371002565167799e-13lf);
    // The clamp changes nothing, but keeps compilers from putting the two parts together again.
    return e * 0.6931471805592082lf + (f - clamp(low, vec4<f64>(-1.0lf), vec4<f64>(1.0lf)));
}

// Zero, infinity, negative and NaN, in this order.
fn log_ends_f64(y: vec4<f64>, x: vec4<f64>) -> vec4<f64> {
    let zero = x == vec4<f64>(0.0lf);
    let low = inf_where_f64(select(y, vec4<f64>(-1.0lf), zero), zero);
    let high = select(low, x, is_inf_f64(x));
    return nan_where_f64(high, (x < vec4<f64>(0.0lf)) | is_nan_f64(x));
}

fn ln_f64(x: vec4<f64>) -> vec4<f64> {
    let s = split_f64(x);
    return log_ends_f64(log_poly_f64(s.m - 1.0lf, vec4<f64>(s.e)), x);
}

// The whole part of the binary logarithm stays exact.
fn log2_f64(x: vec4<f64>) -> vec4<f64> {
    let s = split_f64(x);
    let ln = log_poly_f64(s.m - 1.0lf, vec4<f64>(0.0lf));
    return log_ends_f64((ln * 0.4426950408889634lf + ln) + vec4<f64>(s.e), x);
}

fn log10_f64(x: vec4<f64>) -> vec4<f64> {
    let s = split_f64(x);
    let e = vec4<f64>(s.e);
    let ln = log_poly_f64(s.m - 1.0lf, vec4<f64>(0.0lf));
    let low = e * 3.694239077158931e-13lf + ln * 0.4342944819032518lf;
    let near = clamp(low, vec4<f64>(-1.0lf), vec4<f64>(1.0lf));
    return log_ends_f64(e * 0.30102999566361177lf + near, x);
}

// Of 1 + t, which is x, or of 2 t: element by element, as e^x is.
fn log_beside_f64(t: vec4<f64>, x: vec4<f64>, doubled: vec4<bool>) -> vec4<f64> {
    return vec4<f64>(
        one_log_beside_f64(t.xxxx, x.xxxx, doubled.xxxx).x,
        one_log_beside_f64(t.yyyy, x.yyyy, doubled.yyyy).x,
        one_log_beside_f64(t.zzzz, x.zzzz, doubled.zzzz).x,
        one_log_beside_f64(t.wwww, x.wwww, doubled.wwww).x,
    );
}

fn one_log_beside_f64(t: vec4<f64>, x: vec4<f64>, doubled: vec4<bool>) -> vec4<f64> {
    let near = (t > vec4<f64>(-0.29lf)) & (t < vec4<f64>(0.41lf));
    let s = split_f64(x);
    let f = select(s.m - 1.0lf, t, near);
    let whole = vec4<f64>(s.e) + select(vec4<f64>(0.0lf), vec4<f64>(1.0lf), doubled);
    let y = log_ends_f64(log_poly_f64(f, select(whole, vec4<f64>(0.0lf), near)), x);
    return select(y, t, abs(t) < vec4<f64>(1e-17lf));
}

fn log1p_f64(x: vec4<f64>) -> vec4<f64> {
    return nan_where_f64(log_beside_f64(x, 1.0lf + x, vec4<bool>(false)), is_nan_f64(x));
}

fn asinh_f64(x: vec4<f64>) -> vec4<f64> {
    let a = abs(x);
    let c = min(a, vec4<f64>(1e9lf));
    let far = a > vec4<f64>(1e9lf);
    let t = c + c * c / (1.0lf + sqrt(1.0lf + c * c));
    let y = log_beside_f64(t, select(1.0lf + t, a, far), far);
    return nan_where_f64(copysign_f64(y, x), is_nan_f64(x));
}

fn acosh_f64(x: vec4<f64>) -> vec4<f64> {
    let c = min(x, vec4<f64>(1e9lf)) - 1.0lf;
    let far = x > vec4<f64>(1e9lf);
    let t = c + sqrt(c * (2.0lf + c));
    let y = log_beside_f64(t, select(1.0lf + t, x, far), far);
    return nan_where_f64(y, (x < vec4<f64>(1.0lf)) | is_nan_f64(x));
}

fn atanh_f64(x: vec4<f64>) -> vec4<f64> {
    let a = abs(x);
    let one = vec4<f64>(1.0lf);
    let y = 0.5lf * log1p_f64(2.0lf * a / select(1.0lf - a, one, a >= one));
    let ends = nan_where_f64(inf_where_f64(y, a == one), (a > one) | is_nan_f64(x));
    return copysign_f64(ends, x);
}

fn pow_f64(x: vec4<f64>, y: vec4<f64>) -> vec4<f64> {
    let low = vec2<f64>(one_pow_f64(x.xxxx, y.xxxx).x, one_pow_f64(x.yyyy, y.yyyy).x);
    let high = vec2<f64>(one_pow_f64(x.zzzz, y.zzzz).x, one_pow_f64(x.wwww, y.wwww).x);
    return vec4<f64>(low, high);
}

fn one_pow_f64(x: vec4<f64>, y: vec4<f64>) -> vec4<f64> {
    let r = one_exp2_f64(y * log2_f64(abs(x)));
    // Whatever is so large is whole, and even.
    let huge = abs(y) > vec4<f64>(1.3407807929942597e154lf);
    let whole = (trunc_f64(y) == y) | huge;
    let half = 0.5lf * y;
    let odd = whole & (trunc_f64(half) != half);
    let lost = (x < vec4<f64>(0.0lf)) & !whole & !is_inf_f64(x);
    let signed = select(r, -r, negative_f64(x) & odd);
    let p = nan_where_f64(signed, lost | is_nan_f64(x) | is_nan_f64(y));
    // x^0 and 1^y are 1 whatever the other one is; so is (-1)^inf. A subnormal exponent counts as
    // 0.
    let one = vec4<f64>(1.0lf);
    let unit = (x == one) | ((x == -one) & huge);
    return select(p, one, unit | (abs(y) < vec4<f64>(2.2250738585072014e-308lf)));
}

// region alone
fn copysign_f64(x: vec4<f64>, sign: vec4<f64>) -> vec4<f64> { return x; }
fn one_exp2_f64(x: vec4<f64>) -> vec4<f64> { return x; }
fn inf_where_f64(value: vec4<f64>, test: vec4<bool>) -> vec4<f64> { return value; }
fn is_inf_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
fn is_nan_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
fn nan_where_f64(value: vec4<f64>, test: vec4<bool>) -> vec4<f64> { return value; }
fn negative_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
struct Split64 {
    m: vec4<f64>,
    e: vec4<i32>,
}
fn split_f64(x: vec4<f64>) -> Split64 { return Split64(x, vec4<i32>(0)); }
fn trunc_f64(x: vec4<f64>) -> vec4<f64> { return x; }
// end alone
