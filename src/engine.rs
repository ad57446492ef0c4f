//! The inside of a device: the raw GPU, the store and what has been recorded, under one lock.
//!
//! The lock is never held across a wait, a map or user code. What has to wait - running out of
//! memory means trim, wait for the queue, retry once - lets go of it in between.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::{Fault, Faults, Hit, Job, Pipelines, Ready, Recording, Texts};
use crate::gpu::cause::DeviceCause;
use crate::gpu::{Gpu, lock};
use crate::ledger::Books;
use crate::shape::Shape;
use crate::store::ring::{Ring, staging_bytes_max};
use crate::store::{Denial, Fit, Memory, Segments, Storage, Store};

mod site;
pub(crate) mod sketch;

pub(crate) use site::Site;

use sketch::Sketch;

/// Far beyond any memory, and small enough that sums of sizes cannot overflow.
const BYTES_MAX: u64 = 1 << 60;

/// Everything that the handles on one device share.
#[derive(Debug)]
pub(crate) struct Engine {
    /// Tells devices on one adapter apart in messages.
    number: u64,
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) books: Arc<Books>,
    pub(crate) ring: Ring,
    pub(crate) pipelines: Pipelines,
    pub(crate) texts: Texts,
    state: Mutex<State>,
    /// Where it only notes what it would do.
    pub(crate) sketch: Option<Sketch>,
}

#[derive(Debug)]
struct State {
    store: Store,
    recording: Recording,
    faults: Faults,
}

impl Engine {
    pub(crate) fn new(gpu: Gpu) -> Self {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        Self::numbered(OPENED.fetch_add(1, Ordering::Relaxed) + 1, Arc::new(gpu))
    }

    fn numbered(number: u64, gpu: Arc<Gpu>) -> Self {
        let (store, recording) = (Store::new(&gpu), Recording::new(&gpu));
        let state = Mutex::new(State { store, recording, faults: Faults::default() });
        let (books, ring, pipelines) = (Arc::default(), Ring::default(), Pipelines::default());
        let texts = Texts::default();
        Self { number, gpu, books, ring, pipelines, texts, state, sketch: None }
    }

    /// The same device on paper.
    pub(crate) fn on_paper(&self) -> Result<Self> {
        let sketch = Some(Sketch::new(&self.gpu)?);
        Ok(Self { sketch, ..Self::numbered(self.number, Arc::clone(&self.gpu)) })
    }

    /// Says why the kernel to come was chosen.
    pub(crate) fn remark(&self, text: impl FnOnce() -> String) {
        if let Some(sketch) = &self.sketch {
            sketch.remark(text());
        }
    }

    /// The bytes of a tensor, if there can be so many.
    pub(crate) fn bytes_of(shape: &Shape, dtype: DType) -> Result<u64> {
        let bytes = shape.elements() as u128 * dtype.width() as u128;
        u64::try_from(bytes).ok().filter(|&b| b <= BYTES_MAX).ok_or_else(|| {
            let (what, limit, unit) = ("the tensor", "the largest size", "bytes");
            let (requested, available) = (bytes, BYTES_MAX);
            DeviceCause::TooLarge { what, requested, limit, available, unit }.into()
        })
    }

    /// The most bytes of a segment.
    pub(crate) fn segment_bytes(&self) -> u64 {
        lock(&self.state).store.segments().bytes_max
    }

    /// Memory for a value, in none of the buffers in `avoid`.
    ///
    /// Refused, it gives back what is unused, waits for the queue and tries again; then moves small
    /// tensors together and tries again; then tries smaller segments. Only then it is an error.
    pub(crate) fn allocate(&self, bytes: u64, avoid: &[u64]) -> Result<Arc<Storage>> {
        self.gpu.alive()?;
        let segments = *lock(&self.state).store.segments();
        let mut segment = segments.bytes_max;
        if let Some(sketch) = &self.sketch {
            return Ok(sketch.allocate(bytes, segments));
        }
        let attempt = |segment| lock(&self.state).store.allocate(&self.gpu, bytes, segment, avoid);
        let mut refusal = match attempt(segment) {
            Ok(storage) => return Ok(storage),
            Err(refusal) => self.give_up_unless_memory(refusal)?,
        };
        for give_back in [Self::trim, Self::compact] {
            give_back(self)?;
            match attempt(segment) {
                Ok(storage) => return Ok(storage),
                Err(again) => refusal = self.give_up_unless_memory(again)?,
            }
        }
        // A cap counts bytes; only a driver may find room for two halves where it has none for a
        // whole.
        while let Denial::Driver(_) = refusal
            && bytes > segment / 2
            && let Some(half) = Segments::halved(segment)
        {
            segment = half;
            match attempt(segment) {
                Ok(storage) => return Ok(storage),
                Err(again) => refusal = self.give_up_unless_memory(again)?,
            }
        }
        let shortage = lock(&self.state).store.shortage(bytes);
        let capped = matches!(refusal, Denial::Cap);
        Err(DeviceCause::OutOfMemory { shortage, capped }.into())
    }

    /// Passes on a refusal that more memory could mend, and fails with any other.
    fn give_up_unless_memory(&self, refusal: Denial) -> Result<Denial> {
        match refusal {
            Denial::Driver(error) if !error.is_out_of_memory() => Err(error),
            refusal => self.gpu.alive().map(|()| refusal),
        }
    }

    /// Submits what has been recorded.
    pub(crate) fn flush(&self) -> Result<()> {
        self.submit(&mut lock(&self.state))
    }

    /// Submits copies; with `flush` what has been recorded before them, in the same submission:
    /// whoever waits for copies of what it computes waits once, not twice in turn.
    pub(crate) fn copy(
        &self,
        flush: bool,
        copy: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<wgpu::SubmissionIndex> {
        let copies = self.gpu.checked("read", || {
            let descriptor = wgpu::CommandEncoderDescriptor { label: Some("wharf.read") };
            let mut encoder = self.gpu.device.create_command_encoder(&descriptor);
            copy(&mut encoder);
            encoder.finish()
        })?;
        match flush {
            true => self.submit_and(&mut lock(&self.state), Some(copies)),
            false => self.gpu.submit("read", [copies]),
        }
    }

    fn submit(&self, state: &mut State) -> Result<()> {
        if state.recording.is_empty() {
            return self.gpu.alive();
        }
        self.submit_and(state, None).map(drop)
    }

    fn submit_and(
        &self,
        state: &mut State,
        after: Option<wgpu::CommandBuffer>,
    ) -> Result<wgpu::SubmissionIndex> {
        let submitted = state.recording.submit(&self.gpu, after);
        // Unless the batch stays for want of memory, no command is left that writes them.
        if state.recording.is_empty() {
            state.faults.reclaim();
        }
        let (index, bytes) = submitted?;
        if bytes > 0 {
            self.books.note_control(bytes);
        }
        Ok(index)
    }

    /// Makes a dispatch ready to be recorded; nothing, where it is only noted. Its buffers have to
    /// be kept in place until it is.
    pub(crate) fn prepare(&self, job: Job<'_>) -> Result<Option<Ready>> {
        if let Some(sketch) = &self.sketch {
            sketch.dispatch(&job);
            return Ok(None);
        }
        let pipeline = self.pipelines.get(&self.gpu, job.kernel);
        let ready = pipeline.and_then(|pipeline| Ready::new(&self.gpu, pipeline, job));
        ready.map(Some).map_err(|error| error.on(|| self.gpu.name()))
    }

    /// Records dispatches, all of them, and submits the batch once it is full.
    pub(crate) fn record(&self, all: impl IntoIterator<Item = Ready>) -> Result<()> {
        let state = &mut lock(&self.state);
        for ready in all {
            state.recording.push(ready)?;
            if state.recording.is_full() {
                match self.submit(state) {
                    // It stays recorded. Who needs it asks again, and is told.
                    Err(error) if error.is_out_of_memory() => {}
                    done => done?,
                }
            }
        }
        Ok(())
    }

    /// Records one dispatch.
    pub(crate) fn dispatch(&self, job: Job<'_>) -> Result<()> {
        self.record(self.prepare(job)?)
    }

    /// A slot that a kernel may hit; `explain` says what a hit means.
    pub(crate) fn fault(
        &self,
        explain: impl Fn(Hit) -> Error + Send + Sync + 'static,
    ) -> Result<Arc<Fault>> {
        lock(&self.state).faults.take(&self.gpu, Box::new(explain))
    }

    /// Gives unused memory back to the driver, and waits until it is.
    pub(crate) fn trim(&self) -> Result<u64> {
        self.flush()?;
        let freed = lock(&self.state).store.trim();
        self.ring.clear();
        // Submitting nothing lets go of staging memory; waiting, of buffers in use.
        self.gpu.submit("trim", None)?;
        self.gpu.wait(None)?;
        Ok(freed)
    }

    /// Moves small tensors together, gives back what that frees, and waits until it is.
    pub(crate) fn compact(&self) -> Result<u64> {
        let freed = {
            // One lock over all of it: what another thread recorded in between would go to the old
            // places after the copies.
            let mut state = lock(&self.state);
            self.submit(&mut state)?;
            // Writes that are staged go there too, and must run before them.
            self.gpu.submit("compact", None)?;
            let (freed, commands) = self.gpu.checked("compact", || {
                let descriptor =
                    wgpu::CommandEncoderDescriptor { label: Some("wharf.store.compact") };
                let mut encoder = self.gpu.device.create_command_encoder(&descriptor);
                let freed = state.store.compact(&mut encoder);
                (freed, encoder.finish())
            })?;
            self.gpu.submit("compact", [commands])?;
            freed
        };
        self.gpu.wait(None)?;
        Ok(freed)
    }

    pub(crate) fn memory(&self) -> Memory {
        let mut memory = lock(&self.state).store.memory();
        let report = self.gpu.device.generate_allocator_report();
        memory.driver = report.map(|r| (r.total_allocated_bytes, r.total_reserved_bytes));
        memory
    }

    pub(crate) fn set_cap(&self, cap: Option<u64>) {
        lock(&self.state).store.set_cap(cap);
    }

    pub(crate) fn fit(&self, bytes: u64) -> Fit {
        let staging = staging_bytes_max(&self.gpu, bytes);
        lock(&self.state).store.fit(bytes, staging)
    }

    /// The error for tensors that live on two devices.
    pub(crate) fn same_device(&self, other: &Self) -> Result<(), Error> {
        if core::ptr::eq(self, other) {
            return Ok(());
        }
        let name = |engine: &Self| {
            format!("{} (device {})", engine.gpu.caps().identity.name, engine.number)
        };
        Err(DeviceCause::Devices { left: name(self), right: name(other) }.into())
    }
}
