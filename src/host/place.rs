//! Where a read puts its elements: borrowed host memory, whose layout has a place for each.

use std::sync::{Mutex, PoisonError};

use super::bytes::scatter;
use super::cores;
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::Layout;
use crate::shape::cause::ShapeCause;
use crate::shape::{IntoShape, Shape};

/// Values that are worked on at once: source and result stay in the first-level cache.
pub(crate) const CACHED: usize = 1024;

/// Borrowed host memory that a read fills, and where each element of the tensor goes in it.
///
/// Places that the layout does not name stay as they are. A layout that names one twice is an
/// error.
///
/// ```
/// use wharf::HostViewMut;
///
/// let mut data = [0.0f32; 12];
/// let columns = HostViewMut::column_major(&mut data, [3, 4])?;
/// assert_eq!(columns.shape().dims(), [3, 4]);
/// let every_second = HostViewMut::strided(&mut data, [6], &[2], 0);
/// assert!(every_second.is_ok());
/// let repeated = HostViewMut::strided(&mut data, [6, 2], &[1, 1], 0);
/// assert!(repeated.is_err(), "two elements for one place");
/// # Ok::<(), wharf::Error>(())
/// ```
#[derive(Debug)]
pub struct HostViewMut<'a, T> {
    data: &'a mut [T],
    layout: Layout,
}

impl<'a, T: Element> HostViewMut<'a, T> {
    /// All of `data`, row-major.
    pub fn new(data: &'a mut [T], shape: impl IntoShape) -> Result<Self> {
        Self::whole(data, Layout::dense(shape.into_shape()?))
    }

    /// All of `data`, column-major: the first axis fastest.
    pub fn column_major(data: &'a mut [T], shape: impl IntoShape) -> Result<Self> {
        Self::whole(data, Layout::column_major(shape.into_shape()?))
    }

    /// Any strides, in elements, from any offset, as long as no place is named twice.
    pub fn strided(
        data: &'a mut [T],
        shape: impl IntoShape,
        strides: &[isize],
        offset: usize,
    ) -> Result<Self> {
        Self::with_layout(data, Layout::strided(shape, strides, offset)?)
    }

    /// The elements of `data` that a layout selects; it must stay inside and name no place twice.
    pub fn with_layout(data: &'a mut [T], layout: Layout) -> Result<Self> {
        layout.check_within(data.len())?;
        if layout.overlaps() {
            let (shape, strides) = (*layout.shape(), layout.strides().to_vec());
            return Err(ShapeCause::Overlap { shape, strides }.into());
        }
        Ok(Self { data, layout })
    }

    fn whole(data: &'a mut [T], layout: Layout) -> Result<Self> {
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

    /// Puts elements from index `first` on, given as device bytes, in their places.
    pub(crate) fn put(&mut self, first: usize, bytes: &[u8]) {
        let (width, layout) = (T::DTYPE.width(), self.layout.collapse());
        if layout.is_dense() {
            let begin = layout.offset() + first;
            copy(bytes, &mut self.data[begin..begin + bytes.len() / width]);
            return;
        }
        let mut block = [T::default(); CACHED];
        for (n, bytes) in bytes.chunks(CACHED * width).enumerate() {
            let values = &mut block[..bytes.len() / width];
            T::copy_from_bytes(bytes, values);
            scatter(self.data, &layout, first + n * CACHED, values);
        }
    }
}

/// From this many bytes on a plain copy is worth a second thread.
pub(crate) const SHARED_COPY_MIN: usize = 16 << 20;

/// Copies device bytes into host values, with two threads where there is much to copy.
pub(crate) fn copy<T: Element>(bytes: &[u8], out: &mut [T]) {
    if bytes.len() < SHARED_COPY_MIN || cores::is_one() {
        return T::copy_from_bytes(bytes, out);
    }
    let middle = out.len() / 2;
    let (early, late) = bytes.split_at(middle * T::DTYPE.width());
    let (first, second) = out.split_at_mut(middle);
    let halves = Mutex::new([(early, first), (late, second)].into_iter());
    let work = || {
        loop {
            let next = halves.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((bytes, out)) = next else { return };
            T::copy_from_bytes(bytes, out);
        }
    };
    std::thread::scope(|scope| {
        // Without a second thread this one does it all.
        let thread = std::thread::Builder::new().name("wharf-read".into());
        let other = thread.spawn_scoped(scope, work);
        work();
        // A scope that ends would wait for it by parking, and take what was to wake this thread.
        let _ = other.map(|other| other.join());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_of_all_takes_as_many_values_as_its_shape_has() {
        let mut data = [0u8; 6];
        for shape in [[2, 2], [2, 4]] {
            let said = format!("data has 6 elements, shape {shape:?} has {}", 2 * shape[1]);
            let rows = HostViewMut::new(&mut data, shape).map(drop).unwrap_err();
            let columns = HostViewMut::column_major(&mut data, shape).map(drop).unwrap_err();
            assert_eq!([rows.to_string(), columns.to_string()], [said.clone(), said]);
        }
        assert!(HostViewMut::new(&mut data, [2, 3]).is_ok());
    }

    #[test]
    fn every_layout_is_filled_in_the_order_of_its_indices() {
        let rows: [(&[usize], &[isize], usize); 6] = [
            (&[3, 4], &[4, 1], 0),
            (&[3, 4], &[1, 3], 0),
            (&[12], &[-1], 11),
            (&[2, 3], &[-6, 2], 7),
            (&[5], &[2], 3),
            (&[0, 2], &[1, 1], 0),
        ];
        for (shape, strides, offset) in rows {
            let mut data = [99i16; 14];
            let mut view = HostViewMut::strided(&mut data, shape, strides, offset).unwrap();
            let layout = *view.layout();
            let values: Vec<i16> = (0..).take(layout.shape().elements()).collect();
            let (early, late) = values.split_at(values.len() / 3);
            view.put(0, bytemuck::cast_slice(early));
            view.put(early.len(), bytemuck::cast_slice(late));
            let there: Vec<i16> = layout.places().map(|place| data[place]).collect();
            assert_eq!(there, values, "{layout}");
            let kept = data.iter().filter(|v| **v == 99).count();
            assert_eq!(kept, 14 - values.len(), "{layout}: the rest stays as it is");
        }
    }
}
