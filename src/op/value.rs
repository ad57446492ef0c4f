//! An element in more precision than any dtype has; the contract is judged by it.

use super::round::round_to;
use crate::dtype::{Class, DType, f8e4m3, f8e5m2};

/// An element, in more precision than any dtype has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An element of a float dtype.
    Float(f64),
    /// An element of an integer dtype.
    Int(i128),
    /// An element of bool.
    Bool(bool),
}

/// An exact result, and the magnitude at which its error is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// The result.
    pub value: Number,
    /// The largest term of it, where terms can cancel; else 0. Infinite where what is made on the
    /// way to it leaves the range, so that nothing is told of it.
    pub scale: f64,
}

impl From<Number> for Exact {
    fn from(value: Number) -> Self {
        Self { value, scale: 0.0 }
    }
}

impl Number {
    /// The element whose little-endian bytes these are.
    ///
    /// # Panics
    /// If `bytes` are not as many as the dtype has.
    #[must_use]
    pub fn decode(dtype: DType, bytes: &[u8]) -> Self {
        assert_eq!(bytes.len(), dtype.width(), "an element of {dtype}");
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        match dtype {
            DType::F32 => Self::Float(f32::from_bits(bits as u32).into()),
            DType::F16 => Self::Float(half::f16::from_bits(bits as u16).to_f64()),
            DType::Bf16 => Self::Float(half::bf16::from_bits(bits as u16).to_f64()),
            DType::F8E4M3 => Self::Float(f8e4m3::from_bits(bits as u8).to_f64()),
            DType::F8E5M2 => Self::Float(f8e5m2::from_bits(bits as u8).to_f64()),
            DType::F64 => Self::Float(f64::from_bits(bits)),
            DType::Bool => Self::Bool(bits != 0),
            _ => Self::Int(wrapped(dtype, i128::from(bits))),
        }
    }

    /// The element nearest to this value, as little-endian bytes: floats rounded to nearest even,
    /// integers wrapped.
    #[must_use]
    pub fn encode(self, dtype: DType) -> Vec<u8> {
        let near = |x| round_to(dtype, x);
        let bits = match (dtype, self) {
            (DType::F32, Self::Float(x)) => u64::from((near(x) as f32).to_bits()),
            (DType::F16, Self::Float(x)) => u64::from(half::f16::from_f64(near(x)).to_bits()),
            (DType::Bf16, Self::Float(x)) => u64::from(half::bf16::from_f64(near(x)).to_bits()),
            (DType::F8E4M3, Self::Float(x)) => u64::from(f8e4m3::from_f64(near(x)).to_bits()),
            (DType::F8E5M2, Self::Float(x)) => u64::from(f8e5m2::from_f64(near(x)).to_bits()),
            (_, Self::Float(x)) => x.to_bits(),
            (_, Self::Int(x)) => x as u64,
            (_, Self::Bool(x)) => u64::from(x),
        };
        bits.to_le_bytes()[..dtype.width()].to_vec()
    }

    pub(crate) const fn float(self) -> f64 {
        match self {
            Self::Float(x) => x,
            Self::Int(x) => x as f64,
            Self::Bool(x) => x as u8 as f64,
        }
    }

    pub(crate) const fn whole(self) -> i128 {
        match self {
            Self::Float(x) => x as i128,
            Self::Int(x) => x,
            Self::Bool(x) => x as i128,
        }
    }
}

/// An integer reduced to the range of its dtype, as arithmetic wraps.
#[must_use]
pub(crate) fn wrapped(dtype: DType, x: i128) -> i128 {
    let bits = 8 * dtype.width() as u32;
    let low = x & ((1 << bits) - 1);
    let negative = dtype.class() == Class::Signed && low >> (bits - 1) != 0;
    if negative { low - (1 << bits) } else { low }
}
