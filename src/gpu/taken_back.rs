//! Requests to map a buffer that were taken back.

use std::sync::atomic::{AtomicU64, Ordering};

/// Requests that were taken back. wgpu keeps them beside the submission that they wait for, and
/// once that is done grants by one of them whatever is asked of its buffer then, though a later
/// submission uses it.
#[derive(Debug, Default)]
pub(super) struct TakenBack {
    all: AtomicU64,
    /// How many of them wgpu has forgotten, the first ones first.
    forgotten: AtomicU64,
}

impl TakenBack {
    /// Whether wgpu has forgotten them, as it has once the device is idle.
    pub(super) fn are_forgotten(&self, is_idle: impl FnOnce() -> bool) -> bool {
        // Read before the look: who takes one back later asked later.
        let all = self.all.load(Ordering::Acquire);
        if self.forgotten.load(Ordering::Acquire) >= all {
            return true;
        }
        let idle = is_idle();
        if idle {
            self.forgotten.fetch_max(all, Ordering::AcqRel);
        }
        idle
    }

    pub(super) fn note(&self) {
        self.all.fetch_add(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_back_is_forgotten_once_the_device_is_idle() {
        let requests = TakenBack::default();
        assert!(requests.are_forgotten(|| panic!("there is nothing to look for")));
        requests.note();
        assert!(!requests.are_forgotten(|| false), "the device is busy");
        let meanwhile = || {
            requests.note();
            true
        };
        assert!(requests.are_forgotten(meanwhile), "all that there were before");
        assert!(!requests.are_forgotten(|| false), "the one that came meanwhile");
        assert!(requests.are_forgotten(|| true) && requests.are_forgotten(|| false));
    }
}
