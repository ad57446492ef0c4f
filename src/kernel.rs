//! Kernels: what an operation becomes - a variant chosen, windows cut, dispatches recorded.
//!
//! A tensor may lie in several segments, and an index space may be larger than 32 bits reach. So an
//! operation runs as a list of dispatches, each over a *window* of the output that touches one
//! segment of every operand:
//!
//! ```text
//! split the index space by its outermost axis until 32 bits reach all of it
//! cut the output at its segments, and at those of every dense input
//! an input whose view spans segments otherwise is first copied to dense, one pass per segment
//! ```

use std::sync::Arc;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::Value;
use crate::gpu::cause::DeviceCause;
use crate::layout::Layout;
use crate::store::{Piece, Pinned};
use crate::wgsl::expr::Pace;
use crate::wgsl::{Assembled, Target, Way};

pub mod attention;
pub mod catalog;
pub(crate) mod cause;
pub(crate) mod core;
pub mod elementwise;
pub mod fill;
pub mod iota;
pub mod matmul;
pub mod moves;
pub mod pick;
pub mod quantised;
pub mod random;
pub mod reduce;
pub mod rows;
pub mod scan;
pub mod scatter;
pub mod sort;

/// A tensor as an operand: a value, and where its elements lie for each index of the output.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) value: Arc<Value>,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
}

/// An operand whose memory stays in place while commands are recorded.
struct Held {
    pinned: Pinned,
    pieces: Vec<Piece>,
    /// Elements per segment.
    segment: usize,
    /// Bytes of an element.
    width: usize,
    layout: Layout,
    /// The only segment that a pass reads, where one pass does not read all.
    part: Option<usize>,
}

impl Held {
    fn new(value: &Value, layout: Layout, dtype: DType) -> Result<Self> {
        let pinned = value.pin()?;
        let width = dtype.width();
        let segment = usize::try_from(pinned.segment_bytes).unwrap_or(usize::MAX) / width;
        let pieces = pinned.pieces();
        Ok(Self { pinned, pieces, segment, width, layout, part: None })
    }

    fn ids(&self) -> impl Iterator<Item = u64> {
        self.pieces.iter().map(|piece| piece.buffer_id)
    }

    /// Whether windows can be cut through it: its elements in order are one run, aligned to quads.
    fn is_dense(&self) -> bool {
        self.part.is_none() && self.layout.is_dense() && self.layout.offset().is_multiple_of(4)
    }

    /// Whether everything it touches lies in one segment.
    fn is_in_one_segment(&self) -> bool {
        let span = self.layout.span();
        span.start / self.segment == span.end.saturating_sub(1).max(span.start) / self.segment
    }
}

/// A number that is below 2^32 because one segment and one index space hold it.
fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// What only a mistake of wharf's own can lead to: an error, and no result.
fn mistake(doing: &str, message: &str) -> Error {
    let (doing, message) = (doing.to_owned(), message.to_owned());
    DeviceCause::Driver { doing, message }.into()
}

/// The text of a kernel for these ways, rank, target and pace.
pub(crate) type Make<'a> = dyn Fn(&[Way], (u32, Target, Pace)) -> Result<Arc<Assembled>> + 'a;

/// Checks that positions in so many elements are words, with room for the last quad.
fn index_space(elements: usize) -> Result<()> {
    let (requested, available) = (elements as u128, u64::from(u32::MAX) - 3);
    if requested <= u128::from(available) {
        return Ok(());
    }
    let (what, limit, unit) = ("an indexed tensor", "the reach of an index", "elements");
    Err(DeviceCause::TooLarge { what, requested, limit, available, unit }.into())
}

/// Shapes have at most as many axes as a space.
fn too_deep() -> Error {
    let (what, limit, unit) = ("an index space", "the largest rank", "axes");
    DeviceCause::TooLarge { what, requested: 9, limit, available: 8, unit }.into()
}
