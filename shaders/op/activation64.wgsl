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

// 1 - erf(t), for t from 0 on, of u = 1 - 8 / (t + 4) and of -t^2: e^(-t^2) times a polynomial. It
// is fitted up to 6, where less than the last bit of 1 is left.
fn rest_of_erf_f64(u: vec4<f64>, power: vec4<f64>) -> vec4<f64> {
    var p = vec4<f64>(-1.2418755207584343e-07lf);
    p = p * u - 8.003437185273847e-07lf;
    p = p * u - 1.0751371386862772e-06lf;
    p = p * u + 2.414543760075748e-06lf;
    p = p * u - 2.1584708314391086e-06lf;
    p = p * u - 2.2615668490504674e-05lf;
    p = p * u + 7.898828532129548e-05lf;
    p = p * u - 2.1754627459188823e-05lf;
    p = p * u - 0.0007991254225339586lf;
    p = p * u + 0.004060263507705137lf;
    p = p * u - 0.012843946102223591lf;
    p = p * u + 0.03129905651481964lf;
    p = p * u - 0.06310781563859777lf;
    p = p * u + 0.10896317739901538lf;
    p = p * u - 0.16425781669731448lf;
    p = p * u + 0.21871967891826424lf;
    p = p * u - 0.25906804876017164lf;
    p = p * u + 0.13699945762506138lf;
    let low = vec2<f64>(one_fall_f64(power.xxxx).x, one_fall_f64(power.yyyy).x);
    return p * vec4<f64>(low, one_fall_f64(power.zzzz).x, one_fall_f64(power.wwww).x);
}

fn erf_f64(x: vec4<f64>) -> vec4<f64> {
    let t = min(abs(x), vec4<f64>(8.0lf));
    let far = 1.0lf - rest_of_erf_f64(1.0lf - 8.0lf / (t + 4.0lf), -t * t);
    let y = select(far, small_erf_f64(t), t < vec4<f64>(1.0lf));
    return nan_where_f64(copysign_f64(y, x), is_nan_f64(x));
}

// max(x, 0) less |x| times the upper tail of the normal distribution, which has vanished at 13.25;
// element by element, as e^x is.
fn gelu_f64(x: vec4<f64>) -> vec4<f64> {
    let low = vec2<f64>(one_gelu_f64(x.xxxx).x, one_gelu_f64(x.yyyy).x);
    let y = vec4<f64>(low, one_gelu_f64(x.zzzz).x, one_gelu_f64(x.wwww).x);
    return nan_where_f64(y, is_nan_f64(x));
}

fn one_gelu_f64(x: vec4<f64>) -> vec4<f64> {
    let t = min(abs(x), vec4<f64>(13.25lf));
    let half = 0.5lf * t;
    // t over the root of 2 is what erf is of.
    let u = 1.0lf - 11.31370849898476lf / (t + 5.65685424949238lf);
    return max(x, vec4<f64>(0.0lf)) - half * rest_of_erf_f64(u, -half * t);
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
