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
use crate::error::Result;
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
    /// Nobody waits for it any longer.
    Late,
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

/// A buffer that was asked for, which many may wait for.
#[derive(Clone, Debug)]
pub(crate) struct MapRequest(Arc<Mutex<Signal>>);

impl MapRequest {
    /// Asks for the first `size` bytes of `buffer`.
    pub(crate) fn ask(gpu: &Gpu, buffer: &wgpu::Buffer, size: u64) -> Result<Self> {
        #[cfg(feature = "testing")]
        gpu.injected_failure(super::Call::Mapping, "mapping", None)?;
        let signal = Arc::new(Mutex::new(Signal::default()));
        let answer = Arc::clone(&signal);
        #[cfg(target_family = "wasm")]
        let queue = gpu.queue.clone();
        gpu.checked("mapping", || {
            buffer.slice(..size).map_async(wgpu::MapMode::Read, move |outcome| {
                let outcome = outcome.map_err(Failure::Mapping);
                // A browser refuses it before it tells of the loss that may be why, but answers
                // for the queue afterwards, lost or not.
                #[cfg(target_family = "wasm")]
                if outcome.is_err() {
                    return queue.on_submitted_work_done(move || end(&answer, outcome));
                }
                end(&answer, outcome);
            });
        })?;
        Ok(Self(signal))
    }

    /// Whether it has come, or never will.
    pub(crate) fn is_answered(&self) -> bool {
        lock(&self.0).outcome.is_some()
    }
}

/// A buffer range on its way into the host's address space.
#[derive(Debug)]
pub(crate) struct Mapped<'a> {
    gpu: &'a Gpu,
    drive: Drive,
    submission: wgpu::SubmissionIndex,
    signal: Arc<Mutex<Signal>>,
    asked: bool,
}

impl<'a> Mapped<'a> {
    /// Waits for what was asked for, which comes once `submission` is done.
    pub(crate) fn new(
        gpu: &'a Gpu,
        drive: Drive,
        submission: wgpu::SubmissionIndex,
        MapRequest(signal): MapRequest,
    ) -> Self {
        Self { gpu, drive, submission, signal, asked: false }
    }

    fn outcome(&self) -> Option<Result<()>> {
        let outcome = lock(&self.signal).outcome.clone()?;
        // A completed map has its data, even if the device was lost meanwhile. But a browser may
        // have refused the commands that were to compute it.
        Some(match outcome {
            Ok(()) => self.gpu.unstrayed(),
            Err(Failure::Mapping(error)) => Err(self.gpu.blame("mapping", &error)),
            Err(Failure::Late) => {
                Err(self.gpu.told().err().unwrap_or_else(|| self.gpu.timed_out()))
            }
        })
    }
}

/// Says how it ended, if that was not said before.
fn end(signal: &Mutex<Signal>, outcome: Result<(), Failure>) {
    let wakers = {
        let mut signal = lock(signal);
        signal.outcome.get_or_insert(outcome);
        core::mem::take(&mut signal.wakers)
    };
    // Wake last: a woken task may look at the signal at once.
    wakers.into_iter().for_each(Waker::wake);
}

impl Future for Mapped<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.gpu.tick();
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
                if !core::mem::replace(&mut self.asked, true) {
                    let signal = Arc::clone(&self.signal);
                    let late = move || end(&signal, Err(Failure::Late));
                    self.gpu.waiter.wait_for(self.submission.clone(), late);
                }
            }
        }
        Poll::Pending
    }
}
