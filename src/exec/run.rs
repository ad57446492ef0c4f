//! The only place that begins a compute pass.

use std::sync::Arc;

use super::params::Params;
use super::pipeline::Pipeline;
use crate::error::Result;
use crate::gpu::{Gpu, Whose};

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

/// A batch, and where it is encoded.
pub(super) struct Batch<'a> {
    pub(super) commands: &'a [Dispatch],
    /// What it is called by, should it fail.
    pub(super) name: &'a str,
    /// An encoder that has commands already, or a new one.
    pub(super) behind: Option<wgpu::CommandEncoder>,
    /// Who is told what is wrong.
    pub(super) whose: Whose,
}

impl Batch<'_> {
    /// Encodes it; returns the bytes of parameters that cross.
    pub(super) fn encode(
        self,
        gpu: &Gpu,
        params: &mut Params,
    ) -> Result<(wgpu::CommandBuffer, u64)> {
        let Self { commands, name, behind, whose } = self;
        let (group, bytes) = params.write(gpu)?;
        let encoded = gpu.checked_as(whose, name, || {
            let mut encoder = behind.unwrap_or_else(|| {
                let label = Some("wharf.batch");
                gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label })
            });
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
}
