//! Parameters: one uniform block per batch, written once when it is submitted, bound with dynamic
//! offsets.
//!
//! The block is reused by every batch: a write is ordered after the commands submitted before it.

use crate::error::Result;
use crate::gpu::Gpu;
use crate::wgsl::params::BYTES_MAX;

/// The block of a batch.
const BLOCK_BYTES: usize = 256 << 10;

#[derive(Debug)]
pub(crate) struct Params {
    words: Vec<u32>,
    /// Offsets are multiples of this, in words.
    align: usize,
    bound: Option<(wgpu::Buffer, wgpu::BindGroup)>,
}

impl Params {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let align =
            usize::try_from(gpu.caps().limits.uniform_align_bytes).unwrap_or(256).max(16) / 4;
        Self { words: Vec::new(), align, bound: None }
    }

    pub(crate) fn is_full(&self) -> bool {
        // One more struct, and the size of its binding, must still fit.
        self.words.len() * 4 + 2 * BYTES_MAX + self.align * 4 > BLOCK_BYTES
    }

    /// Adds the parameters of one dispatch; returns where they begin, in bytes. The block itself is
    /// made with the first, because submitting must not fail.
    pub(crate) fn push(&mut self, gpu: &Gpu, words: &[u32]) -> Result<u32> {
        if self.bound.is_none() {
            self.bound = Some(Self::create(gpu)?);
        }
        let at = self.words.len().next_multiple_of(self.align);
        self.words.resize(at, 0);
        self.words.extend_from_slice(words);
        Ok(u32::try_from(at * 4).unwrap_or(0)) // below BLOCK_BYTES
    }

    /// The layout of the group that binds them.
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

    /// Schedules the write of what was pushed and starts over; returns the group to bind and the
    /// bytes written.
    pub(crate) fn write(&mut self, gpu: &Gpu) -> Result<(wgpu::BindGroup, u64)> {
        let words = core::mem::take(&mut self.words);
        let (buffer, group) = match self.bound.take() {
            Some(bound) => bound,
            None => Self::create(gpu)?,
        };
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        gpu.checked("parameters", || gpu.queue.write_buffer(&buffer, 0, bytes))?;
        self.bound = Some((buffer, group.clone()));
        Ok((group, bytes.len() as u64))
    }

    fn create(gpu: &Gpu) -> Result<(wgpu::Buffer, wgpu::BindGroup)> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let buffer = gpu.create_buffer("wharf.params", BLOCK_BYTES as u64, usage)?;
        let size = wgpu::BufferSize::new(BYTES_MAX as u64);
        let resource = wgpu::BufferBinding { buffer: &buffer, offset: 0, size };
        let group = gpu.checked("parameters", || {
            gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("wharf.params"),
                layout: &Self::layout(gpu),
                entries: &[wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::Buffer(resource),
                }],
            })
        })?;
        Ok((buffer, group))
    }
}
