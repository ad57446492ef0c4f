//! The only place that begins a compute pass: one for a batch, or one for each dispatch where that
//! is the only way to time it.

use std::sync::Arc;

use super::params::Params;
use super::pipeline::Pipeline;
use super::stamps::{DISPATCHES, Stamping, inside_passes};
use crate::error::Result;
use crate::gpu::{Gpu, Whose};
use crate::timeline::Ticket;

/// One command of a batch.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) bindings: wgpu::BindGroup,
    /// Where its parameters begin in the batch's block, in bytes.
    pub(super) params: u32,
    pub(super) groups: [u32; 3],
    pub(super) ticket: Ticket,
}

impl Dispatch {
    fn encode(&self, pass: &mut wgpu::ComputePass<'_>, group: &wgpu::BindGroup) {
        let Self { pipeline, bindings, params, groups: [x, y, z], .. } = self;
        pass.set_pipeline(&pipeline.compute);
        pass.set_bind_group(0, bindings, &[]);
        pass.set_bind_group(1, group, &[*params]);
        pass.dispatch_workgroups(*x, *y, *z);
    }
}

/// A batch, and where it is encoded.
pub(super) struct Batch<'a> {
    pub(super) commands: &'a [Dispatch],
    /// What it is called by, should it fail.
    pub(super) name: &'a str,
    /// An encoder that has commands already, or a new one.
    pub(super) behind: Option<wgpu::CommandEncoder>,
    /// Whose objects it is about, and so who is told what is wrong.
    pub(super) whose: Whose,
    /// What times it: nothing, or one for every [`DISPATCHES`].
    pub(super) stampings: &'a [Stamping],
}

impl Batch<'_> {
    /// Encodes it; returns the bytes of parameters that cross.
    pub(super) fn encode(
        self,
        gpu: &Gpu,
        params: &mut Params,
    ) -> Result<(wgpu::CommandBuffer, u64)> {
        let Self { commands, name, behind, whose, stampings } = self;
        let (group, bytes) = params.write(gpu)?;
        let encoded = gpu.checked_as(whose, name, || {
            let mut encoder = behind.unwrap_or_else(|| {
                let label = Some("wharf.batch");
                gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label })
            });
            if stampings.is_empty() {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                commands.iter().for_each(|command| command.encode(&mut pass, &group));
            }
            for (commands, stamping) in commands.chunks(DISPATCHES).zip(stampings) {
                let timed = if inside_passes(gpu) { timed_in_one_pass } else { timed_by_passes };
                timed(&mut encoder, commands, &group, stamping);
                stamping.resolve(&mut encoder);
            }
            gpu.finish(encoder)
        })?;
        Ok((encoded, bytes))
    }
}

fn timed_in_one_pass(
    encoder: &mut wgpu::CommandEncoder,
    commands: &[Dispatch],
    group: &wgpu::BindGroup,
    stamping: &Stamping,
) {
    let (queries, mut commands) = (&stamping.stamps.queries, commands.iter());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.write_timestamp(queries, 0);
    for (index, stride) in (1..).zip(stamping.strides()) {
        commands.by_ref().take(stride).for_each(|command| command.encode(&mut pass, group));
        pass.write_timestamp(queries, index);
    }
}

fn timed_by_passes(
    encoder: &mut wgpu::CommandEncoder,
    commands: &[Dispatch],
    group: &wgpu::BindGroup,
    stamping: &Stamping,
) {
    let mut commands = commands.iter();
    for (index, stride) in (1..).zip(stamping.strides()) {
        let timestamp_writes = Some(wgpu::ComputePassTimestampWrites {
            query_set: &stamping.stamps.queries,
            beginning_of_pass_write_index: (index == 1).then_some(0),
            end_of_pass_write_index: Some(index),
        });
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        commands.by_ref().take(stride).for_each(|command| command.encode(&mut pass, group));
    }
}
