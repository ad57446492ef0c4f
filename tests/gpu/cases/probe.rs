//! Values that reveal mistakes, as raw bits: NaNs with payloads, infinities, signed zeros,
//! subnormals, extremes.

use wharf::{DType, Element, half};

pub(crate) use crate::passport::probe::of_dtype;
pub(crate) use crate::passport::random::Random;

/// An element that tests can make from any bits.
pub(crate) trait Probe: Element {
    /// The element with these (low) bits; for `bool`, the lowest.
    fn from_bits(bits: u64) -> Self;
    /// Its bits.
    fn to_bits(self) -> u64;
}

macro_rules! probes {
    ($($ty:ty, $bits:ty, $from:expr, $to:expr;)*) => {$(
        impl Probe for $ty {
            fn from_bits(bits: u64) -> Self {
                let from: fn($bits) -> $ty = $from;
                from(bits as $bits)
            }

            fn to_bits(self) -> u64 {
                let to: fn($ty) -> u64 = $to;
                to(self)
            }
        }
    )*};
}

probes! {
    f32, u32, Self::from_bits, |v| v.to_bits().into();
    f64, u64, Self::from_bits, |v| v.to_bits();
    half::f16, u16, Self::from_bits, |v| v.to_bits().into();
    half::bf16, u16, Self::from_bits, |v| v.to_bits().into();
    i8, u8, |b| b.cast_signed(), |v| v.cast_unsigned().into();
    u8, u8, |b| b, |v| v.into();
    i16, u16, |b| b.cast_signed(), |v| v.cast_unsigned().into();
    u16, u16, |b| b, |v| v.into();
    i32, u32, |b| b.cast_signed(), |v| v.cast_unsigned().into();
    u32, u32, |b| b, |v| v.into();
    i64, u64, |b| b.cast_signed(), |v| v.cast_unsigned();
    u64, u64, |b| b, |v| v;
    bool, u8, |b| b & 1 == 1, |v| u64::from(v);
    wharf::dtype::f8e4m3, u8, Self::from_bits, |v| v.to_bits().into();
    wharf::dtype::f8e5m2, u8, Self::from_bits, |v| v.to_bits().into();
}

/// Bits that are special in a float of this width, or extremes of an integer.
fn special(dtype: DType) -> &'static [u64] {
    match dtype {
        DType::F32 => &[
            0x7fc0_0000,
            0x7f80_0001,
            0xffc1_2345,
            0x7f80_0000,
            0xff80_0000,
            0,
            0x8000_0000,
            1,
            0x8000_0001,
            0x007f_ffff,
            0x0080_0000,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x3f80_0000,
        ],
        DType::F64 => &[
            0x7ff8_0000_0000_0000,
            0x7ff0_0000_0000_0001,
            0xfff8_1234_5678_9abc,
            0x7ff0_0000_0000_0000,
            0xfff0_0000_0000_0000,
            0,
            1 << 63,
            1,
            0x000f_ffff_ffff_ffff,
            0x7fef_ffff_ffff_ffff,
        ],
        DType::F16 => {
            &[0x7e00, 0x7c01, 0xfe12, 0x7c00, 0xfc00, 0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff]
        }
        DType::Bf16 => {
            &[0x7fc0, 0x7f81, 0xffc1, 0x7f80, 0xff80, 0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x7f7f]
        }
        _ => &[
            0,
            1,
            u64::MAX,
            u64::MAX >> 1,
            1 << 63,
            0x7f,
            0x80,
            0x7fff,
            0x8000,
            0x7fff_ffff,
            0x8000_0000,
        ],
    }
}

/// `n` values: the special ones first, then random bits.
pub(crate) fn values<T: Probe>(n: usize, seed: u64) -> Vec<T> {
    let special = special(T::DTYPE);
    let mut random = Random::new(seed);
    (0..n).map(|i| T::from_bits(special.get(i).copied().unwrap_or_else(|| random.bits()))).collect()
}

/// The first place where two slices differ in bits.
pub(crate) fn first_difference<T: Probe>(left: &[T], right: &[T]) -> Option<String> {
    if left.len() != right.len() {
        return Some(format!("{} values against {}", left.len(), right.len()));
    }
    let differ = |&i: &usize| left[i].to_bits() != right[i].to_bits();
    (0..left.len()).find(differ).map(|i| {
        let (l, r) = (left[i], right[i]);
        format!("index {i}: {l:?} ({:#x}) against {r:?} ({:#x})", l.to_bits(), r.to_bits())
    })
}
