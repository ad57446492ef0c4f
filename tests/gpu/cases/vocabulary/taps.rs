//! What an element of a resized axis is made of.

use wharf::tensor::{Align, Interpolation};

/// The elements that one of the result is made of on an axis, and their weights.
pub(super) fn taps(how: Interpolation, from: usize, to: usize, i: usize) -> Vec<(usize, f64)> {
    let (align, cubic) = match how {
        Interpolation::LinearAntialiased => return covered(from, to, i, |far| 1.0 - far, 1.0),
        Interpolation::CubicAntialiased => return covered(from, to, i, |far| keys(far, -0.5), 2.0),
        Interpolation::Nearest => return vec![(i * from / to, 1.0)],
        Interpolation::Linear(align) => (align, false),
        Interpolation::Cubic(align) => (align, true),
        how => unreachable!("{how:?} has no taps here"),
    };
    // In integers, as the part of the way to the next element is rounded once.
    let (place, parts) = match align {
        Align::Edges => ((2 * i + 1) as i64 * from as i64 - to as i64, 2 * to as i64),
        Align::Corners => ((i * (from - 1)) as i64, to.saturating_sub(1).max(1) as i64),
    };
    let place = if cubic { place } else { place.max(0) };
    let (whole, part) = (place.div_euclid(parts), place.rem_euclid(parts) as f64 / parts as f64);
    let weight = |far: f64| if cubic { keys(far, -0.75) } else { 1.0 - far };
    let reach = if cubic { -1..3 } else { 0..2 };
    let one = |tap: i64| {
        let at = (whole + tap).clamp(0, from as i64 - 1);
        (at as usize, weight((tap as f64 - part).abs()))
    };
    reach.map(one).collect()
}

/// The cubic of Keys.
fn keys(far: f64, a: f64) -> f64 {
    match far {
        far if far <= 1.0 => ((a + 2.0) * far - (a + 3.0)) * far * far + 1.0,
        far => a * (((far - 5.0) * far + 8.0) * far - 4.0),
    }
}

/// All elements of an axis that a filter reaches, which is as much wider as the axis gets shorter.
fn covered(
    from: usize,
    to: usize,
    i: usize,
    weigh: impl Fn(f64) -> f64,
    reach: f64,
) -> Vec<(usize, f64)> {
    let centre = (2 * i + 1) * from;
    let far = |j: usize| ((2 * j + 1) * to).abs_diff(centre) as f64 / (2 * from.max(to)) as f64;
    let near = (0..from).filter(|&j| far(j) < reach - 1e-9);
    let all: Vec<(usize, f64)> = near.map(|j| (j, weigh(far(j)))).collect();
    let sum: f64 = all.iter().map(|(_, weight)| weight).sum();
    all.into_iter().map(|(j, weight)| (j, weight / sum)).collect()
}
