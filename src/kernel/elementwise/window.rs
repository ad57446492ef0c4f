//! Cutting an elementwise operation into dispatches.

use std::borrow::Cow;
use std::sync::Weak;

use super::Text;
use crate::count::word;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Bound, Job, Value};
use crate::gpu::cause::DeviceCause;
use crate::kernel::Held;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::wgsl::params::Elementwise;
use crate::wgsl::{Grid, Pace, Space, TextShape, View, Way};

/// Elements of one index space: all of it within 32 bits, with room for the last quad.
const SPACE_MAX: usize = 1 << 31;

/// Below so many elements, going by pairs of quads saves less than compiling it costs.
const PAIRS_MIN: usize = 1 << 16;

/// Up to so many elements a lane for each of them runs as fast as a loop (measured from 4 to 1024:
/// a sum of two, a chain of sixty), and compiles in two thirds of the time.
const FEW_MAX: usize = 1 << 10;

/// An elementwise operation on operands in place, before it is cut.
pub(in crate::kernel) struct Operation<'a> {
    pub(in crate::kernel) site: Site<'a>,
    pub(in crate::kernel) inputs: &'a [Held],
    /// The input that the output takes the place of.
    pub(in crate::kernel) own: Option<usize>,
    pub(in crate::kernel) output: &'a Held,
    pub(in crate::kernel) written: Weak<Value>,
    pub(in crate::kernel) text: &'a Text<'a>,
}

impl Operation<'_> {
    /// Records every dispatch of it over `shape`.
    pub(in crate::kernel) fn record(&self, shape: &Shape) -> Result<()> {
        let layouts: Vec<Layout> = self.inputs.iter().map(|input| input.layout).collect();
        self.split(shape, &layouts, 0)
    }

    /// Splits by the outermost axis until one index space reaches everything. The output is dense,
    /// so the halves follow each other; `first` is where this part begins in it.
    fn split(&self, shape: &Shape, layouts: &[Layout], first: usize) -> Result<()> {
        let elements = shape.elements();
        if elements == 0 {
            return Ok(());
        }
        if elements <= SPACE_MAX {
            return self.windows(shape, layouts, first);
        }
        let axis = shape.dims().iter().position(|&dim| dim > 1).unwrap_or(0);
        let dim = shape.dims()[axis];
        // Parts begin at whole quads.
        let middle = (dim / 2).next_multiple_of(4);
        let middle = if middle < dim { middle } else { dim / 2 };
        if !(middle * (elements / dim)).is_multiple_of(4) {
            let (what, limit, unit) = ("a ragged view", "the largest index space", "elements");
            let (requested, available) = (elements as u128, SPACE_MAX as u64);
            return Err(DeviceCause::TooLarge { what, requested, limit, available, unit }.into());
        }
        for range in [0..middle, middle..dim] {
            let begin = range.start * (elements / dim);
            let part = layouts.iter().map(|l| l.slice(axis, range.clone(), 1));
            let part: Vec<Layout> = part.collect::<Result<_>>()?;
            let mut dims = shape.dims().to_vec();
            dims[axis] = range.len();
            self.split(&Shape::new(dims)?, &part, first + begin)?;
        }
        Ok(())
    }

    /// Cuts at every segment boundary of the output and of the dense inputs.
    fn windows(&self, shape: &Shape, layouts: &[Layout], first: usize) -> Result<()> {
        let elements = shape.elements();
        let next_cut = |at: usize, offset: usize, segment: usize| {
            (segment - (offset + at) % segment).min(elements - at)
        };
        let mut at = 0;
        while at < elements {
            let dense = self.inputs.iter().zip(layouts).filter(|(input, _)| input.is_dense());
            let cuts = dense.map(|(input, l)| next_cut(at, l.offset(), input.segment));
            let own = next_cut(at, first, self.output.segment);
            let count = cuts.fold(own, usize::min);
            self.dispatch(shape, layouts, first, at..at + count)?;
            at += count;
        }
        Ok(())
    }

    fn dispatch(
        &self,
        shape: &Shape,
        layouts: &[Layout],
        first: usize,
        window: core::ops::Range<usize>,
    ) -> Result<()> {
        let mut bindings = Vec::with_capacity(layouts.len() + 1);
        let mut views = Vec::with_capacity(layouts.len());
        for (i, (input, layout)) in self.inputs.iter().zip(layouts).enumerate() {
            // Dense operands are addressed from the window on, strided ones by index.
            let begin = layout.offset() + if input.is_dense() { window.start } else { 0 };
            let touched = if input.is_dense() { begin } else { layout.span().start };
            let index = input.part.unwrap_or(touched / input.segment);
            if self.own != Some(i) {
                bindings.push(Bound::from(&input.pieces[index]));
            }
            let strides = layout.strides().iter().map(|&s| s as i64).collect();
            // A pass over one segment of several may begin before it: indices wrap, and so does
            // this.
            #[expect(clippy::cast_possible_truncation, reason = "indices are modulo 2^32")]
            let offset = begin.wrapping_sub(index * input.segment) as u32;
            views.push(View { offset, strides });
        }
        let begin = first + window.start;
        let index = begin / self.output.segment;
        bindings.push(Bound::from(&self.output.pieces[index]));
        let mut outputs = [word(begin - index * self.output.segment)?];
        let mut space = Space::of(shape.dims(), &views).ok_or_else(crate::kernel::too_deep)?;
        for (way, _) in space.ways.iter_mut().zip(self.inputs).filter(|(_, i)| i.part.is_some()) {
            *way = Way::Any;
        }
        if let Some(own) = self.own {
            space.ways[own] = Way::Own(0);
        }
        let last = first + window.end == self.output.layout.shape().elements();
        let whole = last && begin == 0 && self.inputs.iter().all(|input| input.part.is_none());
        // Past the end of the result lies its padding, and past that of a window the next one's.
        let long = window.len() >= PAIRS_MIN && (last || matches!(window.len() % 8, 0 | 5..));
        let made = |pace| self.text.paces.contains(&pace);
        let few = whole && window.len() <= FEW_MAX && made(Pace::Few);
        let pairs = long
            && made(Pace::Pairs)
            && self.begin_bindings(&mut bindings, &mut space, &mut outputs[0]);
        let pace = match (few, pairs) {
            (true, _) => Pace::Few,
            (_, true) => Pace::Pairs,
            _ => Pace::Quads,
        };
        if few {
            space.by_lanes();
        }
        let (rank, target) = (space.rank(), self.site.target);
        let kernel = (self.text.make)(&space.ways, TextShape { rank, target, pace })?;
        let steps = |elements| word(window.len().div_ceil(elements));
        let grid = match pace {
            Pace::Few => Grid::of_lanes(steps(1)?, self.site.target),
            Pace::Quads => Grid::new(steps(4)?, self.site.target),
            Pace::Pairs => Grid::new(steps(8)?, self.site.target),
        };
        let mut scalars = Cow::Borrowed(self.text.scalars);
        if let Some(fault) = self.text.fault {
            let slot = [fault.index(), word(window.len())?, word(begin)?];
            scalars.to_mut().extend(slot);
            bindings.push(fault.bound());
        }
        let (base, scalars) = (word(window.start)?, &*scalars);
        let params = Elementwise { grid, space: &space, base, outputs: &outputs, scalars }.words();
        let (groups, output) = (grid.groups(), self.written.clone());
        self.site.engine.dispatch(Job { kernel: &kernel, bindings, params, groups, output })
    }

    /// Begins the binding of everything dense at its first element, so that what goes by pairs of
    /// quads adds no offset; or leaves all as it is, where one of them cannot begin there or begins
    /// within a pair: its last pair would then reach past the padding.
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
