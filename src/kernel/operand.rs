//! What a kernel works on: views of values, and where in memory they lie while it is recorded.

use std::sync::Arc;

use crate::count::index;
use crate::dtype::DType;
use crate::error::Result;
use crate::exec::Value;
use crate::layout::Layout;
use crate::store::{Piece, Pinned};

/// A tensor as an operand: a value, and where its elements lie for each index of the output.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) value: Arc<Value>,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
}

/// An operand whose memory stays in place while commands are recorded.
pub(super) struct Held {
    pub(super) pinned: Pinned,
    pub(super) pieces: Vec<Piece>,
    /// Elements per segment.
    pub(super) segment: usize,
    /// Bytes of an element.
    pub(super) width: usize,
    pub(super) layout: Layout,
    /// The only segment that a pass reads, where one pass does not read all.
    pub(super) part: Option<usize>,
}

impl Held {
    pub(super) fn new(value: &Value, layout: Layout, dtype: DType) -> Result<Self> {
        let pinned = value.pin()?;
        let width = dtype.width();
        let segment = index(pinned.segment_bytes / width as u64)?;
        let pieces = pinned.pieces();
        Ok(Self { pinned, pieces, segment, width, layout, part: None })
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = u64> {
        self.pieces.iter().map(|piece| piece.buffer_id)
    }

    /// Whether windows can be cut through it: its elements in order are one run, aligned to quads.
    pub(super) fn is_dense(&self) -> bool {
        self.part.is_none() && self.layout.is_dense() && self.layout.offset().is_multiple_of(4)
    }

    /// Whether everything it touches lies in one segment.
    pub(super) fn is_in_one_segment(&self) -> bool {
        let span = self.layout.span();
        span.start / self.segment == span.end.saturating_sub(1).max(span.start) / self.segment
    }
}
