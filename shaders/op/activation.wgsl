// Activations, in f32, by exponentials that neither overflow nor vanish on the way: every one has
// its limit at either infinity.

// 1 + e^-x, finite at either end.
fn one_and_exp(x: vec4<f32>) -> vec4<f32> {
    return 1.0 + exp_within(clamp(-x, vec4<f32>(-87.33), vec4<f32>(88.0)));
}

fn sigmoid_f32(x: vec4<f32>) -> vec4<f32> {
    return nan_where(1.0 / one_and_exp(x), is_nan_f32(x));
}

// Below -110 the product with a vanishing factor is zero: so is it at minus infinity.
fn above_f32(x: vec4<f32>, low: f32) -> vec4<f32> {
    return nan_where(max(x, vec4<f32>(low)), is_nan_f32(x));
}

fn silu_f32(x: vec4<f32>) -> vec4<f32> {
    return nan_where(max(x, vec4<f32>(-110.0)) / one_and_exp(x), is_nan_f32(x));
}

fn softplus_f32(x: vec4<f32>) -> vec4<f32> {
    let small = exp_within(max(neg_f32(abs_f32(x)), vec4<f32>(-87.34)));
    return nan_where(max(x, vec4<f32>(0.0)) + log1p_f32(small), is_nan_f32(x));
}

fn elu_f32(x: vec4<f32>, alpha: vec4<f32>) -> vec4<f32> {
    return select(x, alpha * expm1_f32(x), x < vec4<f32>(0.0));
}

// tanh(ln(1 + w)) = w (w + 2) / (w (w + 2) + 2) with w = e^x; from 20 on it is 1. Past it x stands
// alone: a compiler may multiply before it divides, and come past the largest number.
fn mish_f32(x: vec4<f32>) -> vec4<f32> {
    let w = exp_f32(min(x, vec4<f32>(20.0)));
    let v = w * (w + 2.0);
    let y = above_f32(x, -110.0) * (v / (v + 2.0));
    return nan_where(select(y, x, x > vec4<f32>(20.0)), is_nan_f32(x));
}

// Past 3 it is x, as above.
fn hard_swish_f32(x: vec4<f32>) -> vec4<f32> {
    let y = above_f32(x, -3.0) * (clamp(x + 3.0, vec4<f32>(0.0), vec4<f32>(6.0)) / 6.0);
    return nan_where(select(y, x, x > vec4<f32>(3.0)), is_nan_f32(x));
}

// x sigmoid(2 u), which is x (1 + tanh u) / 2. For x from -10 to 10 the exponential is normal, and
// beyond it is one or nothing.
fn gelu_tanh_f32(x: vec4<f32>) -> vec4<f32> {
    let above = select(x, vec4<f32>(-10.0), x < vec4<f32>(-10.0));
    let c = select(above, vec4<f32>(10.0), above > vec4<f32>(10.0));
    let u = c * fma(c * c, vec4<f32>(-0.0713548162726), vec4<f32>(-1.5957691216057308));
    return nan_where(above / (1.0 + exp_within(u)), is_nan_f32(x));
}

// ln(erfc(t)) for t >= 0.9277 as a polynomial (N. Juffa).
fn log_erfc(t: vec4<f32>) -> vec4<f32> {
    let low = fma(vec4<f32>(-3.88396438e-3), t, vec4<f32>(2.42546219e-2));
    var r = fma(fma(vec4<f32>(-1.72853470e-5), t, vec4<f32>(3.83197126e-4)), t * t, low);
    r = fma(r, t, vec4<f32>(-1.06777877e-1));
    r = fma(r, t, vec4<f32>(-6.34846687e-1));
    r = fma(r, t, vec4<f32>(-1.28717512e-1));
    return fma(r, t, -t);
}

// erf for |x| < 0.9277.
fn small_erf(x: vec4<f32>) -> vec4<f32> {
    let s = x * x;
    var r = fma(vec4<f32>(-5.96761703e-4), s, vec4<f32>(4.99119423e-3));
    r = fma(r, s, vec4<f32>(-2.67681349e-2));
    r = fma(r, s, vec4<f32>(1.12819925e-1));
    r = fma(r, s, vec4<f32>(-3.76125336e-1));
    r = fma(r, s, vec4<f32>(1.28379166e-1));
    return fma(r, x, x);
}

fn erf_f32(x: vec4<f32>) -> vec4<f32> {
    let t = min(abs_f32(x), vec4<f32>(4.0));
    let large = copysign_f32(1.0 - exp_within(log_erfc(t)), x);
    return nan_where(select(large, small_erf(x), t < vec4<f32>(0.927734375)), is_nan_f32(x));
}

// max(x, 0) - t Q(t) with t = |x| and Q(t) the upper tail of the normal distribution, which is
// exp(-t^2 / 2) times a polynomial in 1 / (1 + 0.4 t), fitted to 1e-8 of t Q(t).
// The driver's own exp will do: the 3 + t^2 units that it may be off by vanish with it.
// Rejected: 2^P(t) in one, which saves the division. With P of degree 8 it is within the bound, but
// off by 0.6 % where Q is tiny; choices instead of min and max, which measured the same.
fn gelu_f32(x: vec4<f32>) -> vec4<f32> {
    let t = min(abs_f32(x), vec4<f32>(14.0));
    let k = 1.0 / fma(t, vec4<f32>(0.4), vec4<f32>(1.0));
    var q = vec4<f32>(5.680842e-2);
    q = fma(q, k, vec4<f32>(-2.562083e-1));
    q = fma(q, k, vec4<f32>(3.41845869e-1));
    q = fma(q, k, vec4<f32>(1.17059759e-2));
    q = fma(q, k, vec4<f32>(1.8920949e-1));
    q = fma(q, k, vec4<f32>(1.56638627e-1));
    return nan_where(max(x, vec4<f32>(0.0)) - t * (q * k * exp(-0.5 * t * t)), is_nan_f32(x));
}

// region alone
fn abs_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn copysign_f32(x: vec4<f32>, sign: vec4<f32>) -> vec4<f32> { return x; }
fn exp_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn exp_within(x: vec4<f32>) -> vec4<f32> { return x; }
fn expm1_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn is_nan_f32(x: vec4<f32>) -> vec4<bool> { return vec4<bool>(false); }
fn log1p_f32(x: vec4<f32>) -> vec4<f32> { return x; }
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return value; }
fn neg_f32(x: vec4<f32>) -> vec4<f32> { return x; }
// end alone
