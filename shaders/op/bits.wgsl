// f32 by its bits: what must be exact for every pattern, on every compiler.
//
// WGSL lets a compiler assume that neither NaN nor infinity occurs, and hardware may flush
// subnormals; integers have no such freedoms. `key` orders floats as integers, with both zeros
// equal: sign and magnitude to two's complement.

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

fn is_inf_f32(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) == vec4<u32>(0x7f800000u);
}

fn is_finite_f32(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) < vec4<u32>(0x7f800000u);
}

fn key(x: vec4<f32>) -> vec4<i32> {
    let b = bitcast<vec4<i32>>(x);
    return select(b, vec4<i32>(i32(-2147483648)) - b, b < vec4<i32>(0));
}

// NaN compares false, but for `ne`.
fn ordered(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return !(is_nan_f32(a) | is_nan_f32(b));
}

fn eq_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (key(a) == key(b)) & ordered(a, b);
}

fn ne_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return !eq_f32(a, b);
}

fn lt_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (key(a) < key(b)) & ordered(a, b);
}

fn le_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (key(a) <= key(b)) & ordered(a, b);
}

fn gt_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return lt_f32(b, a);
}

fn ge_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return le_f32(b, a);
}

// NaN wins, the left one first.
fn min_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(a, b, (lt_f32(b, a) | is_nan_f32(b)) & !is_nan_f32(a));
}

fn max_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(a, b, (lt_f32(a, b) | is_nan_f32(b)) & !is_nan_f32(a));
}

fn clamp_f32(x: vec4<f32>, low: vec4<f32>, high: vec4<f32>) -> vec4<f32> {
    return min_f32(max_f32(x, low), high);
}

fn neg_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(0x80000000u));
}

fn abs_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu));
}

// The magnitude of one, the sign of the other.
fn copysign_f32(x: vec4<f32>, sign: vec4<f32>) -> vec4<f32> {
    let s = bitcast<vec4<u32>>(sign) & vec4<u32>(0x80000000u);
    return bitcast<vec4<f32>>((bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) | s);
}

// Zeros and NaN stay themselves.
fn sign_f32(x: vec4<f32>) -> vec4<f32> {
    let itself = is_nan_f32(x) | (key(x) == vec4<i32>(0));
    return select(copysign_f32(vec4<f32>(1.0), x), x, itself);
}

fn relu_f32(x: vec4<f32>) -> vec4<f32> {
    return select(x, vec4<f32>(0.0), (key(x) < vec4<i32>(0)) & !is_nan_f32(x));
}

fn leaky_relu_f32(x: vec4<f32>, slope: vec4<f32>) -> vec4<f32> {
    return select(x, x * slope, x < vec4<f32>(0.0));
}

// The value itself, by a way that no compiler sees through.
fn held_f32(x: vec4<f32>) -> vec4<f32> {
    return nan_where(x, is_nan_f32(x));
}

// NaN, or an infinity of the value's sign, where `test`. WGSL has no literals of them: bits are
// or-ed to the value's. Bits are chosen, and become a float afterwards: a compiler that thinks
// there is no NaN never chooses a float that must be one.
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(value);
    return bitcast<vec4<f32>>(select(bits, bits | vec4<u32>(0x7fc00000u), test));
}

fn inf_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(value);
    let inf = (bits & vec4<u32>(0x80000000u)) | vec4<u32>(0x7f800000u);
    return bitcast<vec4<f32>>(select(bits, inf, test));
}
