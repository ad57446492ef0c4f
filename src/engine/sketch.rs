//! Sketches: a device that only notes what it would do.
//!
//! The code that records commands runs against it unchanged, so what is noted is what would run.
//! Its memory exists on paper only.

use core::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::error::{Error, Result};
use crate::exec::Job;
use crate::gpu::{Gpu, lock};
use crate::store::{Segments, Storage};

/// What a device notes instead of doing it.
#[derive(Debug)]
pub(crate) struct Sketch {
    /// Stands for every buffer.
    buffer: wgpu::Buffer,
    next_id: AtomicU64,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    kernels: Vec<Kernel>,
    /// Why the next kernel is chosen.
    remarks: Vec<String>,
    bytes_allocated: u64,
}

/// A kernel that a plan of work runs.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub wgsl: String,
    /// The workgroup counts of each of its dispatches.
    pub dispatches: Vec<[u32; 3]>,
    /// Bytes of memory that its dispatches bind.
    pub bytes: u64,
    /// Why it was chosen, where there was a choice.
    pub remarks: Vec<String>,
}

/// What would run to compute a tensor: printed by `{}`, with the text of every kernel.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// The kernels, in order.
    pub kernels: Vec<Kernel>,
    /// Memory that results and intermediates take.
    pub bytes_allocated: u64,
    /// Why it cannot be computed.
    pub error: Option<Error>,
}

/// The numbers of the buffers on paper begin far above those of any real one.
const FIRST_ID: u64 = 1 << 62;

impl Sketch {
    pub(super) fn new(gpu: &Gpu) -> Result<Self> {
        let buffer = gpu.create_buffer("wharf.sketch", 4, wgpu::BufferUsages::STORAGE)?;
        Ok(Self { buffer, next_id: AtomicU64::new(FIRST_ID), notes: Mutex::default() })
    }

    pub(super) fn allocate(&self, bytes: u64, segments: Segments) -> Arc<Storage> {
        lock(&self.notes).bytes_allocated += bytes;
        let pieces = segments.sizes(bytes, segments.bytes_max).map(|size| {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            (self.buffer.clone(), id, size)
        });
        Storage::on_paper((bytes, segments.bytes_max), pieces)
    }

    pub(super) fn dispatch(&self, job: &Job<'_>) {
        let notes = &mut *lock(&self.notes);
        let bytes: u64 = job.bindings.iter().map(|bound| bound.bytes).sum();
        let remarks = core::mem::take(&mut notes.remarks);
        let (name, wgsl) = (job.kernel.name, &job.kernel.wgsl);
        match notes.kernels.last_mut() {
            Some(last) if last.wgsl == *wgsl => {
                last.dispatches.push(job.groups);
                last.bytes += bytes;
                last.remarks.extend(remarks);
            }
            _ => notes.kernels.push(Kernel {
                name,
                wgsl: wgsl.clone(),
                dispatches: vec![job.groups],
                bytes,
                remarks,
            }),
        }
    }

    pub(super) fn remark(&self, text: String) {
        lock(&self.notes).remarks.push(text);
    }

    /// What was noted.
    pub(crate) fn explanation(&self, error: Option<Error>) -> Explanation {
        let notes = lock(&self.notes);
        let (kernels, bytes_allocated) = (notes.kernels.clone(), notes.bytes_allocated);
        Explanation { kernels, bytes_allocated, error }
    }
}

impl Explanation {
    /// How many dispatches there are.
    #[must_use]
    pub fn dispatches(&self) -> usize {
        self.kernels.iter().map(|kernel| kernel.dispatches.len()).sum()
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = &self.error {
            return write!(f, "cannot be computed: {error}");
        }
        if self.kernels.is_empty() {
            return f.write_str("nothing to run: the value exists");
        }
        let (kernels, dispatches) = (self.kernels.len(), self.dispatches());
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        writeln!(
            f,
            "{kernels} kernel{}, {dispatches} dispatch{}, {} bytes allocated",
            plural(kernels),
            if dispatches == 1 { "" } else { "es" },
            self.bytes_allocated
        )?;
        for (i, kernel) in self.kernels.iter().enumerate() {
            let [x, y, z] = kernel.dispatches[0];
            let n = kernel.dispatches.len();
            let times = if n == 1 { String::new() } else { format!("{n} dispatches, the first ") };
            let (name, bytes) = (kernel.name, kernel.bytes);
            writeln!(f, "{}. {name}: {times}{x} x {y} x {z} groups, {bytes} bytes bound", i + 1)?;
            for remark in &kernel.remarks {
                writeln!(f, "   {remark}")?;
            }
        }
        for (i, kernel) in self.kernels.iter().enumerate() {
            write!(f, "\n// {}. {}\n{}", i + 1, kernel.name, kernel.wgsl)?;
        }
        Ok(())
    }
}
