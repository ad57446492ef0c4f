//! Fault slots: how a kernel reports what only the data can tell, such as an index out of range or
//! a value that a cast loses.
//!
//! A slot is two words of a device buffer, zero as long as nothing went wrong: how many elements
//! were at fault, and the complement of the first one's position, so that both only ever grow.
//! A value carries the slots of everything it was computed from. The first read of it brings their
//! words along with the data. When the last value that carries a slot is dropped, the slot waits
//! until the commands that may still write it have been submitted. It is zeroed before its next
//! use; that write runs before the commands recorded next.

use core::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::error::{Error, Result, mistake};
use crate::gpu::wait::MapRequest;
use crate::gpu::{Gpu, Reservation};
use crate::shared::lock;

use super::Bound;

/// Bytes of a slot.
pub(crate) const SLOT_BYTES: u64 = 8;

/// Slots of one buffer.
const SLOTS: u32 = 1024;

/// One slot in so many can be bound alone: a binding begins at 256 bytes on every adapter.
const ALONE: u32 = 256 / SLOT_BYTES as u32;

/// A bit in buffer numbers that tells the buffers of slots from those of the store.
const BUFFER_ID: u64 = 1 << 63;

/// What a kernel found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// How many elements were at fault.
    pub(crate) count: u32,
    /// The first of them, in the order of the kernel's index space.
    pub(crate) first: u32,
}

/// How a slot is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seat {
    /// With all of its buffer: the kernel is told its index.
    Shared,
    /// Its two words alone.
    Alone,
}

type Explain = Box<dyn Fn(Hit) -> Error + Send + Sync>;

/// A slot in use, and what a hit in it means.
pub(crate) struct Fault {
    /// Those that were taken before it have lower ones.
    pub(crate) order: u64,
    number: u32,
    buffer: wgpu::Buffer,
    explain: Explain,
    /// Set by the first read: nothing, or what went wrong.
    verdict: OnceLock<Option<Error>>,
    /// Whether it is known to be hit, though nobody has read it.
    hit: AtomicBool,
    home: Arc<ReturnedSlots>,
}

/// Slots that nobody carries any more, and whether they were seen to be zero.
#[derive(Debug, Default)]
struct ReturnedSlots(Mutex<Vec<(u32, bool)>>);

impl Fault {
    /// Its index among the slots of its buffer.
    pub(crate) const fn index(&self) -> u32 {
        self.number % SLOTS
    }

    /// The buffer with its slot, as a kernel binds it.
    pub(crate) fn bound(&self) -> Bound {
        let buffer_id = BUFFER_ID | u64::from(self.number / SLOTS);
        let bytes = u64::from(SLOTS) * SLOT_BYTES;
        Bound { buffer: self.buffer.clone(), buffer_id, offset: 0, bytes }
    }

    /// Its two words by themselves; only for a slot that was taken as [`Seat::Alone`].
    pub(crate) fn alone(&self) -> Bound {
        let offset = u64::from(self.index()) * SLOT_BYTES;
        Bound { offset, bytes: SLOT_BYTES, ..self.bound() }
    }

    /// Where its words lie.
    pub(crate) fn place(&self) -> (&wgpu::Buffer, u64) {
        (&self.buffer, u64::from(self.index()) * SLOT_BYTES)
    }

    /// The error it came to, once it has been read.
    pub(crate) fn error(&self) -> Option<&Error> {
        self.verdict.get().and_then(Option::as_ref)
    }

    /// Whether it was hit, or may have been: a read on another thread may just have found it.
    pub(crate) fn is_of_interest(&self) -> bool {
        !self.is_settled() || self.error().is_some()
    }

    /// Whether it has been read.
    pub(crate) fn is_settled(&self) -> bool {
        self.verdict.get().is_some()
    }

    /// Settles the verdict if nothing was hit; what was is told by a read.
    pub(crate) fn clear(&self, words: [u32; 2]) {
        match words {
            [0, _] => self.settle(words),
            _ => self.hit.store(true, Ordering::Relaxed),
        }
    }

    pub(crate) fn is_hit(&self) -> bool {
        self.hit.load(Ordering::Relaxed)
    }

    /// Settles the verdict from the words that were read.
    pub(crate) fn settle(&self, [count, first]: [u32; 2]) {
        let error = (count > 0).then(|| (self.explain)(Hit { count, first: !first }));
        // A second reader at the same time reads the same words.
        let _ = self.verdict.set(error);
    }
}

/// Words on their way into a buffer, a pair for each slot.
#[derive(Debug)]
pub(crate) struct Clearing {
    pub(crate) buffer: Reservation,
    pub(crate) words: MapRequest,
    pub(crate) slots: Vec<Arc<Fault>>,
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fault").field(&self.number).field(&self.verdict).finish()
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        let clean = matches!(self.verdict.get(), Some(None));
        lock(&self.home.0).push((self.number, clean));
    }
}

/// The slots of a device.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    blocks: Vec<wgpu::Buffer>,
    clean: Vec<u32>,
    /// Perhaps not zero; every command that writes them has been submitted.
    dirty: Vec<u32>,
    /// How many have been taken.
    taken: u64,
    returns: Arc<ReturnedSlots>,
}

impl Faults {
    /// A slot for one operation, and the bytes that crossed for it; `explain` is what a hit in it
    /// means.
    pub(crate) fn take(
        &mut self,
        gpu: &Gpu,
        seat: Seat,
        explain: Explain,
    ) -> Result<(Arc<Fault>, u64)> {
        let mut washed = 0;
        let every = if seat == Seat::Alone { ALONE } else { 1 };
        let fits = |number: &u32| number.is_multiple_of(every);
        if !self.clean.iter().any(fits) {
            washed = self.wash(gpu)?;
        }
        if !self.clean.iter().any(fits) {
            self.grow(gpu)?;
        }
        let Some(place) = self.clean.iter().rposition(fits) else {
            return Err(mistake("fault slots", "a new buffer without slots"));
        };
        let number = self.clean.remove(place);
        let buffer = self.blocks[(number / SLOTS) as usize].clone();
        let (verdict, hit) = (OnceLock::new(), AtomicBool::new(false));
        let (order, home) = (self.taken, Arc::clone(&self.returns));
        self.taken += 1;
        Ok((Arc::new(Fault { order, number, buffer, explain, verdict, hit, home }), washed))
    }

    /// Takes back slots that nobody carries any more. Every command that writes them has been
    /// submitted, or never will be.
    pub(crate) fn reclaim(&mut self) {
        for (number, clean) in lock(&self.returns.0).drain(..) {
            if clean { self.clean.push(number) } else { self.dirty.push(number) }
        }
    }

    /// Zeroes every dirty slot, run by run; returns the bytes.
    fn wash(&mut self, gpu: &Gpu) -> Result<u64> {
        self.dirty.sort_unstable();
        for run in self.dirty.chunk_by(|a, b| a + 1 == *b && b % SLOTS != 0) {
            let (block, first) = (run[0] / SLOTS, run[0] % SLOTS);
            let zeros = [0; (SLOTS as u64 * SLOT_BYTES) as usize];
            let zeros = &zeros[..run.len() * SLOT_BYTES as usize];
            let (buffer, offset) = (&self.blocks[block as usize], u64::from(first) * SLOT_BYTES);
            gpu.write("fault slots", buffer, offset, zeros)?;
        }
        let washed = self.dirty.len() as u64 * SLOT_BYTES;
        self.clean.append(&mut self.dirty);
        Ok(washed)
    }

    /// Adds a buffer; new ones are zero.
    fn grow(&mut self, gpu: &Gpu) -> Result<()> {
        use wgpu::BufferUsages as Usage;
        let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
        let bytes = u64::from(SLOTS) * SLOT_BYTES;
        let block = gpu.create_buffer("wharf.faults", bytes, usage)?;
        let first = self.blocks.len() as u32 * SLOTS;
        self.blocks.push(block);
        self.clean.extend((first..first + SLOTS).rev());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noop_device;

    /// What was perhaps written is zeroed and used again, and only when nothing clean is left.
    #[test]
    fn slots_are_used_again() {
        let device = noop_device().expect("it opens");
        let mut faults = Faults::default();
        let mut crossed = 0;
        let mut take = |faults: &mut Faults, seat| {
            let explain = Box::new(|_| mistake("a test", "nothing was hit"));
            let (fault, washed) = faults.take(&device.engine.gpu, seat, explain).expect("a slot");
            crossed += washed;
            fault
        };
        let held = take(&mut faults, Seat::Shared);
        for n in 0..3 * SLOTS {
            drop(take(&mut faults, Seat::Shared));
            faults.reclaim();
            let dirty = 1 + n % (SLOTS - 1);
            assert_eq!(faults.dirty.len(), dirty as usize, "after {n}: washed too early, or late");
        }
        assert_eq!(faults.blocks.len(), 1, "slots of one buffer are enough");
        assert_eq!(take(&mut faults, Seat::Alone).number % ALONE, 0, "as a binding is aligned");
        drop(held);
        let washed = 3 * SLOTS - faults.dirty.len() as u32;
        assert_eq!(crossed, u64::from(washed) * SLOT_BYTES, "the bytes of those that are clean");
    }
}
