//! Storages: the memory of one tensor value, piece by piece.

use core::fmt;
use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::gpu::Whose;
use crate::shared::lock;

/// Where the numbers of the caller's own buffers begin, which end at twice that.
const FOREIGN_ID: u64 = 1 << 61;

/// The number of a buffer of the caller's own, however often it is wrapped.
fn foreign_id(buffer: &wgpu::Buffer) -> u64 {
    let mut hasher = DefaultHasher::new();
    buffer.hash(&mut hasher);
    FOREIGN_ID | hasher.finish() >> 3
}

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

impl Piece {
    /// Whose buffer it is.
    pub(crate) const fn whose(&self) -> Whose {
        whose(self.buffer_id)
    }

    /// What it holds of the driver's memory.
    pub(super) const fn reserved(&self) -> u64 {
        if let Home::Large { reserved } = self.home { reserved } else { self.bytes }
    }
}

/// Whose a buffer with this number is.
pub(crate) const fn whose(buffer_id: u64) -> Whose {
    if buffer_id / FOREIGN_ID == 1 { Whose::Theirs } else { Whose::Ours }
}

/// A range of a buffer that a tensor lies in: for bindings and copies of your own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BufferRange {
    /// The buffer, of which the rest is none of yours.
    pub buffer: wgpu::Buffer,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Bytes of the elements in it, up to the next whole word.
    pub bytes: u64,
}

impl BufferRange {
    /// The range as a resource of a bind group.
    #[must_use]
    pub fn binding(&self) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.buffer,
            offset: self.offset,
            size: wgpu::BufferSize::new(self.bytes),
        })
    }
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
    /// How often it has been pinned.
    pinnings: AtomicUsize,
    /// How often it is lent to passes of the caller's.
    loans: AtomicUsize,
    /// Whether it still has its initial pin, which the first to pin it takes over.
    new: AtomicBool,
    returns: Arc<Returns>,
}

/// Where dropped storages leave their pieces, because a drop can happen under any lock.
#[derive(Debug, Default)]
pub(super) struct Returns(pub(super) Mutex<Vec<(Vec<Piece>, u64)>>);

impl Storage {
    /// Memory of a sketch, in pieces of these buffers, numbers and sizes.
    pub(crate) fn sketched(
        (bytes, segment_bytes): (u64, u64),
        pieces: impl Iterator<Item = (wgpu::Buffer, u64, u64)>,
    ) -> Arc<Self> {
        let piece = |(buffer, buffer_id, bytes)| {
            let home = Home::Large { reserved: bytes };
            Piece { buffer, buffer_id, offset: 0, bytes, home }
        };
        let pieces = pieces.map(piece).collect();
        Self::new(pieces, (bytes, segment_bytes), Arc::default())
    }

    /// A buffer of the caller's own: it is read, never written, moved, mapped or counted.
    pub(super) fn foreign(buffer: &wgpu::Buffer, (bytes, segment_bytes): (u64, u64)) -> Arc<Self> {
        let buffer_id = foreign_id(buffer);
        let piece = |offset| Piece {
            buffer: buffer.clone(),
            buffer_id,
            offset,
            bytes: segment_bytes.min(bytes - offset),
            home: Home::Foreign,
        };
        let pieces = (0..bytes.div_ceil(segment_bytes)).map(|i| piece(i * segment_bytes));
        Self::new(pieces.collect(), (bytes, segment_bytes), Arc::default())
    }

    /// It begins pinned, until the first `pin` is dropped: compaction must not move it back into a
    /// buffer that its allocation avoided.
    pub(super) fn new(
        pieces: Vec<Piece>,
        (bytes, segment_bytes): (u64, u64),
        returns: Arc<Returns>,
    ) -> Arc<Self> {
        let (pieces, pins, new) = (Mutex::new(pieces), AtomicUsize::new(1), AtomicBool::new(true));
        let [pinnings, loans] = [0; 2].map(AtomicUsize::new);
        Arc::new(Self { pieces, bytes, segment_bytes, pins, pinnings, loans, new, returns })
    }

    /// Where it lies now. It stays there under the device's lock and while it is pinned.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        lock(&self.pieces).clone()
    }

    /// The rest of a segment, from a byte of the value on.
    pub(crate) fn range(&self, at: u64) -> Option<BufferRange> {
        let (index, inside) = (at / self.segment_bytes, at % self.segment_bytes);
        let piece = lock(&self.pieces).get(usize::try_from(index).ok()?)?.clone();
        let bytes = self.bytes.checked_sub(at)?.min(self.segment_bytes - inside);
        let bytes = bytes.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        Some(BufferRange { buffer: piece.buffer, offset: piece.offset + inside, bytes })
    }

    /// Whose it is.
    pub(crate) fn whose(&self) -> Whose {
        lock(&self.pieces).first().map_or(Whose::Ours, Piece::whose)
    }

    /// Whether nothing else lies in its buffers.
    pub(crate) fn is_alone(&self) -> bool {
        lock(&self.pieces).iter().all(|piece| matches!(piece.home, Home::Large { .. }))
    }

    /// Whether only wharf's own commands can use it.
    pub(crate) fn is_private(&self) -> bool {
        self.loans.load(Ordering::SeqCst) == 0 && self.whose() == Whose::Ours
    }

    /// Keeps it where it is, and from being mapped, while somebody else's commands use it.
    pub(crate) fn lend(self: &Arc<Self>) -> Loan {
        self.loans.fetch_add(1, Ordering::SeqCst);
        Loan(self.pin())
    }

    /// Keeps compaction from moving it while somebody uses its place outside the device's lock.
    pub(crate) fn pin(self: &Arc<Self>) -> Pinned {
        if !self.new.swap(false, Ordering::SeqCst) {
            self.pins.fetch_add(1, Ordering::SeqCst);
        }
        self.pinnings.fetch_add(1, Ordering::SeqCst);
        Pinned(Arc::clone(self))
    }

    /// How often it has been pinned, if nobody has it pinned.
    pub(super) fn unpinned(&self) -> Option<usize> {
        let pinnings = self.pinnings.load(Ordering::SeqCst);
        (self.pins.load(Ordering::SeqCst) == 0).then_some(pinnings)
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

/// A storage that others use.
#[derive(Debug)]
pub(crate) struct Loan(Pinned);

impl core::ops::Deref for Loan {
    type Target = Storage;

    fn deref(&self) -> &Storage {
        &self.0
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.0.loans.fetch_sub(1, Ordering::SeqCst);
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

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cap => "beyond the cap",
            Self::Driver(_) => "refused by the driver",
        })
    }
}

/// Where a piece goes back to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Home {
    Slab {
        slot_bytes: u64,
        slot: usize,
    },
    /// A buffer to itself, of this size.
    Large {
        reserved: u64,
    },
    /// Nowhere: the caller has it.
    Foreign,
}

/// The storage that a slot of a slab belongs to.
pub(super) type Owner = Weak<Storage>;
