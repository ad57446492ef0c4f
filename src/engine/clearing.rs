//! Fault slots that nobody reads. Whatever a chain of operations indexes adds one to all that is
//! made of it. So once a value carries many, their words are asked for, and what was not hit is
//! carried no further. Nobody waits for that, and a slot that was hit is left to a read.

use std::sync::Arc;

use super::Engine;
use crate::error::Result;
use crate::exec::{Fault, SLOT_BYTES, Value};
use crate::gpu::wait::MapRequest;
use crate::shared::lock;
use crate::store::ring::SMALL_READ;

/// So many are worth a copy of their words.
const MANY: usize = 128;

/// Words on their way, a pair for each slot.
#[derive(Debug)]
pub(super) struct Clearing {
    buffer: wgpu::Buffer,
    words: MapRequest,
    slots: Vec<Arc<Fault>>,
}

impl Engine {
    /// Keeps what a value carries from growing as long as nobody reads it. Everything that writes
    /// its slots has been recorded. Where this fails, a read tells why.
    pub(crate) fn clear(&self, value: &Value) {
        if value.carried() < MANY || self.sketch.is_some() || self.gpu.is_on_paper() {
            return;
        }
        let mut clearing = lock(&self.clearing);
        if clearing.as_ref().is_some_and(|asked| !asked.words.is_answered()) {
            return self.gpu.tick();
        }
        if let Some(asked) = clearing.take() {
            let _ = self.clear_by(asked);
        }
        let mut slots = value.unsettled();
        slots.retain(|slot| !slot.is_hit());
        slots.truncate((SMALL_READ / SLOT_BYTES) as usize);
        if slots.len() >= MANY {
            *clearing = self.ask_for(slots).ok();
        }
    }

    fn ask_for(&self, slots: Vec<Arc<Fault>>) -> Result<Clearing> {
        let bytes = slots.len() as u64 * SLOT_BYTES;
        let buffer = self.ring.take(&self.gpu, bytes)?;
        self.copy(true, |encoder| {
            for (slot, to) in slots.iter().zip((0..).step_by(SLOT_BYTES as usize)) {
                let (from, offset) = slot.place();
                encoder.copy_buffer_to_buffer(from, offset, &buffer, to, SLOT_BYTES);
            }
        })?;
        let words = MapRequest::ask(&self.gpu, &buffer, bytes)?;
        Ok(Clearing { buffer, words, slots })
    }

    fn clear_by(&self, Clearing { buffer, slots, .. }: Clearing) -> Result<()> {
        let bytes = slots.len() as u64 * SLOT_BYTES;
        let view = self.gpu.checked("read", || buffer.slice(..bytes).get_mapped_range())?;
        let view = view.map_err(|error| self.gpu.blame("read", &error))?;
        for (slot, words) in slots.iter().zip(view.chunks_exact(SLOT_BYTES as usize)) {
            slot.clear(bytemuck::pod_read_unaligned(words));
        }
        drop(view);
        self.books.note_control(bytes);
        self.gpu.checked("read", || buffer.unmap())?;
        self.ring.put(buffer);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
