//! Host values that bring their shape along: numbers, arrays of arrays, slices, vectors.
//!
//! All of them lie in memory one after the other, so that a view of them is no copy.

use std::sync::Arc;

use super::HostView;
use crate::dtype::Element;
use crate::error::Result;
use crate::host::supply::Supply;
use crate::layout::Layout;

/// Host values that know their shape: what [`Device::tensor`](crate::Device::tensor) takes.
///
/// A number or `bool`, arrays of arrays of them, slices and vectors of either, iterators of known
/// length in a [`Sequence`](crate::host::Sequence), arrays of `ndarray` (feature `ndarray`), and
/// references to all of these. A vector of vectors may be ragged and is
/// none. A type of your own becomes one by saying where its elements lie:
///
/// ```
/// use wharf::host::HostArray;
/// use wharf::HostView;
///
/// struct Image {
///     width: usize,
///     pixels: Vec<u8>,
/// }
///
/// impl HostArray for Image {
///     type Item = u8;
///
///     fn host_view(&self) -> wharf::Result<HostView<'_, u8>> {
///         HostView::new(&self.pixels, [self.pixels.len() / self.width, self.width])
///     }
/// }
///
/// let image = Image { width: 3, pixels: vec![0; 6] };
/// assert_eq!(image.host_view()?.shape().dims(), [2, 3]);
/// assert_eq!([[[1u8; 4]; 2]; 3].host_view()?.shape().dims(), [3, 2, 4]);
/// assert_eq!(vec![[0.5, 1.5]].host_view()?.shape().dims(), [1, 2]);
/// # Ok::<(), wharf::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not bring a shape along",
    label = "no number, array, slice, vector or array of ndarray",
    note = "vectors of vectors may be ragged: \
            `device.upload(&rows.concat(), [rows.len(), columns])`"
)]
pub trait HostArray {
    /// The type of its elements.
    type Item: Element;

    /// Where its elements lie. An error where there are more axes or elements than a tensor has, or
    /// where what lies between them belongs to others.
    fn host_view(&self) -> Result<HostView<'_, Self::Item>>;

    /// Its elements, as a view where there can be one.
    #[doc(hidden)]
    fn lend(&self) -> Result<Handover<'_, Self::Item>> {
        self.host_view().map(Handover::View)
    }
}

/// Elements on their way up: where they lie, or handed over piece by piece.
#[doc(hidden)]
#[derive(Debug)]
pub enum Handover<'a, T> {
    /// Where they lie.
    View(HostView<'a, T>),
    /// Piece by piece.
    Pieces(Supplied<'a>),
}

/// Elements that lie nowhere as a whole.
#[doc(hidden)]
#[derive(Debug)]
pub struct Supplied<'a> {
    /// As they lie.
    pub(crate) layout: Layout,
    /// Who hands them over.
    pub(crate) supply: Arc<dyn Supply + 'a>,
}

/// What a slice holds as elements one after the other: elements, or arrays of what does.
#[doc(hidden)]
pub trait Nested: Sized {
    /// The elements.
    type Item: Element;

    /// Adds the lengths of its axes, outermost first.
    fn add_dims(dims: &mut Vec<usize>);

    /// All elements of these.
    fn flat(all: &[Self]) -> &[Self::Item];
}

impl<T: Element> Nested for T {
    type Item = T;

    fn add_dims(_: &mut Vec<usize>) {}

    fn flat(all: &[T]) -> &[T] {
        all
    }
}

impl<N: Nested, const LENGTH: usize> Nested for [N; LENGTH] {
    type Item = N::Item;

    fn add_dims(dims: &mut Vec<usize>) {
        dims.push(LENGTH);
        N::add_dims(dims);
    }

    fn flat(all: &[Self]) -> &[N::Item] {
        N::flat(all.as_flattened())
    }
}

/// What a slice holds, with an axis for the slice itself if it is one.
fn view<N: Nested>(all: &[N], mut dims: Vec<usize>) -> Result<HostView<'_, N::Item>> {
    N::add_dims(&mut dims);
    HostView::new(N::flat(all), dims)
}

impl<N: Nested> HostArray for [N] {
    type Item = N::Item;

    fn host_view(&self) -> Result<HostView<'_, N::Item>> {
        view(self, vec![self.len()])
    }
}

impl<N: Nested> HostArray for Vec<N> {
    type Item = N::Item;

    fn host_view(&self) -> Result<HostView<'_, N::Item>> {
        self[..].host_view()
    }
}

impl<N: Nested, const LENGTH: usize> HostArray for [N; LENGTH] {
    type Item = N::Item;

    fn host_view(&self) -> Result<HostView<'_, N::Item>> {
        self[..].host_view()
    }
}

impl<A: HostArray + ?Sized> HostArray for &A {
    type Item = A::Item;

    fn host_view(&self) -> Result<HostView<'_, A::Item>> {
        (**self).host_view()
    }

    fn lend(&self) -> Result<Handover<'_, A::Item>> {
        (**self).lend()
    }
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl HostArray for $ty {
            type Item = Self;

            fn host_view(&self) -> Result<HostView<'_, Self>> {
                view(core::slice::from_ref(self), Vec::new())
            }
        }
    )*};
}

numbers! { f32 half::f16 half::bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool }
numbers! { crate::dtype::f8e4m3 crate::dtype::f8e5m2 }
