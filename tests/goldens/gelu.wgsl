// Elementwise: every quad of the outputs is a function of the quads of the inputs at the same
// place.
//
// Neighbouring lanes take neighbouring quads: each invocation takes `trips` of them, from first =
// group * lead + lane on in steps of `step`. On a CPU adapter a group walks a run of its own, which
// is one stream through memory (step = its lanes); on a GPU all groups walk together (step = all
// invocations). The last quad may reach past the tensor's end, into its padding.
//
// The regions are what the generator writes; as it lies here the kernel negates.
const workgroup: u32 = 8u;

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
var<private> rows_on: u32;
var<private> columns_on: u32;
var<private> start_0: u32;
var<private> row_length: u32;
var<private> row_stride_0: u32;

fn begin_row(e: u32, on: u32) {
    row = e / row_length;
    rows_on = on / row_length;
    columns_on = on - rows_on * row_length;
    start_0 = base_2 + select(index_row(row, 0u), row * row_stride_0, rank == 2u);
    // The first step is taken at once.
    column = e - row * row_length - columns_on;
    row -= rows_on;
}

fn walk(rows: u32, columns: u32) {
    column += columns;
    let over = select(0u, 1u, column >= row_length);
    column -= over * row_length;
    if rows + over > 0u {
        row += rows + over;
        start_0 = base_2 + select(index_row(row, 0u), row * row_stride_0, rank == 2u);
    }
}

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = group.x + groups.x * group.y;
    let first = linear * p.grid.y + lane;
    // Before the loop: llvmpipe loads a parameter wherever it is named, which took a fifth of the
    // time of an addition.
    let step = p.grid.z;
    base_0 = p.offset[0].x;
    base_1 = p.offset[0].y;
    base_2 = p.offset[0].z;
    base_3 = p.offset[0].w;
    row_length = p.shape[0].x;
    row_stride_0 = stride_of(0u, 1u);
    begin_row(p.space.x + 4u * first, 4u * step);
    let rest = p.grid.x - min(first, p.grid.x);
    let trips = min(p.grid.w, (rest + step - 1u) / step);
    for (var trip = 0u; trip < trips; trip++) {
        let q = first + trip * step;
        walk(rows_on, columns_on);
        let x0 = load_0(q);
        let x1 = load_1(q);
        let x2 = load_2(q);
        let v3 = x0 * x1; // mul
        let v4 = v3 + x2; // add
        let v5 = gelu_f32(v4); // gelu
        store_0(q, v5);
    }
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

// NaN, or an infinity of the value's sign, where `test`. WGSL has no literals of them: bits are
// or-ed to the value's. Bits are chosen, and become a float afterwards: a compiler that thinks
// there is no NaN never chooses a float that must be one.
fn nan_where(value: vec4<f32>, test: vec4<bool>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(value);
    return bitcast<vec4<f32>>(select(bits, bits | vec4<u32>(0x7fc00000u), test));
}

fn abs_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu));
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

fn stride_of(view: u32, dim: u32) -> u32 {
    return p.stride[2u * view + (dim >> 2u)][dim & 3u];
}

// Where an element of the index space lies in a strided view of it.
//
// The index space has `rank` dimensions, innermost first, in p.shape; each view has its strides in
// p.stride, 8 to a view. Strides may be zero or negative: u32 arithmetic wraps, and so does two's
// complement. The outermost dimension needs no remainder. Trips: rank - 1, a constant, so that
// drivers unroll the loop.
const rank: u32 = 2u;

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
