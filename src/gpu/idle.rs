//! Mapping what nothing on the device uses any more, without waiting.

use core::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Gpu;
use crate::error::Result;

/// Maps a range of a buffer if nothing on the device uses the buffer any more, without waiting;
/// returns whether it is mapped. A submission that uses a mapped buffer fails as a whole. So either
/// nobody else has the buffer yet, or the caller [holds submissions off](Gpu::alone).
pub(crate) fn map_if_idle(
    gpu: &Gpu,
    buffer: &wgpu::Buffer,
    range: Range<u64>,
    mode: wgpu::MapMode,
) -> Result<bool> {
    if !gpu.taken_back.are_forgotten(|| gpu.is_idle()) {
        return Ok(false);
    }
    let granted = Arc::new(AtomicBool::new(false));
    let answer = Arc::clone(&granted);
    gpu.checked("mapping", || {
        buffer.slice(range).map_async(mode, move |outcome| {
            answer.store(outcome.is_ok(), Ordering::Release);
        });
    })?;
    gpu.tick();
    if granted.load(Ordering::Acquire) {
        return Ok(true);
    }
    gpu.taken_back.note();
    let take_back = || gpu.checked("mapping", || buffer.unmap());
    // Where another thread's poll grants it at this moment, it is neither asked for nor mapped, but
    // is mapped after a poll of this one's.
    let taken = take_back().or_else(|_| {
        gpu.tick();
        take_back()
    });
    taken.map(|()| false)
}
