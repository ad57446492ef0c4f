// Casts between f64 and 64-bit integers, as in cast.wgsl. The largest f64 below 2^63 and 2^64 are
// 2^10 and 2^11 short.

fn f64_to_i64(x: vec4<f64>) -> vec4<i64> {
    let y = vec4<i64>(between_f64(x, -9223372036854775808.0lf, 9223372036854774784.0lf));
    return select(y, vec4<i64>(9223372036854775807li), x >= vec4<f64>(9223372036854775808.0lf));
}

fn f64_to_u64(x: vec4<f64>) -> vec4<u64> {
    let y = vec4<u64>(between_f64(x, 0.0lf, 18446744073709549568.0lf));
    return select(y, vec4<u64>(18446744073709551615lu), x >= vec4<f64>(18446744073709551616.0lf));
}

fn i64_to_f64(x: vec4<i64>) -> vec4<f64> {
    return vec4<f64>(x);
}

fn u64_to_f64(x: vec4<u64>) -> vec4<f64> {
    return vec4<f64>(x);
}

// Scalars travel as two words, as in cast64.wgsl.
fn f64_of(low: u32, high: u32) -> vec4<f64> {
    return vec4<f64>(bitcast<f64>((u64(high) << 32u) | u64(low)));
}

// region alone
fn between_f64(x: vec4<f64>, low: f64, high: f64) -> vec4<f64> { return x; }
// end alone
