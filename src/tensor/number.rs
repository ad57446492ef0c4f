//! Numbers as operands: a scalar takes the dtype of the tensor it meets, if it fits.

use core::fmt;

use super::cause::TensorCause;
use crate::dtype::{Class, DType};
use crate::error::{Error, Result};
use crate::reference::Number;

/// A number that stands beside a tensor.
///
/// It is any number or `bool` of Rust's, borrowed or not, and becomes an element of the tensor's
/// dtype: an integer must be exact there, a float is rounded as a literal of that dtype would be,
/// and anything that cannot be - 300 beside a `u8` tensor, 1e300 beside an `f32` one - is an error.
/// So is a float beside integers, whatever its value: what works with 2.0 works with 2.5.
///
/// ```
/// # wharf::testing::example(async |device| {
/// let (x, _) = device.upload(&[1, 2, 3], [3])?;
/// let count = [4, 5].len(); // a usize
/// assert_eq!((&x * count)?.read_now::<i32>()?, [2, 4, 6]);
/// assert_eq!((10u8 - &x)?.read_now::<i32>()?, [9, 8, 7]);
/// assert!((&x * 2.0).is_err());
/// # Ok(()) });
/// ```
///
/// Before an operator a literal says its type if a method follows, or the compiler asks for
/// annotations: `(1.0f32 - &x)?.sqrt()`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar(Number);

macro_rules! scalars {
    ($($variant:ident by $into:expr, $($ty:ty)*;)*) => {$($(
        impl From<$ty> for Scalar {
            fn from(value: $ty) -> Self {
                Self(Number::$variant($into(value)))
            }
        }

        impl From<&$ty> for Scalar {
            fn from(value: &$ty) -> Self {
                Self::from(*value)
            }
        }
    )*)*};
}

scalars! {
    Float by f64::from, f32 f64 half::f16 half::bf16 crate::dtype::f8e4m3 crate::dtype::f8e5m2;
    Int by i128::from, i8 u8 i16 u16 i32 u32 i64 u64;
    Int by (|wide| wide as i128), isize usize;
    Bool by bool::from, bool;
}

impl Scalar {
    /// Zero; `false`, for bool.
    pub(crate) fn zero(dtype: DType) -> Self {
        if dtype == DType::Bool { false.into() } else { 0u8.into() }
    }

    /// One; `true`, for bool.
    pub(crate) fn one(dtype: DType) -> Self {
        if dtype == DType::Bool { true.into() } else { 1u8.into() }
    }

    /// The number itself.
    pub(crate) const fn value(self) -> Number {
        self.0
    }

    /// `start + place * step`.
    pub(crate) fn nth(start: Self, step: Self, place: usize) -> Self {
        Self(match (start.0, step.0) {
            (Number::Int(start), Number::Int(step)) => Number::Int(start + place as i128 * step),
            (start, step) => Number::Float(start.float() + place as f64 * step.float()),
        })
    }

    /// As a float, which is rounded where an integer must be exact.
    pub(crate) const fn as_float(self) -> Self {
        Self(Number::Float(self.0.float()))
    }

    /// Refuses a float beside integers, whole or not.
    pub(crate) fn whole(self, dtype: DType) -> Result<()> {
        match self.0 {
            Number::Float(_) if dtype.is_integer() => {
                Err(TensorCause::Float { scalar: self.to_string(), dtype }.into())
            }
            _ => Ok(()),
        }
    }

    /// The number that these bytes are as an element of this dtype.
    pub(crate) fn decode(dtype: DType, bytes: &[u8; 8]) -> Self {
        Self(Number::decode(dtype, &bytes[..dtype.width()]))
    }

    /// Its bytes as an element of this dtype.
    pub(crate) fn encode(self, dtype: DType) -> Result<[u8; 8]> {
        self.whole(dtype)?;
        let value = match (self.0, dtype.class()) {
            (Number::Int(n), Class::Float) => Number::Float(n as f64),
            (value, _) => value,
        };
        let bytes = match (value, dtype.class()) {
            (Number::Float(_), Class::Float)
            | (Number::Int(_), Class::Signed | Class::Unsigned)
            | (Number::Bool(_), Class::Bool) => value.encode(dtype),
            _ => return Err(self.refused(dtype)),
        };
        let kept = match (self.0, Number::decode(dtype, &bytes)) {
            (Number::Float(x), Number::Float(y)) => {
                x.is_finite() == y.is_finite() && x.is_nan() == y.is_nan()
            }
            (Number::Int(n), Number::Float(y)) => y as i128 == n,
            (a, b) => a == b,
        };
        if !kept {
            return Err(self.refused(dtype));
        }
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(&bytes);
        Ok(word)
    }

    fn refused(self, dtype: DType) -> Error {
        TensorCause::Scalar { scalar: self.to_string(), dtype }.into()
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Number::Float(x) => write!(f, "{x:?}"),
            Number::Int(n) => write!(f, "{n}"),
            Number::Bool(b) => write!(f, "{b}"),
        }
    }
}
