//! Element types: what a tensor holds, on the host and on the device.
//!
//! On the device the bytes of a tensor are always the dense little-endian bytes of its dtype. The
//! plan decides whether a shader binds them as `array<f16>` or unpacks them from `array<u32>`; the
//! bytes are the same. So tensors move between adapters bit by bit, whatever either supports.

mod eight;

use core::fmt;
use core::str::FromStr;

use half::{bf16, f16};

use crate::error::{Error, Result};

pub use self::eight::{f8e4m3, f8e5m2};

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// IEEE 754 binary64.
    F64,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// A truth value, one byte, 0 or 1.
    Bool,
    /// Eight bits as OCP has them, 4 of exponent and 3 of fraction: up to 448, NaN, no infinity.
    /// PyTorch's `float8_e4m3fn`. It is stored and cast, not [computed with](DType::computes).
    F8E4M3,
    /// Eight bits as OCP has them, 5 of exponent and 2 of fraction: the upper half of a binary16.
    /// PyTorch's `float8_e5m2`. It is stored and cast, not [computed with](DType::computes).
    F8E5M2,
}

/// What kind of number a dtype holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// Floating point.
    Float,
    /// Signed integer.
    Signed,
    /// Unsigned integer.
    Unsigned,
    /// Truth value.
    Bool,
}

/// One row per dtype, in the order of the enum.
struct DTypeRow {
    dtype: DType,
    name: &'static str,
    width: usize,
    class: Class,
    /// Bits of a significand or of an integer's magnitude: every integer up to `2^digits` is exact.
    digits: u32,
    /// Binary exponent range of finite values, for floats.
    exponent: u32,
}

const fn row(
    dtype: DType,
    name: &'static str,
    width: usize,
    class: Class,
    digits: u32,
    exponent: u32,
) -> DTypeRow {
    DTypeRow { dtype, name, width, class, digits, exponent }
}

const TABLE: [DTypeRow; 15] = [
    row(DType::F32, "f32", 4, Class::Float, 24, 8),
    row(DType::F16, "f16", 2, Class::Float, 11, 5),
    row(DType::Bf16, "bf16", 2, Class::Float, 8, 8),
    row(DType::F64, "f64", 8, Class::Float, 53, 11),
    row(DType::I8, "i8", 1, Class::Signed, 7, 0),
    row(DType::U8, "u8", 1, Class::Unsigned, 8, 0),
    row(DType::I16, "i16", 2, Class::Signed, 15, 0),
    row(DType::U16, "u16", 2, Class::Unsigned, 16, 0),
    row(DType::I32, "i32", 4, Class::Signed, 31, 0),
    row(DType::U32, "u32", 4, Class::Unsigned, 32, 0),
    row(DType::I64, "i64", 8, Class::Signed, 63, 0),
    row(DType::U64, "u64", 8, Class::Unsigned, 64, 0),
    row(DType::Bool, "bool", 1, Class::Bool, 1, 0),
    row(DType::F8E4M3, "f8e4m3", 1, Class::Float, 4, 4),
    row(DType::F8E5M2, "f8e5m2", 1, Class::Float, 3, 5),
];

impl DType {
    /// Every dtype, in the order in which tables print them.
    pub const ALL: &[Self] = &{
        let mut all = [Self::F32; TABLE.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = TABLE[i].dtype;
            i += 1;
        }
        all
    };

    const fn row(self) -> &'static DTypeRow {
        &TABLE[self as usize]
    }

    /// The name as Rust spells it: `f32`, `bf16`, `bool`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Bits of a float's significand or of an integer's magnitude.
    pub(crate) const fn digits(self) -> u32 {
        self.row().digits
    }

    /// The exponent of the smallest normal number of a float.
    pub(crate) const fn lowest(self) -> i32 {
        2 - (1 << self.row().exponent >> 1)
    }

    /// Bytes per element: 1, 2, 4 or 8.
    #[must_use]
    pub const fn width(self) -> usize {
        self.row().width
    }

    /// The kind of number it holds.
    #[must_use]
    pub const fn class(self) -> Class {
        self.row().class
    }

    /// Whether it is a floating point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.class(), Class::Float)
    }

    /// Whether operations compute with it: all but the floats of 8 bits, which are stored, moved
    /// and cast. A cast is fused into what reads its result, as any operation is.
    ///
    /// ```
    /// # use wharf::DType;
    /// let stored: Vec<_> = DType::ALL.iter().copied().filter(|d| !d.computes()).collect();
    /// assert_eq!(stored, [DType::F8E4M3, DType::F8E5M2]);
    /// ```
    #[must_use]
    pub const fn computes(self) -> bool {
        !matches!(self, Self::F8E4M3 | Self::F8E5M2)
    }

    /// Whether there are infinities among its values.
    pub(crate) const fn has_infinity(self) -> bool {
        self.is_float() && !matches!(self, Self::F8E4M3)
    }

    /// Whether it is a signed or unsigned integer type.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }

    /// The dtype of this name, as [`DType::name`] spells it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|d| d.name() == name)
    }

    /// Whether *every* value of this dtype is also a value of `to`.
    ///
    /// ```
    /// # use wharf::DType;
    /// assert!(DType::Bf16.fits_in(DType::F32) && DType::U16.fits_in(DType::I32));
    /// assert!(!DType::I32.fits_in(DType::F32), "2^24 + 1 has no f32");
    /// ```
    #[must_use]
    pub const fn fits_in(self, to: Self) -> bool {
        let (a, b) = (self.row(), to.row());
        match (a.class, b.class) {
            (Class::Float, Class::Float) => a.digits <= b.digits && a.exponent <= b.exponent,
            (Class::Bool, _) => true,
            (Class::Unsigned, Class::Signed | Class::Unsigned | Class::Float)
            | (Class::Signed, Class::Signed) => a.digits <= b.digits,
            // The most negative value is a power of two: it fits if the other values do and the
            // exponent is in range.
            (Class::Signed, Class::Float) => a.digits <= b.digits,
            _ => false,
        }
    }
}

impl DType {
    /// One value as text, for messages; `bytes` are those of the value.
    pub(crate) fn format(self, bytes: &[u8]) -> String {
        fn one<T: Element>(bytes: &[u8]) -> String {
            let mut value = [T::default()];
            if bytes.len() == size_of::<T>() {
                T::copy_from_bytes(bytes, &mut value);
            }
            format!("{:?}", value[0])
        }
        let show = match self {
            Self::F32 => one::<f32>,
            Self::F16 => one::<f16>,
            Self::Bf16 => one::<bf16>,
            Self::F64 => one::<f64>,
            Self::I8 => one::<i8>,
            Self::U8 => one::<u8>,
            Self::I16 => one::<i16>,
            Self::U16 => one::<u16>,
            Self::I32 => one::<i32>,
            Self::U32 => one::<u32>,
            Self::I64 => one::<i64>,
            Self::U64 => one::<u64>,
            Self::Bool => one::<bool>,
            Self::F8E4M3 => one::<f8e4m3>,
            Self::F8E5M2 => one::<f8e5m2>,
        };
        show(bytes)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A host type whose values are elements of a tensor. Sealed: one type per [`DType`].
pub trait Element:
    sealed::Sealed
    + bytemuck::NoUninit
    + bytemuck::Zeroable
    + Default
    + PartialEq
    + fmt::Debug
    + Send
    + Sync
    + 'static
{
    /// The dtype this type maps to, and the only one.
    const DTYPE: DType;

    /// Copies device bytes into host values; both hold the same number of elements.
    #[doc(hidden)]
    fn copy_from_bytes(bytes: &[u8], out: &mut [Self]);
}

macro_rules! elements {
    ($($ty:ty => $dtype:ident),* $(,)?) => {$(
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;

            fn copy_from_bytes(bytes: &[u8], out: &mut [Self]) {
                bytemuck::cast_slice_mut::<Self, u8>(out).copy_from_slice(bytes);
            }
        }
    )*};
}

elements! {
    f32 => F32, f16 => F16, bf16 => Bf16, f64 => F64,
    i8 => I8, u8 => U8, i16 => I16, u16 => U16,
    i32 => I32, u32 => U32, i64 => I64, u64 => U64,
    f8e4m3 => F8E4M3, f8e5m2 => F8E5M2,
}

impl sealed::Sealed for bool {}
impl Element for bool {
    const DTYPE: DType = DType::Bool;

    // Not a cast: a byte other than 0 or 1 is no `bool`.
    fn copy_from_bytes(bytes: &[u8], out: &mut [Self]) {
        for (to, from) in out.iter_mut().zip(bytes) {
            *to = *from != 0;
        }
    }
}

/// By its name, as [`DType::name`] spells it; else the error has all names.
///
/// ```
/// # use wharf::DType;
/// let dtype: DType = "bf16".parse()?;
/// assert_eq!(dtype, DType::Bf16);
/// let error = "float".parse::<DType>().unwrap_err();
/// assert_eq!(error.to_string(), "no dtype is called \"float\"");
/// # Ok::<(), wharf::Error>(())
/// ```
impl FromStr for DType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let unknown = || Error::unknown("dtype", name, Self::ALL.iter().map(|dtype| dtype.name()));
        Self::named(name).ok_or_else(unknown)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Float => "float",
            Self::Signed => "signed",
            Self::Unsigned => "unsigned",
            Self::Bool => "bool",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, d) in DType::ALL.iter().copied().enumerate() {
            assert_eq!(d as usize, i, "{d} is out of order");
            assert_eq!(DType::named(d.name()), Some(d), "{d} does not parse");
        }
    }

    #[test]
    fn fits_in_is_exact_about_integers_and_floats() {
        let fits = |a: DType| {
            let all = DType::ALL.iter().copied().filter(|&b| a.fits_in(b));
            all.map(DType::name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(fits(DType::F16), "f32 f16 f64");
        assert_eq!(fits(DType::Bf16), "f32 bf16 f64");
        assert_eq!(fits(DType::I8), "f32 f16 bf16 f64 i8 i16 i32 i64");
        assert_eq!(fits(DType::U8), "f32 f16 bf16 f64 u8 i16 u16 i32 u32 i64 u64");
        assert_eq!(fits(DType::U16), "f32 f64 u16 i32 u32 i64 u64");
        assert_eq!(fits(DType::I32), "f64 i32 i64");
        assert_eq!(fits(DType::I64), "i64");
        assert_eq!(fits(DType::F64), "f64");
        assert_eq!(fits(DType::F8E4M3), "f32 f16 bf16 f64 f8e4m3");
        assert_eq!(fits(DType::F8E5M2), "f32 f16 bf16 f64 f8e5m2");
    }
}
