// Casts between compute types. To an integer: towards zero, saturating, NaN to 0. Between integers:
// saturating. To bool: whether it is not zero. Between floats: to nearest, ties to even.

// The part of f32 that an integer type can hold. `high` is its largest float.
fn between_f32(x: vec4<f32>, low: f32, high: f32) -> vec4<f32> {
    return select(clamp(x, vec4<f32>(low), vec4<f32>(high)), vec4<f32>(0.0), is_nan_f32(x));
}

fn f32_to_i32(x: vec4<f32>) -> vec4<i32> {
    // The largest float below 2^31 is 2147483520.
    let y = vec4<i32>(between_f32(x, -2147483648.0, 2147483520.0));
    return select(y, vec4<i32>(2147483647), ge_f32(x, vec4<f32>(2147483648.0)));
}

fn f32_to_u32(x: vec4<f32>) -> vec4<u32> {
    let y = vec4<u32>(between_f32(x, 0.0, 4294967040.0));
    return select(y, vec4<u32>(4294967295u), ge_f32(x, vec4<f32>(4294967296.0)));
}

fn f32_to_bool(x: vec4<f32>) -> vec4<bool> {
    return key(x) != vec4<i32>(0);
}

fn i32_to_f32(x: vec4<i32>) -> vec4<f32> {
    return vec4<f32>(x);
}

fn i32_to_u32(x: vec4<i32>) -> vec4<u32> {
    return vec4<u32>(max(x, vec4<i32>(0)));
}

fn i32_to_bool(x: vec4<i32>) -> vec4<bool> {
    return x != vec4<i32>(0);
}

// By halves, whose sum is rounded once: SwiftShader does not round u32 to nearest.
fn u32_to_f32(x: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(x >> vec4<u32>(16u)) * 65536.0 + vec4<f32>(x & vec4<u32>(0xffffu));
}

fn u32_to_i32(x: vec4<u32>) -> vec4<i32> {
    return vec4<i32>(min(x, vec4<u32>(2147483647u)));
}

fn u32_to_bool(x: vec4<u32>) -> vec4<bool> {
    return x != vec4<u32>(0u);
}

fn bool_to_f32(x: vec4<bool>) -> vec4<f32> {
    return select(vec4<f32>(0.0), vec4<f32>(1.0), x);
}

fn bool_to_i32(x: vec4<bool>) -> vec4<i32> {
    return select(vec4<i32>(0), vec4<i32>(1), x);
}

fn bool_to_u32(x: vec4<bool>) -> vec4<u32> {
    return select(vec4<u32>(0u), vec4<u32>(1u), x);
}

// On the way to 16 or 8 bits, integers past 24 bits keep an odd last bit for what is cut off: one
// rounding, not two.
fn sticky(mag: vec4<u32>) -> vec4<u32> {
    let inexact = (mag & vec4<u32>(0xffu)) != vec4<u32>(0u);
    let last = select(vec4<u32>(0u), vec4<u32>(0x100u), inexact);
    let cut = (mag & vec4<u32>(0xffffff00u)) | last;
    return select(mag, cut, mag >= vec4<u32>(0x1000000u));
}

fn u32_to_odd(x: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(sticky(x));
}

fn i32_to_odd(x: vec4<i32>) -> vec4<f32> {
    let mag = vec4<f32>(sticky(select(vec4<u32>(x), vec4<u32>(-x), x < vec4<i32>(0))));
    return select(mag, -mag, x < vec4<i32>(0));
}

// The value that a float of 16 or 8 bits will hold.
fn round_bf16(v: vec4<f32>) -> vec4<f32> {
    return decode_bf16(encode_bf16(v));
}

fn round_f16(v: vec4<f32>) -> vec4<f32> {
    return decode_f16p(encode_f16p(v));
}

fn round_f8e4m3(v: vec4<f32>) -> vec4<f32> {
    return decode_f8e4m3(encode_f8e4m3(v));
}

fn round_f8e5m2(v: vec4<f32>) -> vec4<f32> {
    return decode_f8e5m2(encode_f8e5m2(v));
}

// region alone
fn decode_bf16(w: vec2<u32>) -> vec4<f32> { return vec4<f32>(0.0); }
fn decode_f16p(w: vec2<u32>) -> vec4<f32> { return vec4<f32>(0.0); }
fn decode_f8e4m3(w: u32) -> vec4<f32> { return vec4<f32>(0.0); }
fn decode_f8e5m2(w: u32) -> vec4<f32> { return vec4<f32>(0.0); }
fn encode_bf16(v: vec4<f32>) -> vec2<u32> { return vec2<u32>(0u); }
fn encode_f16p(v: vec4<f32>) -> vec2<u32> { return vec2<u32>(0u); }
fn encode_f8e4m3(v: vec4<f32>) -> u32 { return 0u; }
fn encode_f8e5m2(v: vec4<f32>) -> u32 { return 0u; }
fn ge_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> { return a >= b; }
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn key(x: vec4<f32>) -> vec4<i32> { return vec4<i32>(0); }
// end alone
