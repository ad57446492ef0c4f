//! What tests ask of a device: calls that fail, a loss, memory full of NaN.

use std::sync::atomic::{AtomicBool, Ordering};

use super::cause::{DeviceCause, no_memory};
use crate::error::Result;

/// Whether new memory is spoiled.
static SPOILED: AtomicBool = AtomicBool::new(false);

/// Fills all memory that any device hands out from now on with NaN.
pub fn spoil_memory() {
    SPOILED.store(true, Ordering::Relaxed);
}

pub(crate) fn spoils() -> bool {
    SPOILED.load(Ordering::Relaxed)
}

/// A call that a test can make fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Buffers, staged writes and bind groups: as if memory had run out.
    Allocation,
    /// Handing commands to the queue.
    Submission,
    /// Asking for a buffer's bytes.
    Mapping,
    /// Handing commands to the queue: as if memory had run out.
    MemoryOfSubmission,
    /// Buffers whose numbers are their sizes: as if there were no room for so many bytes.
    Buffer,
}

/// Failures that a test asks for.
#[derive(Debug, Default)]
pub(super) struct Injected {
    fails: Option<(Call, core::ops::Range<u64>)>,
    /// Calls of each kind so far.
    made: [u64; 4],
    loss: Option<u64>,
    submitted: u64,
    /// How many there were.
    pub(super) failures: u64,
}

impl Injected {
    /// Asks for calls that fail, and nothing else, counted from now.
    pub(super) fn fail(&mut self, call: Call, range: core::ops::Range<u64>) {
        let fails = Some((call, range));
        *self = Self { fails, failures: self.failures, ..Self::default() };
    }

    /// Asks for the loss of the device after a submission, and nothing else, counted from now.
    pub(super) fn lose_after(&mut self, n: u64) {
        *self = Self { loss: Some(n), failures: self.failures, ..Self::default() };
    }

    /// Fails if this call is one that shall.
    pub(super) fn call(&mut self, of: Call, doing: &str, size: Option<u64>) -> Result<()> {
        let number = self.made[of as usize];
        self.made[of as usize] += 1;
        let hit = |(call, range): &(Call, core::ops::Range<u64>)| match (call, size) {
            (Call::Buffer, Some(size)) => of == Call::Allocation && range.contains(&size),
            _ => *call == of && range.contains(&number),
        };
        if !self.fails.as_ref().is_some_and(hit) {
            return Ok(());
        }
        self.failures += 1;
        let message = "a test asked for it".into();
        Err(match of {
            Call::Allocation | Call::Buffer | Call::MemoryOfSubmission => no_memory(doing, size),
            Call::Submission => DeviceCause::Driver { doing: "submitting".into(), message }.into(),
            Call::Mapping => DeviceCause::Driver { doing: "mapping".into(), message }.into(),
        })
    }

    /// Whether the device shall be lost after a submission.
    pub(super) fn submit(&mut self) -> bool {
        self.submitted += 1;
        let lost = self.loss == Some(self.submitted);
        self.failures += u64::from(lost);
        lost
    }
}
