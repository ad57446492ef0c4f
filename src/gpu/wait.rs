//! Waiting for the device, blocking or not.
//!
//! A browser calls back by itself. Natively somebody has to poll: a blocking call polls on its own
//! thread ([`Drive::Block`]); an `await` leaves it to one waiting thread per device, started when
//! it is first needed ([`Drive::Wake`]). Dropping a [`Mapped`] gives up waiting: its owner drops
//! the buffer, unless others wait for the same [`MapRequest`].

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex};

use super::Gpu;
use super::cause::DeviceCause;
use super::lock::is_gl_locked;
use super::waiter::Unmet;
use crate::error::{Error, Result};
use crate::shared::lock;

/// Who polls the device while a future is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drive {
    /// The thread that polls the future: it blocks.
    #[cfg(not(target_arch = "wasm32"))]
    Block,
    /// The device's waiting thread, or the browser.
    Wake,
}

/// Why there is nothing to read.
#[derive(Clone, Debug)]
enum Failure {
    Mapping(wgpu::BufferAsyncError),
    /// wgpu drops what it was to call back, where that comes behind a callback that panics.
    Dropped,
}

#[derive(Debug, Default)]
struct Signal {
    outcome: Option<Result<(), Failure>>,
    wakers: Vec<Waker>,
}

impl Signal {
    fn wake(&mut self, waker: &Waker) {
        if !self.wakers.iter().any(|known| known.will_wake(waker)) {
            self.wakers.push(waker.clone());
        }
    }
}

/// Whoever tells how it ended: whoever drops it without a word tells that, too.
#[derive(Debug)]
struct Answer(Arc<Mutex<Signal>>);

impl Answer {
    /// Says how it ended, if that was not said before.
    fn end(&self, outcome: Result<(), Failure>) {
        lock(&self.0).outcome.get_or_insert(outcome);
        wake(&self.0);
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.end(Err(Failure::Dropped));
    }
}

/// Wakes last: a woken task may look at the signal at once.
fn wake(signal: &Mutex<Signal>) {
    let wakers = core::mem::take(&mut lock(signal).wakers);
    wakers.into_iter().for_each(Waker::wake);
}

/// A buffer that was asked for, which many may wait for.
#[derive(Clone, Debug)]
pub(crate) struct MapRequest(Arc<Mutex<Signal>>);

impl MapRequest {
    /// Asks for the first `size` bytes of `buffer`.
    pub(crate) fn ask(gpu: &Gpu, buffer: &wgpu::Buffer, size: u64) -> Result<Self> {
        #[cfg(feature = "testing")]
        gpu.injected_failure(super::Call::Mapping, "mapping", None)?;
        let signal = Arc::new(Mutex::new(Signal::default()));
        let answer = Answer(Arc::clone(&signal));
        #[cfg(target_family = "wasm")]
        let queue = gpu.queue.clone();
        gpu.checked("mapping", || {
            buffer.slice(..size).map_async(wgpu::MapMode::Read, move |outcome| {
                let outcome = outcome.map_err(Failure::Mapping);
                // A browser refuses it before it tells of the loss that may be why, but answers
                // for the queue afterwards, lost or not.
                #[cfg(target_family = "wasm")]
                if outcome.is_err() {
                    return queue.on_submitted_work_done(move || answer.end(outcome));
                }
                answer.end(outcome);
            });
        })?;
        Ok(Self(signal))
    }

    /// Whether it has come, or never will.
    pub(crate) fn is_answered(&self) -> bool {
        lock(&self.0).outcome.is_some()
    }
}

/// What the waiting thread is to one that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Errand {
    #[default]
    Unsent,
    Sent,
    /// What was waited for did not come in time, which is nothing to others who wait for it.
    Late,
}

/// A buffer range on its way into the host's address space.
#[derive(Debug)]
pub(crate) struct Mapped<'a> {
    gpu: &'a Gpu,
    drive: Drive,
    submission: wgpu::SubmissionIndex,
    signal: Arc<Mutex<Signal>>,
    errand: Arc<Mutex<Errand>>,
}

impl<'a> Mapped<'a> {
    /// Waits for what was asked for, which comes once `submission` is done.
    pub(crate) fn new(
        gpu: &'a Gpu,
        drive: Drive,
        submission: wgpu::SubmissionIndex,
        MapRequest(signal): MapRequest,
    ) -> Self {
        Self { gpu, drive, submission, signal, errand: Arc::default() }
    }

    fn outcome(&self) -> Option<Result<()>> {
        let or =
            |why: fn(&Gpu) -> Error| Err(self.gpu.told().err().unwrap_or_else(|| why(self.gpu)));
        let Some(outcome) = lock(&self.signal).outcome.clone() else {
            let late = *lock(&self.errand) == Errand::Late;
            return late.then(|| or(Gpu::timed_out));
        };
        // A completed map has its data, even if the device was lost meanwhile. But a browser may
        // have refused the commands that were to compute it.
        Some(match outcome {
            Ok(()) => self.gpu.unstrayed(),
            Err(Failure::Mapping(error)) => Err(self.gpu.blame("mapping", &error)),
            Err(Failure::Dropped) => or(|_| DeviceCause::Unanswered.into()),
        })
    }

    /// Has the waiting thread wait, if it does not already.
    fn send(&self) {
        match &mut *lock(&self.errand) {
            // What came in the meantime stays: the next look finds it.
            Errand::Sent | Errand::Late => return,
            unsent => *unsent = Errand::Sent,
        }
        let (signal, errand) = (Arc::clone(&self.signal), Arc::clone(&self.errand));
        self.gpu.waiter.wait_for(self.submission.clone(), move |unmet| {
            *lock(&errand) = match unmet {
                Unmet::Late => Errand::Late,
                Unmet::Panicked => Errand::Unsent,
            };
            wake(&signal);
        });
    }
}

impl Future for Mapped<'_> {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Whoever polls this does not wait for another thread.
        if !is_gl_locked(self.gpu.caps.identity.backend) {
            self.gpu.tick();
        }
        if let Some(outcome) = self.outcome() {
            return Poll::Ready(outcome);
        }
        match self.drive {
            #[cfg(not(target_arch = "wasm32"))]
            // Never pending: whoever blocks in here may be a future that somebody else wakes.
            Drive::Block => loop {
                let waited = self.gpu.wait(Some(self.submission.clone()));
                if let Some(outcome) = self.outcome() {
                    return Poll::Ready(outcome);
                }
                if let Err(error) = waited {
                    return Poll::Ready(Err(error));
                }
                std::thread::yield_now();
            },
            Drive::Wake => {
                lock(&self.signal).wake(cx.waker());
                // The outcome may have come just before the waker was stored: look again.
                if let Some(outcome) = self.outcome() {
                    return Poll::Ready(outcome);
                }
                self.send();
            }
        }
        Poll::Pending
    }
}
