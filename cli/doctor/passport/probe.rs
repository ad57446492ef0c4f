//! The values that are carried: all patterns that a move may damage.
//!
//! A probe begins and ends with patterns that other paths lose - quiet and signalling NaNs with
//! payloads, infinities, both zeros, subnormals, extremes - and has random bits in between. Its
//! length is odd, so that the last word of a packed dtype is only partly used.

use half::{bf16, f16};
use wharf::dtype::{Class, f8e4m3, f8e5m2};
use wharf::{DType, Element};

use super::random::Random;

/// How many values a probe has.
pub(crate) const LENGTH: usize = 1037;

/// Enough f32 for several chunks of a transfer: 5.7 MiB.
pub(crate) const LENGTH_LARGE: usize = 1_500_037;

/// A host type that can be made from any bits.
pub(crate) trait Probe: Element + Copy {
    /// The value with the lowest of these bits.
    fn from_bits(bits: u64) -> Self;

    /// Its bits, and zeros above.
    fn to_bits(self) -> u64 {
        let mut all = [0; 8];
        all[..size_of::<Self>()].copy_from_slice(bytemuck::bytes_of(&self));
        u64::from_le_bytes(all)
    }
}

macro_rules! probes {
    ($($ty:ty: $bits:ident => $value:expr),* $(,)?) => {$(
        impl Probe for $ty {
            fn from_bits($bits: u64) -> Self { $value }
        }
    )*};
}

probes! {
    f32: bits => Self::from_bits(bits as u32),
    f16: bits => Self::from_bits(bits as u16),
    bf16: bits => Self::from_bits(bits as u16),
    f64: bits => Self::from_bits(bits),
    i8: bits => bits as Self, u8: bits => bits as Self,
    i16: bits => bits as Self, u16: bits => bits as Self,
    i32: bits => bits as Self, u32: bits => bits as Self,
    i64: bits => bits as Self, u64: bits => bits,
    bool: bits => bits & 1 == 1,
    f8e4m3: bits => Self::from_bits(bits as u8), f8e5m2: bits => Self::from_bits(bits as u8),
}

/// Calls an async function with the host type of a dtype.
macro_rules! of_dtype {
    ($dtype:expr, $function:ident ( $($argument:expr),* )) => {
        match $dtype {
            wharf::DType::F32 => $function::<f32>($($argument),*).await,
            wharf::DType::F16 => $function::<half::f16>($($argument),*).await,
            wharf::DType::Bf16 => $function::<half::bf16>($($argument),*).await,
            wharf::DType::F64 => $function::<f64>($($argument),*).await,
            wharf::DType::I8 => $function::<i8>($($argument),*).await,
            wharf::DType::U8 => $function::<u8>($($argument),*).await,
            wharf::DType::I16 => $function::<i16>($($argument),*).await,
            wharf::DType::U16 => $function::<u16>($($argument),*).await,
            wharf::DType::I32 => $function::<i32>($($argument),*).await,
            wharf::DType::U32 => $function::<u32>($($argument),*).await,
            wharf::DType::I64 => $function::<i64>($($argument),*).await,
            wharf::DType::U64 => $function::<u64>($($argument),*).await,
            wharf::DType::Bool => $function::<bool>($($argument),*).await,
            wharf::DType::F8E4M3 => $function::<wharf::dtype::f8e4m3>($($argument),*).await,
            wharf::DType::F8E5M2 => $function::<wharf::dtype::f8e5m2>($($argument),*).await,
            dtype => unreachable!("no host type of {dtype} is here"),
        }
    };
}
pub(crate) use of_dtype;

/// Bit patterns worth carrying, of one dtype.
pub(crate) fn specials(dtype: DType) -> Vec<u64> {
    let bits = dtype.width() as u32 * 8;
    let mantissa = match dtype {
        DType::F16 => 10,
        DType::Bf16 => 7,
        DType::F8E4M3 => 3,
        DType::F8E5M2 => 2,
        DType::F32 => 23,
        _ => 52,
    };
    match dtype.class() {
        Class::Float => float_specials(bits, mantissa),
        Class::Bool => vec![0, 1, 1, 0],
        _ => {
            let top = 1 << (bits - 1);
            vec![
                0,
                1,
                u64::MAX,
                top,
                top - 1,
                top + 1,
                // The ends of narrower ones.
                0x7f,
                0x80,
                0x7fff,
                0x8000,
                0x7fff_ffff,
                0x8000_0000,
                0xaaaa_aaaa_aaaa_aaaa,
                0x0807_0605_0403_0201,
            ]
        }
    }
}

/// The special patterns of a float of this many bits, `mantissa` of them mantissa, each with both
/// signs.
fn float_specials(bits: u32, mantissa: u32) -> Vec<u64> {
    let sign = 1 << (bits - 1);
    let infinity = (sign - 1) >> mantissa << mantissa;
    let quiet = infinity | 1 << (mantissa - 1);
    let one = infinity >> (mantissa + 1) << mantissa;
    let smallest_normal = 1 << mantissa;
    let patterns = [
        0,
        infinity,
        quiet,
        quiet | 5,
        sign - 1,            // quiet, the largest payload
        infinity | 1,        // signalling, the smallest payload
        quiet - 1,           // signalling, the largest payload
        1,                   // the smallest subnormal
        smallest_normal - 1, // the largest subnormal
        smallest_normal,
        infinity - 1, // the largest finite value
        one,
        one + 1,
    ];
    patterns.into_iter().flat_map(|pattern| [pattern, pattern | sign]).collect()
}

/// A probe of this many values: specials, random bits, specials.
pub(crate) fn probe<T: Probe>(length: usize) -> Vec<T> {
    let specials = specials(T::DTYPE);
    let middle = length.saturating_sub(2 * specials.len());
    let head = specials.iter().copied();
    let tail = specials.iter().rev().copied();
    let mut random = Random::new(0x5eed);
    let bits = core::iter::repeat_with(|| random.bits()).take(middle);
    head.chain(bits).chain(tail).take(length).map(T::from_bits).collect()
}

/// The first place where two tensors differ in any bit, in words.
pub(crate) fn difference<T: Probe>(expected: &[T], got: &[T]) -> Option<String> {
    if expected.len() != got.len() {
        return Some(format!("{} values went up, {} came back", expected.len(), got.len()));
    }
    let differs = |(a, b): (&T, &T)| a.to_bits() != b.to_bits();
    let index = expected.iter().zip(got).position(differs)?;
    let wrong = expected.iter().zip(got).filter(|pair| differs(*pair)).count();
    let (want, have) = (expected[index], got[index]);
    let digits = 2 * size_of::<T>();
    Some(format!(
        "{wrong} of {} values wrong, the first at index {index}: {want:?} (0x{:0digits$x}) became \
         {have:?} (0x{:0digits$x})",
        expected.len(),
        want.to_bits(),
        have.to_bits()
    ))
}
