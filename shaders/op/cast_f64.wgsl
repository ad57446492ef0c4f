// Casts to and from f64, as in cast.wgsl. Newer Mesa counts subnormal numbers as zero in every
// conversion, so those of f32 are made of integers: f32 counts them in steps of 2^-149.

const NORMAL_F32 = 1.1754943508222875e-38lf;
const STEPS_F32 = 7.1362384635297994e44lf;
const STEP_F32 = 1.401298464324817e-45lf;

// The steps of a magnitude below the normal ones: whole, and whether more than half of one is left,
// or half, or anything.
struct Steps {
    whole: vec4<u32>,
    more: vec4<bool>,
    half: vec4<bool>,
    any: vec4<bool>,
}

fn steps_f64(x: vec4<f64>) -> Steps {
    let steps = min(abs(x), vec4<f64>(NORMAL_F32)) * STEPS_F32;
    let whole = vec4<u32>(steps);
    let rest = steps - vec4<f64>(whole);
    let half = vec4<f64>(0.5lf);
    return Steps(whole, rest > half, rest == half, rest > vec4<f64>(0.0lf));
}

fn tiny_f64(x: vec4<f64>) -> vec4<bool> {
    return (abs(x) < vec4<f64>(NORMAL_F32)) & (x != vec4<f64>(0.0lf));
}

fn signed_f64(bits: vec4<u32>, x: vec4<f64>) -> vec4<u32> {
    return select(bits, bits | vec4<u32>(0x80000000u), x < vec4<f64>(0.0lf));
}

fn f64_to_f32(x: vec4<f64>) -> vec4<f32> {
    let near = steps_f64(x);
    let up = near.more | (near.half & ((near.whole & vec4<u32>(1u)) == vec4<u32>(1u)));
    let tiny = signed_f64(near.whole + select(vec4<u32>(0u), vec4<u32>(1u), up), x);
    return bitcast<vec4<f32>>(select(bitcast<vec4<u32>>(vec4<f32>(x)), tiny, tiny_f64(x)));
}

// On the way to 16 or 8 bits: what f32 cannot hold makes its last bit odd, so that the second
// rounding decides alone.
fn f64_to_odd(x: vec4<f64>) -> vec4<f32> {
    let y = vec4<f32>(x);
    let b = bitcast<vec4<u32>>(y);
    // In two parts: newer Mesa takes what goes there and back for what it was.
    let high = bitcast<vec4<f32>>(b & vec4<u32>(0xfffff000u));
    let back = vec4<f64>(high) + vec4<f64>(y - high);
    let even = (b & vec4<u32>(1u)) == vec4<u32>(0u);
    let toward = select(b + vec4<u32>(1u), b - vec4<u32>(1u), abs(back) > abs(x));
    let changed = even & (back != x) & is_finite_f32(y);
    let near = steps_f64(x);
    let tiny = signed_f64(near.whole | select(vec4<u32>(0u), vec4<u32>(1u), near.any), x);
    return bitcast<vec4<f32>>(select(select(b, toward, changed), tiny, tiny_f64(x)));
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
    let b = bitcast<vec4<u32>>(x);
    let magnitude = b & vec4<u32>(0x7fffffffu);
    let tiny = vec4<f64>(magnitude) * STEP_F32;
    let signed = select(tiny, -tiny, b != magnitude);
    // Zero stays with the conversion, which keeps its sign.
    let is_tiny = (magnitude < vec4<u32>(0x00800000u)) & (magnitude != vec4<u32>(0u));
    return select(vec4<f64>(x), signed, is_tiny);
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
