// Elementwise: every quad of the outputs is a function of the quads of the inputs at the same
// place.
//
// Each invocation takes `trips` quads, from first = invocation * lead on in steps of `step`. On a
// CPU adapter a lane walks a run of its own (lead = trips, step = 1); on a GPU neighbouring lanes
// take neighbouring quads (lead = 1, step = all invocations). The last quad may reach past the
// tensor's end, into its padding.
//
// The regions are what the generator writes; as it lies here the kernel negates.
override workgroup: u32 = 64u;

struct Params {
    grid: vec4<u32>, // quads, lead, step, trips
    space: vec4<u32>, // the first element of this window, the last of all
    shape: array<vec4<u32>, 2>,
    offset: array<vec4<u32>, 1>,
    stride: array<vec4<u32>, 2>,
}
@group(1) @binding(0) var<uniform> p: Params;

@group(0) @binding(0) var<storage, read> in_0: array<vec4<f32>>;

fn load_0(q: u32) -> vec4<f32> {
    return decode_f32(in_0[q + p.offset[0].x]);
}

@group(0) @binding(1) var<storage, read> in_1: array<vec4<f32>>;

fn load_1(q: u32) -> vec4<f32> {
    return decode_f32(in_1[q + p.offset[0].y]);
}

@group(0) @binding(2) var<storage, read> in_2: array<vec4<f32>>;

fn load_2(q: u32) -> vec4<f32> {
    let e = index(p.space.x + 4u * q, 0u) + p.offset[0].z;
    return decode_f32(in_2[e >> 2u]);
}

@group(0) @binding(3) var<storage, read_write> out_0: array<vec4<f32>>;

fn store_0(q: u32, v: vec4<f32>) {
    out_0[q + p.offset[0].w] = encode_f32(v);
}

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = group.x + groups.x * (group.y + groups.y * group.z);
    let first = (linear * workgroup + lane) * p.grid.y;
    for (var trip = 0u; trip < p.grid.w; trip++) {
        let q = first + trip * p.grid.z;
        if q >= p.grid.x {
            break;
        }
        let x0 = load_0(q);
        let x1 = load_1(q);
        let x2 = load_2(q);
        let v3 = x0 * x1; // mul
        let v4 = v3 + x2; // add
        let v5 = gelu_f32(v4); // gelu
        store_0(q, v5);
    }
}

struct Reduced {
    n: vec4<f32>,
    // e^r - 1
    p: vec4<f32>,
}

fn inf_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> {
    let sign = bitcast<vec4<u32>>(value) & vec4<u32>(0x80000000u);
    return select(value, bitcast<vec4<f32>>(sign | vec4<u32>(0x7f800000u)), test);
}

// 2^n for n from -126 to 127.
fn pow2(n: vec4<i32>) -> vec4<f32> {
    return bitcast<vec4<f32>>((n + vec4<i32>(127)) << vec4<u32>(23u));
}

fn exp_reduce(x: vec4<f32>) -> Reduced {
    let n = round(x * 1.44269504088896341);
    let near = clamp(fma(n, vec4<f32>(-0.693359375), x), vec4<f32>(-1.0), vec4<f32>(1.0));
    let r = fma(n, vec4<f32>(2.12194440e-4), near);
    var p = vec4<f32>(1.9875691500e-4);
    p = fma(p, r, vec4<f32>(1.3981999507e-3));
    p = fma(p, r, vec4<f32>(8.3334519073e-3));
    p = fma(p, r, vec4<f32>(4.1665795894e-2));
    p = fma(p, r, vec4<f32>(1.6666665459e-1));
    p = fma(p, r, vec4<f32>(5.0000001201e-1));
    return Reduced(n, fma(p * r, r, r));
}

// e^x 2^k. The scale goes in by two steps: 2^n may lie outside f32 where the product does not.
fn exp_scaled(x: vec4<f32>, k: i32) -> vec4<f32> {
    let e = exp_reduce(clamp(x, vec4<f32>(-110.0), vec4<f32>(95.0)));
    let n = vec4<i32>(e.n) + vec4<i32>(k);
    let half = n >> vec4<u32>(1u);
    let y = (1.0 + e.p) * pow2(half) * pow2(n - half);
    return nan_where(inf_where(y, x > vec4<f32>(90.0)), is_nan_f32(x));
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

// NaN, or an infinity of the value's sign, where `test`. WGSL has no literals of them: bits are
// or-ed to the value's.
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> {
    let nan = bitcast<vec4<u32>>(value) | vec4<u32>(0x7fc00000u);
    return select(value, bitcast<vec4<f32>>(nan), test);
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

// ln(erfc(t)) for t >= 0.9277 as a polynomial (N. Juffa).
fn log_erfc(t: vec4<f32>) -> vec4<f32> {
    let low = fma(vec4<f32>(-3.88396438e-3), t, vec4<f32>(2.42546219e-2));
    var r = fma(fma(vec4<f32>(-1.72853470e-5), t, vec4<f32>(3.83197126e-4)), t * t, low);
    r = fma(r, t, vec4<f32>(-1.06777877e-1));
    r = fma(r, t, vec4<f32>(-6.34846687e-1));
    r = fma(r, t, vec4<f32>(-1.28717512e-1));
    return fma(r, t, -t);
}

fn exp_f32(x: vec4<f32>) -> vec4<f32> {
    return exp_scaled(x, 0);
}

fn abs_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu));
}

// Below -110 the product with a vanishing factor is zero: so is it at minus infinity.
fn above_f32(x: vec4<f32>, low: f32) -> vec4<f32> {
    return nan_where(max(x, vec4<f32>(low)), is_nan_f32(x));
}

fn stride_of(view: u32, dim: u32) -> u32 {
    return p.stride[2u * view + (dim >> 2u)][dim & 3u];
}

// Where an element of the index space lies in a strided view of it.
//
// The index space has `rank` dimensions, innermost first, in p.shape; each view has its strides in
// p.stride, 8 to a view. Strides may be zero or negative: u32 arithmetic wraps, and so does two's
// complement. The outermost dimension needs no remainder. Trips: rank - 1, a constant of the
// pipeline, so that drivers unroll.
override rank: u32 = 8u;

// x erfc(-x / sqrt 2) / 2: erfc itself in the tails, where 1 + erf would cancel.
fn gelu_f32(x: vec4<f32>) -> vec4<f32> {
    let z = above_f32(x, -14.0) * 0.70710678118654752;
    let t = min(abs_f32(z), vec4<f32>(10.0));
    let tail = exp_f32(log_erfc(t));
    let large = select(2.0 - tail, tail, z < vec4<f32>(0.0));
    let both = select(large, 1.0 + small_erf(z), t < vec4<f32>(0.927734375));
    return nan_where(0.5 * above_f32(x, -14.0) * both, is_nan_f32(x));
}

fn encode_f32(v: vec4<f32>) -> vec4<f32> {
    return v;
}

fn index(e: u32, view: u32) -> u32 {
    var rest = e;
    var at = 0u;
    for (var d = 0u; d + 1u < rank; d++) {
        let n = p.shape[d >> 2u][d & 3u];
        let next = rest / n;
        at += (rest - next * n) * stride_of(view, d);
        rest = next;
    }
    return at + rest * stride_of(view, rank - 1u);
}

fn decode_f32(w: vec4<f32>) -> vec4<f32> {
    return w;
}
