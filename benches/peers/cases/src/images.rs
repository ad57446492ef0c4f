//! What images and lists have to come to.

use crate::check::{LOOKS, LOOKS_SUMS, Within, compare};
use crate::table::{CHANNELS, GROUPS, Image, Order, SIDE, TOP};

/// Compares an image, channel by channel, with the exact one.
pub(crate) fn image(image: Image, inputs: &[Vec<f32>], result: &[f32]) -> Result<(), String> {
    let weight = |i: usize| f64::from(inputs[1][i]);
    // An element of a channel, zero beyond its border.
    let inside = |y: isize, x: isize| {
        let side = SIDE as isize;
        (0..side).contains(&y) && (0..side).contains(&x)
    };
    let at = |channel: usize, y: isize, x: isize| {
        let place = (channel * SIDE + y.max(0) as usize) * SIDE + x.max(0) as usize;
        if inside(y, x) { f64::from(inputs[0][place]) } else { 0.0 }
    };
    // The 3 x 3 around a place, and which of them it is.
    let around = |y: usize, x: usize| {
        (0..9).map(move |tap| (tap, (y + tap / 3) as isize - 1, (x + tap % 3) as isize - 1))
    };
    let split = |i: usize, side: usize| (i / (side * side), i / side % side, i % side);
    let within = |(part, distance)| Within { part, distance };
    let [sums, exact, normed] = [(2e-5, 1e-4), (0.0, 0.0), (1e-4, 1e-4)].map(within);
    let n = image.results();
    match image {
        Image::Conv => compare(result, n, LOOKS_SUMS, sums, |i| {
            let (out, y, x) = split(i, SIDE);
            let of = |c: usize, (tap, y, x)| at(c, y, x) * weight((out * CHANNELS + c) * 9 + tap);
            (0..CHANNELS).flat_map(|c| around(y, x).map(move |tap| of(c, tap))).sum()
        }),
        Image::Pointwise => compare(result, n, LOOKS_SUMS, sums, |i| {
            let (out, y, x) = split(i, SIDE);
            let of = |c| at(c, y as isize, x as isize) * weight(out * CHANNELS + c);
            (0..CHANNELS).map(of).sum()
        }),
        Image::Depthwise => compare(result, n, LOOKS, sums, |i| {
            let (c, y, x) = split(i, SIDE);
            around(y, x).map(|(tap, y, x)| at(c, y, x) * weight(c * 9 + tap)).sum()
        }),
        Image::MaxPool => compare(result, n, LOOKS, exact, |i| {
            let (c, y, x) = split(i, SIDE / 2);
            let taps = around(2 * y, 2 * x).filter(|&(_, y, x)| inside(y, x));
            taps.map(|(_, y, x)| at(c, y, x)).fold(f64::NEG_INFINITY, f64::max)
        }),
        Image::Larger => compare(result, n, LOOKS, sums, |i| {
            let (c, y, x) = split(i, 2 * SIDE);
            // The middle of an element of half the size; beyond the last ones there is nothing new.
            let place = |i: usize| ((i as f64 + 0.5) / 2.0 - 0.5).clamp(0.0, (SIDE - 1) as f64);
            let (y, x) = (place(y), place(x));
            let near = |y: f64, x: f64| {
                let last = (SIDE - 1) as isize;
                at(c, (y as isize).min(last), (x as isize).min(last))
            };
            let (down, across) = (y.fract(), x.fract());
            let row = |y| near(y, x) * (1.0 - across) + near(y, x + 1.0) * across;
            row(y) * (1.0 - down) + row(y + 1.0) * down
        }),
        Image::GroupNorm => {
            let size = n / GROUPS;
            let wide = |i: usize| f64::from(inputs[0][i]);
            let moments: Vec<(f64, f64)> = (0..GROUPS)
                .map(|group| {
                    let all = group * size..(group + 1) * size;
                    let mean = all.clone().map(wide).sum::<f64>() / size as f64;
                    let squares = all.map(|i| (wide(i) - mean).powi(2)).sum::<f64>();
                    (mean, (squares / size as f64 + 1e-5).sqrt())
                })
                .collect();
            compare(result, n, LOOKS, normed, |i| {
                let (mean, deviation) = moments[i / size];
                (wide(i) - mean) / deviation
            })
        }
    }
}

/// Compares a list in order with the host's own.
pub(crate) fn order(order: Order, input: &[f32], result: &[f32]) -> Result<(), String> {
    let mut sorted = input.to_vec();
    sorted.sort_by(f32::total_cmp);
    if order == Order::TopK {
        sorted.reverse();
        sorted.truncate(TOP);
    }
    let exact = Within { part: 0.0, distance: 0.0 };
    compare(result, sorted.len(), LOOKS, exact, |i| f64::from(sorted[i]))
}
