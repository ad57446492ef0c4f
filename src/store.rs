//! The store: which bytes of which buffer hold a tensor.
//!
//! A [`Storage`] is a list of segments, each a range of one buffer and none larger than a shader
//! can bind, so a tensor may be larger than a binding or a buffer. Small segments share slabs of
//! one size class. A large one has a buffer of its own, which is kept for the next of about its
//! size. Nothing here waits. A range given back is handed out again at once: commands that use it
//! anew run after those that used it before. wgpu keeps a dropped buffer until the queue is done
//! with it; a browser does not, so there it leaves once nothing is recorded.

use std::sync::Arc;

use crate::caps::Caps;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::gpu::cause::Shortage;
use crate::shared::lock;

mod compact;
mod host_memory;
mod pool;
pub(crate) mod ring;
mod segments;
mod stats;
mod storage;

pub(crate) use compact::Move;
use pool::{Pool, SPREAD_MIN};
pub(crate) use segments::{PAD, Segments};
pub use stats::{DriverMemory, Fit, Memory};
pub use storage::BufferRange;
use storage::Returns;
pub(crate) use storage::{Denial, Loan, Piece, Pinned, Storage, whose};

/// What an allocation would do, in bytes.
#[derive(Clone, Copy, Debug)]
struct Outlook {
    /// Whether there is room to stagger where large segments begin: see `PLACES`.
    spread: bool,
    /// Bytes to reserve from the driver.
    reserve: u64,
    occupied: u64,
    /// By how much the cap would be exceeded.
    over: u64,
}

/// What tensors of these sizes, in bytes, would take together on a device that was just opened:
/// on paper, for an adapter that may be somewhere else. What a device at hand has is in
/// [`Device::fit`](crate::Device::fit).
///
/// ```
/// use wharf::caps::Caps;
/// use wharf::memory::fit_all;
///
/// let fit = fit_all(&Caps::webgpu_baseline(), Some(64 << 20), &[40 << 20, 4096, 4096]);
/// assert!(fit.fits && fit.segments == 3, "{fit}");
/// assert!(!fit_all(&Caps::webgpu_baseline(), Some(64 << 20), &[80 << 20]).fits);
/// ```
#[must_use]
pub fn fit_all(caps: &Caps, cap: Option<u64>, tensors: &[u64]) -> Fit {
    let tensors: Vec<u64> = tensors.iter().copied().filter(|bytes| *bytes > 0).collect();
    // An adapter without storage buffers.
    if Segments::new(caps).bytes_max == 0 && !tensors.is_empty() {
        return Fit::refused(tensors.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes)));
    }
    let staging = ring::staging_bytes_max(caps, tensors.iter().copied().max().unwrap_or(0));
    Store::on_paper(caps, cap).fit(&tensors, staging)
}

/// The segments of tensors: how many there are of a size. All of one but the last are equal.
fn sizes_of(tensors: &[u64], segment_bytes: u64) -> Vec<(u64, u64)> {
    let sizes = tensors.iter().flat_map(|bytes| {
        let rest = (bytes % segment_bytes).next_multiple_of(PAD);
        [(segment_bytes, bytes / segment_bytes), (rest, u64::from(rest > 0))]
    });
    sizes.collect()
}

/// All memory of one device.
#[derive(Debug)]
pub(crate) struct Store {
    pool: Pool,
    segments: Segments,
    cap: Option<u64>,
    returns: Arc<Returns>,
    tensors: u64,
    live: u64,
    live_peak: u64,
}

impl Store {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let caps = gpu.caps();
        // Of an adapter that is not here nobody knows what memory it lives in.
        let lives_here = caps.identity.is_software() && !gpu.is_on_paper();
        let cap = lives_here.then(host_memory::cap_default).flatten();
        Self::on_paper(caps, cap)
    }

    /// The store of a device that nobody has opened.
    fn on_paper(caps: &Caps, cap: Option<u64>) -> Self {
        Self {
            pool: Pool::new(caps),
            segments: Segments::new(caps),
            cap,
            returns: Arc::default(),
            tensors: 0,
            live: 0,
            live_peak: 0,
        }
    }

    pub(crate) const fn segments(&self) -> &Segments {
        &self.segments
    }

    pub(crate) fn set_cap(&mut self, cap: Option<u64>) {
        self.cap = cap;
    }

    /// Whether no memory that is given back makes room for so much.
    pub(crate) fn is_beyond_cap(&self, bytes: u64) -> bool {
        self.cap.is_some_and(|cap| bytes > cap)
    }

    /// What a segment of a new tensor occupies.
    pub(crate) fn occupies(&self, bytes: u64) -> u64 {
        self.pool.occupies(bytes)
    }

    /// Takes back the pieces of storages dropped since the last call.
    fn settle(&mut self) {
        let returned = core::mem::take(&mut *lock(&self.returns.0));
        for (pieces, bytes) in returned {
            self.tensors -= 1;
            self.live -= bytes;
            pieces.into_iter().for_each(|piece| self.pool.put(piece));
        }
    }

    /// Memory for `bytes` bytes in segments of at most `segment_bytes`, in none of the buffers in
    /// `avoid`; without, in buffers to itself. It is staggered only where that leaves enough for
    /// those of the sizes `next`.
    pub(crate) fn allocate(
        &mut self,
        gpu: &Gpu,
        (bytes, next): (u64, &[u64]),
        segment_bytes: u64,
        avoid: Option<&[u64]>,
    ) -> Result<Arc<Storage>, Denial> {
        self.settle();
        if self.is_beyond_cap(bytes) {
            return Err(Denial::Cap);
        }
        // The cap was lowered: what is free is not handed out beyond it.
        if self.cap.is_some_and(|cap| self.pool.reserved() > cap) {
            self.pool.trim();
        }
        let spread = bytes.next_multiple_of(PAD) >= SPREAD_MIN
            && self.pool.room(SPREAD_MIN) > 0
            && self.outlook(&[&[bytes], next].concat(), segment_bytes).spread;
        let (mut pieces, newest) = (Vec::new(), self.pool.newest());
        for size in self.segments.sizes(bytes, segment_bytes) {
            match self.pool.take(gpu, size, (self.cap, spread), avoid) {
                Ok(piece) => pieces.push(piece),
                Err(refusal) => {
                    pieces.into_iter().for_each(|piece| self.pool.take_back(piece, newest));
                    return Err(refusal);
                }
            }
        }
        self.tensors += 1;
        self.live += bytes;
        self.live_peak = self.live_peak.max(self.live);
        let storage = Storage::new(pieces, (bytes, segment_bytes), Arc::clone(&self.returns));
        self.pool.note_owner(&storage);
        Ok(storage)
    }

    /// The whole quads of a buffer of the caller's own.
    pub(crate) fn foreign(&self, buffer: &wgpu::Buffer, align: u64) -> Arc<Storage> {
        // Segments begin where a binding may.
        let segment = (self.segments.bytes_max / align * align).max(align);
        Storage::foreign(buffer, (buffer.size() / PAD * PAD, segment))
    }

    /// Whether a buffer is one of its own.
    pub(crate) fn owns(&self, buffer: &wgpu::Buffer) -> bool {
        self.pool.owns(buffer)
    }

    /// Parts with the buffers that were given back. Nothing is recorded that may use them.
    pub(crate) fn leave(&mut self) {
        self.pool.leave();
    }

    /// Never takes the buffers of what is lent from those who have got them.
    pub(crate) fn share(&mut self, loan: &Loan) {
        loan.pieces().iter().for_each(|piece| self.pool.share(&piece.buffer));
    }

    /// Gives every unused buffer back to the driver; returns the bytes.
    pub(crate) fn trim(&mut self) -> u64 {
        self.settle();
        self.pool.trim()
    }

    /// Records the copies that move small tensors together into `encoder`.
    pub(crate) fn compact(&mut self, encoder: &mut wgpu::CommandEncoder) -> Vec<Move> {
        self.settle();
        compact::compact(&mut self.pool, encoder)
    }

    /// Has the tensors lie where their copies do, if these were submitted.
    pub(crate) fn moved(&mut self, moves: Vec<Move>, submitted: bool) {
        compact::settle(&mut self.pool, moves, submitted);
    }

    /// Whether tensors of these sizes would fit together, without allocating them.
    pub(crate) fn fit(&mut self, tensors: &[u64], bytes_staging: u64) -> Fit {
        self.settle();
        let bytes = tensors.iter().fold(0u64, |sum, bytes| sum.saturating_add(*bytes));
        if tensors.iter().any(|bytes| self.segments.check(*bytes).is_err()) {
            return Fit::refused(bytes);
        }
        let whole = self.segments.bytes_max;
        let segments = tensors.iter().map(|bytes| bytes.div_ceil(whole)).sum();
        let Outlook { reserve, occupied, over, .. } = self.outlook(tensors, whole);
        let tight = || self.pool.preview_tight(&sizes_of(tensors, whole));
        Fit {
            bytes,
            segments,
            bytes_padding: occupied.saturating_sub(bytes),
            bytes_reserve: reserve,
            bytes_give_back: over,
            bytes_staging,
            bytes_cap: self.cap,
            fits: over == 0 || self.cap.is_none_or(|cap| tight() <= cap),
        }
    }

    /// What tensors of these sizes would take: with room to stagger their segments, unless that
    /// room alone would exceed the cap.
    fn outlook(&self, tensors: &[u64], segment_bytes: u64) -> Outlook {
        let sizes = sizes_of(tensors, segment_bytes);
        let outlook = |spread| {
            let (reserve, occupied) = self.pool.preview(&sizes, spread);
            let reserved = self.pool.reserved().saturating_add(reserve);
            let over = self.cap.map_or(0, |cap| reserved.saturating_sub(cap));
            Outlook { spread, reserve, occupied, over }
        };
        let spread = outlook(true);
        if spread.over == 0 { spread } else { outlook(false) }
    }

    /// The numbers of an out-of-memory error.
    pub(crate) fn shortage(&mut self, requested: u64) -> Shortage {
        let memory = self.memory();
        Shortage {
            requested,
            live: memory.bytes_live,
            pooled: memory.bytes_pooled,
            largest_free: memory.bytes_largest_free,
            cap: self.cap,
        }
    }

    /// Bytes that are live, and bytes reserved from the driver.
    pub(crate) fn level(&mut self) -> [u64; 2] {
        self.settle();
        [self.live, self.pool.reserved()]
    }

    /// The statistics.
    pub(crate) fn memory(&mut self) -> Memory {
        self.settle();
        let usage = self.pool.usage();
        Memory {
            bytes_live: self.live,
            bytes_pooled: usage.free,
            bytes_padding: usage.reserved - usage.free - self.live,
            bytes_reserved: usage.reserved,
            bytes_live_peak: self.live_peak,
            bytes_reserved_peak: self.pool.reserved_peak(),
            bytes_largest_free: usage.largest_free,
            bytes_cap: self.cap,
            tensors: self.tensors,
            buffers: usage.buffers,
            driver: None,
        }
    }
}
