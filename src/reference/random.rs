//! The generator on the host, and what is drawn from it: an implementation of its own, written from
//! the definitions.
//!
//! A [`Key`](crate::tensor::Key) is two words. Element `i` of a tensor is lane `i % 4` of block
//! `i / 4`, whose counter is `(i / 4, i / 4 >> 32, stream, 0)`.

use crate::dtype::DType;

/// Philox 4x32-10: four random words from a counter and a key.
#[must_use]
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let wide = |a: u32, b: u32| u64::from(a) * u64::from(b);
    let ([mut a, mut b, mut c, mut d], [mut k, mut l]) = (counter, key);
    for _ in 0..10 {
        let (left, right) = (wide(0xd251_1f53, a), wide(0xcd9e_8d57, c));
        (a, b, c, d) =
            ((right >> 32) as u32 ^ b ^ k, right as u32, (left >> 32) as u32 ^ d ^ l, left as u32);
        (k, l) = (k.wrapping_add(0x9e37_79b9), l.wrapping_add(0xbb67_ae85));
    }
    [a, b, c, d]
}

/// The word of element `i` in a stream.
#[must_use]
pub fn word(key: [u32; 2], stream: u32, i: u64) -> u32 {
    let block = i / 4;
    philox([block as u32, (block >> 32) as u32, stream, 0], key)[(i % 4) as usize]
}

/// The words of streams 0 and 1 of element `i`, as high and low.
#[must_use]
pub fn long(key: [u32; 2], i: u64) -> u64 {
    u64::from(word(key, 0, i)) << 32 | u64::from(word(key, 1, i))
}

/// Uniform in 0..1: as many of the highest bits as the dtype has in its significand.
#[must_use]
pub fn uniform(key: [u32; 2], dtype: DType, i: u64) -> f64 {
    let bits = match dtype {
        DType::F64 => return (long(key, i) >> 11) as f64 / 2f64.powi(53),
        DType::F16 => 11,
        DType::Bf16 => 8,
        _ => 24,
    };
    f64::from(word(key, 0, i) >> (32 - bits)) / 2f64.powi(bits)
}

/// Normal with mean 0 and deviation 1, by Box and Muller; exact, not rounded.
#[must_use]
pub fn normal(key: [u32; 2], i: u64) -> f64 {
    let pair = i / 2 * 2;
    let radius = (f64::from(word(key, 0, pair)) + 1.0) / 2f64.powi(32);
    // A turn has 2^24 parts; by the nearest quarter, so that a sine of zero is zero.
    let part = word(key, 0, pair + 1) >> 8;
    let quarter = (part + (1 << 21)) >> 22;
    let rest = (i64::from(part) - i64::from(quarter << 22)) as f64 / 2f64.powi(24);
    let (sine, cosine) = (rest * core::f64::consts::TAU).sin_cos();
    let radius = (-2.0 * radius.ln()).max(0.0).sqrt();
    let quarters = [cosine, -sine, -cosine, sine];
    radius * quarters[(quarter + if i == pair { 0 } else { 3 }) as usize % 4]
}

/// One of `count` integers from `low` on, `count` at most 2^32.
#[must_use]
pub fn integer(key: [u32; 2], low: i64, count: u64, i: u64) -> i64 {
    low + ((u128::from(long(key, i)) * u128::from(count)) >> 64) as i64
}

/// True in `threshold` of 2^32 cases.
#[must_use]
pub fn chance(key: [u32; 2], threshold: u64, i: u64) -> bool {
    u64::from(word(key, 0, i)) < threshold
}

/// The numbers `0..count`, sorted by their long words.
#[must_use]
pub fn permutation(key: [u32; 2], count: u32) -> Vec<u32> {
    let mut all: Vec<u32> = (0..count).collect();
    all.sort_by_key(|&i| long(key, i.into()));
    all
}
