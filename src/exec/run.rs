//! The only place that begins a compute pass.

use super::{Dispatch, Params};
use crate::error::Result;
use crate::gpu::Gpu;

/// Encodes and submits a batch; returns the bytes of parameters that crossed.
pub(super) fn submit(gpu: &Gpu, commands: &[Dispatch], params: &mut Params) -> Result<u64> {
    let (group, bytes) = params.write(gpu)?;
    let last = commands.last().map_or("batch", |command| command.label);
    let encoded = gpu.checked(last, || {
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some("wharf.batch") };
        let mut encoder = gpu.device.create_command_encoder(&descriptor);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for Dispatch { pipeline, bindings, params, groups: [x, y, z], .. } in commands {
            pass.set_pipeline(&pipeline.compute);
            pass.set_bind_group(0, bindings, &[]);
            pass.set_bind_group(1, &group, &[*params]);
            pass.dispatch_workgroups(*x, *y, *z);
        }
        drop(pass);
        encoder.finish()
    })?;
    gpu.submit(last, [encoded])?;
    Ok(bytes)
}
