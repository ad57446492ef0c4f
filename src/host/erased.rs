//! Host data whose dtype is known only when the program runs: what a file holds.

use core::fmt;

use super::HostView;
use super::bytes::ByteView;
use super::cause::CarriageCause;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::layout::Layout;
use crate::shape::{IntoShape, Shape};

/// Borrowed host data of a dtype that is known when the program runs, at any alignment.
///
/// Made from bytes by [`HostBytes::new`], and from any [`HostView`] by `into`.
///
/// ```
/// use wharf::{DType, HostBytes};
///
/// let file = [0, 1, 0, 2, 0, 3, 0]; // three numbers of 16 bits behind one byte
/// let view = HostBytes::new(&file[1..], [3], DType::U16)?;
/// assert_eq!((view.dtype(), view.shape().dims()), (DType::U16, &[3][..]));
/// let error = HostBytes::new(&file, [3], DType::F32).unwrap_err();
/// assert_eq!(error.to_string(), "7 bytes for [3] of f32, which has 12");
/// # Ok::<(), wharf::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct HostBytes<'a> {
    dtype: DType,
    bytes: &'a [u8],
    layout: Layout,
}

/// Checks that the bytes of a bool from element `first` on are 0 or 1.
pub(crate) fn check_truth(dtype: DType, bytes: &[u8], first: u64) -> Result<()> {
    let odd = |byte: &u8| *byte > 1;
    match bytes.iter().position(odd).filter(|_| dtype == DType::Bool) {
        None => Ok(()),
        Some(at) => Err(CarriageCause::Truth { byte: bytes[at], index: first + at as u64 }.into()),
    }
}

impl<'a> HostBytes<'a> {
    /// Bytes of a dtype that is known when the program runs, row-major, little-endian, at any
    /// alignment. A `bool` is a byte that is 0 or 1; any other is an error.
    pub fn new(bytes: &'a [u8], shape: impl IntoShape, dtype: DType) -> Result<Self> {
        let shape = shape.into_shape()?;
        let needed = shape.elements() as u128 * dtype.width() as u128;
        if needed != bytes.len() as u128 {
            return Err(CarriageCause::Bytes { given: bytes.len(), shape, dtype, needed }.into());
        }
        check_truth(dtype, bytes, 0)?;
        Ok(Self { dtype, bytes, layout: Layout::dense(shape) })
    }

    /// The dtype.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
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

    /// This view without its shape.
    pub(crate) fn view(&self) -> ByteView<'a> {
        ByteView { dtype: self.dtype, bytes: self.bytes, layout: self.layout.collapse() }
    }
}

impl<'a, T: Element> From<HostView<'a, T>> for HostBytes<'a> {
    fn from(view: HostView<'a, T>) -> Self {
        let bytes = bytemuck::cast_slice(view.data);
        Self { dtype: T::DTYPE, bytes, layout: view.layout }
    }
}

impl fmt::Debug for HostBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype, self.layout)
    }
}
