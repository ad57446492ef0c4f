//! The memory of a device: what there is, what it is capped at, and how it is given back.

use super::{Engine, State};
use crate::error::Result;
use crate::shared::lock;
use crate::store::ring::staging_bytes_max;
use crate::store::{DriverMemory, Fit, Loan, Memory};

impl State {
    /// Gives every unused buffer back, of which what is recorded may still use some; returns the
    /// bytes.
    fn trim(&mut self) -> u64 {
        let freed = self.store.trim();
        self.leave();
        freed
    }
}

impl Engine {
    /// Gives unused memory back to the driver, and waits until that is done. What is free already
    /// goes first: what was recorded may find no memory without it.
    pub(crate) fn trim(&self) -> Result<u64> {
        self.ring.clear();
        let before = lock(&self.state).trim();
        self.flush()?;
        let freed = before + lock(&self.state).trim();
        // An empty submission releases staging memory; waiting releases buffers in use.
        self.gpu.submit("trim", None)?;
        self.gpu.wait(None)?;
        Ok(freed)
    }

    /// Moves small tensors together, gives back what that frees, and waits until that is done.
    pub(crate) fn compact(&self) -> Result<u64> {
        let freed = {
            // One lock over all of it: a command that another thread records in between would write
            // to the old places after the copies.
            let mut state = lock(&self.state);
            if self.gpu.is_on_paper() {
                // Tensors move, and have no values that are to come along.
                let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
                let moves = state.store.compact(&mut encoder);
                state.store.moved(moves, true);
                return Ok(state.trim());
            }
            self.submit(&mut state)?;
            // Staged writes also go to the old places, so they must run before the copies.
            self.gpu.submit("compact", None)?;
            let mut moves = Vec::new();
            let copies = self.gpu.checked("compact", || {
                let descriptor =
                    wgpu::CommandEncoderDescriptor { label: Some("wharf.store.compact") };
                let mut encoder = self.gpu.device.create_command_encoder(&descriptor);
                moves = state.store.compact(&mut encoder);
                self.gpu.finish(encoder)
            });
            let submitted = copies.and_then(|copies| self.gpu.submit("compact", [copies]));
            state.store.moved(moves, submitted.is_ok());
            submitted?;
            state.trim()
        };
        self.gpu.wait(None)?;
        Ok(freed)
    }

    pub(crate) fn memory(&self) -> Memory {
        let mut memory = lock(&self.state).store.memory();
        let report = self.gpu.device.generate_allocator_report();
        memory.driver = report.map(|report| DriverMemory {
            allocated: report.total_allocated_bytes,
            reserved: report.total_reserved_bytes,
        });
        memory
    }

    pub(crate) fn set_cap(&self, cap: Option<u64>) {
        lock(&self.state).store.set_cap(cap);
    }

    pub(crate) fn fit(&self, bytes: u64) -> Fit {
        let staging = staging_bytes_max(self.gpu.caps(), bytes);
        lock(&self.state).store.fit(&[bytes], staging)
    }

    /// Never takes the buffers of what is lent from those who have got them.
    pub(crate) fn share(&self, loan: &Loan) {
        lock(&self.state).store.share(loan);
    }
}

#[cfg(test)]
mod tests;
