//! Errors that only a kernel can find, because they depend on the data. The first read of a result
//! returns them.

use core::fmt;

use crate::dtype::DType;
use crate::error::{Cause, ErrorKind};
use crate::exec::Hit;
use crate::shape::Shape;

/// Elements at fault, counted in the row-major order of `shape`.
#[derive(Debug)]
pub(crate) enum FaultCause {
    /// Values that a checked cast would have changed.
    Cast { from: DType, to: DType, shape: Shape, hit: Hit },
    /// Indices that are not below `bound`.
    Index { of: String, shape: Shape, bound: usize, hit: Hit },
}

/// The coordinates of an element, from its position in row-major order.
struct At<'a>(&'a Shape, u32);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.1 as usize;
        let mut place = vec![0; self.0.rank()];
        for (at, &dim) in place.iter_mut().zip(self.0.dims()).rev() {
            *at = rest % dim.max(1);
            rest /= dim.max(1);
        }
        write!(f, "{place:?}")
    }
}

impl fmt::Display for FaultCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cast { from, to, shape, hit } => {
                let (all, first) = (shape.elements(), At(shape, hit.first));
                let count = hit.count;
                write!(
                    f,
                    "cast_checked {from} {shape} to {to}: {count} of {all} values would change, \
                     the first at {first}"
                )
            }
            Self::Index { of, shape, bound, hit } => {
                let (all, first) = (shape.elements(), At(shape, hit.first));
                let count = hit.count;
                write!(
                    f,
                    "{of}: {count} of {all} indices in {shape} are outside 0..{bound}, the first \
                     at {first}"
                )
            }
        }
    }
}

impl Cause for FaultCause {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Cast { .. } => ErrorKind::Conversion,
            Self::Index { .. } => ErrorKind::Index,
        }
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::Cast { .. } => {
                "`cast` saturates and rounds instead; or keep a dtype that holds every value".into()
            }
            Self::Index { .. } => {
                "indices count from 0; a negative one counts nothing: add the length of the axis \
                 to it first"
                    .into()
            }
        })
    }
}
