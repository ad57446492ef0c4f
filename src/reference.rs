//! The oracle: every operation as a naive loop over host values, in f64 or i128, whatever the dtype.
//!
//! It shares nothing with the kernels but the table of operations. Results of floats are *exact* values, not rounded
//! to the dtype: [`Bound::within`](crate::op::Bound::within) judges how far a result may lie from them. Public, so that users can check
//! their adapter, or their own kernels, with it.

use crate::dtype::{Class, DType};
use crate::op::{Op, round_to};

mod apply;
mod special;

pub use apply::{apply, cast, keeps};

/// An element, in more precision than any dtype has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Of a float dtype.
    Float(f64),
    /// Of an integer dtype.
    Int(i128),
    /// Of bool.
    Bool(bool),
}

/// An exact result, and the magnitude at which its error is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// The result.
    pub value: Value,
    /// The largest term that went into it, where terms can cancel; else 0.
    pub scale: f64,
}

impl From<Value> for Exact {
    fn from(value: Value) -> Self {
        Self { value, scale: 0.0 }
    }
}

impl Value {
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
            DType::F64 => Self::Float(f64::from_bits(bits)),
            DType::Bool => Self::Bool(bits != 0),
            _ => Self::Int(wrapped(dtype, i128::from(bits))),
        }
    }

    /// The element nearest to this value, as little-endian bytes: floats rounded to nearest even, integers wrapped.
    #[must_use]
    pub fn encode(self, dtype: DType) -> Vec<u8> {
        let near = |x| round_to(dtype, x);
        let bits = match (dtype, self) {
            (DType::F32, Self::Float(x)) => u64::from((near(x) as f32).to_bits()),
            (DType::F16, Self::Float(x)) => u64::from(half::f16::from_f64(near(x)).to_bits()),
            (DType::Bf16, Self::Float(x)) => u64::from(half::bf16::from_f64(near(x)).to_bits()),
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
}

/// An integer reduced to the range of its dtype, as arithmetic wraps.
#[must_use]
pub(crate) fn wrapped(dtype: DType, x: i128) -> i128 {
    let bits = 8 * dtype.width() as u32;
    let low = x & ((1 << bits) - 1);
    let negative = dtype.class() == Class::Signed && low >> (bits - 1) != 0;
    if negative { low - (1 << bits) } else { low }
}

/// The lowest and the highest integer of a dtype.
#[must_use]
pub(crate) fn range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.width() as u32;
    match dtype.class() {
        Class::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        _ => (0, (1 << bits) - 1),
    }
}

/// A strided operand for the oracle: dense little-endian bytes, and how the index space walks them.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// The dtype of the bytes.
    pub dtype: DType,
    /// The bytes.
    pub bytes: &'a [u8],
    /// The first element.
    pub offset: usize,
    /// One stride per dimension of the index space, in elements; 0 where it is broadcast.
    pub strides: &'a [isize],
}

impl Operand<'_> {
    /// The element at a place of the index space.
    #[must_use]
    pub fn at(&self, place: &[usize]) -> Value {
        let steps = place.iter().zip(self.strides).map(|(&i, &s)| i as isize * s);
        let at = self.offset.wrapping_add_signed(steps.sum()) * self.dtype.width();
        Value::decode(self.dtype, &self.bytes[at..at + self.dtype.width()])
    }
}

/// One operation over an index space, in row-major order. Operands are of one dtype, but for `where`'s condition.
#[must_use]
pub fn elementwise(op: Op, shape: &[usize], operands: &[Operand<'_>]) -> Vec<Exact> {
    let dtype = operands[operands.len() - 1].dtype;
    let value = |place: &[usize]| {
        let values = operands.iter().map(|operand| operand.at(place)).collect::<Vec<_>>();
        apply(op, dtype, &values)
    };
    places(shape).map(|place| value(&place)).collect()
}

/// Every place of an index space, in row-major order.
pub fn places(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<'_> {
    let count = shape.iter().product();
    (0..count).map(move |linear: usize| {
        let mut rest = linear;
        let mut place = vec![0; shape.len()];
        for (at, &n) in place.iter_mut().zip(shape).rev() {
            *at = rest % n;
            rest /= n;
        }
        place
    })
}
