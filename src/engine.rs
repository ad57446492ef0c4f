//! The inside of a device: the raw GPU, the store and what has been recorded, under one lock.
//!
//! The lock is never held across a wait, a map or user code. Running out of memory means trim, wait
//! for the queue, retry once: the lock is released before the wait.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::count::bytes as size;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::exec::{
    Asked, Clearing, Fault, Faults, Hit, Job, Pipelines, Ready, Recording, Seat, dump,
};
use crate::gpu::cause::DeviceCause;
use crate::gpu::odometer::Sent;
use crate::gpu::{Gpu, Whose};
use crate::ledger::Books;
use crate::news::{Level, Topic};
use crate::shape::Shape;
use crate::shared::{Watches, lock};
use crate::store::ring::Ring;
use crate::store::{Denial, PAD, Segments, Storage, Store};
use crate::wgsl::Needs;

pub(crate) mod docket;
mod memory;
pub(crate) mod notes;
pub(crate) mod site;
pub(crate) mod sketch;

pub(crate) use site::Site;

use docket::Docket;
use notes::{Notes, Watch};
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
    /// What kernels may need here.
    pub(crate) offers: Needs,
    state: Mutex<State>,
    /// What has been asked for without a read.
    pub(crate) clearing: Mutex<Option<Clearing>>,
    watches: Watches<Notes>,
    /// Those who have results computed once more.
    pub(crate) shadows: Watches<Docket>,
    /// A mistake in a kernel, for tests of what is to notice it.
    #[cfg(feature = "testing")]
    pub(crate) planted: Mutex<Option<crate::wgsl::mutant::Mutant>>,
    /// Present on a sketch of a device, which only notes what it would do.
    pub(crate) sketch: Option<Sketch>,
}

#[derive(Debug)]
struct State {
    store: Store,
    recording: Recording,
    faults: Faults,
}

impl State {
    /// Parts with buffers that were given back, unless what is recorded may use them.
    fn leave(&mut self) {
        if self.recording.is_empty() {
            self.store.leave();
        }
    }
}

impl Engine {
    pub(crate) fn new(gpu: Gpu) -> Self {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        Self::numbered(OPENED.fetch_add(1, Ordering::Relaxed) + 1, Arc::new(gpu))
    }

    fn numbered(number: u64, gpu: Arc<Gpu>) -> Self {
        let (store, recording) = (Store::new(&gpu), Recording::new(&gpu));
        let state = Mutex::new(State { store, recording, faults: Faults::default() });
        let books = Arc::new(Books::new(Arc::clone(&gpu.timelines)));
        let (ring, pipelines) = (Ring::default(), Pipelines::default());
        let offers = Needs::had_by(gpu.caps()).union(Needs::CHECKS);
        Self {
            number,
            gpu,
            books,
            ring,
            pipelines,
            offers,
            state,
            clearing: Mutex::default(),
            watches: Watches::default(),
            shadows: Watches::default(),
            #[cfg(feature = "testing")]
            planted: Mutex::default(),
            sketch: None,
        }
    }

    /// Another engine on the same GPU: memory, pipelines and who watches are its own.
    pub(crate) fn apart(&self) -> Self {
        Self::numbered(self.number, Arc::clone(&self.gpu))
    }

    /// A sketch of this device: it notes work instead of doing it.
    pub(crate) fn sketched(&self) -> Result<Self> {
        let sketch = Some(Sketch::new(&self.gpu)?);
        Ok(Self { sketch, ..Self::numbered(self.number, Arc::clone(&self.gpu)) })
    }

    /// Notes what runs from now on, as long as the result lives.
    pub(crate) fn watch(&self) -> Watch {
        Watch(self.watches.begin(Notes::default()))
    }

    /// Notes why the next kernel was chosen.
    pub(crate) fn remark(&self, text: impl Fn() -> String) {
        if let Some(sketch) = &self.sketch {
            sketch.notes.remark(text());
        }
        self.watches.tell(|notes| notes.remark(text()));
    }

    /// The bytes of a tensor; an error beyond `BYTES_MAX`.
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
        Segments::new(self.gpu.caps()).bytes_max
    }

    /// The most elements of a segment.
    pub(crate) fn segment_elements(&self, dtype: DType) -> usize {
        self.segment_bytes() as usize / dtype.width() // words reach all of a segment
    }

    /// Memory for a value, in none of the buffers in `avoid`.
    ///
    /// If the store refuses, this gives back unused memory, waits for the queue and tries again;
    /// then moves small tensors together and tries again; then tries smaller segments.
    pub(crate) fn allocate(&self, bytes: u64, avoid: &[u64]) -> Result<Arc<Storage>> {
        self.allocate_by((bytes, &[]), Some(avoid), 0)
    }

    /// Like `allocate`, where values of the sizes `next` are to have memory too.
    pub(crate) fn allocate_before(&self, bytes: u64, next: &[u64]) -> Result<Arc<Storage>> {
        self.allocate_by((bytes, next), Some(&[]), 0)
    }

    /// Like `allocate`, but in one piece wherever one segment holds it.
    pub(crate) fn allocate_whole(&self, bytes: u64, avoid: &[u64]) -> Result<Arc<Storage>> {
        self.allocate_by((bytes, &[]), Some(avoid), self.segment_bytes())
    }

    /// Like `allocate`, but in buffers that no other tensor shares.
    pub(crate) fn allocate_alone(&self, bytes: u64) -> Result<Arc<Storage>> {
        self.allocate_by((bytes, &[]), None, 0)
    }

    fn allocate_by(
        &self,
        (bytes, next): (u64, &[u64]),
        avoid: Option<&[u64]>,
        whole_max: u64,
    ) -> Result<Arc<Storage>> {
        let storage = self.room_for((bytes, next), avoid, whole_max)?;
        self.watches.tell(|notes| notes.allocated(bytes));
        self.level(Some(bytes));
        #[cfg(feature = "testing")]
        self.spoil(&storage)?;
        Ok(storage)
    }

    /// Notes how much memory there is, after so many bytes were allocated, if any were.
    fn level(&self, allocated: Option<u64>) {
        if self.sketch.is_none() {
            self.gpu.timelines.level(allocated, || lock(&self.state).store.level());
        }
    }

    fn room_for(
        &self,
        (bytes, next): (u64, &[u64]),
        avoid: Option<&[u64]>,
        whole_max: u64,
    ) -> Result<Arc<Storage>> {
        self.gpu.alive()?;
        let segments = *lock(&self.state).store.segments();
        let mut segment = segments.bytes_max;
        segments.check(bytes)?;
        if let Some(sketch) = &self.sketch {
            let occupies = |size| lock(&self.state).store.occupies(size);
            return Ok(sketch.allocate(bytes, segments, occupies));
        }
        let attempt =
            |segment| lock(&self.state).store.allocate(&self.gpu, (bytes, next), segment, avoid);
        let mut refusal = match attempt(segment) {
            Ok(storage) => return Ok(storage),
            Err(refusal) => self.give_up_unless_memory(refusal)?,
        };
        type GiveBack = fn(&Engine) -> Result<u64>;
        let ways: [(GiveBack, &str); 2] =
            [(Self::trim, "unused memory"), (Self::compact, "small tensors moved together")];
        let vain = lock(&self.state).store.is_beyond_cap(bytes);
        for (give_back, what) in ways.into_iter().filter(|_| !vain) {
            let freed = match give_back(self) {
                Ok(freed) => freed,
                // What was recorded found no memory. There may be some by now.
                Err(error) if error.is_out_of_memory() => 0,
                Err(error) => return Err(error),
            };
            let freed = size(freed);
            Topic::Memory.tell(
                Level::Info,
                size(bytes),
                format_args!("{refusal}; {what}: {freed} given back, tried again"),
            );
            match attempt(segment) {
                Ok(storage) => return Ok(storage),
                Err(again) => refusal = self.give_up_unless_memory(again)?,
            }
        }
        // Smaller segments help only with a driver, which may have room for two halves and not for
        // the whole. A cap counts bytes.
        while let Denial::Driver(_) = refusal
            && bytes > whole_max.max(segment / 2)
            && let Some(half) = Segments::halved(segment)
        {
            let half_size = size(half);
            Topic::Fallback.tell(
                Level::Info,
                size(bytes),
                format_args!("{refusal}; in segments of {half_size}"),
            );
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

    /// Memory as tests want it: full of NaN, so that whoever reads what was not written, or leaves
    /// out what was to be written, cannot be right by what lay there before.
    #[cfg(feature = "testing")]
    fn spoil(&self, storage: &Storage) -> Result<()> {
        if self.sketch.is_some() || self.gpu.is_on_paper() || !crate::gpu::spoils() {
            return Ok(());
        }
        // What was recorded may still read this memory.
        self.flush()?;
        let rubbish = self.gpu.rubbish()?;
        let copies = self.gpu.checked("spoiling", || {
            let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
            for piece in storage.pieces() {
                for at in (0..piece.bytes).step_by(rubbish.size() as usize) {
                    let bytes = rubbish.size().min(piece.bytes - at);
                    let to = piece.offset + at;
                    encoder.copy_buffer_to_buffer(&rubbish, 0, &piece.buffer, to, bytes);
                }
            }
            self.gpu.finish(encoder)
        })?;
        self.gpu.submit("spoiling", [copies]).map(drop)
    }

    /// Returns a refusal that more memory could mend, and fails with any other.
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

    /// Submits what has been recorded, and waits until no buffer of it is mapped: from then on
    /// commands of somebody else may use them.
    pub(crate) fn hand_over(&self) -> Result<()> {
        self.flush()?;
        self.gpu.unmapped();
        // Nothing may have been submitted that would have told of a loss.
        self.gpu.tick();
        self.gpu.alive()
    }

    /// Submits what an encoder of the caller's has, and behind it what has been recorded.
    pub(crate) fn append(&self, encoder: wgpu::CommandEncoder) -> Result<Sent> {
        let state = &mut lock(&self.state);
        let submitted = state.recording.append(&self.gpu, encoder);
        self.submitted(state, submitted)
    }

    /// Whether a buffer is one of the store's.
    pub(crate) fn owns(&self, buffer: &wgpu::Buffer) -> bool {
        lock(&self.state).store.owns(buffer)
    }

    /// A buffer of the caller's own as memory, of which only whole quads count.
    pub(crate) fn foreign(&self, buffer: &wgpu::Buffer) -> Arc<Storage> {
        let align = self.gpu.caps().limits.storage_align_bytes.max(PAD);
        lock(&self.state).store.foreign(buffer, align)
    }

    /// Submits copies. With `flush` the recorded commands go first, in the same submission, so that
    /// a read of what they compute waits once, not twice.
    pub(crate) fn copy(
        &self,
        flush: bool,
        copy: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<Sent> {
        let copies = self.copies(Whose::Ours, "read", copy)?;
        match flush {
            true => self.submit_and(&mut lock(&self.state), Some(copies)),
            false => self.gpu.submit("read", [copies]),
        }
    }

    /// Submits copies from or into a buffer of the caller's own. The recorded commands go first, in
    /// a submission that these copies cannot spoil.
    pub(crate) fn copy_theirs(
        &self,
        what: &str,
        copy: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<Sent> {
        self.flush()?;
        let copies = self.copies(Whose::Theirs, what, copy)?;
        self.gpu.submit_as(Whose::Theirs, what, [copies])
    }

    fn copies(
        &self,
        whose: Whose,
        what: &str,
        copy: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<wgpu::CommandBuffer> {
        self.gpu.checked_as(whose, what, || {
            let descriptor = wgpu::CommandEncoderDescriptor { label: Some("wharf.copy") };
            let mut encoder = self.gpu.device.create_command_encoder(&descriptor);
            copy(&mut encoder);
            self.gpu.finish(encoder)
        })
    }

    fn submit(&self, state: &mut State) -> Result<()> {
        if state.recording.is_empty() {
            state.leave();
            return self.gpu.alive();
        }
        self.submit_and(state, None).map(drop)
    }

    fn submit_and(&self, state: &mut State, after: Option<wgpu::CommandBuffer>) -> Result<Sent> {
        let submitted = state.recording.submit(&self.gpu, after);
        self.submitted(state, submitted)
    }

    /// What is to be done after a submission was tried.
    fn submitted(&self, state: &mut State, submitted: Result<(Sent, u64)>) -> Result<Sent> {
        // Nothing recorded is left to write them, unless a lack of memory kept the batch.
        if state.recording.is_empty() {
            state.faults.reclaim();
        }
        state.leave();
        let (index, bytes) = submitted?;
        if bytes > 0 {
            self.books.note_control(bytes);
        }
        Ok(index)
    }

    /// Makes a dispatch ready to be recorded; `None` in a sketch and on paper, where it is only
    /// noted. Its buffers must stay in place until it is recorded.
    pub(crate) fn prepare(&self, job: Job<'_>, asked: Asked) -> Result<Option<Ready>> {
        dump(job.kernel, asked.line, || self.gpu.name());
        if let Some(need) = job.kernel.needs.without(self.offers).each().next() {
            let (kernel, feature, adapter) = (job.kernel.name, need.to_string(), self.gpu.name());
            return Err(DeviceCause::Lacks { kernel, feature, adapter }.into());
        }
        if let Some(sketch) = &self.sketch {
            sketch.dispatch(&job);
            return Ok(None);
        }
        self.watches.tell(|notes| notes.dispatch(&job));
        if self.gpu.is_on_paper() {
            return Ok(None);
        }
        #[cfg(feature = "testing")]
        let planted = lock(&self.planted).as_ref().and_then(|mutant| mutant.within(job.kernel));
        #[cfg(feature = "testing")]
        let job = Job { kernel: planted.as_ref().unwrap_or(job.kernel), ..job };
        if self.shadows.any() && !docket::note(&job) {
            self.shadows.tell(|docket| docket.outside(job.kernel.name));
        }
        let pipeline = self.pipelines.get(&self.gpu, job.kernel, Some(asked.line));
        let ready = pipeline.and_then(|pipeline| Ready::new(&self.gpu, pipeline, job, asked));
        ready.map(Some).map_err(|error| {
            let error = error.on(|| self.gpu.name());
            match error.kind() {
                ErrorKind::Internal | ErrorKind::Driver => {
                    error.during(format!("asked for at {}", asked.line))
                }
                _ => error,
            }
        })
    }

    /// Records dispatches, all of them, and submits the batch once it is full.
    pub(crate) fn record(&self, all: impl IntoIterator<Item = Ready>) -> Result<()> {
        let state = &mut lock(&self.state);
        for ready in all {
            self.submit_full(state, Some(&ready))?;
            state.recording.push(ready)?;
            self.submit_full(state, None)?;
        }
        Ok(())
    }

    /// Submits what is full, or would be with the next; without memory a later submission tells.
    fn submit_full(&self, state: &mut State, next: Option<&Ready>) -> Result<()> {
        let full = state.recording.is_full(next);
        let submitted = if full { self.submit(state) } else { Ok(()) };
        submitted.or_else(|error| error.is_out_of_memory().then_some(()).ok_or(error))
    }

    /// A slot that a kernel may hit; `explain` says what a hit means.
    pub(crate) fn fault(
        &self,
        seat: Seat,
        explain: impl Fn(Hit) -> Error + Send + Sync + 'static,
    ) -> Result<Arc<Fault>> {
        let (fault, washed) = lock(&self.state).faults.take(&self.gpu, seat, Box::new(explain))?;
        if washed > 0 {
            self.books.note_control(washed);
        }
        Ok(fault)
    }

    #[cfg(test)]
    pub(crate) fn stamps(&self) -> usize {
        lock(&self.state).recording.stamps()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::exec::{Bound, Value};
    use crate::kernel::fill::text::FILL;
    use crate::kernel::moves::text::reindex;
    use crate::testing::noop_device;
    use crate::wgsl::{Assembled, Form, Slot, Target, Way, kept};

    fn device() -> crate::Device {
        noop_device().expect("it opens")
    }

    /// A trace shows it as it goes.
    #[test]
    fn what_is_given_back_is_live_no_more() {
        let engine = device().engine;
        let level = || lock(&engine.state).store.level();
        let [before, _] = level();
        let storage = engine.allocate(64, &[]).expect("there is memory");
        let [live, reserved] = level();
        assert!(live == before + 64 && reserved >= live, "{live} of {reserved}");
        drop(storage);
        assert_eq!(level(), [before, reserved]);
    }

    /// Commands of the caller's may still use it until then.
    #[test]
    fn what_was_lent_and_came_back_is_private_again() {
        let storage = device().engine.allocate(64, &[]).expect("there is memory");
        let loans = [storage.lend(), storage.lend()];
        let private = loans.map(|loan| {
            drop(loan);
            storage.is_private()
        });
        assert_eq!(private, [false, true]);
    }

    /// What a kernel is refused with, whose bindings are all one buffer.
    fn refused(kernel: &Assembled, words: usize, bindings: usize) -> Error {
        let device = device();
        let engine = &device.engine;
        let value = Value::new(engine.allocate(64, &[]).expect("there is memory"));
        let pinned = value.pin().expect("it has memory");
        let bindings = vec![Bound::from(&pinned.pieces()[0]); bindings];
        let (params, outputs) = (vec![0; words], vec![Arc::downgrade(&value)]);
        let job = Job { kernel, bindings, params, groups: [1; 3], outputs };
        device.site().prepare(job).expect_err("no")
    }

    #[test]
    fn what_is_wrong_with_a_dispatch_is_a_mistake_of_our_own() {
        let fill = kept::kernel(&FILL, &[Slot::write(Form::W32)], 0, Target::Cpu);
        let mut broken = Assembled::clone(&fill);
        broken.wgsl = format!("{}nonsense", broken.wgsl).into();
        let copy = reindex(Form::W32, Way::Dense, 0, Target::Cpu);
        let (version, named) = (env!("CARGO_PKG_VERSION"), "llvmpipe (LLVM 15.0.6, 256 bits)");
        for (kernel, words, bindings, found) in [
            (&*fill, 300, 1, "300 words of parameters, 256 fit"),
            (&broken, 8, 1, "kernel fill at "),
            (&*copy, 8, 2, "it would read and write one buffer"),
        ] {
            let (error, name) = (refused(kernel, words, bindings), kernel.name);
            let text = error.to_string();
            let what = format!(": {name} failed in wharf itself: {found}");
            assert!(text.starts_with("asked for at src/engine.rs:"), "by whom: {text}");
            assert!(text.contains(&what), "not {what}: {text}");
            assert!(text.contains(&format!(" (wharf {version} on {named}")), "nameless: {text}");
            assert_eq!(error.kind(), ErrorKind::Internal, "{text}");
        }
    }
}
