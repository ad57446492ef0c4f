// Rounding to an integer, and simple arithmetic that WGSL spells differently for scalars.

fn fract_f32(x: vec4<f32>) -> vec4<f32> {
    return x - floor(x);
}

// WGSL promises nothing of divisors beyond 2^126, whose reciprocals are subnormal: on NVIDIA's
// driver such quotients are zero. A quarter of both sides has the same quotient.
// A compiler that assumes neither NaN nor infinity takes x / x for 1 (Metal's, DX12's). Which
// quotients are none is seen by bits, and NaN made of the dividend's, which it does not know.
// It takes many quotients by one divisor for products with its reciprocal, which are other bits; so
// what is divided by is not the same for all dividends: a quarter of infinity is as good.
fn div_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let parted = !is_finite_f32(a) | (abs(b) > vec4<f32>(8.507059e37));
    let part = select(vec4<f32>(1.0), vec4<f32>(0.25), parted);
    let zero = (a == vec4<f32>(0.0)) & (b == vec4<f32>(0.0));
    let none = zero | !(is_finite_f32(a) | is_finite_f32(b));
    return select((a * part) / (b * part), nan_where(a, none), none);
}

// WGSL promises no more of `sqrt` than of 1 / inverseSqrt(x), which may be off by 6.5 ulp; Metal's
// is x inverseSqrt(x), off by 4.5. One step of Newton's leaves 1.2 at most: by how far x y^2 is
// from 1, which is not lost where x is tiny. Where x is not a positive normal number the driver
// has the answer.
fn sqrt_f32(x: vec4<f32>) -> vec4<f32> {
    let y = inverseSqrt(x);
    let near = x * y;
    let root = fma(0.5 * near, fma(-near, y, vec4<f32>(1.0)), near);
    let beyond = bitcast<vec4<u32>>(x) - vec4<u32>(0x00800000u);
    return select(sqrt(x), root, beyond < vec4<u32>(0x7f000000u));
}

// A quotient that is multiplied is none to a compiler that multiplies first: it sees no quotient.
fn recip_f32(x: vec4<f32>) -> vec4<f32> {
    return nan_where(1.0 / x, is_nan_f32(x));
}

fn rsqrt_f32(x: vec4<f32>) -> vec4<f32> {
    return held_f32(inverseSqrt(x));
}

fn square_f32(x: vec4<f32>) -> vec4<f32> {
    return x * x;
}

fn mul_add_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return a * b + c;
}

fn lerp_f32(a: vec4<f32>, b: vec4<f32>, t: vec4<f32>) -> vec4<f32> {
    return a + t * (b - held_f32(a));
}

fn hypot_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    // By the larger one, so that squares neither overflow nor vanish.
    let high = max_f32(abs_f32(a), abs_f32(b));
    let low = min_f32(abs_f32(a), abs_f32(b));
    let ratio = div_f32(low, max(high, vec4<f32>(1.1754944e-38)));
    return inf_where(abs_f32(high * sqrt_f32(1.0 + ratio * ratio)), is_inf_f32(a) | is_inf_f32(b));
}

// n less a multiple of d, the multiple cut to 12 bits and d taken in two halves, so that every
// product is exact. The clamp changes nothing, but keeps compilers from joining the halves.
fn rem_step(n: vec4<f32>, d: vec4<f32>) -> vec4<f32> {
    let q = bitcast<vec4<f32>>(bitcast<vec4<u32>>(trunc(div_f32(n, d))) & vec4<u32>(0xfffff000u));
    let high = bitcast<vec4<f32>>(bitcast<vec4<u32>>(d) & vec4<u32>(0xfffff000u));
    return clamp(n - q * high, -abs(n), abs(n)) - q * (d - high);
}

// The remainder of n >= 0 by d > 0. Three steps of 12 bits: what a quotient was rounded up by the
// next step takes back, and after the last one it is mended, as it is where it was rounded down.
fn rem_positive(n: vec4<f32>, d: vec4<f32>) -> vec4<f32> {
    var r = rem_step(n, d);
    r = rem_step(r, d);
    r = rem_step(r, d);
    r = select(r, r + d, r < vec4<f32>(0.0));
    r = select(r, r - d, r >= d);
    return select(r, n, n < d);
}

// A factor for small divisors, so that no part of them is subnormal and counts as zero.
fn rem_lift(b: vec4<f32>, factor: f32) -> vec4<f32> {
    return select(vec4<f32>(1.0), vec4<f32>(factor), abs_f32(b) < vec4<f32>(7.888609e-31));
}

fn rem_lacks(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return is_inf_f32(a) | (key(b) == vec4<i32>(0)) | is_nan_f32(a) | is_nan_f32(b);
}

// The remainder of the quotient rounded towards zero: the sign of a.
fn rem_trunc_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let up = rem_lift(b, 16777216.0);
    let r = rem_positive(abs_f32(a) * up, abs_f32(b) * up) * rem_lift(b, 5.9604644775390625e-8);
    return copysign_f32(nan_where(r, rem_lacks(a, b)), a);
}

// The remainder of the quotient rounded down: the sign of b, also where it is zero.
fn rem_floor_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let up = rem_lift(b, 16777216.0);
    let r = copysign_f32(rem_positive(abs_f32(a) * up, abs_f32(b) * up), a);
    let other = (r < vec4<f32>(0.0)) != (b < vec4<f32>(0.0));
    let moved = select(r, r + b * up, other) * rem_lift(b, 5.9604644775390625e-8);
    // Bits are chosen: FXC takes a float of a sign alone for 0.0.
    let zero = bitcast<vec4<u32>>(b) & vec4<u32>(0x80000000u);
    let bits = select(bitcast<vec4<u32>>(moved), zero, r == vec4<f32>(0.0));
    return nan_where(bitcast<vec4<f32>>(bits), rem_lacks(a, b));
}

// region alone
fn abs_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn copysign_f32(x: vec4<f32>, sign: vec4<f32>) -> vec4<f32> { return x; }
fn held_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn inf_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
fn is_finite_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(true); }
fn is_inf_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn key(x: vec4<f32>) -> vec4<i32> { return vec4<i32>(0); }
fn max_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> { return a; }
fn min_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> { return a; }
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
// end alone
