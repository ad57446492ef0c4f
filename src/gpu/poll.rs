//! Polling, by which wgpu notices what is done. Where a driver reports the loss of the device to
//! whoever asks, wgpu panics, after it has told of the loss: that is an error like any other.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Why a poll came to no end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unpolled {
    /// What was waited for was not done in time.
    Late,
    /// What wgpu says.
    Failed(String),
}

/// Polls a device.
pub(super) fn poll(
    device: &wgpu::Device,
    how: wgpu::PollType,
) -> Result<wgpu::PollStatus, Unpolled> {
    caught(|| device.poll(how))
}

fn caught<T>(poll: impl FnOnce() -> Result<T, wgpu::PollError>) -> Result<T, Unpolled> {
    match catch_unwind(AssertUnwindSafe(poll)) {
        Ok(polled) => polled.map_err(|error| match error {
            wgpu::PollError::Timeout => Unpolled::Late,
            other => Unpolled::Failed(other.to_string()),
        }),
        Err(panic) => match panic.downcast::<String>() {
            Ok(text) if text.starts_with("Error in Device::poll") => Err(Unpolled::Failed(*text)),
            // A callback of the caller's own, which a poll runs too.
            Ok(text) => resume_unwind(text),
            Err(other) => resume_unwind(other),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_whose_loss_is_told_to_whoever_polls_panics_nobody() {
        let told = "Error in Device::poll: Validation Error";
        let polled: Result<(), _> = caught(|| panic!("{told}"));
        assert_eq!(polled, Err(Unpolled::Failed(told.to_owned())));
        let theirs = catch_unwind(|| caught::<()>(|| panic!("a mistake of {}", "theirs")));
        assert!(theirs.is_err(), "it is theirs to hear of");
        assert_eq!(caught::<()>(|| Err(wgpu::PollError::Timeout)), Err(Unpolled::Late));
        assert_eq!(caught(|| Ok(7)), Ok(7));
    }
}
