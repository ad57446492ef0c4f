//! Borrowed host data of any layout, and what becomes of its values in another dtype. Needs no
//! device.
//!
//! A [`HostView`] says where the elements of a tensor lie in a slice: row-major, column-major, with
//! gaps, backwards, repeated. It is read in row-major order, block by block, as bytes: moving
//! elements does not interpret them.

use crate::dtype::Element;
use crate::error::Result;
use crate::layout::Layout;
use crate::shape::{IntoShape, Shape};

mod array;
pub(crate) mod blocks;
pub(crate) mod bytes;
pub(crate) mod cause;
pub(crate) mod convert;
pub(crate) mod cores;
pub(crate) mod erased;
#[cfg(feature = "ndarray")]
mod foreign;
pub(crate) mod picture;
pub(crate) mod place;
mod sequence;
pub(crate) mod supply;
mod tally;

pub(crate) use array::Handover;
pub use array::HostArray;
use bytes::ByteView;
pub use erased::HostBytes;
pub use picture::Picture;
pub use place::HostViewMut;
pub use sequence::Sequence;
pub use tally::{Tally, Worst};

/// Borrowed host data and where each element of a tensor lies in it.
///
/// ```
/// use wharf::HostView;
///
/// let data = [1, 2, 3, 4, 5, 6];
/// let rows = HostView::new(&data, [2, 3])?;
/// let columns = HostView::column_major(&data, [2, 3])?;
/// let backwards = HostView::strided(&data, [6], &[-1], 5)?;
/// assert!(rows.iter().eq([1, 2, 3, 4, 5, 6]));
/// assert!(columns.iter().eq([1, 3, 5, 2, 4, 6]));
/// assert!(backwards.iter().eq([6, 5, 4, 3, 2, 1]));
/// # Ok::<(), wharf::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HostView<'a, T> {
    data: &'a [T],
    layout: Layout,
}

impl<'a, T: Element> HostView<'a, T> {
    /// All of `data`, row-major.
    pub fn new(data: &'a [T], shape: impl IntoShape) -> Result<Self> {
        Self::whole(data, Layout::dense(shape.into_shape()?))
    }

    /// All of `data`, column-major: the first axis fastest.
    pub fn column_major(data: &'a [T], shape: impl IntoShape) -> Result<Self> {
        Self::whole(data, Layout::column_major(shape.into_shape()?))
    }

    /// Any strides, in elements, from any offset: gaps, negative strides, strides of 0.
    pub fn strided(
        data: &'a [T],
        shape: impl IntoShape,
        strides: &[isize],
        offset: usize,
    ) -> Result<Self> {
        Self::with_layout(data, Layout::strided(shape, strides, offset)?)
    }

    /// The elements of `data` that a layout selects; it must stay inside.
    pub fn with_layout(data: &'a [T], layout: Layout) -> Result<Self> {
        layout.check_within(data.len())?;
        Ok(Self { data, layout })
    }

    fn whole(data: &'a [T], layout: Layout) -> Result<Self> {
        layout.check_whole(data.len())?;
        Ok(Self { data, layout })
    }

    /// The layout.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// The elements in row-major order.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let data = self.data;
        self.layout.places().map(move |place| data[place])
    }

    /// This view without its element type.
    pub(crate) fn bytes(&self) -> ByteView<'a> {
        ByteView {
            dtype: T::DTYPE,
            bytes: bytemuck::cast_slice(self.data),
            layout: self.layout.collapse(),
        }
    }
}
