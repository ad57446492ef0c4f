//! How long a wait may get nowhere.

use std::time::Duration;

use super::Device;

impl Device {
    /// How long whatever waits for the device waits while it gets nothing done; `None`, as long as
    /// it takes. Then the wait is an error of kind [`TimedOut`](crate::ErrorKind::TimedOut), which
    /// names the submission that the device is busy with, its dispatches and the lines that asked
    /// for them. Nothing is lost by it: the same read goes on waiting. `WHARF_WATCHDOG=seconds`
    /// sets it for every device of a program. In a browser nothing waits; and what a driver does
    /// in a submission cannot be ended: lavapipe of Mesa 25 waits there for the submission before.
    pub fn set_patience(&self, patience: Option<Duration>) {
        self.engine.gpu.set_patience(patience);
    }

    /// How long a wait that gets nowhere takes, as [`set_patience`](Self::set_patience) or
    /// `WHARF_WATCHDOG` say; `None`, as long as it takes.
    #[must_use]
    pub fn patience(&self) -> Option<Duration> {
        self.engine.gpu.watchdog.patience()
    }
}
