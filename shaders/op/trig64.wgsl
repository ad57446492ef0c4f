// Circular functions and their inverses, in f64, as in trig.wgsl.
//
// x = n pi/2 + r + low, pi/2 taken off in four parts, of 33 bits but for the last: n times the
// first three is exact for |x| <= 2^20, more than the stated domain, and so is the first
// difference; what the second one rounds away is in `low`. Beyond it the result keeps its range,
// not its meaning.
// Clamps that change nothing keep compilers from putting the parts together again. The polynomials
// are by tests/goldens/exact/polynomials.py, off by less than 1e-17.

struct Turned64 {
    n: vec4<i32>,
    r: vec4<f64>,
    low: vec4<f64>,
}

fn within_f64(x: vec4<f64>) -> vec4<f64> {
    return clamp(x, vec4<f64>(-4.0lf), vec4<f64>(4.0lf));
}

fn quarter_turns_f64(x: vec4<f64>) -> Turned64 {
    let n = floor(x * 0.6366197723675814lf + 0.5lf);
    let far = within_f64(x - n * 1.5707963267341256lf);
    let near = within_f64(far - n * 6.077100506303966e-11lf);
    let lost = within_f64(within_f64(far - near) - n * 6.077100506303966e-11lf);
    let third = within_f64(lost - n * 2.0222662487111665e-21lf);
    let rest = within_f64(third - n * 8.4784276603689e-32lf);
    let r = within_f64(near + rest);
    let whole = vec4<i32>(clamp(n, vec4<f64>(-1e9lf), vec4<f64>(1e9lf)));
    return Turned64(whole, r, within_f64(near - r) + rest);
}

fn sin_poly_f64(r: vec4<f64>, low: vec4<f64>) -> vec4<f64> {
    let z = r * r;
    var p = vec4<f64>(-7.586682497157786e-13lf);
    p = p * z + 1.6058531370931902e-10lf;
    p = p * z - 2.505210623088241e-08lf;
    p = p * z + 2.755731921933466e-06lf;
    p = p * z - 0.0001984126984126506lf;
    p = p * z + 0.008333333333333331lf;
    p = p * z - 0.16666666666666666lf;
    return r + within_f64(p * z * r + low);
}

fn cos_poly_f64(r: vec4<f64>, low: vec4<f64>) -> vec4<f64> {
    let z = r * r;
    var p = vec4<f64>(4.7458637732829623e-14lf);
    p = p * z - 1.1470460749696862e-11lf;
    p = p * z + 2.0876755790210228e-09lf;
    p = p * z - 2.755731922140032e-07lf;
    p = p * z + 2.4801587301584642e-05lf;
    p = p * z - 0.0013888888888888887lf;
    p = p * z + 0.041666666666666664lf;
    return (1.0lf - 0.5lf * z) + within_f64(p * z * z - r * low);
}

// The sine n quarters on.
fn sin_turned_f64(t: Turned64, n: vec4<i32>) -> vec4<f64> {
    let odd = (n & vec4<i32>(1)) != vec4<i32>(0);
    let y = select(sin_poly_f64(t.r, t.low), cos_poly_f64(t.r, t.low), odd);
    return select(y, -y, (n & vec4<i32>(2)) != vec4<i32>(0));
}

fn sin_f64(x: vec4<f64>) -> vec4<f64> {
    let t = quarter_turns_f64(x);
    return nan_where_f64(sin_turned_f64(t, t.n), !is_finite_f64(x));
}

fn cos_f64(x: vec4<f64>) -> vec4<f64> {
    let t = quarter_turns_f64(x);
    return nan_where_f64(sin_turned_f64(t, t.n + vec4<i32>(1)), !is_finite_f64(x));
}

fn tan_f64(x: vec4<f64>) -> vec4<f64> {
    let t = quarter_turns_f64(x);
    let y = sin_turned_f64(t, t.n) / sin_turned_f64(t, t.n + vec4<i32>(1));
    return nan_where_f64(y, !is_finite_f64(x));
}

// Of |t| <= 1; above tan(pi/8) from the other side of pi/4.
fn atan_poly_f64(t: vec4<f64>) -> vec4<f64> {
    let far = t > vec4<f64>(0.41421356237309503lf);
    let r = select(t, (t - 1.0lf) / (t + 1.0lf), far);
    let z = r * r;
    var p = vec4<f64>(0.01627552168389342lf);
    p = p * z - 0.03456132296826231lf;
    p = p * z + 0.04551233844829568lf;
    p = p * z - 0.05230375457576669lf;
    p = p * z + 0.058789182929757273lf;
    p = p * z - 0.06666423954373413lf;
    p = p * z + 0.07692296323157785lf;
    p = p * z - 0.09090908751706075lf;
    p = p * z + 0.11111111105119366lf;
    p = p * z - 0.14285714285659457lf;
    p = p * z + 0.19999999999999804lf;
    p = p * z - 0.3333333333333333lf;
    let near = p * z * r + r;
    return near + select(vec4<f64>(0.0lf), vec4<f64>(0.7853981633974483lf), far);
}

fn atan_f64(x: vec4<f64>) -> vec4<f64> {
    let a = abs(x);
    let steep = a > vec4<f64>(1.0lf);
    let y = atan_poly_f64(select(a, 1.0lf / a, steep));
    let r = copysign_f64(select(y, 1.5707963267948966lf - y, steep), x);
    return nan_where_f64(r, is_nan_f64(x));
}

fn atan2_f64(y: vec4<f64>, x: vec4<f64>) -> vec4<f64> {
    let a = abs(y);
    let b = abs(x);
    let high = max(a, b);
    // 0 / 0 counts as 0, inf / inf as 1.
    let ratio = min(a, b) / select(high, vec4<f64>(1.0lf), high == vec4<f64>(0.0lf));
    let both = is_inf_f64(a) & is_inf_f64(b);
    var r = atan_poly_f64(select(ratio, vec4<f64>(1.0lf), both));
    r = select(r, 1.5707963267948966lf - r, a > b);
    r = select(r, 3.141592653589793lf - r, negative_f64(x));
    return nan_where_f64(copysign_f64(r, y), is_nan_f64(x) | is_nan_f64(y));
}

// arcsin of 0 <= t <= 1/2.
fn asin_poly_f64(t: vec4<f64>) -> vec4<f64> {
    let z = t * t;
    var p = vec4<f64>(0.029635026263548546lf);
    p = p * z - 0.019277545928584553lf;
    p = p * z + 0.019579201619744684lf;
    p = p * z + 0.0030350071727267636lf;
    p = p * z + 0.009322101501082774lf;
    p = p * z + 0.009621402747344831lf;
    p = p * z + 0.011566511821890942lf;
    p = p * z + 0.013963775787848137lf;
    p = p * z + 0.017352816768546473lf;
    p = p * z + 0.022372157435623815lf;
    p = p * z + 0.030381944475693704lf;
    p = p * z + 0.04464285714255019lf;
    p = p * z + 0.07500000000000119lf;
    p = p * z + 0.16666666666666666lf;
    return p * z * t + t;
}

// The arcsine of a, or of half the angle from the right, as in trig.wgsl.
fn asin_part_f64(a: vec4<f64>, far: vec4<bool>) -> vec4<f64> {
    let rest = sqrt(max(0.5lf - 0.5lf * a, vec4<f64>(0.0lf)));
    return asin_poly_f64(select(a, rest, far));
}

fn asin_f64(x: vec4<f64>) -> vec4<f64> {
    let a = abs(x);
    let far = a > vec4<f64>(0.5lf);
    let y = asin_part_f64(a, far);
    let r = copysign_f64(select(y, 1.5707963267948966lf - 2.0lf * y, far), x);
    return nan_where_f64(r, (a > vec4<f64>(1.0lf)) | is_nan_f64(x));
}

fn acos_f64(x: vec4<f64>) -> vec4<f64> {
    let a = abs(x);
    let far = a > vec4<f64>(0.5lf);
    let y = asin_part_f64(a, far);
    let near = 1.5707963267948966lf - copysign_f64(y, x);
    let left = 3.141592653589793lf - 2.0lf * y;
    let r = select(near, select(2.0lf * y, left, x < vec4<f64>(0.0lf)), far);
    return nan_where_f64(r, (a > vec4<f64>(1.0lf)) | is_nan_f64(x));
}

// region alone
fn copysign_f64(x: vec4<f64>, sign: vec4<f64>) -> vec4<f64> { return x; }
fn is_finite_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(true); }
fn is_inf_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
fn is_nan_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
fn nan_where_f64(value: vec4<f64>, test: vec4<bool>) -> vec4<f64> { return value; }
fn negative_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
// end alone
