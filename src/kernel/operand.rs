//! What a kernel works on: views of values, and where in memory they lie while it is recorded.

use core::ops::Range;
use std::sync::Arc;

use crate::count::{index, product, word, words};
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::Result;
use crate::exec::{Bound, Value};
use crate::layout::Layout;
use crate::news::Topic;
use crate::shape::Shape;
use crate::store::{Piece, Pinned};
use crate::wgsl::View;

/// A tensor as an operand: a value, and where its elements lie for each index of the output.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) value: Arc<Value>,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
}

impl Operand {
    /// All of a value, row-major.
    pub(crate) fn dense(value: Arc<Value>, shape: Shape, dtype: DType) -> Self {
        Self { value, layout: Layout::dense(shape), dtype }
    }

    /// Another view of the same value.
    pub(super) fn under(&self, layout: Layout) -> Self {
        Self { layout, ..self.clone() }
    }

    /// A range of one axis.
    pub(super) fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        Ok(self.under(self.layout.slice(axis, range)?))
    }

    /// What there is to copy of it: one of each axis that is broadcast.
    pub(super) fn once(&self) -> Result<Self> {
        let axes = self.layout.strides().iter().zip(self.layout.shape().dims());
        let once: Vec<_> =
            axes.map(|(&stride, &dim)| 0..if stride == 0 { 1 } else { dim }).collect();
        Ok(self.under(self.layout.part(&once)?))
    }

    /// Says that it is copied before it is read, and why.
    pub(super) fn tell_copied(&self, site: Site<'_>, why: &str) {
        let (shape, strides) = (self.layout.shape(), self.layout.strides());
        let bytes = product([shape.elements(), self.dtype.width()]);
        site.tell(
            Topic::Copy,
            format_args!("{} {shape}", self.dtype),
            format_args!("{bytes} bytes copied, strides {strides:?}: {why}"),
        );
    }

    pub(super) fn hold(&self) -> Result<Held> {
        Held::new(&self.value, self.layout, self.dtype)
    }
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

    /// A new value, row-major, in none of the buffers in `avoid`; in one piece if one segment holds
    /// it.
    pub(super) fn fresh(
        site: Site<'_>,
        shape: &Shape,
        dtype: DType,
        avoid: &[u64],
    ) -> Result<(Arc<Value>, Self)> {
        let bytes = Engine::bytes_of(shape, dtype)?;
        let value = Value::new(site.engine.allocate_whole(bytes, avoid)?);
        let held = Self::new(&value, Layout::dense(*shape), dtype)?;
        Ok((value, held))
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

    /// The elements of a segment that the view can name: from which on, and how many.
    pub(super) fn reach(&self, at: usize) -> Result<[u32; 2]> {
        words(reach(&self.layout.span(), self.segment, at))
    }

    /// The segment that it lies in, and the view as seen from there.
    pub(super) fn view(&self) -> Result<(View, Bound)> {
        let at = self.layout.span().start / self.segment;
        word(self.layout.offset() - at * self.segment)?;
        Ok((self.view_from(at), Bound::from(&self.pieces[at])))
    }

    /// The view as seen from a segment: offsets wrap, as indices do.
    pub(super) fn view_from(&self, at: usize) -> View {
        let first = self.layout.offset().wrapping_sub(at * self.segment);
        View::of(&self.layout, first)
    }
}

/// What of a span lies in a segment, counted from there: from which element on, and how many.
///
/// Where an element lies is reckoned from the segment's first, and wraps where it lies before. From
/// the first of these on it is below their number for them alone, as long as a span has no more
/// than 2^32 elements: to be below the segment's length would not do, since a segment can have half
/// of those.
fn reach(span: &Range<usize>, segment: usize, at: usize) -> [usize; 2] {
    let begin = at * segment;
    // The last segment of 32-bit memory ends beyond it.
    let beyond = begin.saturating_add(segment);
    let [first, end] = [span.start, span.end].map(|place| place.clamp(begin, beyond));
    [first - begin, end - first]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_of_a_span_lies_in_one_segment() {
        let halves = (1usize << 31) - (1 << 17);
        let spans = [
            (1_000_000_001..5_000_000_000, halves),
            (1_000_000_001..5_000_000_000, 1 << 32),
            (7..7 + (1 << 32), halves),
            (100_000_001..4_394_000_000, halves / 2),
            (5..6, 64),
            (60..300, 64),
        ];
        let last = usize::MAX - 1..usize::MAX;
        assert_eq!(reach(&last, usize::MAX / 2, 2), [0, 1], "where a segment ends beyond memory");
        for (span, segment) in spans {
            let parts = span.start / segment..=(span.end - 1) / segment;
            let middle = (0..999).map(|n| span.start + span.len() * n / 999);
            let edges = parts.clone().flat_map(|at| [at * segment, (at + 1) * segment - 1]);
            let places = middle.chain(edges).filter(|place| span.contains(place));
            for place in places.chain([span.start, span.end - 1]) {
                let is_here = |at: &usize| {
                    let [first, count] = reach(&span, segment, *at).map(|n| n as u32);
                    let at = place.wrapping_sub(at * segment) as u32;
                    at.wrapping_sub(first) < count
                };
                let found: Vec<usize> = parts.clone().filter(is_here).collect();
                assert_eq!(found, [place / segment], "{place} of {span:?} by {segment}");
            }
        }
    }
}
