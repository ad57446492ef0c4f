//! Writing into a part of a value that nobody else holds.

use core::ops::Range;
use std::sync::Arc;

use super::{copied, text};
use crate::count::{word, wrapped_i64};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Bound, Job, Ready, Value};
use crate::kernel::elementwise::operation::RAGGED;
use crate::kernel::elementwise::text::Elementwise;
use crate::kernel::limits::Ceiling;
use crate::kernel::{Held, Operand, fill};
use crate::layout::Layout;
use crate::shape::RANK_MAX;
use crate::shape::Shape;
use crate::wgsl::{Form, Grid, Space, Target, Way};

/// An operand in these ranges of a dense value, and around it these bits.
pub(crate) fn framed(
    site: Site<'_>,
    from: &Operand,
    shape: &Shape,
    (ranges, around): (&[Range<usize>], [u32; 2]),
) -> Result<Arc<Value>> {
    let (value, _) = Held::fresh(site, shape, from.dtype, &from.value.buffer_ids())?;
    fill::into(site, &value, around)?;
    Assignment { value: &value, shape, ranges }.assign(site, from)?;
    Ok(value)
}

/// A part of a dense value: a range of every axis.
pub(crate) struct Assignment<'a> {
    pub(crate) value: &'a Arc<Value>,
    pub(crate) shape: &'a Shape,
    pub(crate) ranges: &'a [Range<usize>],
}

/// Elements that a grid can have one by one.
const EACH_MAX: usize = 1 << 30;

const RAGGED_PART: Ceiling = Ceiling { what: "a ragged part", ..RAGGED };

impl Assignment<'_> {
    fn place(&self) -> Result<Layout> {
        Layout::dense(*self.shape).part(self.ranges)
    }

    /// Records writing `from`, a view of the part's shape: all of it, or nothing.
    pub(crate) fn assign(&self, site: Site<'_>, from: &Operand) -> Result<()> {
        if from.layout.shape().is_empty() {
            return Ok(());
        }
        let _kept = [self.value.pin()?, from.value.pin()?];
        // A dispatch must not read and write one buffer.
        if from.value.shares_buffers(self.value) {
            let value = copied(site, from, &self.value.buffer_ids())?;
            return self.assign(site, &Operand::dense(value, *from.layout.shape(), from.dtype));
        }
        let mut ready = Vec::new();
        self.prepare(site, from, &mut ready)?;
        site.engine.record(ready)
    }

    /// Records writing `from`, where the part can be walked alone and both lie in one segment;
    /// returns whether they do. They share no buffer.
    pub(crate) fn by_rows(&self, site: Site<'_>, from: &Operand) -> Result<bool> {
        let _kept = [self.value.pin()?, from.value.pin()?];
        let (source, mut ready) = (from.hold()?, Vec::new());
        let done = source.is_in_one_segment() && self.rows(site, &source, from, &mut ready)?;
        site.engine.record(ready)?;
        Ok(done)
    }

    fn prepare(&self, site: Site<'_>, from: &Operand, ready: &mut Vec<Ready>) -> Result<()> {
        let source = from.hold()?;
        if !source.is_in_one_segment() {
            return self.halves(site, from, ready);
        }
        let whole = Held::new(self.value, Layout::dense(*self.shape), from.dtype)?;
        if self.rows(site, &source, from, ready)? {
            return Ok(());
        }
        // Rows of a value that is too long for quads may be whole ones in each segment.
        let part = Held::new(self.value, self.place()?, from.dtype)?;
        if !part.is_in_one_segment() && self.shape.elements() as u64 > RAGGED_PART.available {
            return self.halves(site, from, ready);
        }
        self.quads(site, &source, &whole, from, ready)
    }

    /// One half after the other, along the longest axis, until each lies in one segment.
    fn halves(&self, site: Site<'_>, from: &Operand, ready: &mut Vec<Ready>) -> Result<()> {
        let dims = from.layout.shape().dims();
        let axis = (0..dims.len()).max_by_key(|&axis| dims[axis]).unwrap_or(0);
        let middle = if dims[axis] < 8 { dims[axis] / 2 } else { dims[axis] / 8 * 4 };
        for half in [0..middle, middle..dims[axis]] {
            let mut ranges = self.ranges.to_vec();
            let begin = ranges[axis].start;
            ranges[axis] = begin + half.start..begin + half.end;
            let from = from.slice(axis, half)?;
            Assignment { ranges: &ranges, ..*self }.prepare(site, &from, ready)?;
        }
        Ok(())
    }

    /// Walks the part alone, if its rows are whole quads of one segment, or its elements are stored
    /// one by one; returns whether they are.
    fn rows(
        &self,
        site: Site<'_>,
        source: &Held,
        from: &Operand,
        ready: &mut Vec<Ready>,
    ) -> Result<bool> {
        let part = Held::new(self.value, self.place()?, from.dtype)?;
        if !part.is_in_one_segment() || u32::try_from(from.layout.shape().elements()).is_err() {
            return Ok(false);
        }
        let ((source, input), (sink, output)) = (source.view()?, part.view()?);
        let Some(mut space) = Space::of(part.layout.shape().dims(), &[source, sink]) else {
            return Ok(false);
        };
        let count = space.count();
        let into = match space.ways[1] {
            // A single element is no whole quad.
            way @ (Way::Row | Way::Dense) if count.is_multiple_of(4) => way,
            way if way.is_strided() && self.is_each(site.target, from, &part.layout) => {
                space.ways.iter_mut().for_each(|way| *way = way.by_element());
                Way::EachStrided
            }
            _ => return Ok(false),
        };
        let form = Form::moving(from.dtype.width());
        let kernel = text::assign_rows(form, space.ways[0], into, space.rank(), site.target);
        let grid = match into {
            Way::EachStrided => Grid::new(count, site.target),
            _ => Grid::of_elements(count, site.target),
        };
        let params = Elementwise { grid, space: &space, base: 0, outputs: &[], scalars: &[] };
        ready.extend(site.prepare(Job {
            kernel: &kernel,
            bindings: vec![input, output],
            params: params.words(),
            groups: grid.groups(),
            outputs: vec![Arc::downgrade(self.value)],
        })?);
        Ok(true)
    }

    /// Whether a GPU stores elements of the part one by one: each is a word or two of its own, and
    /// so few of those from the first to the last are in the part that its quads take longer.
    fn is_each(&self, target: Target, from: &Operand, part: &Layout) -> bool {
        let count = from.layout.shape().elements();
        let is_sparse = count <= part.span().len().div_ceil(2);
        target == Target::Gpu && from.dtype.width() >= 4 && is_sparse && count < EACH_MAX
    }

    /// Walks every quad from the part's first element to its last, and writes what lies in the
    /// part.
    fn quads(
        &self,
        site: Site<'_>,
        source: &Held,
        whole: &Held,
        from: &Operand,
        ready: &mut Vec<Ready>,
    ) -> Result<()> {
        RAGGED_PART.check(self.shape.elements() as u128)?;
        let index = from.layout.span().start / source.segment;
        let mut view = source.view_from(index);
        for (range, stride) in self.ranges.iter().zip(&view.strides) {
            view.offset =
                view.offset.wrapping_sub(wrapped_i64((range.start as i64).wrapping_mul(*stride)));
        }
        let shape = self.shape.dims().iter().map(|&dim| word(dim)).collect::<Result<_>>()?;
        let space = Space { shape, views: vec![view], ways: vec![Way::Any] };
        let axes = || self.ranges.iter().rev();
        let mut scalars = [[0; RANK_MAX], [1; RANK_MAX]].concat();
        for (d, range) in axes().enumerate() {
            scalars[d] = word(range.start)?;
            scalars[RANK_MAX + d] = word(range.len())?;
        }
        let form = Form::moving(from.dtype.width());
        let kernel = text::assign_part(form, space.rank(), site.target);
        let span = self.place()?.span();
        for piece in span.start / whole.segment..=(span.end - 1) / whole.segment {
            let segment = piece * whole.segment..(piece + 1) * whole.segment;
            let window = span.start.max(segment.start) / 4 * 4..span.end.min(segment.end);
            let grid = Grid::of_elements(word(window.len())?, site.target);
            let outputs = [word(window.start - segment.start)?];
            let base = word(window.start)?;
            let params =
                Elementwise { grid, space: &space, base, outputs: &outputs, scalars: &scalars };
            ready.extend(site.prepare(Job {
                kernel: &kernel,
                bindings: vec![
                    Bound::from(&source.pieces[index]),
                    Bound::from(&whole.pieces[piece]),
                ],
                params: params.words(),
                groups: grid.groups(),
                outputs: vec![Arc::downgrade(self.value)],
            })?);
        }
        Ok(())
    }
}
