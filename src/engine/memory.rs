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
mod tests {
    use super::*;
    use crate::Device;
    use crate::caps::{Caps, fixtures};
    use crate::dtype::DType;
    use crate::gpu::Gpu;
    use crate::store::ring::SMALL_READ;
    use crate::tensor::Tensor;
    use crate::testing::noop_device_of;

    fn in_a_browser() -> Device {
        noop_device_of(Caps::webgpu_baseline()).expect("it opens")
    }

    /// Zeros in a buffer of their own, which have been recorded, and the buffer.
    fn zeros(device: &Device) -> (Tensor, wgpu::Buffer) {
        let x = device.zeros([1 << 20], DType::F32).expect("there is memory");
        let value = x.realise().expect("it is recorded");
        let buffer = value.pin().expect("it has memory").pieces()[0].buffer.clone();
        (x, buffer)
    }

    fn is_there(gpu: &Gpu, buffer: &wgpu::Buffer) -> bool {
        gpu.write("a test", buffer, 0, &[0; 4]).is_ok()
    }

    #[test]
    fn a_browser_gets_memory_back_once_nothing_is_recorded_with_it() {
        let device = in_a_browser();
        let (engine, (x, buffer)) = (&device.engine, zeros(&device));
        drop(x);
        assert_eq!(lock(&engine.state).trim(), 4 << 20, "what is given back");
        assert!(is_there(&engine.gpu, &buffer), "a command that is to be submitted uses it");
        engine.flush().expect("all that it needs is there");
        assert!(!is_there(&engine.gpu, &buffer), "JavaScript's garbage collector has it");
        let (x, buffer) = zeros(&device);
        engine.flush().expect("all that it needs is there");
        drop(x);
        engine.trim().expect("it is given back");
        assert!(!is_there(&engine.gpu, &buffer), "nothing was recorded");
        // Small ones share a buffer, which stays as long as one of them does.
        let [x, y] = [1.0f32, 2.0].map(|x| device.upload(&[x], [1]).expect("there is memory").0);
        drop(y);
        engine.trim().expect("it is given back");
        let next = (x + 1.0f32).and_then(|x| x.compute()).and_then(|()| engine.flush());
        next.expect("what it is computed from is there");
    }

    #[test]
    fn a_device_takes_its_memory_along() {
        let device = in_a_browser();
        let (gpu, (x, buffer)) = (std::sync::Arc::clone(&device.engine.gpu), zeros(&device));
        drop((x, device));
        assert!(!is_there(&gpu, &buffer), "nobody can use it any more");
    }

    #[test]
    fn a_read_that_is_given_up_leaves_nothing() {
        let device = in_a_browser();
        let engine = &device.engine;
        let [staging, kept] = [(); 2].map(|()| engine.ring.take(&engine.gpu, SMALL_READ));
        let (staging, kept) = (staging.expect("there is memory"), kept.expect("there is memory"));
        let [given_up, shelved] = [&staging, &kept].map(|buffer| wgpu::Buffer::clone(buffer));
        drop(staging);
        engine.ring.put(kept);
        let there = || [&given_up, &shelved].map(|buffer| is_there(&engine.gpu, buffer));
        assert_eq!(there(), [false, true]);
        engine.trim().expect("it is given back");
        assert_eq!(there(), [false; 2]);
    }

    #[test]
    fn what_somebody_else_may_have_is_never_taken_away() {
        let device = in_a_browser();
        let gpu = std::sync::Arc::clone(&device.engine.gpu);
        let (x, lent) = zeros(&device);
        drop(x.lend().expect("it can be lent"));
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let foreign = gpu.create_buffer("foreign", 4 << 20, usage).expect("there is memory");
        let layout = crate::Layout::dense(*x.shape());
        let theirs = device.wrap_buffer(&foreign, layout, DType::F32).expect("it can be wrapped");
        drop((x, theirs.lend().expect("it can be lent"), theirs));
        device.engine.trim().expect("it is given back");
        assert_eq!(device.memory().bytes_reserved, 0, "all that is wharf's");
        assert!(is_there(&gpu, &lent) && is_there(&gpu, &foreign), "it was taken away");
        drop(device);
        assert!(is_there(&gpu, &lent) && is_there(&gpu, &foreign), "the device took it along");
    }

    /// wgpu keeps what is dropped as long as it is needed.
    #[test]
    fn natively_nothing_is_taken_away() {
        let device = noop_device_of(fixtures::lavapipe()).expect("it opens");
        let (x, buffer) = zeros(&device);
        drop(x);
        device.engine.trim().expect("it is given back");
        assert!(is_there(&device.engine.gpu, &buffer), "it was destroyed");
    }
}
