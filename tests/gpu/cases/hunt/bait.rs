//! Rows that give a kernel away which loses a lane, a chunk, a shift or a start: one value that
//! matters, walked through every place, and rows whose sums cancel or whose maximum comes late.

/// Lengths around quads, blocks of them, and workgroups that go round once, twice, and not quite.
pub(super) const LENGTHS: &[usize] =
    &[1, 2, 3, 4, 5, 7, 8, 11, 12, 16, 19, 20, 33, 36, 132, 261, 514, 1044];

/// So long that a reduction is cut into chunks on every target.
pub(super) const LONG: usize = 9001;

/// What a row holds everywhere, and at one place.
pub(super) type Lone = (f32, f32);

/// Of a softmax: maxima below zero, weights that almost vanish, and what hides or spoils a row.
pub(super) const WEIGHTS: &[Lone] = &[
    (-200.0, -100.0),
    (-130.0, -200.0),
    (0.0, 64.0),
    (-3.0, 83.0),
    (f32::NEG_INFINITY, -4.0),
    (-1.0, f32::NEG_INFINITY),
    (f32::MIN, f32::MAX),
    (-2.0, f32::NAN),
    // Its bits lie below those of every number: processors make it of 0 / 0.
    (-2.0, -f32::NAN),
    (-2.0, f32::INFINITY),
];

/// Of a sum or a variance.
pub(super) const TERMS: &[Lone] =
    &[(0.0, 1.0), (1.0, -3.0), (2.0, 1e9), (3000.0, 3001.0), (2e-7, 5e-7), (1.0, f32::NAN)];

/// What a row holds at place `i` of `n`.
type Steady = fn(usize, usize) -> f32;

const STEADY: &[Steady] = &[
    |_, _| 0.0,
    |_, _| -7.25,
    |_, _| f32::NEG_INFINITY,
    // Maxima that begin far below zero and rise to the end, or fall from the start.
    |i, n| -900.0 + 200.0 * i as f32 / n as f32,
    |i, n| -100.0 - 80.0 * i as f32 / n as f32,
    |i, _| -((i % 87) as f32),
    // Plateaus.
    |i, _| (i / 3 % 5) as f32 - 9.0,
    // Sums that cancel, and deviations far below their mean.
    |i, _| if i % 2 == 0 { 1e4 } else { -1e4 },
    |i, _| 4096.0 + (i % 5) as f32 / 8.0,
    |i, _| -30_000.0 + (i % 3) as f32,
];

/// Rows of a length, one after the other.
pub(super) fn rows(length: usize, all: &[Lone]) -> Vec<f32> {
    let steady = STEADY.iter().flat_map(|at| (0..length).map(move |i| at(i, length)));
    let walked = all.iter().flat_map(|&(floor, peak)| {
        places(length).flat_map(move |place| {
            let lone = (0..length).map(move |i| if i == place { peak } else { floor });
            // The same from there on to the end: of equals the first counts.
            lone.chain((0..length).map(move |i| if i < place { floor } else { peak }))
        })
    });
    steady.chain(walked).collect()
}

/// All places of a short row; of a long one its ends, and others in every lane of a quad.
fn places(length: usize) -> impl Iterator<Item = usize> {
    let step = length.div_ceil(24) | 1;
    (0..length).filter(move |&i| i < 5 || i + 5 >= length || i % step == 0)
}
