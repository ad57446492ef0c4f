//! Fault slots on their way down: two words each, before the data that carries them.

use std::sync::Arc;

use super::{Down, Ring, SMALL_READ};
use crate::error::Result;
use crate::exec::{Fault, SLOT_BYTES};
use crate::gpu::{Drive, Gpu, Mapped};

/// Slots of one staging buffer.
const AT_ONCE: usize = (SMALL_READ / SLOT_BYTES) as usize;

/// Reads slots and tells each what it holds; returns the bytes that crossed. What was recorded
/// before must have been submitted.
pub(crate) async fn settle(
    gpu: &Gpu,
    ring: &Ring,
    drive: Drive,
    faults: &[Arc<Fault>],
) -> Result<u64> {
    for faults in faults.chunks(AT_ONCE) {
        let words = start(gpu, ring, drive, faults)?.words(gpu, ring).await?;
        for (fault, words) in faults.iter().zip(words.chunks_exact(2)) {
            fault.settle([words[0], words[1]]);
        }
    }
    Ok(faults.len() as u64 * SLOT_BYTES)
}

/// Copies slots into a staging buffer and asks for it to be mapped.
fn start<'a>(gpu: &'a Gpu, ring: &Ring, drive: Drive, faults: &[Arc<Fault>]) -> Result<Down<'a>> {
    let mapped_bytes = faults.len() as u64 * SLOT_BYTES;
    let buffer = ring.take(gpu, mapped_bytes)?;
    let commands = gpu.checked("fault slots", || {
        let label = Some("wharf.faults");
        let descriptor = wgpu::CommandEncoderDescriptor { label };
        let mut encoder = gpu.device.create_command_encoder(&descriptor);
        for (i, fault) in (0..).zip(faults) {
            let (from, offset) = fault.place();
            encoder.copy_buffer_to_buffer(from, offset, &buffer, i * SLOT_BYTES, SLOT_BYTES);
        }
        encoder.finish()
    })?;
    let submission = gpu.submit("fault slots", [commands])?;
    let mapped = Mapped::new(gpu, drive, submission, &buffer, mapped_bytes)?;
    let range = 0..faults.len() * SLOT_BYTES as usize;
    Ok(Down { buffer, mapped, mapped_bytes, range })
}

impl Down<'_> {
    async fn words(self, gpu: &Gpu, ring: &Ring) -> Result<Vec<u32>> {
        let mut words = Vec::new();
        self.take(gpu, ring, &mut |bytes: &[u8]| {
            words.extend(
                bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            );
            Ok(())
        })
        .await?;
        Ok(words)
    }
}
