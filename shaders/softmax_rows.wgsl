// Softmax of rows: y = exp(x - m) / s with m = max x and s = sum exp(x - m), and its logarithm.
//
// An invocation takes a row, in two passes: the first keeps m and s as it goes - when m rises, s is
// scaled down - and the second writes. The unit is a quad where rows are whole quads, else one
// element, which then counts once. Whatever is more than 87 below m is 0. A row with NaN or
// infinity, or of nothing but -infinity, is NaN. Trips: units / 2.
override workgroup: u32 = 64u;

struct Job {
    rows: u32,
    units: u32, // of a row
    quads: u32, // 1 where a unit is a quad
}

// region params
struct Params {
    job: Job,
}
@group(1) @binding(0) var<uniform> p: Params;
// end params

// region bindings
@group(0) @binding(0) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out_0: array<vec4<f32>>;
// end bindings

// region functions
fn head_0(q: u32) -> vec4<f32> {
    return in_0[q];
}

fn finish(q: u32, x0: vec4<f32>) {
    out_0[q] = x0;
}
// end functions

// region write
fn value(x: vec4<f32>, m: f32, s: f32) -> vec4<f32> {
    return exp_below(x - m) * (1.0 / s);
}
// end write

// region alone
fn exp_below(x: vec4<f32>) -> vec4<f32> { return exp(x); }
fn lowest(few: u32) -> f32 { return 0.0; }
fn ln_f32(x: vec4<f32>) -> vec4<f32> { return log(x); }
fn nan_where(x: vec4<f32>, test: vec4<bool>) -> vec4<f32> { return x; }
fn softmax_fault(bits: vec4<u32>, m: f32, s: f32) -> bool { return false; }
// end alone

const ABS = vec4<u32>(0x7fffffffu);

fn highest(x: vec4<f32>) -> f32 {
    return max(max(x.x, x.y), max(x.z, x.w));
}

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // region prepare
    // end prepare
    let linear = group.x + groups.x * group.y;
    let row = linear * workgroup + lane;
    if row >= p.job.rows {
        return;
    }
    let units = p.job.units;
    let first = row * units;
    // Of each of the four places of a quad by itself. m begins at the lowest finite number.
    var m = vec4<f32>(lowest(p.job.rows));
    var s = vec4<f32>(0.0);
    var bits = vec4<u32>(0u);
    var t = 0u;
    let whole = units & ~3u;
    while t < whole {
        // By blocks, so that no term goes through more than some hundred roundings.
        let block = min(t + 256u, whole);
        let before = m;
        var own = vec4<f32>(0.0);
        while t < block {
            let a = head_0(first + t);
            let b = head_0(first + t + 1u);
            let c = head_0(first + t + 2u);
            let d = head_0(first + t + 3u);
            let high = max(m, max(max(a, b), max(c, d)));
            own = own * exp_below(m - high) + ((exp_below(a - high) + exp_below(b - high))
                + (exp_below(c - high) + exp_below(d - high)));
            bits = max(bits, max(max(bitcast<vec4<u32>>(a) & ABS, bitcast<vec4<u32>>(b) & ABS),
                max(bitcast<vec4<u32>>(c) & ABS, bitcast<vec4<u32>>(d) & ABS)));
            m = high;
            t += 4u;
        }
        s = s * exp_below(before - m) + own;
    }
    while t < units {
        let a = head_0(first + t);
        let high = max(m, a);
        s = s * exp_below(m - high) + exp_below(a - high);
        bits = max(bits, bitcast<vec4<u32>>(a) & ABS);
        m = high;
        t += 1u;
    }
    let most = highest(m);
    let parts = s * exp_below(m - most);
    // By element the four places are the same one.
    let sum = select(parts.x, (parts.x + parts.y) + (parts.z + parts.w), p.job.quads == 1u);
    let fault = vec4<bool>(softmax_fault(bits, most, sum));
    t = 0u;
    while t + 4u <= units {
        let q = first + t;
        finish(q, nan_where(value(head_0(q), most, sum), fault));
        finish(q + 1u, nan_where(value(head_0(q + 1u), most, sum), fault));
        finish(q + 2u, nan_where(value(head_0(q + 2u), most, sum), fault));
        finish(q + 3u, nan_where(value(head_0(q + 3u), most, sum), fault));
        t += 4u;
    }
    while t < units {
        finish(first + t, nan_where(value(head_0(first + t), most, sum), fault));
        t += 1u;
    }
}
