//! An elementwise operation, cut into dispatches.

use core::ops::Range;
use std::borrow::Cow;
use std::sync::{Arc, Weak};

use super::plan::{self, SPACE_MAX};
use super::text::{Elementwise, Pace, TextShape};
use crate::count::word;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Bound, Fault, Job, Ready, Value};
use crate::kernel::limits::Ceiling;
use crate::kernel::{Held, too_deep};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::wgsl::{Assembled, Grid, Space, View, Way};

/// The text of a kernel for these ways and what else decides it.
type Make<'a> = dyn Fn(&[Way], TextShape) -> Result<Arc<Assembled>> + 'a;

/// What runs over the index space.
pub(crate) struct Work<'a> {
    pub(crate) make: &'a Make<'a>,
    /// The paces beside [`Pace::Quads`] that its text is worth writing for.
    pub(crate) paces: &'a [Pace],
    pub(crate) scalars: &'a [u32],
    /// Whether a lane takes a single quad: llvmpipe counts the trips of all loops together.
    pub(crate) single: bool,
    /// Where it may note elements at fault, in row-major order.
    pub(crate) fault: Option<&'a Fault>,
}

/// Elementwise work on operands in place, before it is cut.
pub(in crate::kernel) struct Operation<'a> {
    pub(in crate::kernel) site: Site<'a>,
    pub(in crate::kernel) inputs: &'a [Held],
    /// The input that the output overwrites.
    pub(in crate::kernel) own: Option<usize>,
    pub(in crate::kernel) output: &'a Held,
    pub(in crate::kernel) written: Weak<Value>,
    pub(in crate::kernel) work: &'a Work<'a>,
}

/// A part of the index space, the inputs' views of it, and where it begins in the output.
struct Part {
    shape: Shape,
    layouts: Vec<Layout>,
    first: usize,
}

/// What one index space has to reach.
pub(in crate::kernel) const RAGGED: Ceiling = Ceiling {
    what: "a ragged view",
    limit: "the largest index space",
    unit: "elements",
    available: SPACE_MAX as u64,
};

impl Operation<'_> {
    /// Records all of its dispatches over `shape`, or none: an input that the output overwrites is
    /// never left half done.
    pub(in crate::kernel) fn record(&self, shape: &Shape) -> Result<()> {
        let layouts = self.inputs.iter().map(|input| input.layout).collect();
        let mut ready = Vec::new();
        self.split(&Part { shape: *shape, layouts, first: 0 }, &mut ready)?;
        self.site.engine.record(ready)
    }

    /// Splits by the outermost axis until one index space reaches everything, and cuts that at
    /// every segment boundary of the output and of the dense inputs.
    fn split(&self, part: &Part, ready: &mut Vec<Ready>) -> Result<()> {
        let Part { shape, layouts, first } = part;
        let elements = shape.elements();
        if elements <= SPACE_MAX {
            let dense = self.inputs.iter().zip(layouts).filter(|(input, _)| input.is_dense());
            let dense = dense.map(|(input, layout)| (layout.offset(), input.segment));
            let operands: Vec<_> = dense.chain([(*first, self.output.segment)]).collect();
            for window in plan::windows(elements, &operands) {
                ready.extend(self.dispatch(part, window)?);
            }
            return Ok(());
        }
        let (axis, halves) = plan::halves(shape).ok_or_else(|| RAGGED.passed(elements as u128))?;
        for range in halves {
            // The output is dense, so the halves follow each other.
            let first = first + range.start * (elements / shape.dims()[axis]);
            let mut dims = shape.dims().to_vec();
            dims[axis] = range.len();
            let layouts = layouts.iter().map(|layout| layout.slice(axis, range.clone()));
            let layouts = layouts.collect::<Result<_>>()?;
            self.split(&Part { shape: Shape::new(dims)?, layouts, first }, ready)?;
        }
        Ok(())
    }

    fn dispatch(&self, part: &Part, window: Range<usize>) -> Result<Option<Ready>> {
        let (mut bindings, mut space) = self.reach(part, window.start)?;
        let begin = part.first + window.start;
        let index = begin / self.output.segment;
        bindings.push(Bound::from(&self.output.pieces[index]));
        let mut outputs = [word(begin - index * self.output.segment)?];
        let last = part.first + window.end == self.output.layout.shape().elements();
        let mut pace = plan::pace(window.len(), last && begin == 0, last, self.work.paces);
        if pace == Pace::Few {
            space.by_lanes();
        }
        if pace == Pace::Pairs && !self.begin_bindings(&mut bindings, &mut space, &mut outputs[0]) {
            pace = Pace::Quads;
        }
        let (rank, target) = (space.rank(), self.site.target);
        let kernel = (self.work.make)(&space.ways, TextShape { rank, target, pace })?;
        let steps = |elements| word(window.len().div_ceil(elements));
        let grid = match pace {
            Pace::Few => Grid::of_lanes(steps(1)?, target),
            Pace::Quads if self.work.single => Grid::of_single(steps(4)?, target),
            Pace::Quads => Grid::new(steps(4)?, target),
            Pace::Pairs => Grid::new(steps(8)?, target),
        };
        let mut scalars = Cow::Borrowed(self.work.scalars);
        if let Some(fault) = self.work.fault {
            let slot = [fault.index(), word(window.len())?, word(begin)?];
            scalars.to_mut().extend(slot);
            bindings.push(fault.bound());
        }
        let (base, scalars) = (word(window.start)?, &*scalars);
        let params = Elementwise { grid, space: &space, base, outputs: &outputs, scalars }.words();
        let (groups, outputs) = (grid.groups(), vec![self.written.clone()]);
        self.site.prepare(Job { kernel: &kernel, bindings, params, groups, outputs })
    }

    /// The segments of the inputs that the window from `start` on reads, and the index space.
    fn reach(&self, part: &Part, start: usize) -> Result<(Vec<Bound>, Space)> {
        let (mut bindings, mut views) = (Vec::new(), Vec::new());
        for (i, (input, layout)) in self.inputs.iter().zip(&part.layouts).enumerate() {
            // Dense operands are addressed from the window on, strided ones by index.
            let begin = layout.offset() + if input.is_dense() { start } else { 0 };
            let touched = if input.is_dense() { begin } else { layout.span().start };
            let index = input.part.unwrap_or(touched / input.segment);
            if self.own != Some(i) {
                bindings.push(Bound::from(&input.pieces[index]));
            }
            // A view may begin in a segment before this one. Its offset is negative then, and wraps
            // as the kernel's indices do.
            views.push(View::of(layout, begin.wrapping_sub(index * input.segment)));
        }
        let mut space = Space::of(part.shape.dims(), &views).ok_or_else(too_deep)?;
        for (way, _) in space.ways.iter_mut().zip(self.inputs).filter(|(_, i)| i.part.is_some()) {
            *way = Way::Any;
        }
        if let Some(own) = self.own {
            space.ways[own] = Way::Own(0);
        }
        Ok((bindings, space))
    }

    /// Begins every dense binding at its first element, because a kernel by pairs of quads adds no
    /// offsets. If one of them cannot begin there, or begins inside a pair - its last pair would
    /// then reach past the padding - everything stays as it is, and the answer is `false`.
    fn begin_bindings(&self, bindings: &mut [Bound], space: &mut Space, output: &mut u32) -> bool {
        let align = self.site.engine.gpu.caps().limits.storage_align_bytes;
        let mut firsts = Vec::with_capacity(bindings.len());
        for (i, input) in self.inputs.iter().enumerate().filter(|(i, _)| self.own != Some(*i)) {
            let first = if space.ways[i] == Way::Dense { space.views[i].offset } else { 0 };
            firsts.push((first, input.width));
        }
        firsts.push((*output, self.output.width));
        let bytes = |&(first, width): &(u32, usize)| u64::from(first) * width as u64;
        let begins = |at: &(u32, usize)| at.0.is_multiple_of(8) && bytes(at).is_multiple_of(align);
        if !firsts.iter().all(begins) {
            return false;
        }
        for (bound, skip) in bindings.iter_mut().zip(firsts.iter().map(bytes)) {
            bound.offset += skip;
            bound.bytes -= skip;
        }
        let dense = space.views.iter_mut().zip(&space.ways).filter(|(_, way)| **way == Way::Dense);
        dense.for_each(|(view, _)| view.offset = 0);
        *output = 0;
        true
    }
}
