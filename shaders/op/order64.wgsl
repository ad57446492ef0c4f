// Orders of 64 bits as integers, as in order.wgsl.

fn lift_f64(x: vec4<f64>) -> vec4<i64> {
    let b = bitcast<vec4<i64>>(x);
    let k = select(b, vec4<i64>(i64(-9223372036854775807li) - 1li) - b, b < vec4<i64>(0li));
    return select(k, vec4<i64>(9223372036854775807li), is_nan_f64(x));
}

fn lift_down_f64(x: vec4<f64>) -> vec4<i64> {
    return select(~lift_f64(x), vec4<i64>(9223372036854775807li), is_nan_f64(x));
}

fn lower_f64(k: vec4<i64>) -> vec4<f64> {
    let b = select(k, vec4<i64>(i64(-9223372036854775807li) - 1li) - k, k < vec4<i64>(0li));
    let nan = vec4<i64>(9221120237041090560li);
    return bitcast<vec4<f64>>(select(b, nan, k == vec4<i64>(9223372036854775807li)));
}

fn lower_down_f64(k: vec4<i64>) -> vec4<f64> {
    return lower_f64(select(~k, k, k == vec4<i64>(9223372036854775807li)));
}

// region alone
fn is_nan_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
// end alone
