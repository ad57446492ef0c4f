//! Kernels written by hand and run through wgpu alone: ceilings, and rivals of fused kernels.

use std::time::Duration;

use wharf::{Device, wgpu};

use super::{Outcome, timed};

/// A compute kernel with its buffers.
#[derive(Debug)]
pub(crate) struct Raw {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    groups: [u32; 3],
}

impl Raw {
    /// The kernel `main` of a WGSL text, with these constants for its overrides and these buffers
    /// as bindings 0, 1, .. of group 0.
    pub(crate) fn new(
        device: &Device,
        wgsl: &str,
        constants: &[(&str, f64)],
        buffers: &[&wgpu::Buffer],
        groups: u32,
    ) -> Self {
        let (device, queue) = (device.wgpu_device(), device.wgpu_queue());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("bench"),
            source: wgpu::ShaderSource::Wgsl(wgsl.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("bench"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                ..Default::default()
            },
            cache: None,
        });
        let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("bench"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        // A row of the grid has at most 2^15 groups, which every adapter allows.
        let rows = groups.div_ceil(1 << 15);
        let groups = [groups.div_ceil(rows), rows, 1];
        Self { device: device.clone(), queue: queue.clone(), pipeline, group, groups }
    }

    /// Runs it once and waits.
    pub(crate) fn run(&self) -> Outcome<Duration> {
        self.run_often(1)
    }

    /// Runs it so many times and waits once.
    pub(crate) fn run_often(&self, times: u32) -> Outcome<Duration> {
        let (done, elapsed) = timed(|| {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.group, &[]);
            let [x, y, z] = self.groups;
            for _ in 0..times {
                pass.dispatch_workgroups(x, y, z);
            }
            drop(pass);
            self.queue.submit([encoder.finish()]);
            self.device.poll(wgpu::PollType::wait_indefinitely())
        });
        done?;
        Ok(elapsed)
    }
}

/// A storage buffer with these values, or with as many zeros.
pub(crate) fn buffer(device: &Device, bytes: u64, values: &[f32]) -> wgpu::Buffer {
    use wgpu::BufferUsages as Usage;
    let (device, queue) = (device.wgpu_device(), device.wgpu_queue());
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("bench"),
        size: bytes.max(16),
        usage: Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST,
        mapped_at_creation: false,
    });
    // A part at a time: one large write would be staged whole.
    for (i, part) in values.chunks(1 << 20).enumerate() {
        let bytes: Vec<u8> = part.iter().flat_map(|v| v.to_le_bytes()).collect();
        queue.write_buffer(&buffer, (i as u64) << 22, &bytes);
        queue.submit([]);
    }
    buffer
}
