//! How a kernel reaches the operands of an expression: the segments that are bound, and where in
//! them the elements lie.

use std::borrow::Cow;

use crate::dtype::DType;
use crate::error::Result;
use crate::exec::Bound;
use crate::kernel::Operand;
use crate::kernel::limits::Ceiling;
use crate::shape::Shape;
use crate::store::Pinned;
use crate::wgsl::{Edge, Expr, Space, View, Way};

/// The most elements that are counted in 32 bits, with room for a quad that is half outside.
pub(crate) const ELEMENTS_MAX: usize = u32::MAX as usize / 2;

/// What nobody counts in parts.
pub(super) const COUNTED: Ceiling = Ceiling {
    what: "the result of a kernel",
    limit: "the reach of a kernel",
    unit: "elements",
    available: ELEMENTS_MAX as u64,
};

/// How a kernel reaches the operands of an expression.
#[derive(Debug)]
pub(crate) struct Reach<'a> {
    expr: Cow<'a, Expr>,
    pub(super) scalars: &'a [u32],
    pub(super) bindings: Vec<Bound>,
    ways: Vec<Way>,
    pub(super) offsets: Vec<u32>,
    /// Of strided operands, over `space`.
    pub(super) strides: Vec<Vec<u32>>,
    pub(super) space: Vec<u32>,
    /// Keep the operands in place until the dispatch is recorded.
    pins: Vec<Pinned>,
}

impl<'a> Reach<'a> {
    /// Reaches operands by quads (or elements) of an index space of this shape, in row-major order.
    pub(super) fn over(
        expr: &'a Expr,
        operands: &[Operand],
        scalars: &'a [u32],
        shape: &Shape,
        by_element: bool,
    ) -> Result<Option<Self>> {
        let mut reach = Self::of(Cow::Borrowed(expr), scalars);
        let mut views = Vec::with_capacity(operands.len());
        for operand in operands {
            let Some(view) = reach.bind(operand)? else { return Ok(None) };
            views.push(view);
        }
        if shape.elements() > ELEMENTS_MAX {
            return Ok(None);
        }
        let Some(space) = Space::of(shape.dims(), &views) else { return Ok(None) };
        for (view, &way) in space.views.iter().zip(&space.ways) {
            let way = if by_element { way.by_element() } else { way };
            let quads = way == Way::Dense;
            reach.offsets.push(if quads { view.offset / 4 } else { view.offset });
            reach.strides.extend(way.is_strided().then(|| view.stride_words()));
            reach.ways.push(way);
        }
        reach.space = space.shape;
        Ok(Some(reach))
    }

    /// Reaches one operand, from its first element on.
    pub(super) fn raw(expr: &'a Expr, operand: &Operand, by_element: bool) -> Result<Option<Self>> {
        let mut reach = Self::of(Cow::Borrowed(expr), &[]);
        let Some(View { offset, .. }) = reach.bind(operand)? else { return Ok(None) };
        if !by_element && !offset.is_multiple_of(4) {
            return Ok(None);
        }
        reach.offsets.push(if by_element { offset } else { offset / 4 });
        reach.ways.push(if by_element { Way::Each } else { Way::Dense });
        Ok(Some(reach))
    }

    /// For a tail that leaves every element as it is.
    pub(crate) fn identity(dtype: DType) -> Self {
        Self::of(Cow::Owned(Expr::itself(dtype)), &[])
    }

    fn of(expr: Cow<'a, Expr>, scalars: &'a [u32]) -> Self {
        let (bindings, ways, offsets) = (Vec::new(), Vec::new(), Vec::new());
        let (strides, space, pins) = (Vec::new(), Vec::new(), Vec::new());
        Self { expr, scalars, bindings, ways, offsets, strides, space, pins }
    }

    /// Binds the segment of an operand, if it lies in one; returns the view as seen from there.
    fn bind(&mut self, operand: &Operand) -> Result<Option<View>> {
        let held = operand.hold()?;
        if !held.is_in_one_segment() {
            return Ok(None);
        }
        let (view, bound) = held.view()?;
        self.bindings.push(bound);
        self.pins.push(held.pinned);
        Ok(Some(view))
    }

    /// Whether it needs the index space, of which a kernel has only one.
    pub(super) fn is_strided(&self) -> bool {
        !self.strides.is_empty()
    }

    /// Loop trips that it takes to find the elements of one quad.
    pub(crate) fn trips(&self) -> usize {
        self.strides.len() * self.space.len().saturating_sub(1)
    }

    /// The buffers it reads: a result must lie in none of them.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u64> {
        self.bindings.iter().map(|bound| bound.buffer_id)
    }

    pub(super) fn edge(&self) -> Edge<'_> {
        Edge { expr: &self.expr, ways: &self.ways }
    }
}
