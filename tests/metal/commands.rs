//! What is recorded, and run when it is submitted: at once, and to the end.

use std::collections::HashMap;
use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use wgpu::custom::*;
use wharf::wgpu;

use super::device::{Inner, Pipeline};
use super::lock;
use super::memory::{Buffer, Memory, Staging};
use super::text::Program;

/// What is bound: some bytes of a buffer.
pub(super) type Part = (Arc<Memory>, Range<u64>);

/// By their bindings.
#[derive(Clone, Debug)]
pub(super) struct Group(pub(super) Arc<HashMap<u32, Part>>);
impl BindGroupInterface for Group {}

#[derive(Debug)]
enum Command {
    Copy { from: (Arc<Memory>, u64), to: (Arc<Memory>, u64), many: u64 },
    Clear(Part),
    Run { program: Arc<Program>, bound: HashMap<(u32, u32), Part>, groups: [u32; 3] },
}

type Recorded = Arc<Mutex<Vec<Command>>>;

#[derive(Debug, Default)]
pub(super) struct Encoder(Recorded);

#[derive(Debug)]
struct Commands(Vec<Command>);
impl CommandBufferInterface for Commands {}

#[derive(Debug)]
struct Pass {
    recorded: Recorded,
    program: Option<Arc<Program>>,
    /// And where in its buffer a binding begins that is said when it is set.
    groups: HashMap<u32, (Group, u64)>,
}

impl Drop for Pass {
    fn drop(&mut self) {}
}

fn memory(buffer: &DispatchBuffer) -> Arc<Memory> {
    let buffer: Option<&Buffer> = buffer.as_custom();
    buffer.map_or_else(Arc::default, |buffer| buffer.memory.clone())
}

impl Encoder {
    fn add(&self, command: Command) {
        lock(&self.0).push(command);
    }
}

impl CommandEncoderInterface for Encoder {
    fn copy_buffer_to_buffer(
        &self,
        source: &DispatchBuffer,
        source_offset: u64,
        destination: &DispatchBuffer,
        destination_offset: u64,
        copy_size: Option<u64>,
    ) {
        let (from, to) = (memory(source), memory(destination));
        let many = copy_size.unwrap_or(from.len() - source_offset);
        let (from, to) = ((from, source_offset), (to, destination_offset));
        self.add(Command::Copy { from, to, many });
    }

    fn begin_compute_pass(&self, _: &wgpu::ComputePassDescriptor<'_>) -> DispatchComputePass {
        let (program, groups) = Default::default();
        DispatchComputePass::custom(Pass { recorded: self.0.clone(), program, groups })
    }

    fn finish(&mut self) -> DispatchCommandBuffer {
        let all = mem::take(&mut *lock(&self.0));
        DispatchCommandBuffer::custom(Commands(all))
    }

    fn clear_buffer(&self, buffer: &DispatchBuffer, offset: u64, size: Option<u64>) {
        let memory = memory(buffer);
        let end = size.map_or(memory.len(), |size| offset + size);
        self.add(Command::Clear((memory, offset..end)));
    }

    fn insert_debug_marker(&self, _: &str) {}
    fn push_debug_group(&self, _: &str) {}
    fn pop_debug_group(&self) {}

    // What nobody here asks for.

    fn copy_buffer_to_texture(
        &self,
        _: wgpu::TexelCopyBufferInfo<'_>,
        _: wgpu::TexelCopyTextureInfo<'_>,
        _: wgpu::Extent3d,
    ) {
        unreachable!()
    }
    fn copy_texture_to_buffer(
        &self,
        _: wgpu::TexelCopyTextureInfo<'_>,
        _: wgpu::TexelCopyBufferInfo<'_>,
        _: wgpu::Extent3d,
    ) {
        unreachable!()
    }
    fn copy_texture_to_texture(
        &self,
        _: wgpu::TexelCopyTextureInfo<'_>,
        _: wgpu::TexelCopyTextureInfo<'_>,
        _: wgpu::Extent3d,
    ) {
        unreachable!()
    }
    fn begin_render_pass(&self, _: &wgpu::RenderPassDescriptor<'_>) -> DispatchRenderPass {
        unreachable!()
    }
    fn clear_texture(&self, _: &DispatchTexture, _: &wgpu::ImageSubresourceRange) {
        unreachable!()
    }
    fn write_timestamp(&self, _: &DispatchQuerySet, _: u32) {
        unreachable!()
    }
    fn resolve_query_set(&self, _: &DispatchQuerySet, _: u32, _: u32, _: &DispatchBuffer, _: u64) {
        unreachable!()
    }
    fn mark_acceleration_structures_built<'a>(
        &self,
        _: &mut dyn Iterator<Item = &'a wgpu::Blas>,
        _: &mut dyn Iterator<Item = &'a wgpu::Tlas>,
    ) {
        unreachable!()
    }
    fn build_acceleration_structures<'a>(
        &self,
        _: &mut dyn Iterator<Item = &'a wgpu::BlasBuildEntry<'a>>,
        _: &mut dyn Iterator<Item = &'a wgpu::Tlas>,
    ) {
        unreachable!()
    }
    fn transition_resources<'a>(
        &mut self,
        _: &mut dyn Iterator<Item = wgpu::BufferTransition<&'a DispatchBuffer>>,
        _: &mut dyn Iterator<Item = wgpu::TextureTransition<&'a DispatchTexture>>,
    ) {
    }
}

impl ComputePassInterface for Pass {
    fn set_pipeline(&mut self, pipeline: &DispatchComputePipeline) {
        let pipeline: Option<&Pipeline> = pipeline.as_custom();
        self.program = pipeline.and_then(|pipeline| pipeline.0.clone());
    }

    fn set_bind_group(&mut self, index: u32, group: Option<&DispatchBindGroup>, offsets: &[u32]) {
        let group: Option<&Group> = group.and_then(|group| group.as_custom());
        if let Some(group) = group {
            // Parameters alone have one, in a group of their own.
            let offset = offsets.first().copied().map_or(0, u64::from);
            self.groups.insert(index, (group.clone(), offset));
        }
    }

    fn dispatch_workgroups(&mut self, x: u32, y: u32, z: u32) {
        let Some(program) = self.program.clone() else { return };
        let all = self.groups.iter().flat_map(|(&group, (bound, offset))| {
            bound.0.iter().map(move |(&binding, (memory, range))| {
                let range = range.start + offset..range.end + offset;
                ((group, binding), (memory.clone(), range))
            })
        });
        let run = Command::Run { program, bound: all.collect(), groups: [x, y, z] };
        lock(&self.recorded).push(run);
    }

    fn insert_debug_marker(&mut self, _: &str) {}
    fn push_debug_group(&mut self, _: &str) {}
    fn pop_debug_group(&mut self) {}

    // What nobody here asks for.

    fn set_immediates(&mut self, _: u32, _: &[u8]) {
        unreachable!()
    }
    fn write_timestamp(&mut self, _: &DispatchQuerySet, _: u32) {
        unreachable!()
    }
    fn begin_pipeline_statistics_query(&mut self, _: &DispatchQuerySet, _: u32) {
        unreachable!()
    }
    fn end_pipeline_statistics_query(&mut self) {
        unreachable!()
    }
    fn dispatch_workgroups_indirect(&mut self, _: &DispatchBuffer, _: u64) {
        unreachable!()
    }
    fn transition_resources<'a>(
        &mut self,
        _: &mut dyn Iterator<Item = wgpu::BufferTransition<&'a DispatchBuffer>>,
        _: &mut dyn Iterator<Item = wgpu::TextureTransition<&'a DispatchTextureView>>,
    ) {
    }
}

#[derive(Debug)]
pub(super) struct Queue(pub(super) Arc<Inner>);

impl Queue {
    fn run(&self, command: &Command) {
        match command {
            Command::Copy { from, to, many } => to.0.copy_from(to.1, &from.0, from.1, *many),
            Command::Clear((memory, range)) => memory.fill(range, 0),
            Command::Run { program, bound, groups } => {
                if let Err(wrong) = self.0.lanes.run(program, bound, *groups) {
                    self.0.fails(wrong);
                }
            }
        }
    }
}

static SUBMITTED: AtomicU64 = AtomicU64::new(0);

impl QueueInterface for Queue {
    fn write_buffer(&self, buffer: &DispatchBuffer, offset: u64, data: &[u8]) {
        let _turn = self.0.turn();
        memory(buffer).put(offset, data);
    }

    fn create_staging_buffer(&self, size: wgpu::BufferSize) -> Option<DispatchQueueWriteBuffer> {
        Memory::new(size.get()).map(|memory| DispatchQueueWriteBuffer::custom(Staging(memory)))
    }

    fn validate_write_buffer(&self, _: &DispatchBuffer, _: u64, _: wgpu::BufferSize) -> Option<()> {
        Some(())
    }

    fn write_staging_buffer(
        &self,
        buffer: &DispatchBuffer,
        offset: u64,
        staging: &DispatchQueueWriteBuffer,
    ) {
        let staging: Option<&Staging> = staging.as_custom();
        if let Some(staging) = staging {
            let _turn = self.0.turn();
            memory(buffer).copy_from(offset, &staging.0, 0, staging.0.len());
        }
    }

    fn submit(&self, all: &mut dyn Iterator<Item = DispatchCommandBuffer>) -> u64 {
        let _turn = self.0.turn();
        for one in all {
            let commands: Option<&Commands> = one.as_custom();
            for command in commands.iter().flat_map(|commands| &commands.0) {
                self.run(command);
            }
        }
        SUBMITTED.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn get_timestamp_period(&self) -> f32 {
        1.0
    }

    fn on_submitted_work_done(&self, callback: BoxSubmittedWorkDoneCallback) {
        self.0.later(callback);
    }

    // What nobody here asks for.

    fn write_texture(
        &self,
        _: wgpu::TexelCopyTextureInfo<'_>,
        _: &[u8],
        _: wgpu::TexelCopyBufferLayout,
        _: wgpu::Extent3d,
    ) {
        unreachable!()
    }
    fn compact_blas(&self, _: &DispatchBlas) -> (Option<u64>, DispatchBlas) {
        unreachable!()
    }
    fn present(&self, _: &DispatchSurfaceOutputDetail) {
        unreachable!()
    }
}
