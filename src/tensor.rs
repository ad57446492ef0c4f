//! Tensors: a share of a storage, plus shape, strides, offset and dtype.

use core::fmt;
use core::future::Future;
use core::panic::Location;
use std::sync::Arc;

use crate::clock::Stopwatch;
use crate::device::Device;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::exec::Value;
use crate::fuse::Node;
use crate::gpu::Drive;
use crate::host::cause::CarriageCause;
use crate::layout::Layout;
use crate::ledger::{Crossing, Direction};
use crate::shape::Shape;
use crate::shape::cause::ShapeCause;
use crate::transfer::down;

mod number;
mod ops;
mod upload;
mod views;

pub use number::Scalar;
pub use ops::Other;

/// A value on a device: cheap to clone, never changed by anybody else. A view of it costs nothing.
///
/// `Debug` prints what it is, never what it holds: nothing crosses unasked.
#[derive(Clone)]
pub struct Tensor {
    device: Device,
    node: Arc<Node>,
    layout: Layout,
    dtype: DType,
}

impl Tensor {
    /// The device it lives on.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// The dtype it is stored as: after a conversion, not the host's.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// Shape, strides and offset inside its storage.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Reads all elements in row-major order.
    ///
    /// `T` must be the tensor's dtype. Submits what is recorded; dropping the future cancels the read.
    #[track_caller]
    pub fn read<T: Element>(&self) -> impl Future<Output = Result<Vec<T>>> + use<'_, T> {
        let location = Location::caller();
        async move { self.read_all(Drive::Wake, "read", location).await }
    }

    /// Reads all elements in row-major order into a slice of as many.
    #[track_caller]
    pub fn read_into<'a, T: Element>(
        &'a self,
        out: &'a mut [T],
    ) -> impl Future<Output = Result<()>> + use<'a, T> {
        let location = Location::caller();
        async move { self.read_to(Drive::Wake, "read_into", location, out).await }
    }

    /// Reads all elements in row-major order, blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        pollster::block_on(self.read_all(Drive::Block, "to_vec", Location::caller()))
    }

    /// Reads all elements in row-major order into a slice of as many, blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn copy_to_slice<T: Element>(&self, out: &mut [T]) -> Result<()> {
        pollster::block_on(self.read_to(Drive::Block, "copy_to_slice", Location::caller(), out))
    }

    /// Reads the only element, blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn scalar<T: Element>(&self) -> Result<T> {
        if self.shape().elements() != 1 {
            return Err(ShapeCause::NotOne { shape: *self.shape() }.into());
        }
        let mut out = [T::default()];
        pollster::block_on(self.read_to(Drive::Block, "scalar", Location::caller(), &mut out))?;
        let [value] = out;
        Ok(value)
    }

    async fn read_all<T: Element>(
        &self,
        drive: Drive,
        call: &'static str,
        location: &'static Location<'static>,
    ) -> Result<Vec<T>> {
        self.check_read::<T>(self.shape().elements())?;
        let mut out = vec![T::default(); self.shape().elements()];
        self.read_to(drive, call, location, &mut out).await?;
        Ok(out)
    }

    fn check_read<T: Element>(&self, elements: usize) -> Result<()> {
        if T::DTYPE != self.dtype {
            return Err(CarriageCause::ReadAs { tensor: self.dtype, asked: T::DTYPE }.into());
        }
        if elements != self.shape().elements() {
            return Err(ShapeCause::Count { elements, shape: *self.shape() }.into());
        }
        Ok(())
    }

    async fn read_to<T: Element>(
        &self,
        drive: Drive,
        call: &'static str,
        location: &'static Location<'static>,
        out: &mut [T],
    ) -> Result<()> {
        self.check_read::<T>(out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        let engine = &self.device.engine;
        engine.books.admit(Direction::Down, call, location)?;
        let clock = Stopwatch::start();
        // A view's elements are gathered on the device: only its own bytes cross.
        let dense = self.contiguous()?;
        let pinned = dense.realise()?.pin()?;
        engine.flush()?;
        let width = self.dtype.width() as u64;
        let span = dense.layout.span();
        let range = span.start as u64 * width..span.end as u64 * width;
        let bytes = range.end - range.start;
        let mut rest = out;
        down(&engine.gpu, &engine.ring, drive, &pinned, range, |chunk| {
            let (now, later) =
                core::mem::take(&mut rest).split_at_mut(chunk.len() / T::DTYPE.width());
            T::copy_from_bytes(chunk, now);
            rest = later;
        })
        .await?;
        // The commands that computed it may have failed after all.
        dense.realise()?.check()?;
        let (direction, dtype, duration) = (Direction::Down, self.dtype, clock.elapsed());
        engine.books.note(Crossing { direction, bytes, dtype, call, location, duration });
        Ok(())
    }
}

impl Tensor {
    /// A tensor around a value that exists.
    pub(crate) fn of(device: Device, value: Arc<Value>, layout: Layout, dtype: DType) -> Self {
        let node = Node::leaf(value, *layout.shape(), dtype);
        Self { device, node, layout, dtype }
    }

    /// Its value, computed now if it has not been; or the error of whatever failed on the way.
    pub(crate) fn realise(&self) -> Result<Arc<Value>> {
        let value = self.node.realise(self.device.context())?;
        value.check()?;
        Ok(value)
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({} {} on {:?})", self.dtype, self.layout, self.device)
    }
}
