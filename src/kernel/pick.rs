//! Outputs put together from sources: where an element comes from is decided by its place along an
//! axis (concatenation and what is made of it) or by an index (gather and what is made of it).
//!
//! A pass moves bits from one segment of a source to one segment of the output, for the elements
//! whose source lies there, and leaves the others alone; so nothing has to be copied beforehand,
//! however views and segments lie. Passes are limited to the part of the output that they can
//! touch.

use core::ops::Range;
use std::sync::Arc;

use super::{Held, Operand, index_space};
use crate::count::{index, word, words};
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::{Result, mistake};
use crate::exec::{Bound, Job, Value};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::store::Pinned;
use crate::wgsl::params::Words;
use crate::wgsl::{Form, Grid, Space, View};
use text::{By, pick};

pub mod text;

/// An output under construction.
#[derive(Debug)]
pub(crate) struct Onto<'a> {
    pub(crate) site: Site<'a>,
    /// Dense, of this shape and dtype.
    pub(crate) value: Arc<Value>,
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
    /// Keep output and sources in buffers apart, whatever another thread moves together.
    pub(crate) _pins: Vec<Pinned>,
}

/// Where an element of a source lies for the coordinates of the output: a linear form, which may
/// begin outside the source.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub(crate) offset: i64,
    pub(crate) strides: Vec<i64>,
}

/// Which elements a source has.
#[derive(Debug)]
pub(crate) enum Which<'a> {
    /// Those whose place - the sum of coordinates times these - lies in a range.
    Places { strides: Vec<i64>, range: Range<i64> },
    /// Those whose index is below a bound; it counts in steps of `stride` elements of the source.
    /// The operand is a dense u32 value, viewed in the shape of the output.
    Index { index: &'a Operand, stride: i64, bound: usize },
}

impl Course {
    /// The places of a view.
    pub(crate) fn of(layout: &Layout) -> Self {
        let strides = layout.strides().iter().map(|&s| s as i64).collect();
        Self { offset: layout.offset() as i64, strides }
    }
}

impl<'a> Onto<'a> {
    /// Memory for an output that is put together from these sources.
    pub(crate) fn new<'b>(
        site: Site<'a>,
        shape: Shape,
        dtype: DType,
        sources: impl IntoIterator<Item = &'b Arc<Value>>,
    ) -> Result<Self> {
        index_space(shape.elements())?;
        let mut pins: Vec<Pinned> = sources.into_iter().map(|s| s.pin()).collect::<Result<_>>()?;
        let pieces = pins.iter().flat_map(|pin| pin.pieces());
        let avoid: Vec<u64> = pieces.map(|piece| piece.buffer_id).collect();
        let value = Value::new(site.engine.allocate(Engine::bytes_of(&shape, dtype)?, &avoid)?);
        pins.push(value.pin()?);
        Ok(Self { site, value, shape, dtype, _pins: pins })
    }

    /// Moves all elements of a view of its shape.
    pub(crate) fn take_all(&self, source: &Operand) -> Result<()> {
        let which = Which::Places { strides: vec![0; self.shape.rank()], range: 0..1 };
        self.take(source, &Course::of(&source.layout), &which, 0..self.shape.elements())
    }

    /// Moves the elements that `source` has, which lie among `within` of the output in row-major
    /// order. Its layout tells which part of the source can be touched.
    pub(crate) fn take(
        &self,
        source: &Operand,
        course: &Course,
        which: &Which<'_>,
        within: Range<usize>,
    ) -> Result<()> {
        self.value.inherit([&*source.value]);
        let within = within.start..within.end.min(self.shape.elements());
        if within.is_empty() || source.layout.shape().is_empty() {
            return Ok(());
        }
        let from = Held::new(&source.value, source.layout, source.dtype)?;
        let onto = Held::new(&self.value, Layout::dense(self.shape), self.dtype)?;
        let span = source.layout.span();
        index_space(span.len())?;
        let index = match which {
            Which::Places { .. } => None,
            Which::Index { index, .. } => {
                self.value.inherit([&*index.value]);
                Some(Held::new(&index.value, index.layout, index.dtype)?)
            }
        };
        let mut first = within.start / 4 * 4;
        while first < within.end {
            let piece = first / onto.segment;
            let end = within.end.min((piece + 1) * onto.segment);
            let indices = index.as_ref().map_or(0..1, |index| touched(index, &(first..end)));
            for part in pieces(&span, from.segment) {
                for index_part in indices.clone() {
                    let index = index.as_ref().map(|held| (held, index_part));
                    let pass = Pass { from: &from, part, index, onto: &onto, piece };
                    self.dispatch(&pass, course, which, first..end)?;
                }
            }
            first = end;
        }
        Ok(())
    }

    fn dispatch(
        &self,
        pass: &Pass<'_>,
        course: &Course,
        which: &Which<'_>,
        window: Range<usize>,
    ) -> Result<()> {
        let offset = wrapped(course.offset - (pass.part * pass.from.segment) as i64);
        let segment = word(pass.from.segment)?;
        let source = View { offset, strides: course.strides.clone() };
        let (by, view, part) = match which {
            Which::Places { strides, range } => {
                let count = word(index((range.end - range.start).max(0).unsigned_abs())?)?;
                let view = View { offset: wrapped(range.start), strides: strides.clone() };
                (By::Place, view, [wrapped(range.start), count, segment, 0])
            }
            Which::Index { index, stride, bound } => {
                let (held, part) = pass.index.ok_or_else(|| mistake("picking", "no index"))?;
                let begin = index.layout.offset() as i64 - (part * held.segment) as i64;
                let strides = index.layout.strides().iter().map(|&s| s as i64).collect();
                let view = View { offset: wrapped(begin), strides };
                // Indices are words themselves: all are below what is beyond them.
                let bound = (*bound).min(u32::MAX as usize);
                let [bound, own] = words([bound, held.segment])?;
                (By::Index, view, [wrapped(*stride), bound, segment, own])
            }
        };
        let views = [source, view];
        let space = Space::of(self.shape.dims(), &views).ok_or_else(super::too_deep)?;
        let whole = is_whole(&space, by, &part);
        let rank = space.shape.len().max(1) as u32;
        let kernel = pick(by, Form::moving(self.dtype.width()), whole, rank, self.site.target);
        let grid = Grid::of_elements(word(window.len())?, self.site.target);
        let to = word(window.start - pass.piece * pass.onto.segment)? / 4;
        let mut bindings = vec![Bound::from(&pass.from.pieces[pass.part])];
        let mut offsets = vec![offset];
        if let Some((held, part)) = pass.index {
            bindings.push(Bound::from(&held.pieces[part]));
            offsets.push(views[1].offset);
        }
        bindings.push(Bound::from(&pass.onto.pieces[pass.piece]));
        offsets.push(to);
        let mut params = Words::default()
            .vec4(grid.words())
            .vec4([word(window.start)?, space.count() - 1, 0, 0])
            .vec4(part)
            .array(offsets)
            .dims(&space.shape, 1);
        for view in &space.views {
            params = params.dims(&view.stride_words(), 0);
        }
        self.site.engine.dispatch(Job {
            kernel: &kernel,
            bindings,
            params: params.done(),
            groups: grid.groups(),
            output: Arc::downgrade(&self.value),
        })
    }
}

/// One dispatch: a segment of each.
#[derive(Clone, Copy)]
struct Pass<'a> {
    from: &'a Held,
    part: usize,
    index: Option<(&'a Held, usize)>,
    onto: &'a Held,
    piece: usize,
}

/// The segments that a span of elements touches.
fn pieces(span: &Range<usize>, segment: usize) -> Range<usize> {
    span.start / segment..span.end.saturating_sub(1) / segment + 1
}

/// The segments of an index that a window of the output can touch.
fn touched(index: &Held, window: &Range<usize>) -> Range<usize> {
    if index.layout.is_dense() {
        let begin = index.layout.offset();
        return pieces(&(begin + window.start..begin + window.end), index.segment);
    }
    pieces(&index.layout.span(), index.segment)
}

/// Whether the four elements of every quad come from a whole quad of the source, or none of them.
fn is_whole(space: &Space, by: By, part: &[u32; 4]) -> bool {
    let [source, view] = &*space.views else { return false };
    let Some((&inner, outer)) = source.strides.split_last() else { return false };
    let whole = |n: i64| n % 4 == 0;
    let rows = space.shape.last().is_some_and(|&n| n.is_multiple_of(4));
    let aligned = inner == 1 && outer.iter().all(|&s| whole(s)) && source.offset.is_multiple_of(4);
    let decides_for_all = view.strides.last() == Some(&0);
    rows && aligned
        && match by {
            // Or the range begins and ends between quads.
            By::Place => {
                let steps = view
                    .strides
                    .split_last()
                    .is_some_and(|(&last, outer)| last == 1 && outer.iter().all(|&s| whole(s)));
                decides_for_all || (steps && part[0].is_multiple_of(4) && part[1].is_multiple_of(4))
            }
            By::Index => decides_for_all && part[0].is_multiple_of(4),
        }
}

/// Indices are modulo 2^32.
#[expect(clippy::cast_possible_truncation, reason = "what wraps here wraps in the kernel")]
#[expect(clippy::cast_sign_loss, reason = "two's complement wraps to the same place")]
const fn wrapped(n: i64) -> u32 {
    n as u32
}
