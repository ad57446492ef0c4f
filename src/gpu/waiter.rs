//! The thread that waits for the device when no call blocks on it.

use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

#[cfg(not(target_arch = "wasm32"))]
use super::lock::gl_lock;
use crate::caps::Backend;
#[cfg(not(target_arch = "wasm32"))]
use crate::shared::lock;

/// The thread that polls for pending futures.
#[derive(Debug)]
pub(super) struct Waiter {
    device: wgpu::Device,
    backend: Backend,
    queue: Mutex<Option<Queue>>,
}

/// Submissions to wait for, and the thread, if one could be started.
type Queue = (mpsc::Sender<wgpu::SubmissionIndex>, Option<JoinHandle<()>>);

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
    pub(super) fn new(device: wgpu::Device, backend: Backend) -> Self {
        Self { device, backend, queue: Mutex::default() }
    }

    #[cfg(target_arch = "wasm32")]
    pub(super) fn wait_for(&self, _: wgpu::SubmissionIndex) {}

    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn wait_for(&self, submission: wgpu::SubmissionIndex) {
        let mut queue = lock(&self.queue);
        let (sender, _) = queue.get_or_insert_with(|| {
            let (sender, receiver) = mpsc::channel::<wgpu::SubmissionIndex>();
            let (device, backend) = (self.device.clone(), self.backend);
            let work = move || {
                for submission_index in receiver {
                    let submission_index = Some(submission_index);
                    let _gl = gl_lock(backend);
                    // A failure reaches the waiting future through its callback.
                    let _ = device.poll(wgpu::PollType::Wait { submission_index, timeout: None });
                }
            };
            // Without a thread the future still completes whenever anybody polls the device.
            let thread = std::thread::Builder::new().name("wharf-wait".into());
            (sender, thread.spawn(work).ok())
        });
        let _ = sender.send(submission);
    }
}
