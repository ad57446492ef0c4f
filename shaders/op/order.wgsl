// Orders as integers: the highest of lifted values is the maximum of what they were lifted from.
//
// NaN is lifted above everything, in either direction; zeros are equal. What is lifted is a signed
// or unsigned integer of the same width; the minimum is the maximum of what is lifted upside down.

fn lift_f32(x: vec4<f32>) -> vec4<i32> {
    return select(key(x), vec4<i32>(2147483647), is_nan_f32(x));
}

fn lift_down_f32(x: vec4<f32>) -> vec4<i32> {
    return select(~key(x), vec4<i32>(2147483647), is_nan_f32(x));
}

// The highest integer stands for NaN alone.
fn lower_f32(k: vec4<i32>) -> vec4<f32> {
    let b = select(k, vec4<i32>(i32(-2147483648)) - k, k < vec4<i32>(0));
    let nan = vec4<i32>(0x7fc00000);
    return bitcast<vec4<f32>>(select(b, nan, k == vec4<i32>(2147483647)));
}

fn lower_down_f32(k: vec4<i32>) -> vec4<f32> {
    let highest = k == vec4<i32>(2147483647);
    return lower_f32(select(~k, k, highest));
}

// region alone
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn key(x: vec4<f32>) -> vec4<i32> { return vec4<i32>(0); }
// end alone
