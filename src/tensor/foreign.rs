//! Buffers of the caller's own: as tensors, and as places for what tensors have.

use super::Tensor;
use super::cause::TensorCause;
use crate::device::Device;
use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::Result;
use crate::exec::Value;
use crate::gpu::{Gpu, Whose};
use crate::kernel::moves::copied;
use crate::layout::Layout;
use crate::store::Storage;

/// Copies begin at multiples of this.
const WORD: u64 = wgpu::COPY_BUFFER_ALIGNMENT;

impl Device {
    /// A tensor of what lies in a buffer of your own, of [`Device::wgpu_device`], with the usages
    /// `STORAGE` and `COPY_SRC`. Nothing is copied, now or later: wharf reads it where it lies, and
    /// never writes it - to assign to such a tensor copies it first. Nothing is recorded.
    ///
    /// The layout counts elements of the dtype from the beginning of the buffer, with any strides.
    /// Kernels read whole quads, so that the last elements of a buffer whose size is no multiple of
    /// 32 bytes cannot be had. The dtype is one that the plan stores as it is; elements of less
    /// than a word lie side by side, and a `bool` is a byte that is 0 or 1.
    ///
    /// The tensor holds what the buffer holds when wharf's commands are submitted, which is when
    /// something is read, lent or [flushed](Device::flush). So before you overwrite the buffer,
    /// [compute](Tensor::compute) what needs its old values, and flush. It is neither mapped nor
    /// destroyed while the tensor or what is computed from it is used: what reads it then is an
    /// error, and so is everything that was recorded with it.
    ///
    /// A buffer that does not fit is an error that names what is missing. One of another device is
    /// an error as well - if it is of the same wgpu instance: wgpu knows buffers by numbers, and
    /// between two instances it confuses them, or panics.
    ///
    /// The memory is yours: [`Device::memory`] does not count it, nor does the cap. See
    /// [`Tensor::lend`] for an example. A texture goes through a buffer, in which each row begins
    /// at a multiple of 256 bytes:
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{DType, Layout, tensor::BufferRange, wgpu};
    ///
    /// # let (gpu, queue) = (device.wgpu_device(), device.wgpu_queue());
    /// # let size = wgpu::Extent3d { width: 3, height: 2, depth_or_array_layers: 1 };
    /// # let texture = gpu.create_texture(&wgpu::TextureDescriptor {
    /// #     label: None,
    /// #     size,
    /// #     mip_level_count: 1,
    /// #     sample_count: 1,
    /// #     dimension: wgpu::TextureDimension::D2,
    /// #     format: wgpu::TextureFormat::Rgba8Unorm,
    /// #     usage: wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
    /// #     view_formats: &[],
    /// # });
    /// # let (red, bytes_per_row) = ([250u8, 5, 5, 255].repeat(6), Some(12));
    /// # let rows = wgpu::TexelCopyBufferLayout { bytes_per_row, ..Default::default() };
    /// # queue.write_texture(texture.as_image_copy(), &red, rows, size);
    /// // A texture of yours: 2 rows of 3 pixels, `Rgba8Unorm`, with `COPY_SRC` and `COPY_DST`.
    /// let rows = |offset| wgpu::TexelCopyBufferLayout {
    ///     offset,
    ///     bytes_per_row: Some(256),
    ///     rows_per_image: None,
    /// };
    /// let mine = gpu.create_buffer(&wgpu::BufferDescriptor {
    ///     label: None,
    ///     size: 2 * 256,
    ///     usage: wgpu::BufferUsages::STORAGE
    ///         | wgpu::BufferUsages::COPY_SRC
    ///         | wgpu::BufferUsages::COPY_DST,
    ///     mapped_at_creation: false,
    /// });
    /// let mut encoder = gpu.create_command_encoder(&Default::default());
    /// let to = wgpu::TexelCopyBufferInfo { buffer: &mine, layout: rows(0) };
    /// encoder.copy_texture_to_buffer(texture.as_image_copy(), to, size);
    /// queue.submit([encoder.finish()]);
    /// let layout = Layout::strided([2, 3, 4], &[256, 4, 1], 0)?;
    /// let picture = device.wrap_buffer(&mine, layout, DType::U8)?;
    ///
    /// // And back: rows of 64 pixels, of which the texture takes three.
    /// let dark = (&picture / 10u8)?.pad(&[(0, 0), (0, 64 - 3), (0, 0)], 0u8)?;
    /// let lent = dark.lend()?;
    /// let BufferRange { buffer, offset, .. } = &lent.ranges()[0];
    /// let from = wgpu::TexelCopyBufferInfo { buffer, layout: rows(*offset) };
    /// let mut encoder = gpu.create_command_encoder(&Default::default());
    /// encoder.copy_buffer_to_texture(from, texture.as_image_copy(), size);
    /// queue.submit([encoder.finish()]);
    /// drop(lent);
    /// # let mut encoder = gpu.create_command_encoder(&Default::default());
    /// # encoder.copy_texture_to_buffer(texture.as_image_copy(), to, size);
    /// # queue.submit([encoder.finish()]);
    /// # assert_eq!(picture.read_now::<u8>()?, [25, 0, 0, 25].repeat(6));
    /// # Ok(()) });
    /// ```
    #[doc(alias("from_buffer", "from_blob", "import"))]
    #[track_caller]
    pub fn wrap_buffer(
        &self,
        buffer: &wgpu::Buffer,
        layout: Layout,
        dtype: DType,
    ) -> Result<Tensor> {
        self.wrap(buffer, layout, dtype).map_err(|error| error.during("wrap_buffer"))
    }

    #[track_caller]
    fn wrap(&self, buffer: &wgpu::Buffer, layout: Layout, dtype: DType) -> Result<Tensor> {
        let (_, stored) = self.plan().accept(dtype)?;
        if *stored != dtype {
            return Err(TensorCause::Converts { dtype, stored: *stored }.into());
        }
        let engine = &self.engine;
        engine.gpu.present("sharing a buffer")?;
        usable(engine, buffer, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC)?;
        let storage = engine.foreign(buffer);
        let width = dtype.width() as u64;
        let elements = |bytes: u64| usize::try_from(bytes / width).unwrap_or(usize::MAX);
        layout.check_within(elements(buffer.size()))?;
        layout.check_within(elements(storage.bytes)).map_err(|_| TensorCause::Tail {
            end: layout.span().end as u64 * width,
            size: buffer.size(),
        })?;
        belongs(&engine.gpu, &storage)?;
        Ok(Tensor::of(self.clone(), Value::new(storage), layout, stored))
    }
}

impl Tensor {
    /// Copies all elements in row-major order into a buffer of your own, from a byte on that is a
    /// multiple of 4. The buffer has the usage `COPY_DST`, and the elements fill whole words.
    /// Computes what is deferred, and submits it and the copy: what you submit afterwards finds
    /// them there. Nothing crosses, and nothing is waited for.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::wgpu;
    ///
    /// let vertices = device.wgpu_device().create_buffer(&wgpu::BufferDescriptor {
    ///     label: Some("vertices"),
    ///     size: 24,
    ///     usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
    ///     mapped_at_creation: false,
    /// });
    /// let (corners, _) = device.upload(&[0.0f32, 1.0, 0.0, 0.0, 0.0, 1.0], [2, 3])?;
    /// (corners.t()? * 0.5)?.copy_to_buffer(&vertices, 0)?; // three corners of two coordinates
    /// # Ok(()) });
    /// ```
    pub fn copy_to_buffer(&self, buffer: &wgpu::Buffer, offset: u64) -> Result<()> {
        self.copy_out(buffer, offset).map_err(|error| error.during("copy_to_buffer"))
    }

    fn copy_out(&self, buffer: &wgpu::Buffer, offset: u64) -> Result<()> {
        let (engine, width) = (&self.device.engine, self.dtype.width());
        engine.gpu.present("sharing a buffer")?;
        usable(engine, buffer, wgpu::BufferUsages::COPY_DST)?;
        let (bytes, size) = (Engine::bytes_of(self.shape(), self.dtype())?, buffer.size());
        if !offset.is_multiple_of(WORD) || !bytes.is_multiple_of(WORD) {
            return Err(TensorCause::Words { offset, bytes }.into());
        }
        if offset > size || bytes > size - offset {
            return Err(TensorCause::Beyond { offset, bytes, size }.into());
        }
        if bytes == 0 {
            return Ok(());
        }
        let dense = self.contiguous()?;
        let mut from = dense.operand()?;
        let begin = |layout: &Layout| layout.span().start as u64 * width as u64;
        let lies_there = from.value.pin()?.range(0).is_some_and(|part| part.buffer == *buffer);
        // A copy begins at a word, and leads into another buffer.
        if !begin(&from.layout).is_multiple_of(WORD) || lies_there {
            from.value = copied(self.device.site(), &from, &[])?;
            from.layout = Layout::dense(*self.shape());
        }
        let pinned = from.value.pin()?;
        let first = begin(&from.layout);
        engine.hand_over()?;
        from.value.check()?;
        engine.copy_theirs("copying", |encoder| {
            let mut done = 0;
            while done < bytes
                && let Some(part) = pinned.range(first + done)
            {
                let bytes = part.bytes.min(bytes - done);
                let to = offset + done;
                encoder.copy_buffer_to_buffer(&part.buffer, part.offset, buffer, to, bytes);
                done += bytes;
            }
        })?;
        Ok(())
    }
}

/// Checks that a buffer is the caller's own, and was made for this.
fn usable(engine: &Engine, buffer: &wgpu::Buffer, needs: wgpu::BufferUsages) -> Result<()> {
    if engine.owns(buffer) {
        return Err(TensorCause::Owned.into());
    }
    let has = buffer.usage();
    let lacks = needs - has;
    if lacks.is_empty() { Ok(()) } else { Err(TensorCause::Usages { has, lacks }.into()) }
}

/// Checks that a buffer is of this device and may be bound, by binding it.
fn belongs(gpu: &Gpu, storage: &Storage) -> Result<()> {
    let Some(all) = storage.range(0) else { return Ok(()) };
    let entry = wgpu::BindGroupLayoutEntry {
        binding: 0,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let label = Some("wharf.foreign");
    let descriptor = wgpu::BindGroupLayoutDescriptor { label, entries: &[entry] };
    let layout = &gpu.checked("binding", || gpu.device.create_bind_group_layout(&descriptor))?;
    let entries = &[wgpu::BindGroupEntry { binding: 0, resource: all.binding() }];
    let group = wgpu::BindGroupDescriptor { label, layout, entries };
    gpu.bind(Whose::Theirs, "binding", &group).map(drop)
}
