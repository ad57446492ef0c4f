//! Fault slots that nobody reads. Whatever a chain of operations indexes adds one to all that is
//! made of it. So once a value carries many, their words are asked for, and what was not hit is
//! carried no further. Nobody waits for that, and a slot that was hit is left to a read.

use std::sync::Arc;

use crate::engine::Engine;
use crate::error::Result;
use crate::exec::{Clearing, Fault, SLOT_BYTES, Value};
use crate::gpu::wait::MapRequest;
use crate::store::ring::SMALL_READ;

/// So many are worth a copy of their words.
const MANY: usize = 128;

/// Keeps what a value carries from growing as long as nobody reads it. Everything that writes its
/// slots has been recorded. Where this fails, a read tells why.
pub(crate) fn clear(engine: &Engine, value: &Value) {
    if value.carried() < MANY || engine.sketch.is_some() || engine.gpu.is_on_paper() {
        return;
    }
    // Somebody else sees to it, perhaps the caller of a callback that is here.
    let Ok(mut clearing) = engine.clearing.try_lock() else { return };
    if clearing.as_ref().is_some_and(|asked| !asked.words.is_answered()) {
        return engine.gpu.tick();
    }
    if let Some(asked) = clearing.take() {
        let _ = take(engine, asked);
    }
    let mut slots = value.unsettled();
    slots.retain(|slot| !slot.is_hit());
    slots.truncate((SMALL_READ / SLOT_BYTES) as usize);
    if slots.len() >= MANY {
        *clearing = ask(engine, slots).ok();
    }
}

fn ask(engine: &Engine, slots: Vec<Arc<Fault>>) -> Result<Clearing> {
    let bytes = slots.len() as u64 * SLOT_BYTES;
    let buffer = engine.ring.take(&engine.gpu, bytes)?;
    engine.copy(true, |encoder| super::copy_words(encoder, &slots, &buffer, 0))?;
    let words = MapRequest::ask(&engine.gpu, &buffer, bytes)?;
    Ok(Clearing { buffer, words, slots })
}

fn take(engine: &Engine, Clearing { buffer, slots, .. }: Clearing) -> Result<()> {
    let (gpu, bytes) = (&engine.gpu, slots.len() as u64 * SLOT_BYTES);
    let view = gpu.checked("read", || buffer.slice(..bytes).get_mapped_range())?;
    let view = view.map_err(|error| gpu.blame("read", &error))?;
    for (slot, words) in slots.iter().zip(view.chunks_exact(SLOT_BYTES as usize)) {
        slot.clear(bytemuck::pod_read_unaligned(words));
    }
    drop(view);
    engine.books.note_control(bytes);
    gpu.checked("read", || buffer.unmap())?;
    engine.ring.put(buffer);
    Ok(())
}

#[cfg(test)]
mod tests;
