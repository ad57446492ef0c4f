//! Compaction: tensors in thinly used slabs move into the free slots of fuller ones, on the device.
//!
//! Only the places of tensors change, under the device's lock, and the copies are ordered with
//! every command before and after. A pinned tensor stays where it is.

use super::pool::{Pool, Slab};
use super::storage::{Home, Owner, Piece, Storage};
use crate::gpu::lock;

pub(super) fn compact(pool: &mut Pool, encoder: &mut wgpu::CommandEncoder) {
    for (&slot_bytes, slabs) in &mut pool.slabs {
        // Fullest first: the slabs at the end empty into those at the front.
        slabs.sort_by_key(|slab| slab.free.len());
        let (mut to, mut from) = (0, slabs.len());
        while to + 1 < from {
            if slabs[to].free.is_empty() {
                to += 1;
            } else if !move_one(slabs, to, from - 1, slot_bytes, encoder) {
                from -= 1;
            }
        }
    }
}

/// Moves one tensor from slab `from` to slab `to`; false if none can be moved.
fn move_one(
    slabs: &mut [Slab],
    to: usize,
    from: usize,
    slot_bytes: u64,
    encoder: &mut wgpu::CommandEncoder,
) -> bool {
    let movable =
        |owner: &Option<Owner>| owner.as_ref()?.upgrade().filter(|storage| !storage.is_pinned());
    let found =
        slabs[from].owners.iter().enumerate().find_map(|(slot, o)| Some((slot, movable(o)?)));
    let Some((slot, storage)) = found else { return false };
    let Some(place) = slabs[to].take(slot_bytes) else { return false };
    let old = replace(&storage, &slabs[from].piece(slot_bytes, slot), place.clone());
    let Some(old) = old else { return false };
    encoder.copy_buffer_to_buffer(&old.buffer, old.offset, &place.buffer, place.offset, slot_bytes);
    if let Home::Slab { slot: taken, .. } = place.home {
        slabs[to].owners[taken] = slabs[from].owners[slot].take();
    }
    slabs[from].free.push(slot);
    true
}

/// Puts `place` for the piece of the storage that lies where `old` does. The storage may have other
/// pieces.
fn replace(storage: &Storage, old: &Piece, place: Piece) -> Option<Piece> {
    let mut pieces = lock(&storage.pieces);
    let here = |piece: &&mut Piece| (piece.buffer_id, piece.offset) == (old.buffer_id, old.offset);
    let piece = pieces.iter_mut().find(here)?;
    Some(core::mem::replace(piece, place))
}
