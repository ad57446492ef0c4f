//! The thread that waits for the device when no call blocks on it.

#[cfg(not(target_arch = "wasm32"))]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use super::watchdog::Watchdog;
use crate::caps::Backend;
use crate::clock::Stopwatch;
#[cfg(not(target_arch = "wasm32"))]
use crate::shared::lock;

/// The thread that polls for pending futures.
#[derive(Debug)]
pub(super) struct Waiter {
    device: wgpu::Device,
    backend: Backend,
    watchdog: Arc<Watchdog>,
    queue: Mutex<Option<Queue>>,
}

/// Why a wait ended before what was waited for was there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unmet {
    /// Nothing came in time, or the device is lost.
    Late,
    /// Something else did that wgpu had to call back, and what is waited for may come yet.
    Panicked,
}

/// What somebody waits for, since when, and what is to be done if it does not come.
type Wish = (wgpu::SubmissionIndex, Stopwatch, Box<dyn FnOnce(Unmet) + Send>);

/// What to wait for, and the thread, if one could be started.
type Queue = (mpsc::Sender<Wish>, Option<JoinHandle<()>>);

/// Joins the thread. Otherwise it could be the last owner of the device, and destroy it while the
/// process exits and unloads the driver.
impl Drop for Waiter {
    fn drop(&mut self) {
        let queue = self.queue.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some((sender, Some(thread))) = queue.take() else { return };
        drop(sender);
        // Not on GL, where this thread may hold the lock that the other needs; and not from
        // the waiting thread itself, whose wakers may drop the device.
        if self.backend != Backend::Gl && thread.thread().id() != std::thread::current().id() {
            // An error would mean that the thread panicked, which it cannot.
            let _ = thread.join();
        }
    }
}

impl Waiter {
    pub(super) fn new(device: wgpu::Device, backend: Backend, watchdog: Arc<Watchdog>) -> Self {
        Self { device, backend, watchdog, queue: Mutex::default() }
    }

    #[cfg(target_arch = "wasm32")]
    pub(super) fn wait_for(
        &self,
        _: wgpu::SubmissionIndex,
        _: impl FnOnce(Unmet) + Send + 'static,
    ) {
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn wait_for(
        &self,
        submission: wgpu::SubmissionIndex,
        unmet: impl FnOnce(Unmet) + Send + 'static,
    ) {
        let mut guard = lock(&self.queue);
        let queue = &mut *guard;
        let (sender, thread) = queue.get_or_insert_with(|| {
            let (sender, receiver) = mpsc::channel::<Wish>();
            let (device, backend) = (self.device.clone(), self.backend);
            let watchdog = Arc::clone(&self.watchdog);
            let work = move || {
                for wish in receiver {
                    // A waker panicked. That has been told, and others wait here.
                    let wait = || wait(&device, backend, &watchdog, wish);
                    let _ = catch_unwind(AssertUnwindSafe(wait));
                }
            };
            let thread = std::thread::Builder::new().name("wharf-wait".into());
            (sender, thread.spawn(work).ok())
        });
        let wish: Wish = (submission, Stopwatch::start(), Box::new(unmet));
        if thread.is_some() {
            let _ = sender.send(wish);
            return;
        }
        // Where no thread can be started, this one waits.
        drop(guard);
        wait(&self.device, self.backend, &self.watchdog, wish);
    }
}

/// A panic in here is one of a callback of the caller's, and has been told.
#[cfg(not(target_arch = "wasm32"))]
fn wait(device: &wgpu::Device, backend: Backend, watchdog: &Watchdog, wish: Wish) {
    let (submission, since, unmet) = wish;
    let wait = || watchdog.wait(device, backend, Some(submission), since);
    match catch_unwind(AssertUnwindSafe(wait)) {
        Ok(Ok(_)) => {}
        Ok(Err(_)) => unmet(Unmet::Late),
        Err(_) => unmet(Unmet::Panicked),
    }
}
