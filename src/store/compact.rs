//! Compaction: tensors in thinly used slabs move into the free slots of fuller ones, on the device.
//!
//! Only the places of tensors change, under the device's lock, and the copies are ordered with
//! every command before and after. A pinned tensor stays where it is.

use std::sync::Arc;

use super::pool::{Pool, Slab};
use super::storage::{Owner, Piece, Storage};
use crate::shared::lock;

/// A tensor that lies elsewhere now, and stays alive until its copy is submitted.
#[derive(Debug)]
pub(crate) struct Move {
    storage: Arc<Storage>,
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

/// Records the copies and moves the tensors. What it returns takes them back.
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

/// Takes moves back whose copies were not submitted. Nothing else may have happened to the pool.
pub(super) fn undo(pool: &mut Pool, moves: Vec<Move>) {
    for Move { storage, slot_bytes, from, to } in moves.into_iter().rev() {
        let Some(slabs) = pool.slabs.get_mut(&slot_bytes) else { continue };
        slabs[from.slab].free.retain(|slot| *slot != from.slot);
        rehome(slabs, &storage, slot_bytes, (to, from), |_| true);
        slabs[to.slab].free.push(to.slot);
    }
}

/// Moves one tensor from slab `from` to slab `to`, if one can be moved.
fn move_one(
    slabs: &mut [Slab],
    to: usize,
    from: usize,
    slot_bytes: u64,
    encoder: &mut wgpu::CommandEncoder,
) -> Option<Move> {
    let movable =
        |owner: &Option<Owner>| owner.as_ref()?.upgrade().filter(|storage| !storage.is_pinned());
    let found =
        slabs[from].owners.iter().enumerate().find_map(|(slot, o)| Some((slot, movable(o)?)));
    let (slot, storage) = found?;
    let taken = slabs[to].free.pop()?;
    let (from, to) = (Bay { slab: from, slot }, Bay { slab: to, slot: taken });
    // Somebody may have pinned it just now.
    let may = |storage: &Storage| !storage.is_pinned();
    let Some((old, new)) = rehome(slabs, &storage, slot_bytes, (from, to), may) else {
        slabs[to.slab].free.push(taken);
        return None;
    };
    encoder.copy_buffer_to_buffer(&old.buffer, old.offset, &new.buffer, new.offset, slot_bytes);
    slabs[from.slab].free.push(slot);
    Some(Move { storage, slot_bytes, from, to })
}

/// Says of a storage and of both slots that it lies in the second now, if it still may.
fn rehome(
    slabs: &mut [Slab],
    storage: &Storage,
    slot_bytes: u64,
    (from, to): (Bay, Bay),
    may: impl Fn(&Storage) -> bool,
) -> Option<(Piece, Piece)> {
    let [old, new] = [from, to].map(|bay| slabs[bay.slab].piece(slot_bytes, bay.slot));
    let old = replace(storage, &old, new.clone(), may)?;
    slabs[to.slab].owners[to.slot] = slabs[from.slab].owners[from.slot].take();
    Some((old, new))
}

/// Puts `place` for the piece of the storage that lies where `old` does. The storage may have other
/// pieces. Whoever pins it afterwards sees the new place, because it is asked under this lock.
fn replace(
    storage: &Storage,
    old: &Piece,
    place: Piece,
    may: impl Fn(&Storage) -> bool,
) -> Option<Piece> {
    let mut pieces = lock(&storage.pieces);
    if !may(storage) {
        return None;
    }
    let here = |piece: &&mut Piece| (piece.buffer_id, piece.offset) == (old.buffer_id, old.offset);
    let piece = pieces.iter_mut().find(here)?;
    Some(core::mem::replace(piece, place))
}
