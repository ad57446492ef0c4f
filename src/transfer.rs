//! The crossing: bytes up with a receipt, bytes down into the caller's slice.
//!
//! Data moves in chunks, so host memory is bounded whatever the tensor's size. Up, each chunk is
//! written straight into a staging view of wgpu's and submitted; conversion happens on the way,
//! block by block in the first-level cache. [`Gpu::submit_writes`] keeps few chunks in flight.
//! Down, a few reused buffers are mapped in turn.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::count::index;
use crate::engine::Engine;
use crate::error::{Error, Result, mistake};
use crate::exec::{Fault, SLOT_BYTES};
use crate::gpu::cause::no_memory;
use crate::gpu::idle::map_if_idle;
use crate::gpu::odometer::{COUNT_BYTES, Sent};
use crate::gpu::{Drive, Gpu, MapRequest, Mapped, Reservation, Whose};
use crate::host::Tally;
#[cfg(not(target_arch = "wasm32"))]
use crate::store::ring::CHUNK;
use crate::store::ring::{SLACK, SMALL_READ, chunk_bytes};
use crate::store::{Piece, Pinned};

mod clearing;
mod receipt;
mod source;

pub(crate) use clearing::clear;
pub use receipt::Receipt;
pub(crate) use receipt::write_changes;
pub(crate) use source::StreamSource;
pub(crate) use source::{BlockSource, Fill, Rules, UploadSource};

/// Parts of a buffer that is written or read in place: each large enough for two threads.
const CHUNK_IN_PLACE: u64 = 32 << 20;

/// Parts of what is only counted: few enough to stay in the cache.
const CHUNK_ON_PAPER: u64 = 256 << 10;

/// Chunks on their way down at once: one is filled while the other is read. More would not stay in
/// the cache.
const DOWN_DEPTH: usize = 2;

/// Copies move multiples of this many bytes.
const COPY_ALIGN: u64 = wgpu::COPY_BUFFER_ALIGNMENT;

/// Fault slots of one staging buffer ...
const SLOTS_MAX: usize = ((SMALL_READ - COUNT_BYTES) / SLOT_BYTES) as usize;
/// ... and of one that brings a chunk as well.
const SLOTS_BESIDE: usize = ((SLACK - 2 * COPY_ALIGN - COUNT_BYTES) / SLOT_BYTES) as usize;

/// A contiguous part of a storage: a range of one of its pieces.
struct Chunk {
    piece: Piece,
    /// Where in the piece.
    offset: u64,
    /// Where in the storage.
    first: u64,
    bytes: u64,
}

/// Cuts a byte range of a storage at segments and chunks.
fn parts(storage: &Pinned, range: Range<u64>, chunk: u64) -> Result<Vec<Chunk>> {
    let (pieces, segment) = (storage.pieces(), storage.segment_bytes);
    let (mut parts, mut first) = (Vec::new(), range.start);
    while first < range.end {
        let Some(piece) = pieces.get(index(first / segment)?) else {
            return Err(mistake("crossing", format!("{range:?} is more than the tensor has")));
        };
        let offset = first % segment;
        let bytes = chunk.min(segment - offset).min(range.end - first);
        parts.push(Chunk { piece: piece.clone(), offset, first, bytes });
        first += bytes;
    }
    Ok(parts)
}

/// A part of what has been mapped.
fn within(mapped: &[u8], range: Range<usize>) -> Result<&[u8]> {
    let missing = || mistake("reading", format!("{range:?} of {} mapped bytes", mapped.len()));
    mapped.get(range.clone()).ok_or_else(missing)
}

/// Writes all of `source` to a storage that holds as many elements. Whatever was recorded before
/// must have been submitted: staged writes run before commands that are still being recorded.
pub(crate) fn up(
    gpu: &Gpu,
    to: &Pinned,
    source: &dyn Fill,
    progress: &dyn Fn(u64),
) -> Result<Tally> {
    let mut tally = Tally::default();
    if gpu.is_on_paper() {
        return count(source, to.bytes, &mut tally).map(|()| tally);
    }
    let mut at = 0;
    for piece in to.pieces() {
        let range = at..(at + to.segment_bytes).min(to.bytes);
        at = range.end;
        if !in_place(gpu, &piece, &range, source, &mut tally, progress)? {
            up_part(gpu, to, range, (source, 0), &mut tally, progress)?;
        }
    }
    Ok(tally)
}

/// Counts what happens to the values on their way, and carries them nowhere.
fn count(source: &dyn Fill, bytes: u64, tally: &mut Tally) -> Result<()> {
    let mut scratch = vec![0; index(CHUNK_ON_PAPER.min(bytes))?];
    for at in (0..bytes).step_by(index(CHUNK_ON_PAPER)?) {
        let part = CHUNK_ON_PAPER.min(bytes - at);
        let first = index(at / source.to().width() as u64)?;
        source.fill(first, wgpu::WriteOnly::from_mut(&mut scratch[..index(part)?]), part, tally)?;
    }
    Ok(())
}

/// Unmaps a buffer that a panic of whoever fills it would leave mapped.
struct StillMapped<'a>(Option<&'a wgpu::Buffer>);

impl Drop for StillMapped<'_> {
    fn drop(&mut self) {
        self.0.into_iter().for_each(wgpu::Buffer::unmap);
    }
}

/// Writes the bytes `range` of a storage where they lie, without staging. This needs a whole buffer
/// that the host can map and that nothing on the device uses any more; returns whether it was so.
fn in_place(
    gpu: &Gpu,
    piece: &Piece,
    range: &Range<u64>,
    source: &dyn Fill,
    tally: &mut Tally,
    progress: &dyn Fn(u64),
) -> Result<bool> {
    let bytes = range.end - range.start;
    let size = bytes.next_multiple_of(wgpu::MAP_ALIGNMENT);
    let mappable = piece.buffer.usage().contains(wgpu::BufferUsages::MAP_WRITE);
    let whole = piece.offset..piece.offset + size;
    let map = || map_if_idle(gpu, &piece.buffer, whole.clone(), wgpu::MapMode::Write);
    if !mappable || whole.end > piece.buffer.size() || !map()? {
        return Ok(false);
    }
    let view =
        gpu.checked("upload", || piece.buffer.slice(whole.clone()).get_mapped_range_mut())?;
    let mut mapped = StillMapped(Some(&piece.buffer));
    let filled = view.map_err(|error| gpu.blame("upload", &error)).and_then(|mut view| {
        let mut at = 0;
        while at < bytes {
            let part = CHUNK_IN_PLACE.min(bytes - at);
            let place = index(at)?..index((at + part).next_multiple_of(COPY_ALIGN))?;
            let first = index((range.start + at) / source.to().width() as u64)?;
            let filled = source.fill(first, view.slice(place), part, tally);
            progress(part);
            filled?;
            at += part;
        }
        Ok(true)
    });
    gpu.checked("upload", || mapped.0.take().into_iter().for_each(wgpu::Buffer::unmap))?;
    filled
}

/// [`up`] for a byte range of the storage, which begins at a word, and ends at one or with the
/// storage. The source's first value belongs at the byte given with it. `progress` is called for
/// every chunk once it is staged.
pub(crate) fn up_part(
    gpu: &Gpu,
    to: &Pinned,
    range: Range<u64>,
    (source, start): (&dyn Fill, u64),
    tally: &mut Tally,
    progress: &dyn Fn(u64),
) -> Result<()> {
    let width = source.to().width() as u64;
    for part in parts(to, range, chunk_bytes(gpu.caps()))? {
        let size = part.bytes.next_multiple_of(COPY_ALIGN);
        let (buffer, offset) = (&part.piece.buffer, part.piece.offset + part.offset);
        let staged = wgpu::BufferSize::new(size).map(|size| {
            gpu.checked("upload", || gpu.queue.write_buffer_with(buffer, offset, size))
        });
        let Some(mut view) = staged.transpose()?.flatten() else {
            // A lost device raises no error here.
            return Err(gpu.lost().unwrap_or_else(|| no_memory("upload", Some(size))));
        };
        let first = index((part.first - start) / width)?;
        let filled = source.fill(first, view.slice(..), part.bytes, tally);
        // Dropping the view schedules the copy.
        gpu.checked("upload", || drop(view))?;
        gpu.submit_writes(size)?;
        // A staged chunk crosses even if a value in it is refused.
        progress(part.bytes);
        filled?;
    }
    Ok(())
}

/// What the first submission of a read does besides copying: it submits recorded commands, and
/// brings fault slots.
#[derive(Debug, Default)]
pub(crate) struct First<'a> {
    pub(crate) flush: bool,
    pub(crate) slots: &'a [Arc<Fault>],
}

/// A chunk on its way down, and behind it what ran and fault slots.
struct Down<'a> {
    buffer: Reservation,
    sent: Sent,
    mapped: Mapped<'a>,
    mapped_bytes: u64,
    /// Bytes of the chunk inside the mapped buffer.
    range: Range<usize>,
    /// Those of the count, of which there may be none.
    count: Range<usize>,
    slots: &'a [Arc<Fault>],
}

/// Takes the bytes that come down.
pub(crate) trait Drain: FnMut(&[u8]) -> Result<()> {}

impl<S: FnMut(&[u8]) -> Result<()> + ?Sized> Drain for S {}

/// Hands the bytes `range` of a storage to `drain`, in order, in chunks that hold whole elements,
/// until it fails. Fault slots are settled before the first chunk. Dropping the future cancels the
/// read. Where `drain` sends them up to another device, `onward`, it is not left to block there.
pub(crate) async fn down(
    engine: &Engine,
    drive: Drive,
    mut first: First<'_>,
    from: &Pinned,
    range: Range<u64>,
    onward: Option<&Engine>,
    drain: &mut (impl Drain + ?Sized),
) -> Result<()> {
    if first.slots.len() > SLOTS_BESIDE {
        settle(engine, drive, core::mem::take(&mut first)).await?;
    }
    let mut parts = parts(from, range, chunk_bytes(engine.gpu.caps()))?.into_iter();
    let mut pending: VecDeque<Down<'_>> = VecDeque::new();
    loop {
        while pending.len() < DOWN_DEPTH
            && let Some(part) = parts.next()
        {
            pending.push_back(start(engine, drive, Some(&part), core::mem::take(&mut first))?);
        }
        let Some(next) = pending.pop_front() else { return Ok(()) };
        if let Some(there) = onward
            && let Some(crowd) = there.gpu.crowd()
        {
            done(there).await.map_err(|error| moving_to(there, error))?;
            there.gpu.arrived(crowd);
        }
        next.take(engine, drain).await?;
    }
}

/// An error of another device that something is carried to, with its name.
pub(crate) fn moving_to(there: &Engine, error: Error) -> Error {
    error.during(format!("moving to {}", there.gpu.caps().identity.name))
}

/// What the first submission of a read does besides, where there is no chunk to copy. A slot that
/// was hit is an error.
pub(crate) async fn settle(
    engine: &Engine,
    drive: Drive,
    First { mut flush, slots }: First<'_>,
) -> Result<()> {
    if flush && slots.is_empty() && !engine.gpu.counts() {
        return engine.flush();
    }
    let none: &[Arc<Fault>] = &[];
    let alone = (flush && slots.is_empty()).then_some(none);
    for slots in slots.chunks(SLOTS_MAX).chain(alone) {
        let first = First { flush: core::mem::take(&mut flush), slots };
        start(engine, drive, None, first)?.take(engine, &mut |_: &[u8]| Ok(())).await?;
    }
    slots.iter().find_map(|slot| slot.error()).map_or(Ok(()), |error| Err(error.clone()))
}

/// Submits what is recorded, and waits without blocking until everything submitted is done.
pub(crate) async fn done(engine: &Engine) -> Result<()> {
    if engine.gpu.is_on_paper() {
        return engine.flush();
    }
    let first = First { flush: true, slots: &[] };
    start(engine, Drive::Wake, None, first)?.take(engine, &mut |_: &[u8]| Ok(())).await
}

impl Down<'_> {
    /// Settles its slots, hands its bytes to `drain` once they are there, and frees the buffer.
    async fn take(self, engine: &Engine, drain: &mut (impl Drain + ?Sized)) -> Result<()> {
        let Self { buffer, sent, mapped, mapped_bytes, range, count, slots } = self;
        let gpu = &engine.gpu;
        mapped.await?;
        let view = gpu.checked("read", || buffer.slice(..mapped_bytes).get_mapped_range())?;
        let view = view.map_err(|error| gpu.blame("read", &error))?;
        gpu.check_count(within(&view, count)?, &sent, || engine.memory().bytes_reserved)?;
        let end = index(mapped_bytes)?;
        let words = within(&view, end - slots.len() * SLOT_BYTES as usize..end)?;
        for (slot, words) in slots.iter().zip(words.chunks_exact(SLOT_BYTES as usize)) {
            slot.settle(bytemuck::pod_read_unaligned(words));
        }
        if !slots.is_empty() {
            engine.books.note_control(slots.len() as u64 * SLOT_BYTES);
        }
        let taken = within(&view, range).and_then(drain);
        drop(view);
        gpu.checked("read", || buffer.unmap())?;
        engine.ring.put(buffer);
        taken
    }
}

/// [`down`] for a caller who blocks and whose `drain` only touches host memory: large tensors in
/// host memory are read where they lie, without staging, while submissions are held off.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) async fn down_blocking(
    engine: &Engine,
    mut first: First<'_>,
    from: &Pinned,
    range: Range<u64>,
    drain: &mut (impl Drain + ?Sized),
) -> Result<()> {
    for part in parts(from, range, CHUNK_IN_PLACE)? {
        if part.bytes >= CHUNK && part.piece.buffer.usage().contains(wgpu::BufferUsages::MAP_READ) {
            settle(engine, Drive::Block, core::mem::take(&mut first)).await?;
            if read_in_place(&engine.gpu, from, &part, drain)? {
                continue;
            }
        }
        let range = part.first..part.first + part.bytes;
        down(engine, Drive::Block, core::mem::take(&mut first), from, range, None, drain).await?;
    }
    Ok(())
}

#[cfg(not(target_arch = "wasm32"))]
fn read_in_place(
    gpu: &Gpu,
    from: &Pinned,
    part: &Chunk,
    drain: &mut (impl Drain + ?Sized),
) -> Result<bool> {
    let buffer = &part.piece.buffer;
    let offset = part.piece.offset + part.offset;
    let begin = offset / wgpu::MAP_ALIGNMENT * wgpu::MAP_ALIGNMENT;
    let end = (offset + part.bytes).next_multiple_of(COPY_ALIGN).min(buffer.size());
    // A blocking read waits for its result anyway.
    gpu.wait(None)?;
    let _alone = gpu.alone();
    // The caller's own submissions are not held off.
    if !from.is_private() || !map_if_idle(gpu, buffer, begin..end, wgpu::MapMode::Read)? {
        return Ok(false);
    }
    let view = gpu.checked("read", || buffer.slice(begin..end).get_mapped_range())?;
    let taken = view.map_err(|error| gpu.blame("read", &error)).and_then(|view| {
        drain(within(&view, index(offset - begin)?..index(offset - begin + part.bytes)?)?)
    });
    gpu.checked("read", || buffer.unmap())?;
    taken.map(|()| true)
}

/// Copies the words of slots into a buffer, from a place on.
fn copy_words(
    encoder: &mut wgpu::CommandEncoder,
    slots: &[Arc<Fault>],
    buffer: &wgpu::Buffer,
    begin: u64,
) {
    for (i, slot) in (0..).zip(slots) {
        let ((from, offset), to) = (slot.place(), begin + i * SLOT_BYTES);
        encoder.copy_buffer_to_buffer(from, offset, buffer, to, SLOT_BYTES);
    }
}

/// Copies one part into a staging buffer, slots behind it, and asks for both to be mapped. Where
/// there is neither, a word of zeros comes once everything before it is done.
fn start<'a>(
    engine: &'a Engine,
    drive: Drive,
    part: Option<&Chunk>,
    First { flush, slots }: First<'a>,
) -> Result<Down<'a>> {
    let offset = part.map_or(0, |part| part.piece.offset + part.offset);
    let bytes = part.map_or(0, |part| part.bytes);
    let begin = offset / COPY_ALIGN * COPY_ALIGN;
    let chunk = (offset + bytes).next_multiple_of(COPY_ALIGN) - begin;
    let slots_begin = chunk + if engine.gpu.counts() { COUNT_BYTES } else { 0 };
    let filled = slots_begin + slots.len() as u64 * SLOT_BYTES;
    let mapped_bytes = filled.max(COPY_ALIGN);
    let buffer = engine.ring.take(&engine.gpu, mapped_bytes)?;
    let copy = |encoder: &mut wgpu::CommandEncoder| {
        if let Some(part) = part {
            encoder.copy_buffer_to_buffer(&part.piece.buffer, begin, &buffer, 0, chunk);
        }
        engine.gpu.copy_count(encoder, &buffer, chunk);
        copy_words(encoder, slots, &buffer, slots_begin);
        if filled == 0 {
            encoder.clear_buffer(&buffer, 0, Some(COPY_ALIGN));
        }
    };
    let theirs = part.is_some_and(|part| part.piece.whose() == Whose::Theirs);
    let sent = if theirs { engine.copy_theirs("read", copy)? } else { engine.copy(flush, copy)? };
    let request = MapRequest::ask(&engine.gpu, &buffer, mapped_bytes)?;
    let mapped = Mapped::new(&engine.gpu, drive, sent.index.clone(), request);
    let count = index(chunk)?..index(slots_begin)?;
    let range = index(offset - begin)?..index(offset - begin + bytes)?;
    Ok(Down { buffer, sent, mapped, mapped_bytes, range, count, slots })
}
