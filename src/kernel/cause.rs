//! Errors that only a kernel can find, because they depend on the data. The first read of a result
//! returns them.

use core::fmt;

use crate::dtype::DType;
use crate::error::causes;
use crate::exec::Hit;
use crate::shape::{Axis, Shape};
use crate::wgsl::scan::Spot;

causes! {
    /// Elements at fault, counted in the row-major order of `shape`.
    pub(crate) enum FaultCause;

    /// Values that a cast to `to`, stored as `stored`, would have changed where it may not.
    Cast { what: &'static str, from: DType, to: DType, stored: DType, shape: Shape, hit: Hit },
        Conversion:
        ("{what} {from} {shape} to {to}{}: {} of {} values would change, the first at {}",
         if stored == to { String::new() } else { format!(", stored as {stored}") },
         hit.count, shape.elements(), At(shape, hit.first))
        help ("`{}(DType::{stored:?})` {}; or keep a dtype that holds every value",
              if stored.is_float() { "cast_saturating" } else { "cast" },
              match stored { DType::Bool => "is whether `x != 0`", _ => "rounds and saturates" });
    /// Indices that are not below `bound`.
    Index { what: &'static str, of: Option<(Shape, Axis)>, shape: Shape, bound: usize, hit: Hit },
        Index:
        ("{what}{}: {} of {} indices in {shape} are outside 0..{bound}, the first at {}",
         of.map_or_else(String::new, |(of, axis)| format!(" of {of} along axis {axis}")),
         hit.count, shape.elements(), At(shape, hit.first))
        help ("{}", match (bound.checked_sub(1), of) {
            (Some(last), Some(_)) => format!("`clamp(0, {last})` keeps an index inside; one that \
                                              counts from the end needs {bound} added first"),
            (Some(last), None) => format!("`clamp(0, {last})` keeps a number inside; or ask for \
                                           more than {bound} (none is below 0)"),
            (None, Some(_)) => "there is nothing to take an element from".into(),
            (None, None) => "ask for one at least".into(),
        });
    /// Pivots that are no positive number, or none but zero, of `[matrices, pivots]`.
    Pivot { what: &'static str, of: Shape, lacks: &'static str, pivots: usize, hit: Hit }, Singular:
        ("{what} of {of}: matrix {} {lacks}: at pivot {} of {pivots}",
         hit.first as usize / pivots, hit.first as usize % pivots)
        help ("something added to the diagonal makes a matrix that nearly is what it has to be one \
               that is; `det` and `lu` are of every matrix");
    /// Invocations of a kernel of the user's own that were ended in a loop.
    Loop { name: &'static str, spot: Spot, most: u32, count: u32 }, Shader:
        ("{name}:{}:{}: this loop goes on after {most} trips, in {}{}",
         spot.line, spot.column, invocations(*count), spot.picture())
        help ("trips of all loops of an invocation count together: make its work smaller, or allow \
               more by `bounded`, on llvmpipe 65000 at most");
}

fn invocations(count: u32) -> String {
    if count == 1 { "one invocation".into() } else { format!("{count} invocations") }
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
