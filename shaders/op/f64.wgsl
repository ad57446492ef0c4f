// f64, where the adapter has it: what is exact, or correctly rounded, or made of such. Only Vulkan
// knows the type, and there neither NaN nor subnormals are assumed away. Its bits are seen by way
// of f32, because not every adapter that has f64 has integers of 64 bits.

// By way of f32, where bits can be seen: Mesa takes x != x for false.
fn is_nan_f64(x: vec4<f64>) -> vec4<bool> {
    return is_nan_f32(vec4<f32>(x));
}

fn is_inf_f64(x: vec4<f64>) -> vec4<bool> {
    return is_inf_f32(vec4<f32>(x)) & (abs(x) > vec4<f64>(1.7976931348623157e308lf));
}

fn is_finite_f64(x: vec4<f64>) -> vec4<bool> {
    return !is_nan_f64(x) & !is_inf_f64(x);
}

// Mesa takes != for false as well, where there is a NaN.
fn ne_f64(a: vec4<f64>, b: vec4<f64>) -> vec4<bool> {
    return (a != b) | is_nan_f64(a) | is_nan_f64(b);
}

fn min_f64(a: vec4<f64>, b: vec4<f64>) -> vec4<f64> {
    return select(a, b, ((b < a) | is_nan_f64(b)) & !is_nan_f64(a));
}

fn max_f64(a: vec4<f64>, b: vec4<f64>) -> vec4<f64> {
    return select(a, b, ((b > a) | is_nan_f64(b)) & !is_nan_f64(a));
}

fn clamp_f64(x: vec4<f64>, low: vec4<f64>, high: vec4<f64>) -> vec4<f64> {
    return min_f64(max_f64(x, low), high);
}

// Zeros and NaN stay themselves.
fn sign_f64(x: vec4<f64>) -> vec4<f64> {
    let up = select(x, vec4<f64>(1.0lf), x > vec4<f64>(0.0lf));
    return select(up, vec4<f64>(-1.0lf), x < vec4<f64>(0.0lf));
}

fn fract_f64(x: vec4<f64>) -> vec4<f64> {
    return x - floor(x);
}

fn recip_f64(x: vec4<f64>) -> vec4<f64> {
    return vec4<f64>(1.0lf) / x;
}

fn rsqrt_f64(x: vec4<f64>) -> vec4<f64> {
    return vec4<f64>(1.0lf) / sqrt(x);
}

fn square_f64(x: vec4<f64>) -> vec4<f64> {
    return x * x;
}

fn relu_f64(x: vec4<f64>) -> vec4<f64> {
    return select(x, vec4<f64>(0.0lf), x < vec4<f64>(0.0lf));
}

fn leaky_relu_f64(x: vec4<f64>, slope: vec4<f64>) -> vec4<f64> {
    return select(x, x * slope, x < vec4<f64>(0.0lf));
}

fn mul_add_f64(a: vec4<f64>, b: vec4<f64>, c: vec4<f64>) -> vec4<f64> {
    return a * b + c;
}

fn lerp_f64(a: vec4<f64>, b: vec4<f64>, t: vec4<f64>) -> vec4<f64> {
    return a + t * (b - a);
}

// By floor: llvmpipe's own trunc and round are wrong on f64.
fn trunc_f64(x: vec4<f64>) -> vec4<f64> {
    let whole = floor(abs(x));
    return select(whole, -whole, x < vec4<f64>(0.0lf));
}

// Ties to even.
fn round_f64(x: vec4<f64>) -> vec4<f64> {
    let down = floor(x);
    let rest = x - down;
    let half = down * vec4<f64>(0.5lf);
    let odd = floor(half) != half;
    let up = (rest > vec4<f64>(0.5lf)) | ((rest == vec4<f64>(0.5lf)) & odd);
    return select(down, down + vec4<f64>(1.0lf), up);
}

// By the sign of f32, which a zero has too.
fn negative_f64(x: vec4<f64>) -> vec4<bool> {
    return bitcast<vec4<i32>>(vec4<f32>(x)) < vec4<i32>(0);
}

// A magnitude, with the sign of another.
fn copysign_f64(x: vec4<f64>, sign: vec4<f64>) -> vec4<f64> {
    return select(x, -x, negative_f64(sign));
}

// The value itself, by a way that no compiler sees through.
fn held_f64(x: vec4<f64>) -> vec4<f64> {
    return nan_where_f64(x, is_nan_f64(x));
}

// NaN, or an infinity of the value's sign, where `test`.
fn nan_where_f64(value: vec4<f64>, test: vec4<bool>) -> vec4<f64> {
    return select(value, vec4<f64>(nan_where(vec4<f32>(value), vec4<bool>(true))), test);
}

fn inf_where_f64(value: vec4<f64>, test: vec4<bool>) -> vec4<f64> {
    return select(value, vec4<f64>(inf_where(vec4<f32>(value), vec4<bool>(true))), test);
}

fn hypot_f64(a: vec4<f64>, b: vec4<f64>) -> vec4<f64> {
    // By the larger one, so that squares neither overflow nor vanish.
    let high = max_f64(abs(a), abs(b));
    let ratio = min_f64(abs(a), abs(b)) / max(high, vec4<f64>(2.2250738585072014e-308lf));
    return abs(inf_where_f64(high * sqrt(1.0lf + ratio * ratio), is_inf_f64(a) | is_inf_f64(b)));
}

// region alone
fn inf_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
fn is_inf_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
// end alone
