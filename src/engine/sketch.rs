//! Sketches: a device that only notes what it would do.
//!
//! The code that records commands runs against it unchanged, so what is noted is what would run.
//! Its memory does not exist.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::notes::Notes;
use crate::error::Result;
use crate::exec::Job;
use crate::gpu::Gpu;
use crate::shared::lock;
use crate::store::{Segments, Storage};
use crate::wgsl::Assembled;

/// What a device notes instead of doing it.
#[derive(Debug)]
pub(crate) struct Sketch {
    /// Stands for every buffer.
    buffer: wgpu::Buffer,
    next_id: AtomicU64,
    pub(crate) notes: Notes,
    /// Each once.
    kernels: Mutex<Vec<Assembled>>,
}

/// The numbers of buffers that do not exist begin far above those of any real one.
const FIRST_ID: u64 = 1 << 62;

impl Sketch {
    pub(super) fn new(gpu: &Gpu) -> Result<Self> {
        let buffer = gpu.create_buffer("wharf.sketch", 4, wgpu::BufferUsages::STORAGE)?;
        Ok(Self {
            buffer,
            next_id: AtomicU64::new(FIRST_ID),
            notes: Notes::default(),
            kernels: Mutex::default(),
        })
    }

    pub(super) fn dispatch(&self, job: &Job<'_>) {
        self.notes.dispatch(job);
        let mut kernels = lock(&self.kernels);
        if kernels.iter().all(|known| known.wgsl != job.kernel.wgsl) {
            kernels.push(job.kernel.clone());
        }
    }

    /// The kernels that would run.
    pub(crate) fn kernels(&self) -> Vec<Assembled> {
        lock(&self.kernels).clone()
    }

    /// In pieces of what a segment `occupies` in the store.
    pub(super) fn allocate(
        &self,
        bytes: u64,
        segments: Segments,
        occupies: impl Fn(u64) -> u64,
    ) -> Arc<Storage> {
        self.notes.allocated(bytes);
        let pieces = segments.sizes(bytes, segments.bytes_max).map(|size| {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            (self.buffer.clone(), id, occupies(size))
        });
        Storage::sketched((bytes, segments.bytes_max), pieces)
    }
}
