//! Reading into what the caller has: another dtype, another layout.
//!
//! Every read goes through [`Tensor::pull`]: admitted, gathered on the device so that only the
//! tensor's own bytes cross, and handed over chunk by chunk. Nothing is collected on the way: each
//! chunk is converted or put in its places where it was mapped.

use core::future::Future;

use super::Tensor;
use crate::clock::Stopwatch;
use crate::dtype::{DType, Element};
use crate::engine::Engine;
use crate::error::Result;
use crate::gpu::Drive;
use crate::host::bytes::ByteView;
use crate::host::cause::CarriageCause;
use crate::host::convert::convertible;
use crate::host::place::CACHED;
use crate::host::{HostViewMut, Tally};
use crate::layout::Layout;
use crate::ledger::{CallSite, Direction};
use crate::plan::How;
use crate::shadow::verdict;
use crate::shape::cause::ShapeCause;
#[cfg(not(target_arch = "wasm32"))]
use crate::transfer::down_blocking;
use crate::transfer::{Drain, Fill, First, Receipt, UploadSource, down, settle};

/// What a tensor takes on its device.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Footprint {
    pub(crate) bytes: u64,
    pub(crate) segments: u64,
}

/// Takes the bytes of a read, whatever its dtype: with one type for all, the long way down is
/// compiled once.
#[cfg(not(target_arch = "wasm32"))]
type Copying<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;
#[cfg(target_arch = "wasm32")]
type Copying<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

impl Tensor {
    /// Reads all elements in row-major order, converted on the host to the dtype of `T`; the
    /// receipt counts what that did to them.
    ///
    /// Floats convert to any float, integers to any integer that holds every value, and to floats;
    /// never floats to integers, nor anything to `bool`: those are casts, for a kernel.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3], [3])?;
    /// let (values, receipt) = x.read_as::<f64>().await?;
    /// assert_eq!(values, [1.0, 2.0, 3.0]);
    /// assert!(receipt.is_exact(), "{receipt}");
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn read_as<T: Element>(
        &self,
    ) -> impl Future<Output = Result<(Vec<T>, Receipt)>> + use<'_, T> {
        self.convert_down(Drive::Wake, CallSite::of("read_as"))
    }

    /// [`Tensor::read_as`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn read_as_now<T: Element>(&self) -> Result<(Vec<T>, Receipt)> {
        pollster::block_on(self.convert_down(Drive::Block, CallSite::of("read_as_now")))
    }

    /// Reads the bytes of all elements in row-major order, whatever the dtype: each as
    /// [`Tensor::read`] would have it in memory.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1u16, 0x302], [2])?;
    /// assert_eq!(x.read_bytes().await?, [1, 0, 2, 3]); // on a host that is little-endian
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn read_bytes(&self) -> impl Future<Output = Result<Vec<u8>>> + use<'_> {
        self.take_down(Drive::Wake, CallSite::of("read_bytes"))
    }

    /// [`Tensor::read_bytes`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn read_bytes_now(&self) -> Result<Vec<u8>> {
        pollster::block_on(self.take_down(Drive::Block, CallSite::of("read_bytes_now")))
    }

    /// The bytes of all elements, in order.
    pub(crate) async fn take_down(&self, drive: Drive, site: CallSite) -> Result<Vec<u8>> {
        let width = self.dtype.width();
        // Where not so much can be counted, there is no memory for it either.
        let bytes = Engine::bytes_of(self.shape(), self.dtype())?;
        let bytes = bytes.try_into().unwrap_or(usize::MAX);
        let mut out = Vec::new();
        let copy = |first: usize, chunk: &[u8]| {
            let out = super::room(&mut out, bytes)?;
            out[first * width..][..chunk.len()].copy_from_slice(chunk);
            Ok(())
        };
        self.pull(drive, site, copy).await?;
        Ok(out)
    }

    /// Reads all elements into host memory of any layout; the shapes must be equal. Places that the
    /// layout does not name stay as they are.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// let mut data = [0; 6];
    /// x.read_view(&mut wharf::HostViewMut::column_major(&mut data, [2, 3])?).await?;
    /// assert_eq!(data, [1, 4, 2, 5, 3, 6]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn read_view<'a, 'b, T: Element>(
        &'a self,
        view: &'a mut HostViewMut<'b, T>,
    ) -> impl Future<Output = Result<()>> + use<'a, 'b, T> {
        self.put_down(Drive::Wake, CallSite::of("read_view"), view)
    }

    /// [`Tensor::read_view`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn read_view_now<T: Element>(&self, view: &mut HostViewMut<'_, T>) -> Result<()> {
        pollster::block_on(self.put_down(Drive::Block, CallSite::of("read_view_now"), view))
    }

    async fn put_down<T: Element>(
        &self,
        drive: Drive,
        site: CallSite,
        view: &mut HostViewMut<'_, T>,
    ) -> Result<()> {
        let (left, right) = (*self.shape(), *view.shape());
        if left != right {
            let what = "the tensor and the view of a read differ in shape";
            return Err(ShapeCause::Same { what, left, right }.into());
        }
        self.check_read::<T>(right.elements())?;
        let put = |first, chunk: &[u8]| {
            view.put(first, chunk);
            Ok(())
        };
        self.pull(drive, site, put).await.map(drop)
    }

    async fn convert_down<T: Element>(
        &self,
        drive: Drive,
        site: CallSite,
    ) -> Result<(Vec<T>, Receipt)> {
        let clock = Stopwatch::start();
        let (from, to) = (self.dtype(), T::DTYPE);
        let how = self.how_to(to)?;
        let rules = self.device.rules(how);
        let elements = self.shape().elements();
        let mut out = Vec::new();
        let mut tally = Tally::default();
        let convert = |first: usize, chunk: &[u8]| {
            let source = UploadSource::new(ByteView::dense(from, chunk)?, to, rules)?;
            let out = &mut super::room(&mut out, elements)?[first..][..chunk.len() / from.width()];
            convert_to(&source.within(first as u64), out, &mut tally)
        };
        let footprint = self.pull(drive, site, convert).await?;
        let elements = elements as u64;
        let receipt = Receipt {
            from,
            to,
            how,
            layout_from: self.layout,
            layout_to: Layout::dense(*self.shape()),
            tally,
            bytes_host: elements * to.width() as u64,
            bytes_staged: elements * from.width() as u64,
            bytes_device: footprint.bytes,
            segments: footprint.segments,
            elapsed: clock.elapsed(),
        };
        Ok((out, receipt))
    }

    /// How a read carries it to a dtype on the host, if it can.
    fn how_to(&self, to: DType) -> Result<How> {
        let from = self.dtype();
        if from == to {
            return Ok(self.device.plan().carriage(from).how);
        }
        if !convertible(from, to) {
            return Err(CarriageCause::NoConversion { from, to }.into());
        }
        Ok(How::Converted { to, lossless: false })
    }

    /// Hands every element to `drain`, in row-major order: the index of the first of a chunk, and
    /// the bytes.
    ///
    /// Without elements nothing crosses, and nobody is asked.
    pub(super) async fn pull(
        &self,
        drive: Drive,
        site: CallSite,
        mut drain: impl FnMut(usize, &[u8]) -> Result<()> + wgpu::WasmNotSend,
    ) -> Result<Footprint> {
        if !self.shape().is_empty() {
            self.device.engine.books.admit(Direction::Down, site)?;
        }
        let (width, mut first) = (self.dtype.width(), 0);
        let mut counted = |chunk: &[u8]| {
            let at = first;
            first += chunk.len() / width;
            drain(at, chunk)
        };
        let counted: &mut Copying<'_> = &mut counted;
        self.pull_admitted(drive, site, Onward::Host, counted).await
    }

    /// Hands every byte to `drain`, in row-major order, after the guard has been asked; what may do
    /// anything with them.
    #[cfg(any(feature = "safetensors", feature = "npy"))]
    pub(crate) async fn pour(
        &self,
        drive: Drive,
        site: CallSite,
        drain: &mut (impl Drain + ?Sized),
    ) -> Result<Receipt> {
        let (clock, dtype) = (Stopwatch::start(), self.dtype());
        let footprint = self.pull_admitted(drive, site, Onward::Anywhere, drain).await?;
        let elements = self.shape().elements() as u64;
        let bytes = elements * dtype.width() as u64;
        Ok(Receipt {
            from: dtype,
            to: dtype,
            how: self.device.plan().carriage(dtype).how,
            layout_from: self.layout,
            layout_to: Layout::dense(*self.shape()),
            tally: Tally { exact: elements, ..Tally::default() },
            bytes_host: bytes,
            bytes_staged: bytes,
            bytes_device: footprint.bytes,
            segments: footprint.segments,
            elapsed: clock.elapsed(),
        })
    }

    /// [`Tensor::pull`] after the guard has been asked.
    pub(super) async fn pull_admitted(
        &self,
        drive: Drive,
        site: CallSite,
        onward: Onward<'_>,
        drain: &mut (impl Drain + ?Sized),
    ) -> Result<Footprint> {
        let engine = &self.device.engine;
        if self.shape().is_empty() {
            // There is nothing to read but what befell it.
            let value = self.realise()?;
            let slots = value.unsettled();
            if !slots.is_empty() && !engine.gpu.is_on_paper() {
                settle(engine, drive, First { flush: true, slots: &slots }).await?;
            }
            return value.check().map(|()| Footprint::default());
        }
        let entry = engine.books.open(Direction::Down, self.dtype(), site);
        let dense = self.contiguous()?;
        let value = dense.realise()?;
        let pinned = value.pin()?;
        engine.gpu.present("reading")?;
        if engine.shadows.any() {
            verdict(engine, drive).await?;
        }
        let slots = value.unsettled();
        let width = self.dtype.width() as u64;
        let span = dense.layout.span();
        let range = span.start as u64 * width..span.end as u64 * width;
        let take = &mut |chunk: &[u8]| {
            entry.add(chunk.len() as u64);
            // What the slots say comes with the first chunk.
            value.check()?;
            drain(chunk)
        };
        let first = First { flush: true, slots: &slots };
        match (drive, onward) {
            #[cfg(not(target_arch = "wasm32"))]
            (Drive::Block, Onward::Host) => {
                down_blocking(engine, first, &pinned, range, take).await?;
            }
            _ => {
                let there = match (drive, onward) {
                    (Drive::Wake, Onward::Device(there)) => Some(there),
                    _ => None,
                };
                down(engine, drive, first, &pinned, range, there, take).await?;
            }
        }
        // The commands that computed it may have failed after all.
        value.check()?;
        let pieces = pinned.pieces();
        let bytes = pieces.iter().map(|piece| piece.bytes).sum();
        Ok(Footprint { bytes, segments: pieces.len() as u64 })
    }
}

/// Where whoever takes what comes down puts it.
#[derive(Clone, Copy)]
pub(super) enum Onward<'a> {
    Host,
    /// Another device.
    Device(&'a Engine),
    /// Nobody knows.
    #[cfg(any(feature = "safetensors", feature = "npy"))]
    Anywhere,
}

/// Converts all of a source into `out`, block by block.
fn convert_to<T: Element>(
    source: &UploadSource<'_>,
    out: &mut [T],
    tally: &mut Tally,
) -> Result<()> {
    let mut scratch = [0u64; CACHED];
    for (n, out) in out.chunks_mut(CACHED).enumerate() {
        let bytes = out.len() * T::DTYPE.width();
        let block = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut scratch)[..bytes];
        source.fill(n * CACHED, wgpu::WriteOnly::from_mut(block), bytes as u64, tally)?;
        T::copy_from_bytes(block, out);
    }
    Ok(())
}
