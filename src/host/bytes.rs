//! A host view without its type: bytes, a width and a layout.
//!
//! Elements are moved by width, in runs along the innermost axis; which numbers they are matters only to a
//! conversion. One routine walks the runs for reading and for writing.

use crate::dtype::DType;
use crate::layout::Layout;

/// Host bytes and where each element lies in them. The layout is collapsed and stays inside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteView<'a> {
    pub(crate) dtype: DType,
    pub(crate) bytes: &'a [u8],
    pub(crate) layout: Layout,
}

/// Elements that follow each other on the innermost axis.
struct Run {
    place: usize,
    stride: isize,
    len: usize,
}

/// Calls `each` with the runs that make up elements `first..first + len` in row-major order.
fn runs(layout: &Layout, first: usize, len: usize, mut each: impl FnMut(Run)) {
    let rank = layout.shape().rank();
    let (dim, stride) = match rank.checked_sub(1) {
        Some(last) => (layout.shape().dims()[last], layout.strides()[last]),
        None => (1, 1),
    };
    let (mut at, end) = (first, first + len);
    while at < end {
        let run = (dim - at % dim).min(end - at);
        each(Run { place: layout.place(at), stride, len: run });
        at += run;
    }
}

impl<'a> ByteView<'a> {
    /// Elements `first..first + len` where they lie, if they lie together.
    pub(crate) fn slice(&self, first: usize, len: usize) -> Option<&'a [u8]> {
        let width = self.dtype.width();
        let start = (self.layout.offset() + first) * width;
        self.layout.is_dense().then(|| self.bytes.get(start..start + len * width)).flatten()
    }

    /// Copies elements from `first` on, in row-major order, until `out` is full.
    pub(crate) fn gather(&self, first: usize, out: &mut [u8]) {
        match self.dtype.width() {
            1 => gather::<1>(self.bytes, &self.layout, first, out),
            2 => gather::<2>(self.bytes, &self.layout, first, out),
            4 => gather::<4>(self.bytes, &self.layout, first, out),
            _ => gather::<8>(self.bytes, &self.layout, first, out),
        }
    }
}

/// Copies `from`, elements in row-major order, to where `layout` has elements `first..`.
pub(crate) fn scatter(width: usize, to: &mut [u8], layout: &Layout, first: usize, from: &[u8]) {
    match width {
        1 => scatter_by::<1>(to, layout, first, from),
        2 => scatter_by::<2>(to, layout, first, from),
        4 => scatter_by::<4>(to, layout, first, from),
        _ => scatter_by::<8>(to, layout, first, from),
    }
}

fn gather<const W: usize>(bytes: &[u8], layout: &Layout, first: usize, out: &mut [u8]) {
    let (from, _) = bytes.as_chunks::<W>();
    let (mut out, _) = out.as_chunks_mut::<W>();
    runs(layout, first, out.len(), |run| {
        let (now, later) = core::mem::take(&mut out).split_at_mut(run.len);
        out = later;
        if run.stride == 1 {
            now.copy_from_slice(&from[run.place..run.place + run.len]);
            return;
        }
        let mut place = run.place;
        for to in now {
            *to = from[place];
            place = place.wrapping_add_signed(run.stride);
        }
    });
}

fn scatter_by<const W: usize>(to: &mut [u8], layout: &Layout, first: usize, from: &[u8]) {
    let (to, _) = to.as_chunks_mut::<W>();
    let (mut from, _) = from.as_chunks::<W>();
    runs(layout, first, from.len(), |run| {
        let (now, later) = from.split_at(run.len);
        from = later;
        if run.stride == 1 {
            to[run.place..run.place + run.len].copy_from_slice(now);
            return;
        }
        let mut place = run.place;
        for value in now {
            to[place] = *value;
            place = place.wrapping_add_signed(run.stride);
        }
    });
}
