//! What lies under a device, for buffers and passes of one's own.

use super::Device;
use crate::error::Result;

impl Device {
    /// Submits what your own encoder has, and behind it, in the same encoder, everything that has
    /// been recorded. The encoder is one of [`Device::wgpu_device`].
    ///
    /// Deferred operations are not recorded yet: [`Tensor::compute`](crate::Tensor::compute)
    /// records them. For the other order, [lend](crate::Tensor::lend) what your passes read, and
    /// submit them yourself. If the call fails, nothing was submitted: what is recorded stays so,
    /// and the encoder is gone.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{DType, Layout, Shape, wgpu};
    ///
    /// let gpu = device.wgpu_device();
    /// let usage = wgpu::BufferUsages::STORAGE
    ///     | wgpu::BufferUsages::COPY_SRC
    ///     | wgpu::BufferUsages::COPY_DST;
    /// let (label, mapped_at_creation) = (Some("mine"), false);
    /// let descriptor = wgpu::BufferDescriptor { label, size: 32, usage, mapped_at_creation };
    /// let [from, mine] = [(); 2].map(|()| gpu.create_buffer(&descriptor));
    /// device.wgpu_queue().write_buffer(&from, 0, &[1; 32]);
    /// let x = device.wrap_buffer(&mine, Layout::dense(Shape::new([8])?), DType::U32)?;
    /// let y = (&x + 1u32)?;
    /// y.compute()?; // recorded, behind:
    ///
    /// let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
    /// encoder.copy_buffer_to_buffer(&from, 0, &mine, 0, 32);
    /// device.submit(encoder)?;
    /// assert_eq!(y.read_now::<u32>()?, [0x0101_0102; 8]);
    /// # Ok(()) });
    /// ```
    pub fn submit(&self, encoder: wgpu::CommandEncoder) -> Result<wgpu::SubmissionIndex> {
        self.engine.gpu.present("submitting")?;
        Ok(self.engine.append(encoder)?.index)
    }

    /// The wgpu device underneath, for buffers and passes of your own: see
    /// [`Tensor::lend`](crate::Tensor::lend) and [`Device::wrap_buffer`]. What you have wgpu call
    /// back runs inside of calls of wharf's, must make none itself, and must not panic: wgpu then
    /// drops what it was to call back behind it, so that a read may end with an error. On
    /// [paper](Device::on_paper) it is one of wgpu's own, of no adapter.
    #[must_use]
    pub fn wgpu_device(&self) -> &wgpu::Device {
        &self.engine.gpu.device
    }

    /// The queue of [`Device::wgpu_device`].
    #[must_use]
    pub fn wgpu_queue(&self) -> &wgpu::Queue {
        &self.engine.gpu.queue
    }
}
