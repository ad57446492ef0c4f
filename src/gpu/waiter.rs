//! The thread that waits for the device where nobody else does.

use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use super::lock::{gl_lock, lock};
use crate::caps::Backend;

/// The thread that polls for futures nobody blocks on.
#[derive(Debug)]
pub(super) struct Waiter {
    device: wgpu::Device,
    backend: Backend,
    queue: Mutex<Option<Queue>>,
}

/// What it is to wait for, and the thread itself unless there was none to be had.
type Queue = (mpsc::Sender<wgpu::SubmissionIndex>, Option<JoinHandle<()>>);

/// The thread ends with the device. Left to itself it could be the last to hold it, and destroy it
/// while the process ends and takes the driver apart.
impl Drop for Waiter {
    fn drop(&mut self) {
        let queue = self.queue.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some((sender, Some(thread))) = queue.take() else { return };
        drop(sender);
        // On GL a waker may hold the lock that the thread needs; and it may drop the device.
        if self.backend != Backend::Gl && thread.thread().id() != std::thread::current().id() {
            // It cannot panic.
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
                    // What went wrong reaches the waiting future through its callback.
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
