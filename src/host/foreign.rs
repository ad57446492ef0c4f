//! Arrays of the crate `ndarray`, of any strides.
//!
//! A view of theirs may name elements of a slice that lies in memory as a whole, in any order, or
//! repeated: that slice is lent, and nothing is copied. Where it leaves gaps, what lies in the gaps
//! may be somebody else's: its elements are handed over piece by piece.

use core::fmt;
use std::sync::Arc;

use ndarray::{ArrayBase, ArrayView, Axis, Data, Dimension, IxDyn, Slice};

use super::HostView;
use super::array::{Handover, HostArray, Supplied};
use super::supply::Supply;
use crate::count::index;
use crate::dtype::{DType, Element};
use crate::error::{Result, causes};
use crate::layout::Layout;
use crate::shape::Shape;

impl<T: Element, S: Data<Elem = T>, D: Dimension> HostArray for ArrayBase<S, D> {
    type Item = T;

    fn host_view(&self) -> Result<HostView<'_, T>> {
        let array = self.view().into_dyn();
        let layout = layout(&array)?;
        let (shape, strides) = (*layout.shape(), array.strides().to_vec());
        let lent = slice(&array).ok_or(ArrayCause::Gaps { shape, strides })?;
        HostView::with_layout(lent, layout)
    }

    fn lend(&self) -> Result<Handover<'_, T>> {
        let array = self.view().into_dyn();
        let layout = layout(&array)?;
        if slice(&array).is_some() {
            return self.host_view().map(Handover::View);
        }
        let dense = Layout::dense(*layout.shape());
        Ok(Handover::Pieces(Supplied { layout, supply: Arc::new(Gapped { array, dense }) }))
    }
}

/// Where the elements lie, counted from the lowest.
fn layout<T>(array: &ArrayView<'_, T, IxDyn>) -> Result<Layout> {
    let shape = Shape::new(array.shape())?;
    if shape.is_empty() {
        return Ok(Layout::dense(shape));
    }
    let axes = array.shape().iter().zip(array.strides());
    let backwards = axes.filter(|(_, stride)| **stride < 0);
    let first = backwards.map(|(dim, stride)| (dim - 1) * stride.unsigned_abs()).sum();
    Layout::strided(shape, array.strides(), first)
}

/// The elements as they lie, each once, if nothing else lies between them.
fn slice<'a, T>(array: &ArrayView<'a, T, IxDyn>) -> Option<&'a [T]> {
    if array.is_empty() {
        return Some(&[]);
    }
    let mut once = array.clone();
    while let Some(axis) = once.strides().iter().position(|&stride| stride == 0) {
        once = once.index_axis_move(Axis(axis), 0);
    }
    once.to_slice_memory_order()
}

/// An array with gaps between its elements.
struct Gapped<'a, T> {
    array: ArrayView<'a, T, IxDyn>,
    dense: Layout,
}

impl<T> fmt::Debug for Gapped<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {:?}", self.dense, self.array.strides())
    }
}

impl<T: Element> Supply for Gapped<'_, T> {
    fn dtype(&self) -> DType {
        T::DTYPE
    }

    fn layout(&self) -> Layout {
        self.dense
    }

    fn read(&self, first: u64, out: &mut [u8]) -> Result<()> {
        let width = T::DTYPE.width();
        let (mut at, mut rest) = (index(first / width as u64)?, out);
        while !rest.is_empty() {
            let row = self.row_from(at, rest.len() / width);
            let (now, later) = rest.split_at_mut(row.len() * width);
            match row.to_slice() {
                Some(row) => now.copy_from_slice(bytemuck::cast_slice(row)),
                None => now
                    .chunks_exact_mut(width)
                    .zip(&row)
                    .for_each(|(to, value)| to.copy_from_slice(bytemuck::bytes_of(value))),
            }
            at += row.len();
            rest = later;
        }
        Ok(())
    }
}

impl<T> Gapped<'_, T> {
    /// Elements from number `at` on, as far as the last axis goes, and at most so many.
    fn row_from(&self, at: usize, most: usize) -> ArrayView<'_, T, IxDyn> {
        let mut row = self.array.view();
        let length = row.shape().last().copied().unwrap_or(1);
        let (mut number, place) = (at / length, at % length);
        while let Some(axis) = row.ndim().checked_sub(2) {
            let dim = row.shape()[axis];
            row = row.index_axis_move(Axis(axis), number % dim);
            number /= dim;
        }
        row.slice_axis_inplace(Axis(0), Slice::from(place..length.min(place + most)));
        row
    }
}

causes! {
    enum ArrayCause;

    Gaps { shape: Shape, strides: Vec<isize> }, Layout:
        ("array {shape} with strides {strides:?} has gaps, which are not its own")
        help ("`device.tensor` takes it as it is; elsewhere copy it: `as_standard_layout()`");
}
