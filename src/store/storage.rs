//! Storages: the memory of one tensor value, piece by piece.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::gpu::lock;

/// A range of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) buffer: wgpu::Buffer,
    /// The buffer's number: two pieces of one buffer must not be read and written in one dispatch.
    pub(crate) buffer_id: u64,
    pub(crate) offset: u64,
    /// Reserved, at least what the segment needs.
    pub(crate) bytes: u64,
    pub(super) home: Home,
}

/// The memory of one tensor value; gives its pieces back when dropped.
#[derive(Debug)]
pub(crate) struct Storage {
    /// Behind a lock because compaction moves small pieces.
    pub(super) pieces: Mutex<Vec<Piece>>,
    /// Bytes of the value, and of each segment but the last.
    pub(crate) bytes: u64,
    pub(crate) segment_bytes: u64,
    pins: AtomicUsize,
    /// Whether it still has its initial pin, which the first to pin it takes over.
    new: AtomicBool,
    returns: Arc<Returns>,
}

/// Where dropped storages leave their pieces, because a drop can happen under any lock.
#[derive(Debug, Default)]
pub(super) struct Returns(pub(super) Mutex<Vec<(Vec<Piece>, u64)>>);

impl Storage {
    /// Memory on paper, in pieces of these buffers, numbers and sizes.
    pub(crate) fn on_paper(
        (bytes, segment_bytes): (u64, u64),
        pieces: impl Iterator<Item = (wgpu::Buffer, u64, u64)>,
    ) -> Arc<Self> {
        let piece = |(buffer, buffer_id, bytes)| {
            let home = Home::Large;
            Piece { buffer, buffer_id, offset: 0, bytes, home }
        };
        let pieces = pieces.map(piece).collect();
        Self::new(pieces, (bytes, segment_bytes), Arc::default())
    }

    /// It begins pinned, until the first `pin` is dropped: compaction must not move it back into a
    /// buffer that its allocation avoided.
    pub(super) fn new(
        pieces: Vec<Piece>,
        (bytes, segment_bytes): (u64, u64),
        returns: Arc<Returns>,
    ) -> Arc<Self> {
        let (pieces, pins, new) = (Mutex::new(pieces), AtomicUsize::new(1), AtomicBool::new(true));
        Arc::new(Self { pieces, bytes, segment_bytes, pins, new, returns })
    }

    /// Where it lies now. It stays there under the device's lock and while it is pinned.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        lock(&self.pieces).clone()
    }

    /// Keeps compaction from moving it while somebody uses its place outside the device's lock.
    pub(crate) fn pin(self: &Arc<Self>) -> Pinned {
        if !self.new.swap(false, Ordering::SeqCst) {
            self.pins.fetch_add(1, Ordering::SeqCst);
        }
        Pinned(Arc::clone(self))
    }

    pub(super) fn is_pinned(&self) -> bool {
        self.pins.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let pieces = core::mem::take(&mut *lock(&self.pieces));
        lock(&self.returns.0).push((pieces, self.bytes));
    }
}

/// A storage that stays where it is.
#[derive(Debug)]
pub(crate) struct Pinned(Arc<Storage>);

impl core::ops::Deref for Pinned {
    type Target = Storage;

    fn deref(&self) -> &Storage {
        &self.0
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.0.pins.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Why an allocation failed, before the store has tried to make room.
#[derive(Debug)]
pub(crate) enum Denial {
    /// It would exceed the cap.
    Cap,
    /// The driver said no.
    Driver(crate::error::Error),
}

/// Where a piece goes back to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Home {
    Slab { slot_bytes: u64, slot: usize },
    Large,
}

/// The storage that a slot of a slab belongs to.
pub(super) type Owner = Weak<Storage>;
