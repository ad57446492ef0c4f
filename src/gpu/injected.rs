//! What tests ask of a device: calls that fail, a loss, memory full of NaN.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Gpu;
use super::cause::{DeviceCause, no_memory};
use crate::error::Result;
use crate::shared::lock;

impl Gpu {
    /// Makes the calls of one kind with these numbers, counted from now, fail.
    pub(crate) fn fail(&self, call: Call, range: core::ops::Range<u64>) {
        self.inject(Injected { fails: Some((call, range)), ..Injected::default() });
    }

    /// Loses the device right after the `n`th submission from now.
    pub(crate) fn lose_after(&self, n: u64) {
        self.inject(Injected { loss: Some(n), ..Injected::default() });
    }

    fn inject(&self, asked: Injected) {
        let mut faults = lock(&self.faults);
        *faults = Injected { failures: faults.failures, ..asked };
    }

    /// How many failures this device has met that a test asked for.
    pub(crate) fn failures(&self) -> u64 {
        lock(&self.faults).failures
    }

    pub(crate) fn injected_failure(&self, of: Call, doing: &str, size: Option<u64>) -> Result<()> {
        let mut faults = lock(&self.faults);
        let number = faults.made[of as usize];
        faults.made[of as usize] += 1;
        let hit = |(call, range): &(Call, core::ops::Range<u64>)| match (call, size) {
            (Call::Buffer, Some(size)) => of == Call::Allocation && range.contains(&size),
            _ => *call == of && range.contains(&number),
        };
        if !faults.fails.as_ref().is_some_and(hit) {
            return Ok(());
        }
        faults.failures += 1;
        let message = "a test asked for it".into();
        Err(match of {
            Call::Allocation | Call::Buffer | Call::MemoryOfSubmission => no_memory(doing, size),
            Call::Submission => DeviceCause::Driver { doing: "submitting".into(), message }.into(),
            Call::Mapping => DeviceCause::Driver { doing: "mapping".into(), message }.into(),
        })
    }

    pub(crate) fn time_by_passes(&self) {
        self.timed_by_passes.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_timed_by_passes(&self) -> bool {
        self.timed_by_passes.load(Ordering::Relaxed)
    }

    /// A MiB of NaN, whether read as f32, f16 or bf16.
    pub(crate) fn rubbish(&self) -> Result<wgpu::Buffer> {
        if let Some(made) = self.rubbish.get() {
            return Ok(made.clone());
        }
        let bytes = [0xc0, 0x7f].repeat(1 << 19);
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let (label, size) = (Some("wharf.rubbish"), bytes.len() as u64);
        let descriptor = wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false };
        let made = self.checked("spoiling", || {
            let made = self.device.create_buffer(&descriptor);
            self.queue.write_buffer(&made, 0, &bytes);
            made
        })?;
        Ok(self.rubbish.get_or_init(|| made).clone())
    }

    pub(super) fn injected_loss(&self) {
        let mut faults = lock(&self.faults);
        faults.submitted += 1;
        if faults.loss == Some(faults.submitted) {
            faults.failures += 1;
            self.device.destroy();
        }
    }
}

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
    failures: u64,
}
