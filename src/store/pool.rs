//! The pool: slabs of equal slots for small segments, whole buffers kept for reuse for large ones.
//!
//! Four slot sizes per octave keep padding under a quarter of a small tensor and under an eighth on
//! average. The slots of a slab are equal, so slabs do not fragment inside. They can only be thinly
//! used, and [`compact`](super::compact) mends that.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::storage::{Denial, Home, Owner, Piece, Storage};
use crate::caps::{Caps, Feature, MemoryKind};
use crate::error::mistake;
use crate::gpu::{Gpu, Reservation};

/// Segments up to this share slabs.
const SMALL_MAX: u64 = 256 << 10;

/// A slab is between these, if that gives a sensible number of slots.
const SLAB_BYTES_MIN: u64 = 64 << 10;
const SLAB_BYTES_MAX: u64 = 2 << 20;
/// After so many, slabs no longer grow.
const DOUBLINGS: usize = 16;
const SLOTS_MIN: u64 = 8;
const SLOTS_MAX: u64 = 1024;

/// Large buffers are rounded up to this, so that sizes that differ little can share one.
const LARGE_STEP: u64 = 64 << 10;

/// On a CPU adapter, segments from [`SPREAD_MIN`] on begin at one of this many places in a buffer
/// that has room for them. A driver lays out buffers of one size at addresses that are almost equal
/// modulo a large power of two, and that slows a kernel that walks three of them in step
/// (`docs/measured/store.md`).
const PLACES: u64 = 8;
const PLACE_STEP: u64 = 32 << 10;

/// From this size on the room for the places adds at most a sixteenth.
pub(super) const SPREAD_MIN: u64 = 4 << 20;

/// A kept buffer serves a request if at most this part of it would be wasted.
const WASTE_MAX: u64 = 8;

/// Beyond half of what is in use, and this at least, kept buffers make room for those of sizes
/// that none of them serves: a tensor that grows leaves every size behind.
const KEPT_LEAST: u64 = 256 << 20;
/// So many sizes that made room are remembered. Where they are asked for again, sizes repeat.
const GONE_MAX: usize = 1024;

const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// Whole buffers can be written and read in place where they are host memory anyway.
fn large_usage(caps: &Caps) -> wgpu::BufferUsages {
    let host = caps.identity.device_type.memory() == MemoryKind::Host;
    if host && caps.has(Feature::MappablePrimaryBuffers) {
        USAGE | wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::MAP_READ
    } else {
        USAGE
    }
}

/// Where the large segment of a buffer begins: the place changes from buffer to buffer.
const fn begin(room: u64, buffer_id: u64) -> u64 {
    buffer_id % (room / PLACE_STEP + 1) * PLACE_STEP
}

/// Whether a kept buffer serves a segment.
const fn serves(kept: u64, bytes: u64) -> bool {
    kept >= bytes && kept <= bytes + bytes / WASTE_MAX + LARGE_STEP
}

/// A buffer divided into equal slots.
#[derive(Debug)]
pub(super) struct Slab {
    pub(super) buffer: wgpu::Buffer,
    pub(super) id: u64,
    pub(super) free: Vec<usize>,
    /// The owner of each slot, for compaction.
    pub(super) owners: Vec<Option<Owner>>,
}

impl Slab {
    pub(super) fn is_unused(&self) -> bool {
        self.free.len() == self.owners.len()
    }

    /// The size of its buffer.
    const fn bytes(&self, slot_bytes: u64) -> u64 {
        slot_bytes * self.owners.len() as u64
    }

    /// The length of the longest run of free slots.
    fn longest_free_run(&self) -> u64 {
        let mut free = self.free.clone();
        free.sort_unstable();
        let runs = free.chunk_by(|a, b| a + 1 == *b);
        runs.map(|run| run.len() as u64).max().unwrap_or(0)
    }

    /// A slot as a piece.
    pub(super) fn piece(&self, slot_bytes: u64, slot: usize) -> Piece {
        Piece {
            buffer: self.buffer.clone(),
            buffer_id: self.id,
            offset: slot as u64 * slot_bytes,
            bytes: slot_bytes,
            home: Home::Slab { slot_bytes, slot },
        }
    }

    /// Takes a slot out of the free ones.
    pub(super) fn take(&mut self, slot_bytes: u64) -> Option<Piece> {
        let slot = self.free.pop()?;
        Some(self.piece(slot_bytes, slot))
    }
}

/// What the pool holds, in bytes.
#[derive(Debug, Default)]
pub(super) struct Usage {
    pub(super) reserved: u64,
    pub(super) free: u64,
    pub(super) largest_free: u64,
    pub(super) buffers: u64,
}

#[derive(Debug)]
pub(super) struct Pool {
    pub(super) slabs: BTreeMap<u64, Vec<Slab>>,
    /// Large segments nobody uses, the longest unused first.
    kept: Vec<Piece>,
    /// Sizes of those that made room for others, the newest last.
    gone: VecDeque<u64>,
    /// Every buffer there is.
    owned: Vec<Reservation>,
    /// Those that nobody has any more, but perhaps what is recorded.
    leaving: Vec<Reservation>,
    /// Places where large segments begin.
    places: u64,
    align: u64,
    buffer_bytes_max: u64,
    large_usage: wgpu::BufferUsages,
    reserved: u64,
    reserved_peak: u64,
    large: u64,
    next_id: u64,
}

impl Pool {
    pub(super) fn new(caps: &Caps) -> Self {
        Self {
            slabs: BTreeMap::new(),
            kept: Vec::new(),
            gone: VecDeque::new(),
            owned: Vec::new(),
            leaving: Vec::new(),
            places: if caps.identity.is_software() { PLACES } else { 1 },
            // Bindings begin at it, and a slot never shares a cache line with another.
            align: caps.limits.storage_align_bytes.max(64),
            buffer_bytes_max: caps.limits.buffer_bytes_max,
            large_usage: large_usage(caps),
            reserved: 0,
            reserved_peak: 0,
            large: 0,
            next_id: 0,
        }
    }

    /// The slot size for a small segment: four per octave, each a multiple of the alignment.
    fn slot_bytes(&self, bytes: u64) -> u64 {
        let bytes = bytes.max(self.align);
        let step = ((1 << bytes.ilog2()) / 4).max(self.align);
        bytes.next_multiple_of(step)
    }

    /// What a large segment occupies.
    fn large_bytes(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(LARGE_STEP).min(self.buffer_bytes_max).max(bytes)
    }

    /// How far into its buffer a large segment of this size may begin.
    pub(super) fn room(&self, bytes: u64) -> u64 {
        let room = (self.places - 1) * PLACE_STEP;
        let fits = self.large_bytes(bytes) + room <= self.buffer_bytes_max;
        if bytes >= SPREAD_MIN && fits { room } else { 0 }
    }

    /// What taking segments of these sizes, so many of each, would reserve anew, and what they
    /// would occupy.
    pub(super) fn preview(&self, sizes: &[(u64, u64)], spread: bool) -> (u64, u64) {
        let mut kept: Vec<u64> = self.kept.iter().map(|piece| piece.bytes).collect();
        kept.sort_unstable();
        let open = |slot_bytes| {
            let slabs = self.slabs.get(&slot_bytes).map_or(&[][..], Vec::as_slice);
            (slabs.len(), slabs.iter().map(|slab| slab.free.len() as u64).sum())
        };
        self.foresee(sizes, kept, spread, open)
    }

    /// What would be reserved in all, where everything unused went back before, and small tensors
    /// were moved together.
    pub(super) fn preview_tight(&self, sizes: &[(u64, u64)]) -> u64 {
        let (mut stays, mut open) = (self.reserved, BTreeMap::new());
        stays -= self.kept.iter().map(Piece::reserved).sum::<u64>();
        for (&slot_bytes, slabs) in &self.slabs {
            let mut fullest: Vec<[usize; 2]> =
                slabs.iter().map(|slab| [slab.free.len(), slab.owners.len()]).collect();
            let mut used: usize = fullest.iter().map(|[free, slots]| slots - free).sum();
            fullest.retain(|[free, slots]| free < slots);
            fullest.sort_unstable();
            let (mut left, mut room) = (0, 0);
            for [_, slots] in fullest {
                if used == 0 {
                    break;
                }
                (left, room) = (left + 1, slots.saturating_sub(used) as u64);
                used = used.saturating_sub(slots);
                stays += slots as u64 * slot_bytes;
            }
            stays -= slabs.iter().map(|slab| slab.bytes(slot_bytes)).sum::<u64>();
            open.insert(slot_bytes, (left, room));
        }
        let (reserve, _) = self.foresee(sizes, Vec::new(), false, |slot_bytes| {
            open.get(&slot_bytes).copied().unwrap_or_default()
        });
        stays.saturating_add(reserve)
    }

    /// [`Pool::preview`] with these kept buffers, and so many slabs and free slots of a class.
    fn foresee(
        &self,
        sizes: &[(u64, u64)],
        mut kept: Vec<u64>,
        spread: bool,
        open: impl Fn(u64) -> (usize, u64),
    ) -> (u64, u64) {
        let (mut reserve, mut occupied) = (0u64, 0u64);
        let mut classes = BTreeMap::new();
        for &(bytes, mut count) in sizes {
            if self.is_small(bytes) {
                *classes.entry(self.slot_bytes(bytes)).or_default() += count;
                continue;
            }
            kept.retain(|&size| {
                let serves = count > 0 && serves(size, bytes);
                count -= u64::from(serves);
                occupied += if serves { size } else { 0 };
                !serves
            });
            let large = self.large_bytes(bytes);
            let room = if spread { self.room(bytes) } else { 0 };
            // Nobody has so much, but may ask.
            reserve = reserve.saturating_add(count.saturating_mul(large + room));
            occupied = occupied.saturating_add(count.saturating_mul(large));
        }
        for (slot_bytes, count) in classes {
            reserve = reserve.saturating_add(self.slabs_bytes(slot_bytes, count, open(slot_bytes)));
            occupied = occupied.saturating_add(count * slot_bytes);
        }
        (reserve, occupied)
    }

    /// The bytes of the slabs that so many more slots of a class need, beside so many slabs and
    /// their free slots.
    fn slabs_bytes(&self, slot_bytes: u64, count: u64, (mut n, free): (usize, u64)) -> u64 {
        let (mut missing, mut bytes) = (count.saturating_sub(free), 0);
        while missing > 0 {
            let slots = self.slots(slot_bytes, n);
            // From some number on all slabs are equal.
            let more = if n < DOUBLINGS { 1 } else { missing.div_ceil(slots) };
            bytes += more * slots * slot_bytes;
            missing = missing.saturating_sub(more * slots);
            n += 1;
        }
        bytes
    }

    /// The slots of a class's next slab: each is twice the one before, so that a few tensors
    /// reserve little.
    fn slots(&self, slot_bytes: u64, slabs: usize) -> u64 {
        let bytes = SLAB_BYTES_MAX.min(SLAB_BYTES_MIN << slabs.min(DOUBLINGS));
        (bytes / slot_bytes).clamp(SLOTS_MIN, SLOTS_MAX).min(self.buffer_bytes_max / slot_bytes)
    }

    /// Whether a segment of this size shares a slab.
    fn is_small(&self, bytes: u64) -> bool {
        bytes <= SMALL_MAX && self.slot_bytes(bytes) <= self.buffer_bytes_max
    }

    /// What a segment occupies.
    pub(super) fn occupies(&self, bytes: u64) -> u64 {
        if self.is_small(bytes) { self.slot_bytes(bytes) } else { self.large_bytes(bytes) }
    }

    fn find_kept(&self, bytes: u64) -> Option<usize> {
        let open = self.kept.iter().enumerate().filter(|(_, piece)| serves(piece.bytes, bytes));
        open.min_by_key(|(_, piece)| piece.bytes).map(|(i, _)| i)
    }

    /// A piece in none of the buffers in `avoid`; without, in a buffer to itself.
    pub(super) fn take(
        &mut self,
        gpu: &Gpu,
        bytes: u64,
        (cap, spread): (Option<u64>, bool),
        avoid: Option<&[u64]>,
    ) -> Result<Piece, Denial> {
        match avoid {
            Some(avoid) if self.is_small(bytes) => self.take_small(gpu, bytes, cap, avoid),
            _ => self.take_large(gpu, bytes, (cap, spread)),
        }
    }

    fn take_large(
        &mut self,
        gpu: &Gpu,
        bytes: u64,
        (cap, spread): (Option<u64>, bool),
    ) -> Result<Piece, Denial> {
        if let Some(i) = self.find_kept(bytes) {
            return Ok(self.kept.remove(i));
        }
        self.make_room(bytes);
        let room = if spread { self.room(bytes) } else { 0 };
        let bytes = self.large_bytes(bytes);
        let label = ("wharf.store.large", self.large_usage);
        let (buffer, buffer_id) = self.create(gpu, label, bytes + room, cap)?;
        self.large += 1;
        let offset = begin(room, buffer_id);
        let home = Home::Large { reserved: bytes + room };
        Ok(Piece { buffer, buffer_id, offset, bytes, home })
    }

    /// Gives back as much of what was kept longest as is made anew, where much is kept. What is
    /// missed afterwards is made again at the cost of nothing else: in a loop whose sizes repeat
    /// each buffer goes at most once.
    fn make_room(&mut self, bytes: u64) {
        if let Some(i) = self.gone.iter().position(|&gone| serves(gone, bytes)) {
            self.gone.remove(i);
            return;
        }
        let mut kept: u64 = self.kept.iter().map(Piece::reserved).sum();
        let (most, enough) =
            (KEPT_LEAST.max((self.reserved - kept) / 2), kept.saturating_sub(bytes));
        let mut count = 0;
        for piece in &self.kept {
            if kept <= most.max(enough) {
                break;
            }
            (kept, count) = (kept - piece.reserved(), count + 1);
        }
        for piece in self.kept.drain(..count).collect::<Vec<_>>() {
            self.gone.push_back(piece.bytes);
            self.give_back_large(&piece);
        }
        self.gone.drain(..self.gone.len().saturating_sub(GONE_MAX));
    }

    fn take_small(
        &mut self,
        gpu: &Gpu,
        bytes: u64,
        cap: Option<u64>,
        avoid: &[u64],
    ) -> Result<Piece, Denial> {
        let slot_bytes = self.slot_bytes(bytes);
        let slabs = self.slabs.entry(slot_bytes).or_default();
        let open = slabs.iter_mut().find(|s| !s.free.is_empty() && !avoid.contains(&s.id));
        if let Some(piece) = open.and_then(|slab| slab.take(slot_bytes)) {
            return Ok(piece);
        }
        let slots = self.slots(slot_bytes, self.slabs.get(&slot_bytes).map_or(0, Vec::len));
        let (buffer, id) =
            self.create(gpu, ("wharf.store.slab", USAGE), slot_bytes * slots, cap)?;
        let count = slots as usize; // at most SLOTS_MAX
        let mut slab =
            Slab { buffer, id, free: (0..count).rev().collect(), owners: vec![None; count] };
        let piece = slab.take(slot_bytes);
        self.slabs.entry(slot_bytes).or_default().push(slab);
        piece.ok_or_else(|| Denial::Driver(mistake("allocating", "a new slab without slots")))
    }

    fn create(
        &mut self,
        gpu: &Gpu,
        (label, usage): (&str, wgpu::BufferUsages),
        bytes: u64,
        cap: Option<u64>,
    ) -> Result<(wgpu::Buffer, u64), Denial> {
        if cap.is_some_and(|cap| self.reserved + bytes > cap) {
            return Err(Denial::Cap);
        }
        let reservation = gpu.reserve(label, bytes, usage).map_err(Denial::Driver)?;
        let buffer = reservation.clone();
        self.owned.push(reservation);
        self.reserved += bytes;
        self.reserved_peak = self.reserved_peak.max(self.reserved);
        self.next_id += 1;
        Ok((buffer, self.next_id))
    }

    /// Takes a piece back.
    pub(super) fn put(&mut self, piece: Piece) {
        match piece.home {
            Home::Large { .. } => self.kept.push(piece),
            Home::Foreign => {}
            Home::Slab { slot_bytes, slot } => {
                let slabs = self.slabs.get_mut(&slot_bytes);
                let slab = slabs.and_then(|s| s.iter_mut().find(|s| s.id == piece.buffer_id));
                if let Some(slab) = slab {
                    slab.owners[slot] = None;
                    slab.free.push(slot);
                }
            }
        }
    }

    /// The newest buffer.
    pub(super) const fn newest(&self) -> u64 {
        self.next_id
    }

    /// Takes a piece back of what was refused in the end. A large buffer newer than `newest` was
    /// made for it, and goes back to the driver: kept, it would be in the way of the next attempt.
    pub(super) fn take_back(&mut self, piece: Piece, newest: u64) {
        match piece.home {
            Home::Large { .. } if piece.buffer_id > newest => self.give_back_large(&piece),
            _ => self.put(piece),
        }
    }

    /// Gives a large buffer back to the driver.
    fn give_back_large(&mut self, piece: &Piece) {
        self.large -= 1;
        self.give_back(&piece.buffer, piece.reserved());
    }

    /// Gives a buffer of this size back to the driver, at once or when it may
    /// [leave](Self::leave).
    fn give_back(&mut self, buffer: &wgpu::Buffer, bytes: u64) {
        self.reserved -= bytes;
        let place = self.owned.iter().position(|own| **own == *buffer);
        let gone = place.map(|place| self.owned.swap_remove(place));
        self.leaving.extend(gone.filter(|gone| !gone.outlives_drop()));
    }

    /// Parts with what was given back. Nothing is recorded that may use it.
    pub(super) fn leave(&mut self) {
        self.leaving.clear();
    }

    /// Remembers that somebody else has got a buffer.
    pub(super) fn share(&mut self, buffer: &wgpu::Buffer) {
        self.owned.iter_mut().filter(|own| ***own == *buffer).for_each(Reservation::share);
    }

    /// Remembers the owner of a storage's slots.
    pub(super) fn note_owner(&mut self, storage: &Arc<Storage>) {
        for piece in storage.pieces() {
            let Home::Slab { slot_bytes, slot } = piece.home else { continue };
            let slabs = self.slabs.get_mut(&slot_bytes);
            let slab = slabs.and_then(|s| s.iter_mut().find(|s| s.id == piece.buffer_id));
            if let Some(slab) = slab {
                slab.owners[slot] = Some(Arc::downgrade(storage));
            }
        }
    }

    /// Whether it made a buffer.
    pub(super) fn owns(&self, buffer: &wgpu::Buffer) -> bool {
        self.owned.iter().any(|own| **own == *buffer)
    }

    /// Drops every buffer that nobody uses.
    pub(super) fn trim(&mut self) -> u64 {
        let before = self.reserved;
        for piece in core::mem::take(&mut self.kept) {
            self.give_back_large(&piece);
        }
        let mut unused = Vec::new();
        for (&slot_bytes, slabs) in &mut self.slabs {
            let gone = slabs.extract_if(.., |slab| slab.is_unused());
            unused.extend(gone.map(|slab| (slab.bytes(slot_bytes), slab.buffer)));
        }
        unused.iter().for_each(|(bytes, buffer)| self.give_back(buffer, *bytes));
        self.slabs.retain(|_, slabs| !slabs.is_empty());
        before - self.reserved
    }

    pub(super) fn usage(&self) -> Usage {
        let mut usage = Usage { reserved: self.reserved, buffers: self.large, ..Usage::default() };
        for piece in &self.kept {
            usage.free += piece.reserved();
            usage.largest_free = usage.largest_free.max(piece.reserved());
        }
        for (&slot_bytes, slabs) in &self.slabs {
            usage.buffers += slabs.len() as u64;
            for slab in slabs.iter().filter(|s| !s.free.is_empty()) {
                usage.free += slab.free.len() as u64 * slot_bytes;
                let largest = slab.longest_free_run() * slot_bytes;
                usage.largest_free = usage.largest_free.max(largest);
            }
        }
        usage
    }

    pub(super) const fn reserved(&self) -> u64 {
        self.reserved
    }

    pub(super) const fn reserved_peak(&self) -> u64 {
        self.reserved_peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures::{apple_m2, lavapipe};

    #[test]
    fn large_segments_begin_apart_on_a_cpu_adapter_at_little_cost() {
        let pool = Pool::new(&lavapipe());
        for bytes in [SPREAD_MIN, 64 << 20] {
            let room = pool.room(bytes);
            assert!(room <= bytes / 16, "{room} of {bytes}");
            let mut begins: Vec<u64> = (3..3 + PLACES).map(|id| begin(room, id)).collect();
            begins.sort_unstable();
            assert!(begins.windows(2).all(|pair| pair[1] - pair[0] >= 32 << 10), "{begins:?}");
            assert!(begins.iter().all(|begin| begin % pool.align == 0), "{begins:?}");
            assert!(begins.last().is_some_and(|&last| last <= room), "{begins:?} in {room}");
        }
        assert_eq!(pool.room(SPREAD_MIN - LARGE_STEP), 0, "small ones stay as they are");
        assert_eq!(pool.room(pool.buffer_bytes_max), 0, "what fills a buffer stays in it");
        assert_eq!(Pool::new(&apple_m2()).room(64 << 20), 0, "a GPU needs none");
        assert_eq!(begin(0, 5), 0, "without room, at the beginning");
    }
}
