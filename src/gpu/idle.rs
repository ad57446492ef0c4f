//! Mapping what nothing on the device uses any more, without waiting.

use core::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Gpu;
use crate::error::Result;

/// Requests that were taken back. wgpu keeps them beside the submission that they wait for, and
/// once that is done grants by one of them whatever is asked of its buffer then, though a later
/// submission uses it.
#[derive(Debug, Default)]
pub(super) struct TakenBack {
    all: AtomicU64,
    /// How many of them wgpu has forgotten, the first ones first.
    forgotten: AtomicU64,
}

impl TakenBack {
    /// Whether wgpu has forgotten them, as it has once the device is idle.
    fn are_forgotten(&self, is_idle: impl FnOnce() -> bool) -> bool {
        // Read before the look: who takes one back later asked later.
        let all = self.all.load(Ordering::Acquire);
        if self.forgotten.load(Ordering::Acquire) >= all {
            return true;
        }
        let idle = is_idle();
        if idle {
            self.forgotten.fetch_max(all, Ordering::AcqRel);
        }
        idle
    }

    fn note(&self) {
        self.all.fetch_add(1, Ordering::AcqRel);
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_back_is_forgotten_once_the_device_is_idle() {
        let requests = TakenBack::default();
        assert!(requests.are_forgotten(|| panic!("there is nothing to look for")));
        requests.note();
        assert!(!requests.are_forgotten(|| false), "the device is busy");
        let meanwhile = || {
            requests.note();
            true
        };
        assert!(requests.are_forgotten(meanwhile), "all that there were before");
        assert!(!requests.are_forgotten(|| false), "the one that came meanwhile");
        assert!(requests.are_forgotten(|| true) && requests.are_forgotten(|| false));
    }
}
