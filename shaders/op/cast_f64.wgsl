// Casts to and from f64, as in cast.wgsl.

fn f64_to_f32(x: vec4<f64>) -> vec4<f32> {
    return vec4<f32>(x);
}

// On the way to 16 bits: what f32 cannot hold makes its last bit odd, so that the second rounding
// decides alone.
fn f64_to_odd(x: vec4<f64>) -> vec4<f32> {
    let y = vec4<f32>(x);
    let back = vec4<f64>(y);
    let b = bitcast<vec4<u32>>(y);
    let even = (b & vec4<u32>(1u)) == vec4<u32>(0u);
    let toward = select(b + vec4<u32>(1u), b - vec4<u32>(1u), abs(back) > abs(x));
    let changed = even & (back != x) & is_finite_f32(y) & (abs(x) > vec4<f64>(1e-30lf));
    return bitcast<vec4<f32>>(select(b, toward, changed));
}

fn f64_to_bool(x: vec4<f64>) -> vec4<bool> {
    return (x != vec4<f64>(0.0lf)) | is_nan_f64(x);
}

// The whole part that an integer type can hold. Cut here: there and back is Mesa's own trunc, which
// is wrong on f64.
fn between_f64(x: vec4<f64>, low: f64, high: f64) -> vec4<f64> {
    let y = clamp(trunc_f64(x), vec4<f64>(low), vec4<f64>(high));
    return select(y, vec4<f64>(0.0lf), is_nan_f64(x));
}

fn f64_to_i32(x: vec4<f64>) -> vec4<i32> {
    return vec4<i32>(between_f64(x, -2147483648.0lf, 2147483647.0lf));
}

fn f64_to_u32(x: vec4<f64>) -> vec4<u32> {
    return vec4<u32>(between_f64(x, 0.0lf, 4294967295.0lf));
}

fn f32_to_f64(x: vec4<f32>) -> vec4<f64> {
    return vec4<f64>(x);
}

fn i32_to_f64(x: vec4<i32>) -> vec4<f64> {
    return vec4<f64>(x);
}

fn u32_to_f64(x: vec4<u32>) -> vec4<f64> {
    return vec4<f64>(x);
}

fn bool_to_f64(x: vec4<bool>) -> vec4<f64> {
    return select(vec4<f64>(0.0lf), vec4<f64>(1.0lf), x);
}

// region alone
fn trunc_f64(x: vec4<f64>) -> vec4<f64> { return x; }
fn is_nan_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
fn is_finite_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(true); }
// end alone
