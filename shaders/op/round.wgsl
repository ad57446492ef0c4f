// Rounding to an integer, and simple arithmetic that WGSL spells differently for scalars.

fn fract_f32(x: vec4<f32>) -> vec4<f32> {
    return x - floor(x);
}

fn recip_f32(x: vec4<f32>) -> vec4<f32> {
    return 1.0 / x;
}

fn square_f32(x: vec4<f32>) -> vec4<f32> {
    return x * x;
}

fn mul_add_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return a * b + c;
}

fn lerp_f32(a: vec4<f32>, b: vec4<f32>, t: vec4<f32>) -> vec4<f32> {
    return a + t * (b - a);
}

fn hypot_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    // By the larger one, so that squares neither overflow nor vanish.
    let high = max_f32(abs_f32(a), abs_f32(b));
    let low = min_f32(abs_f32(a), abs_f32(b));
    let ratio = low / max(high, vec4<f32>(1.1754944e-38));
    return inf_where(abs_f32(high * sqrt(1.0 + ratio * ratio)), is_inf_f32(a) | is_inf_f32(b));
}

// n less a multiple of d, the multiple cut to 12 bits and d taken in two halves, so that every
// product is exact. The clamp changes nothing, but keeps compilers from joining the halves.
fn rem_step(n: vec4<f32>, d: vec4<f32>) -> vec4<f32> {
    let q = bitcast<vec4<f32>>(bitcast<vec4<u32>>(trunc(n / d)) & vec4<u32>(0xfffff000u));
    let high = bitcast<vec4<f32>>(bitcast<vec4<u32>>(d) & vec4<u32>(0xfffff000u));
    return clamp(n - q * high, -n, n) - q * (d - high);
}

// The remainder of the quotient rounded towards zero: the sign of a. Three steps of 12 bits,
// each mended where its quotient had been rounded up.
fn rem_trunc_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let n = abs_f32(a);
    let d = abs_f32(b);
    var r = rem_step(n, d);
    r = select(r, r + d, r < vec4<f32>(0.0));
    r = rem_step(r, d);
    r = select(r, r + d, r < vec4<f32>(0.0));
    r = rem_step(r, d);
    r = select(r, r + d, r < vec4<f32>(0.0));
    r = select(r, n, n < d);
    let none = is_inf_f32(a) | (key(b) == vec4<i32>(0)) | is_nan_f32(a) | is_nan_f32(b);
    return copysign_f32(nan_where(r, none), a);
}

// The remainder of the quotient rounded down: the sign of b, also where it is zero.
fn rem_floor_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let r = rem_trunc_f32(a, b);
    let other = (r < vec4<f32>(0.0)) != (b < vec4<f32>(0.0));
    let zero = copysign_f32(vec4<f32>(0.0), b);
    return select(select(r, r + b, other), zero, r == vec4<f32>(0.0));
}

// region alone
fn abs_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn copysign_f32(x: vec4<f32>, sign: vec4<f32>) -> vec4<f32> { return x; }
fn inf_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
fn is_inf_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn key(x: vec4<f32>) -> vec4<i32> { return vec4<i32>(0); }
fn max_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> { return a; }
fn min_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> { return a; }
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
// end alone
