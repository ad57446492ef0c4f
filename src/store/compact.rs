//! Compaction: tensors in thinly used slabs move into the free slots of fuller ones, on the device.
//!
//! Only the places of tensors change, under the device's lock, and the copies are ordered with
//! every command before and after. A pinned tensor stays where it is.

use std::sync::Arc;

use super::pool::{Pool, Slab};
use super::storage::{Owner, Piece, Storage};
use crate::shared::lock;

/// A tensor on its way to another place, kept alive meanwhile.
#[derive(Debug)]
pub(crate) struct Move {
    storage: Arc<Storage>,
    pinnings: usize,
    owner: Option<Owner>,
    slot_bytes: u64,
    from: Bay,
    to: Bay,
}

/// A slot of one of the slabs of its size.
#[derive(Clone, Copy, Debug)]
struct Bay {
    slab: usize,
    slot: usize,
}

/// Records the copies. Nothing lies elsewhere before they are [settled](settle): whoever pins a
/// tensor until then still finds what is there.
pub(super) fn compact(pool: &mut Pool, encoder: &mut wgpu::CommandEncoder) -> Vec<Move> {
    let mut moves = Vec::new();
    for (&slot_bytes, slabs) in &mut pool.slabs {
        // Fullest first: the slabs at the end empty into those at the front.
        slabs.sort_by_key(|slab| slab.free.len());
        let (mut to, mut from) = (0, slabs.len());
        while to + 1 < from {
            if slabs[to].free.is_empty() {
                to += 1;
            } else if let Some(moved) = move_one(slabs, to, from - 1, slot_bytes, encoder) {
                moves.push(moved);
            } else {
                from -= 1;
            }
        }
    }
    moves
}

/// Lets what was copied lie in its new place, except for what somebody has pinned meanwhile; or
/// nothing, if the copies were not submitted. Nothing else may have happened to the pool.
pub(super) fn settle(pool: &mut Pool, moves: Vec<Move>, submitted: bool) {
    for Move { storage, pinnings, owner, slot_bytes, from, to } in moves {
        let Some(slabs) = pool.slabs.get_mut(&slot_bytes) else { continue };
        let [old, new] = [from, to].map(|bay| slabs[bay.slab].piece(slot_bytes, bay.slot));
        let moved = submitted && replace(&storage, pinnings, &old, new);
        let (its, free) = if moved { (to, from) } else { (from, to) };
        slabs[its.slab].owners[its.slot] = owner;
        slabs[free.slab].free.push(free.slot);
    }
}

/// Begins to move one tensor from slab `from` to slab `to`, if one can be moved.
fn move_one(
    slabs: &mut [Slab],
    to: usize,
    from: usize,
    slot_bytes: u64,
    encoder: &mut wgpu::CommandEncoder,
) -> Option<Move> {
    let movable = |(slot, owner): (usize, &Option<Owner>)| {
        let storage = owner.as_ref()?.upgrade()?;
        let pinnings = storage.unpinned()?;
        Some((slot, storage, pinnings))
    };
    let (slot, storage, pinnings) = slabs[from].owners.iter().enumerate().find_map(movable)?;
    let (from, to) = (Bay { slab: from, slot }, Bay { slab: to, slot: slabs[to].free.pop()? });
    let [old, new] = [from, to].map(|bay| slabs[bay.slab].piece(slot_bytes, bay.slot));
    encoder.copy_buffer_to_buffer(&old.buffer, old.offset, &new.buffer, new.offset, slot_bytes);
    let owner = slabs[from.slab].owners[slot].take();
    Some(Move { storage, pinnings, owner, slot_bytes, from, to })
}

/// Puts `place` for the piece of the storage that lies where `old` does, unless somebody has pinned
/// it since, and may have written there. The storage may have other pieces. Whoever pins it
/// afterwards sees the new place, because it is asked under this lock.
fn replace(storage: &Storage, pinnings: usize, old: &Piece, place: Piece) -> bool {
    let mut pieces = lock(&storage.pieces);
    if storage.unpinned() != Some(pinnings) {
        return false;
    }
    let here = |piece: &&mut Piece| (piece.buffer_id, piece.offset) == (old.buffer_id, old.offset);
    let piece = pieces.iter_mut().find(here);
    piece.is_some_and(|piece| {
        *piece = place;
        true
    })
}
