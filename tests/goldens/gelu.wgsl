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
    return decode_f32(in_0[q + base_0]);
}

@group(0) @binding(1) var<storage, read> in_1: array<vec4<f32>>;

fn load_1(q: u32) -> vec4<f32> {
    return decode_f32(in_1[q + base_1]);
}

@group(0) @binding(2) var<storage, read> in_2: array<vec4<f32>>;

fn load_2(q: u32) -> vec4<f32> {
    let e = start_0 + column;
    return decode_f32(in_2[e >> 2u]);
}

@group(0) @binding(3) var<storage, read_write> out_0: array<vec4<f32>>;

fn store_0(q: u32, v: vec4<f32>) {
    out_0[q + base_3] = encode_f32(v);
}
var<private> base_0: u32;
var<private> base_1: u32;
var<private> base_2: u32;
var<private> base_3: u32;
var<private> row: u32;
var<private> column: u32;
var<private> start_0: u32;
var<private> row_length: u32;
var<private> row_stride_0: u32;

fn begin_row(e: u32) {
    row = e / row_length;
    column = e - row * row_length - 4u; // the first step is taken at once
    start_0 = base_2 + select(index_row(row, 0u), row * row_stride_0, rank == 2u);
}

fn walk() {
    column += 4u;
    if column >= row_length {
        column = 0u;
        row += 1u;
        start_0 = base_2 + select(index_row(row, 0u), row * row_stride_0, rank == 2u);
    }
}

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = group.x + groups.x * (group.y + groups.y * group.z);
    let first = (linear * workgroup + lane) * p.grid.y;
    base_0 = p.offset[0].x;
    base_1 = p.offset[0].y;
    base_2 = p.offset[0].z;
    base_3 = p.offset[0].w;
    row_length = p.shape[0].x;
    row_stride_0 = stride_of(0u, 1u);
    begin_row(p.space.x + 4u * first);
    // Before the loop: llvmpipe loads a parameter wherever it is named, which took a fifth of the
    // time of an addition.
    let step = p.grid.z;
    let rest = p.grid.x - min(first, p.grid.x);
    let trips = min(p.grid.w, (rest + step - 1u) / step);
    for (var trip = 0u; trip < trips; trip++) {
        let q = first + trip * step;
        walk();
        let x0 = load_0(q);
        let x1 = load_1(q);
        let x2 = load_2(q);
        let v3 = x0 * x1; // mul
        let v4 = v3 + x2; // add
        let v5 = gelu_f32(v4); // gelu
        store_0(q, v5);
    }
}

// e^r - 1 for |r| <= ln 2 / 2.
fn expm1_small(r: vec4<f32>) -> vec4<f32> {
    var p = vec4<f32>(1.9875691500e-4);
    p = fma(p, r, vec4<f32>(1.3981999507e-3));
    p = fma(p, r, vec4<f32>(8.3334519073e-3));
    p = fma(p, r, vec4<f32>(4.1665795894e-2));
    p = fma(p, r, vec4<f32>(1.6666665459e-1));
    p = fma(p, r, vec4<f32>(5.0000001201e-1));
    return fma(p * r, r, r);
}

// Those of 1.5 * 2^23.
const ROUND_BITS = 0x4b400000;

struct Reduced {
    n: vec4<i32>,
    // e^r - 1
    p: vec4<f32>,
}

// y 2^n, for y from 0.7 to 1.42 and results that are normal.
fn scaled_by(y: vec4<f32>, n: vec4<i32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<i32>>(y) + (n << vec4<u32>(23u)));
}

fn exp_reduce(x: vec4<f32>) -> Reduced {
    let shifted = fma(x, vec4<f32>(1.44269504088896341), vec4<f32>(12582912.0));
    let whole = bitcast<vec4<i32>>(shifted) - vec4<i32>(ROUND_BITS);
    let n = vec4<f32>(whole);
    let near = clamp(fma(n, vec4<f32>(-0.693359375), x), vec4<f32>(-1.0), vec4<f32>(1.0));
    return Reduced(whole, expm1_small(fma(n, vec4<f32>(2.12194440e-4), near)));
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

// e^x where it is normal, x from -87.33 to 88.72; something below the normal numbers down to -88.
fn exp_within(x: vec4<f32>) -> vec4<f32> {
    let e = exp_reduce(x);
    return scaled_by(1.0 + e.p, e.n);
}

fn abs_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu));
}

// Below -110 the product with a vanishing factor is zero: so is it at minus infinity.
fn above_f32(x: vec4<f32>, low: f32) -> vec4<f32> {
    return nan_where(max(x, vec4<f32>(low)), is_nan_f32(x));
}

// x erfc(-x / sqrt 2) / 2: erfc itself in the tails, where 1 + erf would cancel.
fn gelu_f32(x: vec4<f32>) -> vec4<f32> {
    let a = above_f32(x, -14.0);
    let z = a * 0.70710678118654752;
    // Further out the tail is far below what is promised.
    let t = min(abs_f32(z), vec4<f32>(8.5));
    let tail = exp_within(log_erfc(t));
    let large = select(2.0 - tail, tail, z < vec4<f32>(0.0));
    let both = select(large, 1.0 + small_erf(z), t < vec4<f32>(0.927734375));
    return 0.5 * a * both;
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

// Where a row begins: rows are the index space without its innermost dimension.
fn index_row(row: u32, view: u32) -> u32 {
    var rest = row;
    var at = 0u;
    for (var d = 1u; d + 1u < rank; d++) {
        let n = p.shape[d >> 2u][d & 3u];
        let next = rest / n;
        at += (rest - next * n) * stride_of(view, d);
        rest = next;
    }
    // One row begins where the view does.
    return at + select(0u, rest * stride_of(view, rank - 1u), rank > 1u);
}

fn encode_f32(v: vec4<f32>) -> vec4<f32> {
    return v;
}

fn decode_f32(w: vec4<f32>) -> vec4<f32> {
    return w;
}
