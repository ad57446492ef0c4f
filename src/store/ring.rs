//! Staging buffers that are kept for the next read, and the size of the chunks of crossings.

use std::sync::Mutex;

use crate::caps::{Backend, Caps};
use crate::error::Result;
use crate::gpu::{Gpu, Reservation};
use crate::shared::lock;

/// Bytes of a chunk of a crossing. Larger ones do not stay in the cache, smaller ones submit too
/// often. GL makes one copy more and prefers smaller chunks.
pub(crate) const CHUNK: u64 = 4 << 20;
const CHUNK_GL: u64 = 1 << 20;

/// Staging buffers of one size that are kept for the next reads: there may be several at once.
const KEPT_MAX: usize = 4;

/// Reads up to this use small staging buffers.
pub(crate) const SMALL_READ: u64 = 64 << 10;

/// Room in a staging buffer for what alignment and fault slots add to a chunk.
pub(crate) const SLACK: u64 = 256;

/// Bytes of a chunk on this device.
pub(crate) fn chunk_bytes(caps: &Caps) -> u64 {
    let chunk = if caps.identity.backend == Backend::Gl { CHUNK_GL } else { CHUNK };
    // A staging buffer holds a chunk and the slack.
    chunk.min(caps.limits.buffer_bytes_max.saturating_sub(SLACK) / SLACK * SLACK)
}

/// The host memory that an upload needs beyond the data, at most: the chunks in flight. Nobody
/// bounds these in a browser.
pub(crate) fn staging_bytes_max(caps: &Caps, bytes: u64) -> u64 {
    let most = chunk_bytes(caps) * 10;
    most.min(bytes.min(most).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT))
}

/// Staging buffers that are kept for the next read.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    small: Mutex<Vec<Reservation>>,
    large: Mutex<Vec<Reservation>>,
}

impl Ring {
    fn shelf(&self, bytes: u64) -> &Mutex<Vec<Reservation>> {
        if bytes <= SMALL_READ { &self.small } else { &self.large }
    }

    /// A buffer for this many bytes.
    pub(crate) fn take(&self, gpu: &Gpu, bytes: u64) -> Result<Reservation> {
        let kept = lock(self.shelf(bytes)).pop();
        let size = if bytes <= SMALL_READ { SMALL_READ } else { chunk_bytes(gpu.caps()) + SLACK };
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        kept.map_or_else(|| gpu.reserve("wharf.read.staging", size, usage), Ok)
    }

    /// Takes back a buffer that is not mapped.
    pub(crate) fn put(&self, buffer: Reservation) {
        let mut shelf = lock(self.shelf(buffer.size()));
        if shelf.len() < KEPT_MAX {
            shelf.push(buffer);
        }
    }

    /// Drops them all.
    pub(crate) fn clear(&self) {
        lock(&self.small).clear();
        lock(&self.large).clear();
    }
}
