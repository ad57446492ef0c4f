// Norms of rows: y = (x - mean) / sqrt(var + eps) (layer norm), or y = x / sqrt(mean x^2 + eps).
//
// An invocation takes a row, in two passes: the first keeps mean and squares about the mean, four
// units at a time (Chan's formula, so that nothing cancels), the second writes. The unit is a quad
// where rows are whole quads, else one element. Trips: units / 2.
override workgroup: u32 = 64u;

struct Job {
    rows: u32,
    units: u32,      // of a row
    quads: u32,      // 1 where a unit is a quad
    about_zero: u32, // 1 where the mean stays
    eps: f32,
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

// region alone
struct Spread {
    mean: vec4<f32>,
    squares: vec4<f32>,
}

fn spread_scale(s: Spread, n: f32, quads: bool, about_zero: bool, eps: f32) -> vec2<f32> {
    return vec2<f32>(0.0, 1.0);
}
// end alone

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
    var mean = vec4<f32>(0.0);
    var squares = vec4<f32>(0.0);
    var n = 0.0;
    var t = 0u;
    let whole = units & ~3u;
    while t < whole {
        // By blocks, so that no term goes through more than some hundred roundings.
        let block = min(t + 256u, whole);
        var own = Spread(vec4<f32>(0.0), vec4<f32>(0.0));
        var count = 0.0;
        while t < block {
            let a = head_0(first + t);
            let b = head_0(first + t + 1u);
            let c = head_0(first + t + 2u);
            let d = head_0(first + t + 3u);
            let middle = ((a + b) + (c + d)) * 0.25;
            let about = ((a - middle) * (a - middle) + (b - middle) * (b - middle))
                + ((c - middle) * (c - middle) + (d - middle) * (d - middle));
            let step = middle - own.mean;
            let part = 4.0 / (count + 4.0);
            own.mean += step * part;
            own.squares += about + step * step * (count * part);
            count += 4.0;
            t += 4u;
        }
        let step = own.mean - mean;
        let part = count / (n + count);
        mean += step * part;
        squares += own.squares + step * step * (n * part);
        n += count;
    }
    while t < units {
        let a = head_0(first + t);
        let step = a - mean;
        n += 1.0;
        mean += step / n;
        squares += step * (a - mean);
        t += 1u;
    }
    let about_zero = p.job.about_zero == 1u;
    let eps = p.job.eps;
    let all = spread_scale(Spread(mean, squares), n, p.job.quads == 1u, about_zero, eps);
    t = 0u;
    while t + 4u <= units {
        let q = first + t;
        finish(q, (head_0(q) - all.x) * all.y);
        finish(q + 1u, (head_0(q + 1u) - all.x) * all.y);
        finish(q + 2u, (head_0(q + 2u) - all.x) * all.y);
        finish(q + 3u, (head_0(q + 3u) - all.x) * all.y);
        t += 4u;
    }
    while t < units {
        finish(first + t, (head_0(first + t) - all.x) * all.y);
        t += 1u;
    }
}
