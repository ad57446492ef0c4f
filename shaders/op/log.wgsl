// Logarithms and the inverse hyperbolic functions, in f32.
//
// x = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), by bits; ln(1 + f) is a polynomial
// (cephes), e ln 2 is added in two parts, the longer one exact. log1p hands its argument to the
// polynomial as f: nothing is lost to 1 + x.

fn log_poly(f: vec4<f32>, e: vec4<f32>) -> vec4<f32> {
    let z = f * f;
    var p = vec4<f32>(7.0376836292e-2);
    p = fma(p, f, vec4<f32>(-1.1514610310e-1));
    p = fma(p, f, vec4<f32>(1.1676998740e-1));
    p = fma(p, f, vec4<f32>(-1.2420140846e-1));
    p = fma(p, f, vec4<f32>(1.4249322787e-1));
    p = fma(p, f, vec4<f32>(-1.6668057665e-1));
    p = fma(p, f, vec4<f32>(2.0000714765e-1));
    p = fma(p, f, vec4<f32>(-2.4999993993e-1));
    p = fma(p, f, vec4<f32>(3.3333331174e-1));
    let low = fma(e, vec4<f32>(-2.12194440e-4), fma(p * f, z, -0.5 * z));
    // The clamp changes nothing, but keeps compilers from putting the two parts together again.
    return fma(e, vec4<f32>(0.693359375), f + clamp(low, vec4<f32>(-1.0), vec4<f32>(1.0)));
}

struct Parts {
    e: vec4<f32>,
    f: vec4<f32>,
}

// Of a positive finite x; a subnormal one is scaled by 2^32, or taken for its bits where hardware
// would flush it.
fn log_parts(x: vec4<f32>) -> Parts {
    let b = bitcast<vec4<u32>>(x);
    let tiny = b < vec4<u32>(0x800000u);
    let scaled = bitcast<vec4<u32>>(vec4<f32>(b));
    let m = select(b, scaled, tiny);
    // 0x3f3504f3 is sqrt(1/2): what is above counts to the next power.
    let e = bitcast<vec4<i32>>(m - vec4<u32>(0x3f3504f3u)) >> vec4<u32>(23u);
    let f = bitcast<vec4<f32>>(m - (bitcast<vec4<u32>>(e) << vec4<u32>(23u))) - 1.0;
    // A subnormal is its bits times 2^-149.
    return Parts(vec4<f32>(e - select(vec4<i32>(0), vec4<i32>(149), tiny)), f);
}

// Zero, infinity, negative and NaN, in this order.
fn log_ends(y: vec4<f32>, x: vec4<f32>) -> vec4<f32> {
    let zero = key(x) == vec4<i32>(0);
    let low = inf_where(select(y, vec4<f32>(-1.0), zero), zero);
    let high = select(low, x, is_inf_f32(x));
    return nan_where(high, (key(x) < vec4<i32>(0)) | is_nan_f32(x));
}

fn ln_f32(x: vec4<f32>) -> vec4<f32> {
    let parts = log_parts(x);
    return log_ends(log_poly(parts.f, parts.e), x);
}

// Of (bits + 1) / 2^32. Near one by what is missing, as log1p does: nothing of it is rounded away.
fn ln_part(bits: vec4<u32>) -> vec4<f32> {
    let near = bits >= vec4<u32>(0xb8000000u);
    let missing = u32_to_f32(~bits) * -2.3283064365386963e-10;
    let parts = log_parts((u32_to_f32(bits) + 1.0) * 2.3283064365386963e-10);
    return log_poly(select(parts.f, missing, near), select(parts.e, vec4<f32>(0.0), near));
}

// The whole part of the binary logarithm stays exact.
fn log2_f32(x: vec4<f32>) -> vec4<f32> {
    let parts = log_parts(x);
    let ln = log_poly(parts.f, vec4<f32>(0.0));
    let y = fma(ln, vec4<f32>(0.44269504088896341), ln) + parts.e;
    return log_ends(y, x);
}

fn log10_f32(x: vec4<f32>) -> vec4<f32> {
    let parts = log_parts(x);
    let ln = log_poly(parts.f, vec4<f32>(0.0));
    let low = fma(parts.e, vec4<f32>(4.6050389812e-6), ln * 0.434294481903251828);
    let near = clamp(low, vec4<f32>(-1.0), vec4<f32>(1.0));
    return log_ends(fma(parts.e, vec4<f32>(0.301025390625), near), x);
}

// ln(1 + t), given 1 + t, or ln(2 x) where it is to be doubled: by one polynomial.
fn log_beside(t: vec4<f32>, x: vec4<f32>, doubled: vec4<bool>) -> vec4<f32> {
    let near = (t > vec4<f32>(-0.29)) & (t < vec4<f32>(0.41));
    let parts = log_parts(x);
    let whole = parts.e + select(vec4<f32>(0.0), vec4<f32>(1.0), doubled);
    let f = select(parts.f, t, near);
    let y = log_ends(log_poly(f, select(whole, vec4<f32>(0.0), near)), x);
    return select(y, t, abs(t) < vec4<f32>(1e-8));
}

fn log1p_f32(x: vec4<f32>) -> vec4<f32> {
    return nan_where(log_beside(x, 1.0 + x, vec4<bool>(false)), is_nan_f32(x));
}

// ln(2 a) where a^2 could be infinite.
fn asinh_f32(x: vec4<f32>) -> vec4<f32> {
    let a = abs_f32(x);
    let c = min(a, vec4<f32>(1e4));
    let far = a > vec4<f32>(1e4);
    let t = c + c * c / (1.0 + sqrt_f32(1.0 + c * c));
    let y = log_beside(t, select(1.0 + t, a, far), far);
    return nan_where(copysign_f32(y, x), is_nan_f32(x));
}

fn acosh_f32(x: vec4<f32>) -> vec4<f32> {
    let c = min(x, vec4<f32>(1e4)) - 1.0;
    let far = x > vec4<f32>(1e4);
    let t = c + sqrt_f32(c * (2.0 + c));
    let y = log_beside(t, select(1.0 + t, x, far), far);
    return nan_where(y, (x < vec4<f32>(1.0)) | is_nan_f32(x));
}

fn atanh_f32(x: vec4<f32>) -> vec4<f32> {
    let a = abs_f32(x);
    let y = 0.5 * log1p_f32(2.0 * a / select(1.0 - a, vec4<f32>(1.0), a >= vec4<f32>(1.0)));
    let ends = nan_where(inf_where(y, a == vec4<f32>(1.0)), (a > vec4<f32>(1.0)) | is_nan_f32(x));
    return copysign_f32(ends, x);
}

// region alone
fn abs_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn copysign_f32(x: vec4<f32>, sign: vec4<f32>) -> vec4<f32> { return x; }
fn inf_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
fn is_inf_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn key(x: vec4<f32>) -> vec4<i32> { return vec4<i32>(0); }
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
fn sqrt_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn u32_to_f32(x: vec4<u32>) -> vec4<f32> { return vec4<f32>(x); }
// end alone
