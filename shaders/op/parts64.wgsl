// Powers of two and exponents of f64, without its bits: f32 has those of a part of its range, from
// where products lead to the rest. Remainders and the cube root are made of them.

// 2^n of f32, for n from -126 to 127.
fn near_pow2_f64(n: vec4<i32>) -> vec4<f64> {
    return vec4<f64>(bitcast<vec4<f32>>((n + vec4<i32>(127)) << vec4<u32>(23u)));
}

// 2^n, for n from -1008 to 1023: the eighth power of what f32 has, and up to seven more.
fn pow2_f64(n: vec4<i32>) -> vec4<f64> {
    let one = near_pow2_f64(n >> vec4<u32>(3u));
    let two = one * one;
    let four = two * two;
    return (four * four) * near_pow2_f64(n & vec4<i32>(7));
}

// y 2^n, in two steps: 2^n alone may have left the range.
fn scaled_f64(y: vec4<f64>, n: vec4<i32>) -> vec4<f64> {
    let half = n >> vec4<u32>(1u);
    return (y * pow2_f64(half)) * pow2_f64(n - half);
}

struct Split64 {
    m: vec4<f64>,
    e: vec4<i32>,
}

fn moved_f64(s: Split64, test: vec4<bool>, factor: f64, by: i32) -> Split64 {
    let e = s.e + select(vec4<i32>(0), vec4<i32>(by), test);
    return Split64(select(s.m, s.m * factor, test), e);
}

// A positive finite x as m 2^e, m between sqrt(1/2) and sqrt(2), give or take the last bit of f32:
// by halves of the range into that of f32, whose bits have the rest.
fn split_f64(x: vec4<f64>) -> Split64 {
    var s = Split64(x, vec4<i32>(0));
    s = moved_f64(s, s.m > vec4<f64>(1.3407807929942597e154lf), 7.458340731200207e-155lf, 512);
    s = moved_f64(s, s.m > vec4<f64>(1.157920892373162e77lf), 8.636168555094445e-78lf, 256);
    s = moved_f64(s, s.m < vec4<f64>(7.458340731200207e-155lf), 1.3407807929942597e154lf, -512);
    s = moved_f64(s, s.m < vec4<f64>(8.636168555094445e-78lf), 1.157920892373162e77lf, -256);
    // By f32 what is above 2^100, or below 2^-100: no constants of 64 bits.
    let near = vec4<f32>(s.m);
    s = moved_f64(s, near > vec4<f32>(1.2676506e30f), 1.5930919111324523e-58lf, 192);
    s = moved_f64(s, near < vec4<f32>(7.888609e-31f), 6.277101735386681e57lf, -192);
    // 0x3f3504f3 is sqrt(1/2): what is above counts to the next power.
    let bits = bitcast<vec4<u32>>(vec4<f32>(s.m)) - vec4<u32>(0x3f3504f3u);
    let e = bitcast<vec4<i32>>(bits) >> vec4<u32>(23u);
    return Split64(s.m * near_pow2_f64(-e), s.e + e);
}

// n less a multiple of d, its first 12 bits, and d in two parts, so that every product is exact.
// The clamp changes nothing, but keeps compilers from joining the parts.
fn rem_step_f64(n: vec4<f64>, d: vec4<f64>) -> vec4<f64> {
    let quotient = floor(n / d);
    let order = bitcast<vec4<u32>>(vec4<f32>(quotient)) & vec4<u32>(0x7f800000u);
    let step = max(vec4<f64>(bitcast<vec4<f32>>(order)) * 4.8828125e-4lf, vec4<f64>(1.0lf));
    let q = floor(quotient / step) * step;
    let cut = bitcast<vec4<u32>>(vec4<f32>(d)) & vec4<u32>(0xfffffff0u);
    let high = vec4<f64>(bitcast<vec4<f32>>(cut));
    let less = clamp(n - q * high, vec4<f64>(-1e300lf), vec4<f64>(1e300lf));
    let r = less - q * (d - high);
    return select(r, r + d, r < vec4<f64>(0.0lf));
}

// The remainder of n >= 0 by d > 0, as in round.wgsl, with d scaled to one.
fn rem_positive_f64(n: vec4<f64>, d: vec4<f64>) -> vec4<f64> {
    let s = split_f64(d);
    var r = scaled_f64(n, -s.e);
    r = rem_step_f64(r, s.m);
    r = rem_step_f64(r, s.m);
    r = rem_step_f64(r, s.m);
    r = select(r, r - s.m, r >= s.m);
    return select(scaled_f64(r, s.e), n, n < d);
}

fn rem_lacks_f64(a: vec4<f64>, b: vec4<f64>) -> vec4<bool> {
    return is_inf_f64(a) | (b == vec4<f64>(0.0lf)) | is_nan_f64(a) | is_nan_f64(b);
}

fn rem_trunc_f64(a: vec4<f64>, b: vec4<f64>) -> vec4<f64> {
    let r = copysign_f64(rem_positive_f64(abs(a), abs(b)), a);
    return nan_where_f64(r, rem_lacks_f64(a, b));
}

fn rem_floor_f64(a: vec4<f64>, b: vec4<f64>) -> vec4<f64> {
    let r = copysign_f64(rem_positive_f64(abs(a), abs(b)), a);
    let other = (r < vec4<f64>(0.0lf)) != (b < vec4<f64>(0.0lf));
    let zero = copysign_f64(vec4<f64>(0.0lf), b);
    let moved = select(select(r, r + b, other), zero, r == vec4<f64>(0.0lf));
    return nan_where_f64(moved, rem_lacks_f64(a, b));
}

// Two quadratic steps beyond the root of f32 in one of Halley's.
fn cbrt_f64(x: vec4<f64>) -> vec4<f64> {
    let s = split_f64(abs(x));
    let above = bitcast<vec4<u32>>(s.e + vec4<i32>(3000));
    let thirds = above / 3u;
    let m = s.m * near_pow2_f64(bitcast<vec4<i32>>(above - 3u * thirds));
    let near = vec4<f64>(cbrt_f32(vec4<f32>(m)));
    let cube = near * near * near;
    let y = near - near * ((cube - m) / (cube + cube + m));
    let root = scaled_f64(y, bitcast<vec4<i32>>(thirds) - vec4<i32>(1000));
    let itself = (x == vec4<f64>(0.0lf)) | !is_finite_f64(x);
    return select(copysign_f64(root, x), x, itself);
}

// region alone
fn cbrt_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn copysign_f64(x: vec4<f64>, sign: vec4<f64>) -> vec4<f64> { return x; }
fn is_finite_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(true); }
fn is_inf_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
fn is_nan_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
fn nan_where_f64(value: vec4<f64>, test: vec4<bool>) -> vec4<f64> { return value; }
// end alone
