// Casts to and from 64-bit types, as in cast.wgsl. The largest f32 below 2^63 and 2^64 are 2^40
// short of them.

// By arithmetic: where Mesa 22.3 sees the sign extended, it gets comparisons with constants wrong.
fn i32_to_i64(x: vec4<i32>) -> vec4<i64> {
    let sign = vec4<u64>(0x80000000lu);
    return vec4<i64>((vec4<u64>(vec4<u32>(x)) ^ sign) - sign);
}

fn i32_to_u64(x: vec4<i32>) -> vec4<u64> {
    return vec4<u64>(max(x, vec4<i32>(0)));
}

// By way of u64: naga extends the sign when it converts at once.
fn u32_to_i64(x: vec4<u32>) -> vec4<i64> {
    return vec4<i64>(vec4<u64>(x));
}

fn u32_to_u64(x: vec4<u32>) -> vec4<u64> {
    return vec4<u64>(x);
}

fn bool_to_i64(x: vec4<bool>) -> vec4<i64> {
    return select(vec4<i64>(0li), vec4<i64>(1li), x);
}

fn bool_to_u64(x: vec4<bool>) -> vec4<u64> {
    return select(vec4<u64>(0lu), vec4<u64>(1lu), x);
}

fn i64_to_i32(x: vec4<i64>) -> vec4<i32> {
    return vec4<i32>(clamp_i64(x, vec4<i64>(-2147483648li), vec4<i64>(2147483647li)));
}

fn i64_to_u32(x: vec4<i64>) -> vec4<u32> {
    return vec4<u32>(clamp_i64(x, vec4<i64>(0li), vec4<i64>(4294967295li)));
}

fn i64_to_u64(x: vec4<i64>) -> vec4<u64> {
    return vec4<u64>(max_i64(x, vec4<i64>(0li)));
}

fn i64_to_bool(x: vec4<i64>) -> vec4<bool> {
    return x != vec4<i64>(0li);
}

fn u64_to_i32(x: vec4<u64>) -> vec4<i32> {
    return vec4<i32>(min_u64(x, vec4<u64>(2147483647lu)));
}

fn u64_to_u32(x: vec4<u64>) -> vec4<u32> {
    return vec4<u32>(min_u64(x, vec4<u64>(4294967295lu)));
}

fn u64_to_i64(x: vec4<u64>) -> vec4<i64> {
    return vec4<i64>(min_u64(x, vec4<u64>(9223372036854775807lu)));
}

fn u64_to_bool(x: vec4<u64>) -> vec4<bool> {
    return x != vec4<u64>(0lu);
}

fn f32_to_i64(x: vec4<f32>) -> vec4<i64> {
    let y = vec4<i64>(between_f32(x, -9223372036854775808.0, 9223371487098961920.0));
    return select(y, vec4<i64>(9223372036854775807li), ge_f32(x, vec4<f32>(9223372036854775808.0)));
}

fn f32_to_u64(x: vec4<f32>) -> vec4<u64> {
    let y = vec4<u64>(between_f32(x, 0.0, 18446742974197923840.0));
    let past = ge_f32(x, vec4<f32>(18446744073709551616.0));
    return select(y, vec4<u64>(18446744073709551615lu), past);
}

// To nearest, ties to even: the part above 24 bits by integers, because conversions may round as
// they like.
fn u64_to_odd(x: vec4<u64>) -> vec4<f32> {
    let high = vec4<u32>(u32(x.x >> 32u), u32(x.y >> 32u), u32(x.z >> 32u), u32(x.w >> 32u));
    let low = vec4<u32>(x & vec4<u64>(0xfffffffflu));
    // 26 bits and one for the rest are enough for every float that follows.
    let lift = min(countLeadingZeros(high), vec4<u32>(31u));
    let top = (high << lift) | ((low >> vec4<u32>(1u)) >> (vec4<u32>(31u) - lift));
    let rest = (low << lift) != vec4<u32>(0u);
    let mag = vec4<f32>(sticky(top | select(vec4<u32>(0u), vec4<u32>(1u), rest)));
    let scale = bitcast<vec4<f32>>((vec4<u32>(159u) - lift) << vec4<u32>(23u));
    return select(mag * scale, vec4<f32>(sticky(low)), high == vec4<u32>(0u));
}

fn i64_to_odd(x: vec4<i64>) -> vec4<f32> {
    let mag = u64_to_odd(select(vec4<u64>(x), vec4<u64>(-x), x < vec4<i64>(0li)));
    return select(mag, -mag, x < vec4<i64>(0li));
}

fn u64_to_f32(x: vec4<u64>) -> vec4<f32> {
    return vec4<f32>(x);
}

fn i64_to_f32(x: vec4<i64>) -> vec4<f32> {
    return vec4<f32>(x);
}

// Scalars travel as two words.
fn i64_of(low: u32, high: u32) -> vec4<i64> {
    return vec4<i64>(i64((u64(high) << 32u) | u64(low)));
}

fn u64_of(low: u32, high: u32) -> vec4<u64> {
    return vec4<u64>((u64(high) << 32u) | u64(low));
}

// region alone
fn between_f32(x: vec4<f32>, low: f32, high: f32) -> vec4<f32> { return x; }
fn clamp_i64(x: vec4<i64>, low: vec4<i64>, high: vec4<i64>) -> vec4<i64> { return x; }
fn ge_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> { return a >= b; }
fn max_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> { return a; }
fn min_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> { return a; }
fn sticky(mag: vec4<u32>) -> vec4<u32> { return mag; }
// end alone
