//! Fault slots on their way down: two words each, before the data that carries them.

use std::sync::Arc;

use super::Down;
use crate::engine::Engine;
use crate::error::Result;
use crate::exec::{Fault, SLOT_BYTES};
use crate::gpu::{Drive, Mapped};
use crate::store::ring::SMALL_READ;

/// Slots of one staging buffer.
const AT_ONCE: usize = (SMALL_READ / SLOT_BYTES) as usize;

/// Submits what has been recorded, reads slots and tells each what it holds; returns the bytes that
/// crossed.
pub(crate) async fn settle(engine: &Engine, drive: Drive, faults: &[Arc<Fault>]) -> Result<u64> {
    for faults in faults.chunks(AT_ONCE) {
        let words = start(engine, drive, faults)?.words(engine).await?;
        for (fault, words) in faults.iter().zip(words.chunks_exact(2)) {
            fault.settle([words[0], words[1]]);
        }
    }
    Ok(faults.len() as u64 * SLOT_BYTES)
}

/// Copies slots into a staging buffer and asks for it to be mapped.
fn start<'a>(engine: &'a Engine, drive: Drive, faults: &[Arc<Fault>]) -> Result<Down<'a>> {
    let mapped_bytes = faults.len() as u64 * SLOT_BYTES;
    let buffer = engine.ring.take(&engine.gpu, mapped_bytes)?;
    let submission = engine.flush_and_copy("fault slots", |encoder| {
        for (i, fault) in (0..).zip(faults) {
            let (from, offset) = fault.place();
            encoder.copy_buffer_to_buffer(from, offset, &buffer, i * SLOT_BYTES, SLOT_BYTES);
        }
    })?;
    let mapped = Mapped::new(&engine.gpu, drive, submission, &buffer, mapped_bytes)?;
    let range = 0..faults.len() * SLOT_BYTES as usize;
    Ok(Down { buffer, mapped, mapped_bytes, range })
}

impl Down<'_> {
    async fn words(self, engine: &Engine) -> Result<Vec<u32>> {
        let mut words = Vec::new();
        self.take(engine, &mut |bytes: &[u8]| {
            words.extend(
                bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            );
            Ok(())
        })
        .await?;
        Ok(words)
    }
}
