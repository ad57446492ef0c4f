// Elementwise: every quad of the outputs is a function of the quads of the inputs at the same
// place.
//
// Neighbouring lanes take neighbouring quads: each invocation takes `trips` of them, from first =
// group * lead + lane on in steps of `step`. On a CPU adapter a group walks a run of its own, which
// is one stream through memory (step = its lanes); on a GPU all groups walk together (step = all
// invocations). The last quad may reach past the tensor's end, into its padding.
//
// The regions are what the generator writes; as it lies here the kernel negates.
const workgroup: u32 = 256u;

struct Params {
    grid: vec4<u32>, // quads, lead, step, trips
    space: vec4<u32>, // the first element of this window, the last of all
    shape: array<vec4<u32>, 2>,
    offset: array<vec4<u32>, 2>,
    stride: array<vec4<u32>, 2>,
    scalar: array<vec4<u32>, 1>,
}
@group(1) @binding(0) var<uniform> p: Params;

@group(0) @binding(0) var<storage, read> in_0: array<u32>;

fn load_0(q: u32) -> vec4<u32> {
    let e = index4(elements(q), 0u) + p.offset[0].x;
    return decode_u8(join8(vec4<u32>(in_0[e.x >> 2u], in_0[e.y >> 2u], in_0[e.z >> 2u], in_0[e.w >> 2u]), e));
}

@group(0) @binding(1) var<storage, read> in_1: array<u32>;

fn load_1() -> vec4<f32> {
    let e = p.offset[0].y;
    return decode_f16p(join16(vec4<u32>(in_1[e >> 1u]), vec4<u32>(e)));
}

@group(0) @binding(2) var<storage, read> in_2: array<vec2<u32>>;

fn load_2(q: u32) -> vec4<f32> {
    return decode_bf16(in_2[q + p.offset[0].z]);
}

@group(0) @binding(3) var<storage, read_write> out_0: array<u32>;

fn store_0(q: u32, v: vec4<bool>) {
    out_0[q + p.offset[0].w] = encode_bool(v);
}

@group(0) @binding(4) var<storage, read_write> out_1: array<u32>;

fn store_1(q: u32, v: vec4<i32>) {
    out_1[q + p.offset[1].x] = encode_i8(v);
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
    let s0 = vec4<f32>(bitcast<f32>(p.scalar[0].x)); // a scalar, f32
    let x1 = load_1();
    let rest = p.grid.x - min(first, p.grid.x);
    let trips = min(p.grid.w, (rest + step - 1u) / step);
    for (var trip = 0u; trip < trips; trip++) {
        let q = first + trip * step;
        let x0 = load_0(q);
        let x2 = load_2(q);
        let v4 = u32_to_f32(x0); // u8 to f32
        let v5 = x1; // f16 to f32
        let v6 = x2; // bf16 to f32
        let v7 = v4 - v5; // sub
        let v8 = mul_add_f32(v7, s0, v6); // mul_add
        let v9 = lt_f32(v8, s0); // lt
        let v10 = clamp_to_i8(f32_to_i32(v8)); // f32 to i8
        store_0(q, v9);
        store_1(q, v10);
    }
}

fn le_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (key(a) <= key(b)) & ordered(a, b);
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

fn ge_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return le_f32(b, a);
}

// The part of f32 that an integer type can hold. `high` is its largest float.
fn between_f32(x: vec4<f32>, low: f32, high: f32) -> vec4<f32> {
    return select(clamp(x, vec4<f32>(low), vec4<f32>(high)), vec4<f32>(0.0), is_nan_f32(x));
}

// NaN compares false, but for `ne`.
fn ordered(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return !(is_nan_f32(a) | is_nan_f32(b));
}

fn key(x: vec4<f32>) -> vec4<i32> {
    let b = bitcast<vec4<i32>>(x);
    return select(b, vec4<i32>(i32(-2147483648)) - b, b < vec4<i32>(0));
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
const rank: u32 = 3u;

fn f32_to_i32(x: vec4<f32>) -> vec4<i32> {
    // The largest float below 2^31 is 2147483520.
    let y = vec4<i32>(between_f32(x, -2147483648.0, 2147483520.0));
    return select(y, vec4<i32>(2147483647), ge_f32(x, vec4<f32>(2147483648.0)));
}

// What a cast saturates to, from the compute type.
fn clamp_to_i8(v: vec4<i32>) -> vec4<i32> {
    return clamp(v, vec4<i32>(-128), vec4<i32>(127));
}

fn lt_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (key(a) < key(b)) & ordered(a, b);
}

fn mul_add_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return a * b + c;
}

// By halves, whose sum is rounded once: SwiftShader does not round u32 to nearest.
fn u32_to_f32(x: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(x >> vec4<u32>(16u)) * 65536.0 + vec4<f32>(x & vec4<u32>(0xffffu));
}

fn encode_i8(v: vec4<i32>) -> u32 {
    let b = (vec4<u32>(v) & vec4<u32>(0xffu)) << vec4<u32>(0u, 8u, 16u, 24u);
    return b.x | b.y | b.z | b.w;
}

fn encode_bool(v: vec4<bool>) -> u32 {
    let b = select(vec4<u32>(0u), vec4<u32>(1u, 0x100u, 0x10000u, 0x1000000u), v);
    return b.x | b.y | b.z | b.w;
}

fn decode_bf16(w: vec2<u32>) -> vec4<f32> {
    let high = w & vec2<u32>(0xffff0000u);
    return bitcast<vec4<f32>>(vec4<u32>(w.x << 16u, high.x, w.y << 16u, high.y));
}

fn join16(words: vec4<u32>, e: vec4<u32>) -> vec2<u32> {
    let b = (words >> ((e & vec4<u32>(1u)) * 16u)) & vec4<u32>(0xffffu);
    return b.xz | (b.yw << vec2<u32>(16u));
}

fn decode_f16p(w: vec2<u32>) -> vec4<f32> {
    let h = (w.xxyy >> vec4<u32>(0u, 16u, 0u, 16u)) & vec4<u32>(0xffffu);
    let sign = (h & vec4<u32>(0x8000u)) << vec4<u32>(16u);
    let mag = h & vec4<u32>(0x7fffu);
    // 112 is the difference of the exponents' biases; Inf and NaN need it once more to reach 255.
    let moved = (mag << vec4<u32>(13u)) + vec4<u32>(112u << 23u);
    let normal = select(moved, moved + vec4<u32>(112u << 23u), mag >= vec4<u32>(0x7c00u));
    let small = bitcast<vec4<u32>>(vec4<f32>(mag) * 5.9604644775390625e-8);
    return bitcast<vec4<f32>>(sign | select(normal, small, mag < vec4<u32>(0x400u)));
}

fn join8(words: vec4<u32>, e: vec4<u32>) -> u32 {
    let b = (words >> ((e & vec4<u32>(3u)) * 8u)) & vec4<u32>(0xffu);
    return b.x | (b.y << 8u) | (b.z << 16u) | (b.w << 24u);
}

fn decode_u8(w: u32) -> vec4<u32> {
    return (vec4<u32>(w) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
}

// The four elements of a quad; past the last of all it is that one again.
fn elements(q: u32) -> vec4<u32> {
    let first = p.space.x + 4u * q;
    return min(vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.space.y));
}

// An index for each of the four elements of a quad, when a row's end may fall between them.
fn index4(e: vec4<u32>, view: u32) -> vec4<u32> {
    var rest = e;
    var at = vec4<u32>(0u);
    for (var d = 0u; d + 1u < rank; d++) {
        let n = p.shape[d >> 2u][d & 3u];
        let next = rest / n;
        at += (rest - next * n) * stride_of(view, d);
        rest = next;
    }
    return at + rest * stride_of(view, rank - 1u);
}
