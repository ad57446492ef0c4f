//! An output under construction, pass by pass.

use core::ops::Range;
use std::sync::Arc;

use super::plan::{Course, is_whole, pieces};
use super::text::{GatherJob, Lookup, PatchJob, pick};
use crate::count::{index, word, wrapped_i64};
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::{Result, mistake};
use crate::exec::{Bound, Job, Value};
use crate::kernel::{Held, Operand, index_space, too_deep};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::store::{Pinned, Storage};
use crate::wgsl::params::Operands;
use crate::wgsl::{Form, Grid, Space, View};

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

/// Which elements a source has.
#[derive(Debug)]
pub(crate) enum Which<'a> {
    /// Those whose place - the sum of coordinates times these - lies in a range.
    Places { strides: Vec<i64>, range: Range<i64> },
    /// Those whose index is below a bound; it counts in steps of `stride` elements of the source.
    /// The operand is a dense u32 value, viewed in the shape of the output.
    Index { index: &'a Operand, stride: i64, bound: usize },
}

impl<'a> Onto<'a> {
    /// Memory for an output that is put together from these sources.
    pub(crate) fn new<'b>(
        site: Site<'a>,
        shape: Shape,
        dtype: DType,
        sources: impl IntoIterator<Item = &'b Arc<Value>>,
    ) -> Result<Self> {
        Self::by(Engine::allocate, site, (shape, dtype), sources)
    }

    /// Like `new`, but in one piece wherever one segment holds it.
    pub(super) fn whole<'b>(
        site: Site<'a>,
        shape: Shape,
        dtype: DType,
        sources: impl IntoIterator<Item = &'b Arc<Value>>,
    ) -> Result<Self> {
        Self::by(Engine::allocate_whole, site, (shape, dtype), sources)
    }

    fn by<'b>(
        allocate: fn(&Engine, u64, &[u64]) -> Result<Arc<Storage>>,
        site: Site<'a>,
        (shape, dtype): (Shape, DType),
        sources: impl IntoIterator<Item = &'b Arc<Value>>,
    ) -> Result<Self> {
        index_space(shape.elements())?;
        let mut pins: Vec<Pinned> = sources.into_iter().map(|s| s.pin()).collect::<Result<_>>()?;
        let pieces = pins.iter().flat_map(|pin| pin.pieces());
        let avoid: Vec<u64> = pieces.map(|piece| piece.buffer_id).collect();
        let bytes = Engine::bytes_of(&shape, dtype)?;
        let value = Value::new(allocate(site.engine, bytes, &avoid)?);
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
        if let Which::Index { index, .. } = which {
            // Also where nothing is moved.
            self.value.inherit([&*index.value]);
        }
        let within = within.start..within.end.min(self.shape.elements());
        if within.is_empty() || source.layout.shape().is_empty() {
            return Ok(());
        }
        let from = source.hold()?;
        let onto = Held::new(&self.value, Layout::dense(self.shape), self.dtype)?;
        let span = source.layout.span();
        index_space(span.len())?;
        let index = match which {
            Which::Places { .. } => None,
            Which::Index { index, .. } => {
                index_space(index.layout.span().len())?;
                Some(index.hold()?)
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
                    let at = SegmentPass { from: &from, part, index, onto: &onto, piece };
                    self.dispatch(&at, course, which, first..end)?;
                }
            }
            first = end;
        }
        Ok(())
    }

    fn dispatch(
        &self,
        at: &SegmentPass<'_>,
        course: &Course,
        which: &Which<'_>,
        window: Range<usize>,
    ) -> Result<()> {
        let offset = wrapped_i64(course.offset - (at.part * at.from.segment) as i64);
        let source = View { offset, strides: course.strides.clone() };
        let [start, there] = at.from.reach(at.part)?;
        let grid = Grid::of_elements(word(window.len())?, self.site.target);
        let mut bindings = vec![Bound::from(&at.from.pieces[at.part])];
        let mut offsets = vec![offset];
        let (lookup, view, edges, job) = match which {
            Which::Places { strides, range } => {
                let first = wrapped_i64(range.start);
                let count = word(index((range.end - range.start).max(0).unsigned_abs())?)?;
                let view = View { offset: first, strides: strides.clone() };
                let job = PatchJob { grid, first, count, start, there };
                (Lookup::Place, view, vec![first, count], job.words())
            }
            Which::Index { stride, bound, .. } => {
                let (held, part) = at.index.ok_or_else(|| mistake("picking", "no index"))?;
                bindings.push(Bound::from(&held.pieces[part]));
                let view = held.view_from(part);
                offsets.push(view.offset);
                let step = wrapped_i64(*stride);
                // An index is a word, so a bound beyond words changes nothing.
                let bound = (*bound).min(u32::MAX as usize);
                let bound = word(bound)?;
                let [index_start, indices] = held.reach(part)?;
                let job = GatherJob { grid, step, bound, start, there, index_start, indices };
                (Lookup::Index, view, vec![step], job.words())
            }
        };
        let space = Space::of(self.shape.dims(), &[source, view]).ok_or_else(too_deep)?;
        let whole = is_whole(&space, lookup, &edges);
        let rank = space.shape.len().max(1) as u32;
        let form = Form::moving(self.dtype.width());
        let kernel = pick(lookup, form, whole, rank, self.site.target);
        bindings.push(Bound::from(&at.onto.pieces[at.piece]));
        offsets.push(word(window.start - at.piece * at.onto.segment)? / 4);
        let strides: Vec<_> = space.views.iter().map(View::stride_words).collect();
        let space = Some((word(window.start)?, &*space.shape));
        let operands = Operands { space, offsets: &offsets, strides: &strides, scalars: &[] };
        self.site.dispatch(Job {
            kernel: &kernel,
            bindings,
            params: operands.after(job),
            groups: grid.groups(),
            outputs: vec![Arc::downgrade(&self.value)],
        })
    }
}

/// One dispatch: a segment of each.
#[derive(Clone, Copy)]
struct SegmentPass<'a> {
    from: &'a Held,
    part: usize,
    index: Option<(&'a Held, usize)>,
    onto: &'a Held,
    piece: usize,
}

/// The segments of an index that a window of the output can touch.
fn touched(index: &Held, window: &Range<usize>) -> Range<usize> {
    if index.layout.is_dense() {
        let begin = index.layout.offset();
        return pieces(&(begin + window.start..begin + window.end), index.segment);
    }
    pieces(&index.layout.span(), index.segment)
}
