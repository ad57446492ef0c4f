//! From one device to another: explicit, negotiated again, and accounted for on both sides.
//!
//! A chunk is sent on from where it was mapped, so that of a tensor of any size only the chunks in
//! flight are on the host. What arrives is what the *target's* plan says: a dtype that it stores
//! keeps every bit.

use core::future::Future;
use std::sync::Arc;

use super::Tensor;
use super::reads::Onward;
use crate::clock::Stopwatch;
use crate::count::product;
use crate::device::Device;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::exec::Value;
use crate::gpu::Drive;
use crate::host::Tally;
use crate::host::bytes::ByteView;
use crate::layout::Layout;
use crate::ledger::{CallSite, Direction, OpenCrossing};
use crate::plan::{How, Stored};
use crate::store::{Pinned, Storage};
use crate::transfer::{Fill, Receipt, UploadSource, moving_to, up_part};

/// Chunks are sent on in multiples of so many bytes, so that each begins at a whole word of the
/// target whatever it is converted to: a word holds four values of the narrowest dtype, and four of
/// the widest are so many bytes.
const GRAIN: usize = 32;

impl Tensor {
    /// Carries the values to another device, under that device's policy: bit-exact where it stores
    /// the dtype, otherwise converted with a receipt, or refused.
    ///
    /// On the device where it is already this is a clone, and nothing crosses; otherwise the bytes
    /// are in the ledgers of both devices, and the guards of both are asked. A view moves its own
    /// elements only, and arrives row-major. Host memory is bounded at any size. What is deferred
    /// is computed first, and waited for.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3], [3])?;
    /// let other = device.reopen().await?;
    /// let (there, receipt) = x.to(&other).await?;
    /// assert!(receipt.is_exact() && there.device().same_device(&other));
    /// # Ok(()) });
    /// ```
    #[doc(alias = "to_device")]
    #[track_caller]
    pub fn to<'a>(
        &'a self,
        device: &'a Device,
    ) -> impl Future<Output = Result<(Self, Receipt)>> + use<'a> {
        self.moved(device, Drive::Wake, CallSite::of("to"))
    }

    /// [`Tensor::to`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn to_now(&self, device: &Device) -> Result<(Self, Receipt)> {
        pollster::block_on(self.moved(device, Drive::Block, CallSite::of("to_now")))
    }

    async fn moved(
        &self,
        device: &Device,
        drive: Drive,
        site: CallSite,
    ) -> Result<(Self, Receipt)> {
        let passage = Passage::decide(self, device)?;
        passage.admit(site)?;
        let storage = passage.reserve(&[])?;
        device.engine.flush()?;
        passage.carry(storage, drive, site, |_| {}).await
    }
}

/// One tensor on its way to a device, decided before a byte moves.
#[derive(Debug)]
pub(crate) struct Passage<'a> {
    tensor: &'a Tensor,
    device: &'a Device,
    to: Stored,
    how: How,
    /// Bytes that the target has to take.
    pub(crate) bytes: u64,
}

impl<'a> Passage<'a> {
    #[track_caller]
    pub(crate) fn decide(tensor: &'a Tensor, device: &'a Device) -> Result<Self> {
        let (carriage, to) = device.plan().accept(tensor.dtype())?;
        let stays = tensor.device.same_device(device);
        if !stays {
            [&tensor.device, device].iter().try_for_each(|d| d.engine.gpu.present("moving"))?;
        }
        let bytes = if stays { 0 } else { Engine::bytes_of(tensor.shape(), *to)? };
        Ok(Self { tensor, device, to, how: carriage.how, bytes })
    }

    fn stays(&self) -> bool {
        self.tensor.device.same_device(self.device)
    }

    /// Asks the guards of both devices.
    pub(crate) fn admit(&self, site: CallSite) -> Result<()> {
        if self.stays() {
            return Ok(());
        }
        self.tensor.device.engine.books.admit(Direction::Down, site)?;
        self.device.engine.books.admit(Direction::Up, site)
    }

    /// Memory on the target, if any is needed, where values of the sizes `next` come after.
    pub(crate) fn reserve(&self, next: &[u64]) -> Result<Option<Arc<Storage>>> {
        if self.stays() {
            return Ok(None);
        }
        let storage = self.device.engine.allocate_before(self.bytes, next);
        storage.map(Some).map_err(|error| self.there(error))
    }

    /// An error of the target, with its name: two devices take part.
    fn there(&self, error: Error) -> Error {
        moving_to(&self.device.engine, error)
    }

    /// Carries the values into memory on the target, where what was recorded before has been
    /// submitted. `progress` hears how many bytes each chunk had.
    pub(crate) async fn carry(
        &self,
        storage: Option<Arc<Storage>>,
        drive: Drive,
        site: CallSite,
        progress: impl FnMut(u64),
    ) -> Result<(Tensor, Receipt)> {
        let clock = Stopwatch::start();
        let (tensor, device) = (self.tensor, self.device.clone());
        let Some(storage) = storage else {
            let here = Tensor { device, ..tensor.clone() };
            let exact = Tally { exact: tensor.shape().elements() as u64, ..Tally::default() };
            return Ok((here, self.receipt(exact, *tensor.layout(), &[], clock)));
        };
        let entry = self.device.engine.books.open(Direction::Up, *self.to, site);
        let (tally, rest) = (Tally::default(), Vec::new());
        let pinned = storage.pin();
        let mut relay = Relay { passage: self, pinned, entry, tally, rest, values: 0, progress };
        let onward = Onward::Device(&self.device.engine);
        tensor.pull_admitted(drive, site, onward, &mut |chunk: &[u8]| relay.take(chunk)).await?;
        let tally = relay.finish()?;
        let layout = Layout::dense(*tensor.shape());
        let pieces: Vec<u64> = storage.pieces().iter().map(|piece| piece.bytes).collect();
        let receipt = self.receipt(tally, layout, &pieces, clock);
        Ok((Tensor::of(device, Value::new(storage), layout, self.to), receipt))
    }

    fn receipt(&self, tally: Tally, layout: Layout, pieces: &[u64], clock: Stopwatch) -> Receipt {
        let from = self.tensor.dtype;
        let crossed = if self.stays() { 0 } else { tally.values() * from.width() as u64 };
        Receipt {
            from: from.dtype(),
            to: *self.to,
            how: self.how,
            layout_from: *self.tensor.layout(),
            layout_to: layout,
            tally,
            bytes_host: crossed,
            bytes_staged: self.bytes,
            bytes_device: pieces.iter().sum(),
            segments: pieces.len() as u64,
            elapsed: clock.elapsed(),
        }
    }
}

/// Between two devices: sends chunks on, and keeps only what does not fill a grain yet.
struct Relay<'a, P> {
    passage: &'a Passage<'a>,
    pinned: Pinned,
    entry: OpenCrossing<'a>,
    tally: Tally,
    rest: Vec<u8>,
    /// Values that were sent.
    values: usize,
    progress: P,
}

impl<P: FnMut(u64)> Relay<'_, P> {
    /// Takes the next values. Chunks are whole grains but for the last, unless a view begins inside
    /// a grain of a storage of several segments.
    fn take(&mut self, mut chunk: &[u8]) -> Result<()> {
        if !self.rest.is_empty() {
            let missing = (GRAIN - self.rest.len()).min(chunk.len());
            let (now, later) = chunk.split_at(missing);
            self.rest.extend_from_slice(now);
            chunk = later;
            if self.rest.len() < GRAIN {
                return Ok(());
            }
            let grain = core::mem::take(&mut self.rest);
            self.send(&grain)?;
        }
        let (now, later) = chunk.split_at(chunk.len() / GRAIN * GRAIN);
        self.rest.extend_from_slice(later);
        self.send(now)
    }

    fn finish(mut self) -> Result<Tally> {
        let rest = core::mem::take(&mut self.rest);
        self.send(&rest)?;
        Ok(self.tally)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let Passage { tensor, device, to, how, .. } = *self.passage;
        let (from, width) = (tensor.dtype(), to.width());
        let source = UploadSource::new(ByteView::dense(from, bytes)?, *to, device.rules(how))?;
        let source = source.within(self.values as u64);
        let end = self.values + bytes.len() / from.width();
        let range = product([self.values, width])..product([end, width]);
        let (gpu, count) = (&device.engine.gpu, range.end - range.start);
        let source: (&dyn Fill, u64) = (&source, range.start);
        up_part(gpu, &self.pinned, range, source, &mut self.tally, &|n| self.entry.add(n))
            .map_err(|error| self.passage.there(error))?;
        self.values = end;
        (self.progress)(count);
        Ok(())
    }
}
