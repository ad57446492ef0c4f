//! Parameters: one uniform block per batch, written once when it is submitted, bound with dynamic
//! offsets.
//!
//! The block is reused by every batch: a write is ordered after the commands submitted before it.

use crate::error::{Result, mistake};
use crate::gpu::{Gpu, Reservation, Whose};
use crate::wgsl::params::BYTES_MAX;

/// The block of a batch. It is larger only after a batch found no memory and went on growing.
const BLOCK_BYTES: u64 = 256 << 10;

#[derive(Debug)]
pub(crate) struct Params {
    words: Vec<u32>,
    /// Offsets are multiples of this, in bytes.
    align: u64,
    bound: Option<(Reservation, wgpu::BindGroup)>,
}

impl Params {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let align = gpu.caps().limits.uniform_align_bytes.max(16);
        Self { words: Vec::new(), align, bound: None }
    }

    /// Where the next ones begin, in bytes.
    fn next(&self) -> u64 {
        (self.words.len() as u64 * 4).next_multiple_of(self.align)
    }

    /// Whether the binding of one more struct might not fit.
    pub(crate) fn is_full(&self) -> bool {
        self.next() + 2 * BYTES_MAX as u64 > BLOCK_BYTES
    }

    /// Adds the parameters of one dispatch; returns where they begin, in bytes.
    pub(crate) fn push(&mut self, words: &[u32]) -> Result<u32> {
        let Ok(offset) = u32::try_from(self.next()) else {
            return Err(mistake("recording", "a batch with more parameters than 32 bits reach"));
        };
        self.words.resize(offset as usize / 4, 0);
        self.words.extend_from_slice(words);
        Ok(offset)
    }

    /// The layout of the bind group for parameters.
    pub(crate) fn layout(gpu: &Gpu) -> wgpu::BindGroupLayout {
        let entry = wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: true,
                min_binding_size: None,
            },
            count: None,
        };
        let label = Some("wharf.params");
        let descriptor = wgpu::BindGroupLayoutDescriptor { label, entries: &[entry] };
        gpu.device.create_bind_group_layout(&descriptor)
    }

    /// Schedules the write of what was pushed; returns the group to bind and the bytes written.
    pub(crate) fn write(&mut self, gpu: &Gpu) -> Result<(wgpu::BindGroup, u64)> {
        let bytes: &[u8] = bytemuck::cast_slice(&self.words);
        // The last binding may reach beyond the last parameters.
        let room = (bytes.len() as u64 + BYTES_MAX as u64).max(BLOCK_BYTES);
        let (buffer, group) = match self.bound.take_if(|(buffer, _)| buffer.size() >= room) {
            Some(bound) => bound,
            None => Self::create(gpu, room)?,
        };
        let (buffer, group) = self.bound.insert((buffer, group));
        gpu.write("parameters", buffer, 0, bytes)?;
        Ok((group.clone(), bytes.len() as u64))
    }

    /// Removes what was pushed.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
    }

    fn create(gpu: &Gpu, bytes: u64) -> Result<(Reservation, wgpu::BindGroup)> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let buffer = gpu.reserve("wharf.params", bytes, usage)?;
        let size = wgpu::BufferSize::new(BYTES_MAX as u64);
        let resource = wgpu::BufferBinding { buffer: &buffer, offset: 0, size };
        let entry =
            wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(resource) };
        let (label, layout) = (Some("wharf.params"), &Self::layout(gpu));
        let group = wgpu::BindGroupDescriptor { label, layout, entries: &[entry] };
        let group = gpu.bind(Whose::Ours, "parameters", &group)?;
        Ok((buffer, group))
    }
}
