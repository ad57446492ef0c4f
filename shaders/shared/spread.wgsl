// Mean and squares about the mean, of each of the four places of a quad by itself.

struct Spread {
    mean: vec4<f32>,
    squares: vec4<f32>,
}

// The mean to be taken off and the factor after it. Each place has seen n values; by element all
// four have seen the same ones. About zero: sum x^2 = squares + n mean^2, and nothing is taken off.
fn spread_scale(s: Spread, n: f32, quads: bool, about_zero: bool, eps: f32) -> vec2<f32> {
    let mean = select(s.mean.x, ((s.mean.x + s.mean.y) + (s.mean.z + s.mean.w)) * 0.25, quads);
    let off = s.mean - mean;
    let parts = s.squares + n * off * off;
    let squares = select(parts.x, (parts.x + parts.y) + (parts.z + parts.w), quads);
    let count = select(n, 4.0 * n, quads);
    let about = squares / count + select(0.0, mean * mean, about_zero);
    return vec2<f32>(select(mean, 0.0, about_zero), 1.0 / sqrt(about + eps));
}
