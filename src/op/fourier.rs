//! What is said of Fourier transforms: nothing of a number by itself, but beside the largest one of
//! its row.

/// How far a number of a transform of length `n` may be from what it should be, in units of the
/// largest magnitude of a number that its row should come to: `(log2 n + 2) eps`, where `eps` is
/// 2^-23. Both parts of a complex number, each by itself.
#[must_use]
pub fn fourier_room(n: usize) -> f64 {
    ((n.max(1) as f64).log2() + 2.0) * f64::from(f32::EPSILON)
}
