//! What can be wrong with tensors that are joined, indexed or made.

use core::fmt;

use crate::dtype::DType;
use crate::error::{Cause, ErrorKind};
use crate::shape::Shape;

#[derive(Debug)]
pub(crate) enum TensorCause {
    Nothing { what: &'static str },
    Dtypes { what: &'static str, left: DType, right: DType },
    Index { what: &'static str, dtype: DType },
    Along { what: &'static str, axis: usize, left: Shape, right: Shape },
    Sizes { axis: usize, sizes: Vec<usize>, dim: usize },
    Pads { pads: usize, shape: Shape },
    Reflect { axis: usize, pad: usize, dim: usize },
    Replicate { axis: usize, pad: usize },
    Steps { start: String, end: String, step: String },
    Only { what: &'static str, dtype: DType, only: &'static str },
    Probability { probability: f64 },
    Empty { low: i64, high: i64 },
}

impl fmt::Display for TensorCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing { what } => write!(f, "{what} of no tensors"),
            Self::Dtypes { what, left, right } => {
                write!(f, "{what}: dtypes differ: left {left}, right {right}")
            }
            Self::Index { what, dtype } => {
                write!(f, "{what}: {dtype} is no index, which is i32, u32, i64 or u64")
            }
            Self::Along { what, axis, left, right } => {
                write!(f, "{what}: shapes differ beside axis {axis}: left {left}, right {right}")
            }
            Self::Sizes { axis, sizes, dim } => {
                let sum: u128 = sizes.iter().map(|&size| size as u128).sum();
                write!(f, "split: sizes {sizes:?} are {sum}, axis {axis} has {dim}")
            }
            Self::Pads { pads, shape } => {
                write!(f, "pad: {pads} pairs for {shape} of rank {}", shape.rank())
            }
            Self::Reflect { axis, pad, dim } => {
                write!(f, "pad: {pad} reflected from axis {axis} of length {dim}")
            }
            Self::Replicate { axis, pad } => {
                write!(f, "pad: {pad} replicated from axis {axis} of length 0")
            }
            Self::Steps { start, end, step } => {
                write!(f, "arange: steps of {step} do not lead from {start} to {end}")
            }
            Self::Only { what, dtype, only } => write!(f, "{what}: {dtype}, not {only}"),
            Self::Probability { probability } => {
                write!(f, "bernoulli: probability {probability} is outside 0..=1")
            }
            Self::Empty { low, high } => {
                let count = i128::from(*high) - i128::from(*low);
                write!(f, "integers: {low}..{high} has {count} numbers, not 1 to 2^32")
            }
        }
    }
}

impl Cause for TensorCause {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Dtypes { .. } | Self::Index { .. } | Self::Only { .. } => ErrorKind::DType,
            _ => ErrorKind::Shape,
        }
    }

    fn help(&self) -> Option<String> {
        let help = match self {
            Self::Dtypes { .. } => "cast one of them: `cast(dtype)`",
            Self::Index { .. } => "cast it: `cast(DType::U32)`",
            Self::Only { .. } => "compute in another dtype and cast: `cast(dtype)`",
            Self::Along { .. } => {
                "every axis but that one must agree; `broadcast_to` and `slice` make it so"
            }
            Self::Reflect { .. } => "at most one less than the axis has can be reflected",
            Self::Steps { .. } => "a step is finite, not 0, and has the sign of end - start",
            _ => return None,
        };
        Some(help.into())
    }
}
