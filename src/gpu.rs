//! The raw device and queue: the one place where a wgpu call can fail.
//!
//! Every call that can fail runs in [`Gpu::checked`], between error scopes that live and die on one
//! thread. wgpu's default handlers panic, so opening a device replaces them: an error that no scope
//! caught and the loss of the device are kept, and every later call returns them. A browser answers
//! no call at once, so no scopes are used there: all its errors are kept, and are returned before
//! any data that was read after them.

use core::pin::pin;
use core::task::{Context, Poll, Waker};
#[cfg(feature = "testing")]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use crate::caps::breadth::Breadth;
use crate::caps::{Caps, Identity};
use crate::clock::Stopwatch;
use crate::error::{Error, Result, mistake};
use crate::news::{Level, Topic};
use crate::shared::lock;
use crate::timeline::{Activity, Ticket, Timelines};

pub(crate) mod cause;
mod glance;
pub(crate) mod idle;
mod in_flight;
#[cfg(feature = "testing")]
mod injected;
mod lock;
mod loss;
pub(crate) mod odometer;
mod poll;
mod ran;
mod reservation;
mod taken_back;
mod trusted;
pub(crate) mod wait;
mod waiter;
pub(crate) mod watchdog;

use cause::{DESTROYED, DeviceCause, no_memory};
use glance::Glance;
use in_flight::InFlight;
#[cfg(feature = "testing")]
use injected::Injected;
#[cfg(feature = "testing")]
pub(crate) use injected::spoils;
#[cfg(feature = "testing")]
pub use injected::{Call, spoil_memory};
use lock::gl_lock;
use odometer::{Odometer, Sent};
use poll::{Unpolled, poll};
pub(crate) use reservation::Reservation;
use taken_back::TakenBack;
pub use trusted::TrustedModules;
use trusted::checks_kept;
pub(crate) use wait::{Drive, MapRequest, Mapped};
use waiter::Waiter;
use watchdog::Watchdog;

/// Staged bytes that are worth a submission of their own.
const STAGED_MAX: u64 = 1 << 20;

/// Host memory that each staged write takes at least: a buffer, and wgpu's records about it.
const STAGED_MIN: u64 = 4 << 10;

/// The value of a future that is ready at once; natively, error scopes are.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// What a call may raise. Scopes end in reverse order: the last is asked first.
#[cfg(not(target_family = "wasm"))]
const FILTERS: [wgpu::ErrorFilter; 3] =
    [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::Validation];
#[cfg(target_family = "wasm")]
const FILTERS: [wgpu::ErrorFilter; 0] = [];

/// Error scopes on this thread, the outermost first, and the lock held around them.
type Scopes = ([wgpu::ErrorScopeGuard; FILTERS.len()], Option<MutexGuard<'static, ()>>);

/// Whose objects a call is about, and so who is told what wgpu finds wrong with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Ours,
    /// The caller's own, which wharf did not make.
    Theirs,
}

/// What handlers write and every call reads.
#[derive(Debug, Default)]
struct Troubles {
    lost: OnceLock<(&'static str, String)>,
    /// The first error that no scope caught.
    stray: Mutex<Option<Error>>,
    /// What was last submitted, for the message of a loss.
    last: Mutex<String>,
}

/// A wgpu device and its queue, with every failure turned into a value.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    caps: Caps,
    /// As chips of its kind are; every operation asks.
    pub(crate) breadth: Breadth,
    /// Makes modules without checks that are not needed, if the user does.
    trusted: Option<TrustedModules>,
    /// Who profiles it.
    pub(crate) timelines: Arc<Timelines>,
    /// Stands for every buffer of a device on paper, which has neither memory nor a driver.
    paper: Option<wgpu::Buffer>,
    troubles: Arc<Troubles>,
    /// Shared by everyone who submits.
    submissions: RwLock<()>,
    staged: AtomicU64,
    in_flight: Mutex<InFlight<wgpu::SubmissionIndex>>,
    taken_back: TakenBack,
    waiter: Waiter,
    pub(crate) watchdog: Arc<Watchdog>,
    glance: Glance,
    /// What ran, where nobody would say that it did not.
    odometer: OnceLock<Odometer>,
    #[cfg(feature = "testing")]
    faults: Mutex<Injected>,
    #[cfg(feature = "testing")]
    rubbish: OnceLock<wgpu::Buffer>,
    #[cfg(feature = "testing")]
    timed_by_passes: AtomicBool,
}

impl Gpu {
    pub(crate) fn new(device: wgpu::Device, queue: wgpu::Queue, caps: Caps) -> Self {
        let troubles = Arc::new(Troubles::default());
        let stray = Arc::clone(&troubles);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            Topic::Device.tell(Level::Error, "no call of ours", format_args!("raised {error}"));
            let late = || DeviceCause::Late { message: error.to_string() }.into();
            lock(&stray.stray).get_or_insert_with(late);
        }));
        let told = Arc::clone(&troubles);
        device.set_device_lost_callback(move |reason, message| {
            let reason = match reason {
                wgpu::DeviceLostReason::Destroyed => DESTROYED,
                wgpu::DeviceLostReason::Unknown => "by the driver",
            };
            Topic::Device.tell(
                Level::Warn,
                "the device",
                format_args!("lost ({reason}): {message}"),
            );
            // The first loss is the cause; a second report changes nothing.
            let _ = told.lost.set((reason, message));
        });
        let timelines = Arc::new(Timelines::new(caps.identity.is_software()));
        let watchdog = Arc::new(Watchdog::new());
        let waiter = Waiter::new(device.clone(), caps.identity.backend, Arc::clone(&watchdog));
        let breadth = Breadth::of(&caps);
        let odometer = Odometer::of(&device, &queue).map_or_else(OnceLock::new, OnceLock::from);
        Self {
            device,
            queue,
            caps,
            breadth,
            trusted: None,
            timelines,
            paper: None,
            troubles,
            submissions: RwLock::new(()),
            staged: AtomicU64::new(0),
            in_flight: Mutex::default(),
            taken_back: TakenBack::default(),
            waiter,
            watchdog,
            glance: Glance::default(),
            odometer,
            #[cfg(feature = "testing")]
            faults: Mutex::default(),
            #[cfg(feature = "testing")]
            rubbish: OnceLock::new(),
            #[cfg(feature = "testing")]
            timed_by_passes: AtomicBool::new(false),
        }
    }

    /// With shader modules made by the user, where wgpu's checks are not needed.
    pub(crate) fn trusting(self, trusted: Option<TrustedModules>) -> Self {
        Self { trusted, ..self }
    }

    /// A shader module, made by the user if the text needs no checks.
    pub(crate) fn module(
        &self,
        descriptor: wgpu::ShaderModuleDescriptor<'_>,
        needs_checks: bool,
    ) -> wgpu::ShaderModule {
        match self.trusted {
            Some(make) if !needs_checks => make(&self.device, descriptor, checks_kept()),
            _ => self.device.create_shader_module(descriptor),
        }
    }

    /// A device of an adapter that is not here: wgpu's own objects stand in for the driver's.
    pub(crate) fn on_paper(device: wgpu::Device, queue: wgpu::Queue, caps: Caps) -> Result<Self> {
        let real = Self::new(device, queue, caps);
        let paper = Some(real.create_buffer("wharf.paper", 4, wgpu::BufferUsages::STORAGE)?);
        Ok(Self { paper, ..real })
    }

    /// Whether its adapter is not here.
    pub(crate) const fn is_on_paper(&self) -> bool {
        self.paper.is_some()
    }

    /// An error on paper, where there is nobody to do it.
    pub(crate) fn present(&self, doing: &'static str) -> Result<()> {
        if self.is_on_paper() { Err(cause::on_paper(doing, &self.caps.identity)) } else { Ok(()) }
    }

    pub(crate) const fn caps(&self) -> &Caps {
        &self.caps
    }

    fn gl_lock(&self) -> Option<MutexGuard<'static, ()>> {
        gl_lock(self.caps.identity.backend)
    }

    /// The error that every call returns once the device is gone or an error escaped all scopes.
    pub(crate) fn alive(&self) -> Result<()> {
        self.told().or_else(|_| {
            let _gl = self.gl_lock();
            self.settled()
        })
    }

    /// [`Gpu::alive`], for who holds the lock.
    fn settled(&self) -> Result<()> {
        self.told().or_else(|error| match error.is_device_lost() {
            true => Err(error),
            // A call of the caller's own may have failed because of a loss that is yet to be told.
            false => {
                self.notice_loss();
                self.told()
            }
        })
    }

    /// What is known so far.
    fn told(&self) -> Result<()> {
        if let Some((reason, message)) = self.troubles.lost.get() {
            let (last, backend) = (lock(&self.troubles.last).clone(), self.caps.identity.backend);
            let message = message.clone();
            return Err(DeviceCause::Lost { reason, message, last, backend }.into());
        }
        lock(&self.troubles.stray).clone().map_or(Ok(()), Err)
    }

    /// The error that every call returns, if one escaped all scopes.
    fn unstrayed(&self) -> Result<()> {
        if lock(&self.troubles.stray).is_some() { self.alive() } else { Ok(()) }
    }

    /// Runs wgpu calls; whatever they raise becomes the error.
    pub(crate) fn checked<T>(&self, doing: &str, calls: impl FnOnce() -> T) -> Result<T> {
        self.checked_as(Whose::Ours, doing, calls)
    }

    /// [`Gpu::checked`], also for calls that the caller's objects may make fail.
    pub(crate) fn checked_as<T>(
        &self,
        whose: Whose,
        doing: &str,
        calls: impl FnOnce() -> T,
    ) -> Result<T> {
        let scopes = self.open_scopes()?;
        let out = calls();
        self.close_scopes(whose, doing, scopes)?;
        Ok(out)
    }

    fn open_scopes(&self) -> Result<Scopes> {
        let gl = self.gl_lock();
        self.settled()?;
        Ok((FILTERS.map(|filter| self.device.push_error_scope(filter)), gl))
    }

    fn close_scopes(&self, whose: Whose, doing: &str, (scopes, _gl): Scopes) -> Result<()> {
        let mut raised = None;
        for scope in scopes.into_iter().rev() {
            raised = now(scope.pop()).flatten().or(raised);
        }
        if raised.is_some() {
            self.notice_loss();
        }
        // A lost device raises nothing in scopes.
        self.settled()?;
        raised.map_or(Ok(()), |error| Err(self.explain(whose, doing, &error)))
    }

    /// What was raised, in wharf's terms.
    fn explain(&self, whose: Whose, doing: &str, error: &wgpu::Error) -> Error {
        match error {
            wgpu::Error::OutOfMemory { .. } => no_memory(doing, None),
            wgpu::Error::Validation { description, .. } if whose == Whose::Theirs => {
                let message = description.trim().into();
                DeviceCause::Theirs { doing: doing.into(), message }.into()
            }
            // wgpu refused the call before any driver saw it: wharf should not have made it.
            wgpu::Error::Validation { description, .. } => {
                let mistake = || mistake(doing, description.trim()).on(|| self.name());
                self.unreported_loss().unwrap_or_else(mistake)
            }
            error => DeviceCause::Driver { doing: doing.into(), message: error.to_string() }.into(),
        }
    }

    /// Adapter, backend and driver, for reports.
    pub(crate) fn name(&self) -> String {
        let Identity { name, backend, driver, driver_info, .. } = &self.caps.identity;
        let text = format!("{name} ({}), {driver} {driver_info}", backend.name());
        text.trim_end_matches([',', ' ']).into()
    }

    /// A storage buffer, or the reason why not.
    pub(crate) fn create_buffer(
        &self,
        label: &str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer> {
        if let Some(stand_in) = &self.paper {
            return Ok(stand_in.clone());
        }
        #[cfg(feature = "testing")]
        self.injected_failure(Call::Allocation, label, Some(size))?;
        let descriptor =
            wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
        let made = self.checked(label, || self.device.create_buffer(&descriptor));
        made.map_err(|error| match error.is_out_of_memory() {
            true => no_memory(label, Some(size)),
            false => error,
        })
    }

    /// Writes into a buffer, before the commands of the next submission.
    pub(crate) fn write(
        &self,
        doing: &str,
        buffer: &wgpu::Buffer,
        at: u64,
        bytes: &[u8],
    ) -> Result<()> {
        if self.is_on_paper() {
            return Ok(());
        }
        #[cfg(feature = "testing")]
        self.injected_failure(Call::Allocation, doing, Some(bytes.len() as u64))?;
        self.checked(doing, || self.queue.write_buffer(buffer, at, bytes))
    }

    /// What a dispatch binds.
    pub(crate) fn bind(
        &self,
        whose: Whose,
        doing: &str,
        group: &wgpu::BindGroupDescriptor<'_>,
    ) -> Result<wgpu::BindGroup> {
        #[cfg(feature = "testing")]
        self.injected_failure(Call::Allocation, doing, None)?;
        self.checked_as(whose, doing, || self.device.create_bind_group(group))
    }

    /// Submits commands; `what` is remembered for the message of a loss.
    pub(crate) fn submit(
        &self,
        what: &str,
        commands: impl IntoIterator<Item = wgpu::CommandBuffer>,
    ) -> Result<Sent> {
        self.submit_as(Whose::Ours, what, commands)
    }

    /// [`Gpu::submit`], also for commands that the caller's objects may make fail.
    pub(crate) fn submit_as(
        &self,
        whose: Whose,
        what: &str,
        commands: impl IntoIterator<Item = wgpu::CommandBuffer>,
    ) -> Result<Sent> {
        #[cfg(feature = "testing")]
        for call in [Call::Submission, Call::MemoryOfSubmission] {
            self.injected_failure(call, what, None)?;
        }
        let _shared = self.submissions.read().unwrap_or_else(PoisonError::into_inner);
        let sent = self.hand_in(commands, |commands| {
            self.checked_as(whose, what, || self.queue.submit(commands))
        })?;
        {
            let mut last = lock(&self.troubles.last);
            last.clear();
            last.push_str(what);
        }
        #[cfg(feature = "testing")]
        self.injected_loss();
        Ok(sent)
    }

    /// Counts bytes staged by `queue.write_buffer_with`; submits them once they are worth it, and
    /// then waits until few such submissions are pending. In a browser nothing waits. Any later
    /// submission carries the rest.
    pub(crate) fn submit_writes(&self, bytes: u64) -> Result<()> {
        let bytes = bytes.max(STAGED_MIN);
        let staged = self.staged.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if staged < STAGED_MAX {
            return Ok(());
        }
        self.staged.store(0, Ordering::Relaxed);
        let index = self.submit("upload", None)?.index;
        let oldest = lock(&self.in_flight).push(index);
        let Some(oldest) = oldest else { return Ok(()) };
        let waited = self.wait(Some(oldest.1.clone()));
        waited.inspect_err(|_| lock(&self.in_flight).put_back(oldest))
    }

    /// The newest of such submissions, where so many are pending that a few more would block.
    pub(crate) fn crowd(&self) -> Option<u64> {
        lock(&self.in_flight).crowd()
    }

    /// All of them up to this one are done.
    pub(crate) fn arrived(&self, newest: u64) {
        lock(&self.in_flight).arrived(newest);
    }

    /// Notes dispatches that have just been submitted, for whoever waits for them.
    pub(crate) fn watch(&self, tickets: impl Iterator<Item = Ticket>) {
        // To be called back, wgpu submits what is staged.
        let _gl = self.gl_lock();
        self.watchdog.submitted(&self.queue, tickets);
    }

    /// How long whoever waits does so while nothing is done.
    pub(crate) fn set_patience(&self, patience: Option<Duration>) {
        if self.watchdog.set_patience(patience) && !self.is_idle() {
            let _gl = self.gl_lock();
            self.watchdog.submitted_before(&self.queue);
        }
    }

    /// Waits for a submission, or for everything, with patience. Does nothing in a browser.
    pub(crate) fn wait(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<()> {
        let _waiting = self.timelines.during(Activity::Wait, "wait", None);
        let (backend, since) = (self.caps.identity.backend, Stopwatch::start());
        let wait = || self.watchdog.wait(&self.device, backend, submission, since);
        let polled = self.glance.before(|| self.is_idle(), wait);
        self.alive()?;
        polled.map(drop).map_err(|error| match error {
            Unpolled::Late => self.timed_out(),
            Unpolled::Failed(message) => self.blame("waiting", &message),
        })
    }

    /// What a wait that has taken too long ends with.
    fn timed_out(&self) -> Error {
        let (busy, behind) = self.watchdog.busy();
        let (adapter, last) = (self.name(), lock(&self.troubles.last).clone());
        let patience = self.watchdog.patience().unwrap_or_default();
        DeviceCause::TimedOut { adapter, patience, busy, behind, last }.into()
    }

    /// Holds submissions off while a buffer that others may use is mapped. Nothing that submits or
    /// waits may happen meanwhile.
    pub(crate) fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.submissions.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no buffer that others may use is mapped.
    pub(crate) fn unmapped(&self) {
        drop(self.submissions.read().unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether all that was submitted is known to be done.
    pub(crate) fn is_idle(&self) -> bool {
        let _gl = self.gl_lock();
        let polled = poll(&self.device, wgpu::PollType::Poll);
        polled.is_ok_and(|status| status.is_queue_empty())
    }

    /// Lets wgpu notice what is done, without waiting.
    pub(crate) fn tick(&self) {
        let _gl = self.gl_lock();
        // If the poll fails, the next checked call reports why.
        let _ = poll(&self.device, wgpu::PollType::Poll);
    }

    /// Makes the calls of one kind with these numbers, counted from now, fail.
    #[cfg(feature = "testing")]
    pub(crate) fn fail(&self, call: Call, range: core::ops::Range<u64>) {
        lock(&self.faults).fail(call, range);
    }

    /// Loses the device right after the `n`th submission from now.
    #[cfg(feature = "testing")]
    pub(crate) fn lose_after(&self, n: u64) {
        lock(&self.faults).lose_after(n);
    }

    /// How many failures this device has met that a test asked for.
    #[cfg(feature = "testing")]
    pub(crate) fn failures(&self) -> u64 {
        lock(&self.faults).failures
    }

    #[cfg(feature = "testing")]
    pub(crate) fn injected_failure(&self, of: Call, doing: &str, size: Option<u64>) -> Result<()> {
        lock(&self.faults).call(of, doing, size)
    }

    #[cfg(feature = "testing")]
    fn injected_loss(&self) {
        if lock(&self.faults).submit() {
            self.device.destroy();
        }
    }

    #[cfg(feature = "testing")]
    pub(crate) fn time_by_passes(&self) {
        self.timed_by_passes.store(true, Ordering::Relaxed);
    }

    #[cfg(feature = "testing")]
    pub(crate) fn is_timed_by_passes(&self) -> bool {
        self.timed_by_passes.load(Ordering::Relaxed)
    }

    /// A MiB of NaN, whether read as f32, f16 or bf16.
    #[cfg(feature = "testing")]
    pub(crate) fn rubbish(&self) -> Result<wgpu::Buffer> {
        if let Some(made) = self.rubbish.get() {
            return Ok(made.clone());
        }
        let bytes = [0xc0, 0x7f].repeat(1 << 19);
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let (label, size) = (Some("wharf.rubbish"), bytes.len() as u64);
        let descriptor = wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false };
        let made = self.checked("spoiling", || {
            let made = self.device.create_buffer(&descriptor);
            self.queue.write_buffer(&made, 0, &bytes);
            made
        })?;
        Ok(self.rubbish.get_or_init(|| made).clone())
    }
}
