// Activations, in f64, as in activation.wgsl: the exponential is infinite where it has to vanish.
// The polynomials are by tests/goldens/exact/polynomials.py, off by less than 1e-16.

fn sigmoid_f64(x: vec4<f64>) -> vec4<f64> {
    return 1.0lf / (1.0lf + exp_f64(-x));
}

// Below -800 the product with a vanishing factor is zero: so is it at minus infinity.
fn above_f64(x: vec4<f64>, low: f64) -> vec4<f64> {
    return nan_where_f64(max(x, vec4<f64>(low)), is_nan_f64(x));
}

fn silu_f64(x: vec4<f64>) -> vec4<f64> {
    return above_f64(x, -800.0lf) / (1.0lf + exp_f64(-x));
}

// ln(1 + w) for w from 0 to 1.
fn log1p_part_f64(w: vec4<f64>) -> vec4<f64> {
    let small = w < vec4<f64>(0.41lf);
    let f = select(0.5lf * (w - 1.0lf), w, small);
    return log_poly_f64(f, select(vec4<f64>(1.0lf), vec4<f64>(0.0lf), small));
}

fn softplus_f64(x: vec4<f64>) -> vec4<f64> {
    return above_f64(x, 0.0lf) + log1p_part_f64(exp_f64(-abs(x)));
}

fn elu_f64(x: vec4<f64>, alpha: vec4<f64>) -> vec4<f64> {
    return select(x, alpha * expm1_f64(x), x < vec4<f64>(0.0lf));
}

// tanh(ln(1 + w)) = w (w + 2) / (w (w + 2) + 2) with w = e^x; from 40 on it is 1.
fn mish_f64(x: vec4<f64>) -> vec4<f64> {
    let w = exp_f64(min(x, vec4<f64>(40.0lf)));
    let v = w * (w + 2.0lf);
    return above_f64(x, -800.0lf) * (v / (v + 2.0lf));
}

fn hard_swish_f64(x: vec4<f64>) -> vec4<f64> {
    let part = clamp(x + 3.0lf, vec4<f64>(0.0lf), vec4<f64>(6.0lf)) / 6.0lf;
    return above_f64(x, -3.0lf) * part;
}

// x sigmoid(2 u), which is x (1 + tanh u) / 2. For x from -21 to 21 the exponential is finite, and
// beyond it is one or nothing.
fn gelu_tanh_f64(x: vec4<f64>) -> vec4<f64> {
    let above = above_f64(x, -21.0lf);
    let c = min(above, vec4<f64>(21.0lf));
    let u = c * (c * c * -0.07135481627260025lf - 1.5957691216057308lf);
    return nan_where_f64(above / (1.0lf + exp_f64(u)), is_nan_f64(x));
}

// erf for |x| < 1.
fn small_erf_f64(x: vec4<f64>) -> vec4<f64> {
    let z = x * x;
    var p = vec4<f64>(-7.795898827002142e-10lf);
    p = p * z + 1.3720064546777686e-08lf;
    p = p * z - 1.6208483801871705e-07lf;
    p = p * z + 1.6447424703317362e-06lf;
    p = p * z - 1.492473690741966e-05lf;
    p = p * z + 0.00012055294904839707lf;
    p = p * z - 0.0008548325975389692lf;
    p = p * z + 0.0052239776071164225lf;
    p = p * z - 0.02686617064323777lf;
    p = p * z + 0.11283791670945006lf;
    p = p * z - 0.37612638903183543lf;
    p = p * z + 0.12837916709551256lf;
    return x + p * x;
}

// e^x for x from -88.3 to 0, where f32 has its scale, to nothing from -87.7 on; element by element,
// as exp_f64 is.
fn one_fall_f64(x: vec4<f64>) -> vec4<f64> {
    let e = exp_reduce_f64(x);
    return (1.0lf + expm1_small_f64(e.r)) * near_pow2_f64(e.n);
}

// 1 - erf(t), for t from 1 on and its -t^2: e^(-t^2) times a polynomial in 1 - 8 / (t + 3). It is
// fitted up to 6, where less than the last bit of 1 is left.
fn rest_of_erf_f64(t: vec4<f64>, power: vec4<f64>) -> vec4<f64> {
    let u = 1.0lf - 8.0lf / (t + 3.0lf);
    var p = vec4<f64>(2.2809560259116636e-08lf);
    p = p * u + 1.5451867707668192e-07lf;
    p = p * u + 1.852859228703534e-07lf;
    p = p * u - 8.331857296146655e-07lf;
    p = p * u + 5.486409885594254e-07lf;
    p = p * u + 1.0652127421438332e-05lf;
    p = p * u - 3.606005231800214e-05lf;
    p = p * u - 3.818707190151066e-05lf;
    p = p * u + 0.0008129076326523049lf;
    p = p * u - 0.0041637610932182285lf;
    p = p * u + 0.014367962979841511lf;
    p = p * u - 0.038937306249359614lf;
    p = p * u + 0.08794177205336985lf;
    p = p * u - 0.17066231811861057lf;
    p = p * u + 0.11070463773306861lf;
    let low = vec2<f64>(one_fall_f64(power.xxxx).x, one_fall_f64(power.yyyy).x);
    return p * vec4<f64>(low, one_fall_f64(power.zzzz).x, one_fall_f64(power.wwww).x);
}

fn erf_f64(x: vec4<f64>) -> vec4<f64> {
    let t = min(abs(x), vec4<f64>(8.0lf));
    let y = select(1.0lf - rest_of_erf_f64(t, -t * t), small_erf_f64(t), t < vec4<f64>(1.0lf));
    return nan_where_f64(copysign_f64(y, x), is_nan_f64(x));
}

// max(x, 0) less |x| times the upper tail of the normal distribution, which has vanished at 13.25.
fn gelu_f64(x: vec4<f64>) -> vec4<f64> {
    let t = min(abs(x), vec4<f64>(13.25lf));
    let y = t * 0.7071067811865476lf;
    let near = y < vec4<f64>(1.0lf);
    let tail = select(rest_of_erf_f64(y, -0.5lf * t * t), 1.0lf - small_erf_f64(y), near);
    return above_f64(x, 0.0lf) - 0.5lf * t * tail;
}

// region alone
fn copysign_f64(x: vec4<f64>, sign: vec4<f64>) -> vec4<f64> { return x; }
fn exp_f64(x: vec4<f64>) -> vec4<f64> { return x; }
fn exp_reduce_f64(x: vec4<f64>) -> Reduced64 { return Reduced64(vec4<i32>(0), x); }
fn expm1_f64(x: vec4<f64>) -> vec4<f64> { return x; }
fn expm1_small_f64(r: vec4<f64>) -> vec4<f64> { return r; }
fn is_nan_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
fn log_poly_f64(f: vec4<f64>, e: vec4<f64>) -> vec4<f64> { return f; }
fn nan_where_f64(value: vec4<f64>, test: vec4<bool>) -> vec4<f64> { return value; }
fn near_pow2_f64(n: vec4<i32>) -> vec4<f64> { return vec4<f64>(n); }
struct Reduced64 {
    n: vec4<i32>,
    r: vec4<f64>,
}
// end alone
