//! The values that are carried: all patterns that a move may damage.
//!
//! A probe begins and ends with patterns that other paths lose - quiet and signalling NaNs with
//! payloads, infinities, both zeros, subnormals, extremes - and has random bits in between. Its
//! length is odd, so that the last word of a packed dtype is only partly used.

use half::{bf16, f16};
use wharf::dtype::{Class, f8e4m3, f8e5m2};
use wharf::{DType, Element};

/// How many values a probe has.
pub(crate) const LENGTH: usize = 1037;

/// Enough f32 for several chunks of a transfer: 5.7 MiB.
pub(crate) const LENGTH_LARGE: usize = 1_500_037;

/// A host type that can be made from any bits.
pub(crate) trait Probe: Element + Copy {
    /// The value with the lowest of these bits.
    fn of_bits(bits: u64) -> Self;
}

macro_rules! probes {
    ($($ty:ty: $bits:ident => $value:expr),* $(,)?) => {$(
        impl Probe for $ty {
            fn of_bits($bits: u64) -> Self { $value }
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
        Class::Signed | Class::Unsigned => {
            let top = 1 << (bits - 1);
            vec![
                0,
                1,
                u64::MAX,
                top,
                top - 1,
                top + 1,
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

/// Random bits (xorshift64*), the same in every run.
pub(crate) fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.max(1);
    core::iter::repeat_with(move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    })
}

/// A probe of this many values: specials, random bits, specials.
pub(crate) fn probe<T: Probe>(length: usize) -> Vec<T> {
    let specials = specials(T::DTYPE);
    let middle = length.saturating_sub(2 * specials.len());
    let head = specials.iter().copied();
    let tail = specials.iter().rev().copied();
    let bits = head.chain(random(0x5eed).map(|r| r >> 1 ^ r << 63).take(middle)).chain(tail);
    bits.take(length).map(T::of_bits).collect()
}

/// Bits as hexadecimal digits, the highest first.
fn hex<T: Element>(value: &T) -> String {
    let mut bytes = bytemuck::bytes_of(value).to_vec();
    if cfg!(target_endian = "little") {
        bytes.reverse();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first place where two tensors differ in any bit, in words.
pub(crate) fn difference<T: Element>(expected: &[T], got: &[T]) -> Option<String> {
    if expected.len() != got.len() {
        return Some(format!("{} values went up, {} came back", expected.len(), got.len()));
    }
    let differs = |(a, b): (&T, &T)| bytemuck::bytes_of(a) != bytemuck::bytes_of(b);
    let index = expected.iter().zip(got).position(differs)?;
    let wrong = expected.iter().zip(got).filter(|pair| differs(*pair)).count();
    let (want, have) = (&expected[index], &got[index]);
    Some(format!(
        "{wrong} of {} values wrong, the first at index {index}: {want:?} (0x{}) became \
         {have:?} (0x{})",
        expected.len(),
        hex(want),
        hex(have)
    ))
}
