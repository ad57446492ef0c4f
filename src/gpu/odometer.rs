//! What really ran, by the device's own count.
//!
//! A command buffer of Metal's may fail - by a watchdog, for want of memory - a device of DX12's
//! may be removed, a kernel of GL's ended by the system, and wgpu takes all of them for done:
//! whoever reads finds what lay there before. A browser may be one over any of them, and tells of
//! what it refuses in an event that may come after the bytes of a read. So every command buffer
//! ends by adding one to a word on the device, and each read brings that word along. What wgpu
//! stages by itself has no such end.

use std::sync::Mutex;
#[cfg(feature = "testing")]
use std::sync::atomic::AtomicBool;

use super::lock::gl_lock;
use crate::caps::Backend;
use crate::wgsl::library::RAN;

/// Bytes of the count.
pub(crate) const COUNT_BYTES: u64 = 4;

/// Where nobody tells that commands failed, or not in time.
const UNTOLD: [wgpu::Backend; 4] = {
    use wgpu::Backend::{BrowserWebGpu, Dx12, Gl, Metal};
    [Metal, Dx12, Gl, BrowserWebGpu]
};

/// What a device is one of. Some browsers have no word for that: they are not asked.
fn backend(device: &wgpu::Device) -> wgpu::Backend {
    match cfg!(target_family = "wasm") {
        true => wgpu::Backend::BrowserWebGpu,
        false => device.adapter_info().backend,
    }
}

/// What was handed to the queue.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) index: wgpu::SubmissionIndex,
    /// How many command buffers have run once it is done.
    pub(super) ran: u32,
}

/// The count on the device, and what it is to be.
#[derive(Debug)]
pub(super) struct Odometer {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    word: wgpu::Buffer,
    pub(super) submitted: Mutex<u32>,
    /// Whether the next commands are to be left out, as where they fail.
    #[cfg(feature = "testing")]
    pub(super) fails: AtomicBool,
}

impl Odometer {
    /// Where it is needed.
    pub(super) fn of(device: &wgpu::Device, queue: &wgpu::Queue) -> Option<Self> {
        let backend = backend(device);
        // No system ends what a program behind GL computes, and a count doubles what small reads
        // take there.
        let program = backend == wgpu::Backend::Gl
            && device.adapter_info().device_type == wgpu::DeviceType::Cpu;
        (!program && UNTOLD.contains(&backend)).then(|| Self::new(device, queue))
    }

    pub(super) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        use wgpu::BufferUsages as Usage;
        let _gl = (backend(device) == wgpu::Backend::Gl).then(|| gl_lock(Backend::Gl));
        let (label, size) = (Some("wharf.ran"), COUNT_BYTES);
        let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
        let word = wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false };
        let word = device.create_buffer(&word);
        // No memory that nobody has written has this in it.
        let first = 1u32;
        queue.write_buffer(&word, 0, &first.to_le_bytes());
        let source = wgpu::ShaderSource::Wgsl(RAN.text.into());
        let module = wgpu::ShaderModuleDescriptor { label, source };
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: None,
            module: &device.create_shader_module(module),
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: word.as_entire_binding() }],
        });
        Self {
            pipeline,
            group,
            word,
            submitted: Mutex::new(first),
            #[cfg(feature = "testing")]
            fails: AtomicBool::new(false),
        }
    }

    /// Adds one, behind everything that is encoded.
    pub(super) fn advance(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(1, 1, 1);
    }

    pub(super) fn copy(&self, encoder: &mut wgpu::CommandEncoder, to: &wgpu::Buffer, at: u64) {
        encoder.copy_buffer_to_buffer(&self.word, 0, to, at, COUNT_BYTES);
    }
}
