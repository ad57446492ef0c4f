//! The oracle: every operation as a naive loop over host values, in f64 or i128, whatever the
//! dtype; functions of f64 in twice its digits.
//!
//! It shares nothing with the kernels but the table of operations. Results of floats are *exact*
//! values, not rounded to the dtype: [`Tolerance::within`](crate::op::Tolerance::within) judges how
//! far a result may lie from them. wharf's tests use all of it; documented is what draws numbers,
//! for whoever wants the same ones elsewhere.

use crate::dtype::DType;
use crate::op::Op;

mod apply;
mod conv;
mod matmul;
pub mod random;
mod reduce;
mod resize;
mod rows;
mod sight;
mod special;
mod twice;

pub(crate) use matmul::{dot, matmul_room};
pub(crate) use resize::Resampling;
pub(crate) use sight::Sight;

/// Of no use but to tests, which may be of another crate.
#[doc(hidden)]
pub use {
    crate::op::{Exact, Number},
    apply::{apply, cast, keeps, stepwise},
    conv::{Convolution, conv},
    matmul::{matmul, matmul_dtype, matmul_keeps},
    reduce::{reduce, scan},
    resize::Filter,
    rows::{attention, log_softmax, norm, softmax},
};

/// A strided operand for the oracle: dense little-endian bytes, and how the index space walks them.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Strided<'a> {
    /// The dtype of the bytes.
    pub dtype: DType,
    /// The bytes.
    pub bytes: &'a [u8],
    /// The first element.
    pub offset: usize,
    /// One stride per dimension of the index space, in elements; 0 where it is broadcast.
    pub strides: &'a [isize],
}

impl Strided<'_> {
    /// The element at a place of the index space.
    #[must_use]
    pub fn at(&self, place: &[usize]) -> Number {
        let steps = place.iter().zip(self.strides).map(|(&i, &s)| i as isize * s);
        let at = self.offset.wrapping_add_signed(steps.sum()) * self.dtype.width();
        Number::decode(self.dtype, &self.bytes[at..at + self.dtype.width()])
    }
}

/// One operation over an index space, in row-major order. All operands have one dtype, except the
/// condition of `where`.
///
/// # Panics
/// As [`apply`], and where strides lead out of the bytes.
#[doc(hidden)]
#[must_use]
pub fn elementwise(op: Op, shape: &[usize], operands: &[Strided<'_>]) -> Vec<Exact> {
    let dtype = operands[operands.len() - 1].dtype;
    let value = |place: &[usize]| {
        let values = operands.iter().map(|operand| operand.at(place)).collect::<Vec<_>>();
        apply(op, dtype, &values)
    };
    places(shape).map(|place| value(&place)).collect()
}

/// Every place of an index space, in row-major order.
#[doc(hidden)]
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
