//! The only place that begins a compute pass.

use std::sync::Arc;

use super::params::Params;
use super::pipeline::Pipeline;
use crate::error::Result;
use crate::gpu::Gpu;

/// One command of a batch.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub(super) label: &'static str,
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) bindings: wgpu::BindGroup,
    /// Where its parameters begin in the batch's block, in bytes.
    pub(super) params: u32,
    pub(super) groups: [u32; 3],
}

/// Encodes a batch, whose last command is `last`; returns the bytes of parameters that cross.
pub(super) fn encode(
    gpu: &Gpu,
    commands: &[Dispatch],
    last: &str,
    params: &mut Params,
) -> Result<(wgpu::CommandBuffer, u64)> {
    let (group, bytes) = params.write(gpu)?;
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
    Ok((encoded, bytes))
}
