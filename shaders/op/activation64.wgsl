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

fn softplus_f64(x: vec4<f64>) -> vec4<f64> {
    return above_f64(x, 0.0lf) + log1p_f64(exp_f64(-abs(x)));
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

// erfc(t) for t >= 0: e^(-t^2) / (t + 4) times a polynomial in 1 - 8 / (t + 4).
fn erfc_f64(t: vec4<f64>) -> vec4<f64> {
    let k = 1.0lf / (t + 4.0lf);
    let u = 1.0lf - 8.0lf * k;
    var p = vec4<f64>(9.084542363563525e-10lf);
    p = p * u - 6.36903611010167e-10lf;
    p = p * u - 1.521320691641712e-08lf;
    p = p * u + 3.3863096015010097e-09lf;
    p = p * u + 1.239702262101471e-07lf;
    p = p * u - 7.900029956145873e-08lf;
    p = p * u - 8.462915015933695e-07lf;
    p = p * u + 1.426852537671802e-06lf;
    p = p * u + 4.69461997645063e-06lf;
    p = p * u - 1.8862135071146362e-05lf;
    p = p * u - 3.635296646521932e-06lf;
    p = p * u + 0.00017681319046760065lf;
    p = p * u - 0.00045505264556398433lf;
    p = p * u - 0.0002809589355808632lf;
    p = p * u + 0.006112055649277459lf;
    p = p * u - 0.02637005333230321lf;
    p = p * u + 0.07638151490987771lf;
    p = p * u - 0.17401093724044453lf;
    p = p * u + 0.33085158787798813lf;
    p = p * u - 0.5408538313132201lf;
    p = p * u + 0.7732087022652374lf;
    p = p * u - 0.9765487290808821lf;
    p = p * u + 1.095995661000491lf;
    return p * k * exp_f64(-t * t);
}

// erf for |x| < 0.9277.
fn small_erf_f64(x: vec4<f64>) -> vec4<f64> {
    let z = x * x;
    var p = vec4<f64>(-8.301168118174261e-10lf);
    p = p * z + 1.3966860593649267e-08lf;
    p = p * z - 1.6260521113700794e-07lf;
    p = p * z + 1.6453621620599214e-06lf;
    p = p * z - 1.4925194747521298e-05lf;
    p = p * z + 0.00012055316608573014lf;
    p = p * z - 0.0008548326635099884lf;
    p = p * z + 0.005223977619592536lf;
    p = p * z - 0.026866170644610707lf;
    p = p * z + 0.11283791670952731lf;
    p = p * z - 0.3761263890318371lf;
    p = p * z + 0.1283791670955126lf;
    return x + p * x;
}

fn erf_f64(x: vec4<f64>) -> vec4<f64> {
    let a = min(abs(x), vec4<f64>(6.0lf));
    let y = select(1.0lf - erfc_f64(a), small_erf_f64(a), a < vec4<f64>(0.9277lf));
    return nan_where_f64(copysign_f64(y, x), is_nan_f64(x));
}

// max(x, 0) less |x| times the upper tail of the normal distribution; near zero by erf.
fn gelu_f64(x: vec4<f64>) -> vec4<f64> {
    let t = min(abs(x), vec4<f64>(40.0lf));
    let far = above_f64(x, 0.0lf) - t * (0.5lf * erfc_f64(t * 0.7071067811865476lf));
    let half = 0.5lf * x;
    let near = half + half * small_erf_f64(x * 0.7071067811865476lf);
    return select(far, near, t < vec4<f64>(1.3lf));
}

// region alone
fn copysign_f64(x: vec4<f64>, sign: vec4<f64>) -> vec4<f64> { return x; }
fn exp_f64(x: vec4<f64>) -> vec4<f64> { return x; }
fn expm1_f64(x: vec4<f64>) -> vec4<f64> { return x; }
fn is_nan_f64(x: vec4<f64>) -> vec4<bool> { return vec4<bool>(false); }
fn log1p_f64(x: vec4<f64>) -> vec4<f64> { return x; }
fn nan_where_f64(value: vec4<f64>, test: vec4<bool>) -> vec4<f64> { return value; }
// end alone
