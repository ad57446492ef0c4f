//! What is said of products: nothing of a sum by itself, but beside the magnitudes of its terms.

use crate::dtype::DType;

/// What [`product_room`] comes to, in words.
pub const PRODUCT_WORDS: &str = "(min(k, 256) + k / 256 + 2) eps / 2";

/// How far a sum of `k` products of floats may be from the exact one before it is stored, in units
/// of the sum of their magnitudes: `(min(k, 256) + k / 256 + 2) eps / 2`, where `eps` is that of
/// the type that sums, 2^-52 for f64 and 2^-23 for all others. It is a promise and no result: the
/// oracle sums by itself, and holds devices to this.
#[must_use]
pub fn product_room(dtype: DType, k: usize) -> f64 {
    let eps = if dtype == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    (k.min(256) as f64 + (k / 256) as f64 + 2.0) * eps / 2.0
}
