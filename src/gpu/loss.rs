//! A device that is lost: noticed late, and never taken for a mistake of wharf's.

use core::fmt;
use std::time::Duration;

use super::cause::{DESTROYED, DeviceCause};
use super::poll::poll;
use super::{FILTERS, Gpu, now};
use crate::error::Error;

/// How long a failing call waits to learn whether the device is gone.
const PATIENCE: Duration = Duration::from_secs(2);

impl Gpu {
    /// Waits a while for the device to report its loss, which it does once the queue is empty: a
    /// failing call may be a consequence of that loss.
    pub(super) fn notice_loss(&self) {
        let timeout = Some(self.watchdog.patience().unwrap_or(PATIENCE).min(PATIENCE));
        let _ = poll(&self.device, wgpu::PollType::Wait { submission_index: None, timeout });
    }

    /// The loss of a device whose queue is never empty, which nothing reports: a write that nothing
    /// can be wrong with is refused too. For who holds the lock, outside all scopes.
    pub(super) fn unreported_loss(&self) -> Option<Error> {
        let scopes = FILTERS.map(|filter| self.device.push_error_scope(filter));
        let usage = wgpu::BufferUsages::COPY_DST;
        let probe = wgpu::BufferDescriptor {
            label: Some("wharf.probe"),
            size: wgpu::COPY_BUFFER_ALIGNMENT,
            usage,
            mapped_at_creation: false,
        };
        self.queue.write_buffer(&self.device.create_buffer(&probe), 0, &[0; 4]);
        let raised = scopes.into_iter().rev().filter_map(|scope| now(scope.pop()).flatten());
        // A probe for which there is no memory says nothing.
        let [wgpu::Error::Validation { .. }] = raised.collect::<Vec<_>>()[..] else { return None };
        let _ = self.troubles.lost.set((DESTROYED, String::new()));
        self.told().err()
    }

    /// The loss of the device if that is what made a call fail, else the call's own failure.
    pub(crate) fn blame(&self, doing: &str, message: &dyn fmt::Display) -> Error {
        let own =
            || DeviceCause::Driver { doing: doing.into(), message: message.to_string() }.into();
        self.lost().unwrap_or_else(own)
    }

    /// The loss of the device, if that may be why a call has just failed.
    pub(crate) fn lost(&self) -> Option<Error> {
        let _gl = self.gl_lock();
        self.notice_loss();
        self.told().err().or_else(|| self.unreported_loss())
    }
}
