//! Tensors lent to passes of the caller's own.

use core::ops::Deref;
use std::sync::Arc;

use super::Tensor;
use crate::dtype::DType;
use crate::error::Result;
use crate::exec::Value;
use crate::fuse::Node;
use crate::layout::Layout;
use crate::store::{BufferRange, Loan, Storage};

/// A tensor that passes of your own read: buffers of
/// [`Device::wgpu_device`](crate::Device::wgpu_device), and where the elements lie in them. Made by
/// [`Tensor::lend`].
///
/// A queue runs what it is given in order, and everything that a lent tensor was computed by has
/// been submitted. So what you submit *after* a tensor was lent sees its values, and what you
/// submit *before* the guard is dropped comes before anything that wharf does with that memory
/// later. That is all the order there is, and all that is needed.
///
/// - While it lives, the memory stays where it is: not moved by compaction, not given back, not
///   mapped, not overwritten. The tensor itself is used as ever, and may be dropped before.
/// - Only elements of this tensor are yours: other tensors may lie in the same buffer. They are for
///   reading; [`Tensor::lend_mut`] is for writing.
/// - Submit before the guard is dropped. Commands that are submitted later may find other values.
/// - The buffers are neither mapped nor destroyed. They have the usages `STORAGE`, `COPY_SRC` and
///   `COPY_DST`; for vertices and uniforms have a buffer of your own and
///   [`Tensor::copy_to_buffer`].
/// - Put error scopes around your own calls: what no scope of yours catches counts as a failure of
///   this device. On GL only one thread may use a device.
#[derive(Debug)]
#[must_use = "a tensor is lent as long as this lives"]
pub struct Lent {
    // Stays lent until it is dropped.
    _loan: Loan,
    ranges: Vec<BufferRange>,
    layout: Layout,
    dtype: DType,
}

impl Lent {
    /// The memory that it lies in, in order: more than one range if that is larger than a binding,
    /// none if it is empty. Each but the last is equally long. A view lies in the memory of what it
    /// is a view of.
    #[must_use]
    pub fn ranges(&self) -> &[BufferRange] {
        &self.ranges
    }

    /// Where each element lies, counted in elements from the beginning of the first range, as if
    /// the ranges followed each other.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How each element is stored: those of less than a word side by side, the first in the lowest
    /// bits, and a `bool` as a byte that is 0 or 1.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }
}

/// A tensor that passes of your own write: as [`Lent`], and row-major, in buffers that hold nothing
/// else. Made by [`Tensor::lend_mut`].
///
/// Nobody else holds its memory, and nobody can use the tensor until this is dropped: what you have
/// submitted by then is what it holds from then on.
#[derive(Debug)]
#[must_use = "a tensor is lent as long as this lives"]
pub struct LentMut<'a> {
    lent: Lent,
    _tensor: &'a mut Tensor,
}

impl Deref for LentMut<'_> {
    type Target = Lent;

    fn deref(&self) -> &Lent {
        &self.lent
    }
}

impl Tensor {
    /// Lends it to passes of your own, which read it where it lies: see [`Lent`] for who may do
    /// what, and when. Computes what is deferred and submits it; does not wait, and copies nothing.
    /// What it has, and whether it has failed, is known here; what only the data knows - an index
    /// that is out of range - is told by the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{Layout, wgpu};
    ///
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [4])?;
    /// let lent = x.lend()?;
    /// let [from] = lent.ranges() else { unreachable!("16 bytes are in one piece") };
    ///
    /// // A pass of your own, here a copy into a buffer of your own ...
    /// let (gpu, queue) = (device.wgpu_device(), device.wgpu_queue());
    /// let usage = wgpu::BufferUsages::STORAGE
    ///     | wgpu::BufferUsages::COPY_SRC
    ///     | wgpu::BufferUsages::COPY_DST;
    /// let label = Some("mine");
    /// let mine = gpu.create_buffer(&wgpu::BufferDescriptor {
    ///     label,
    ///     size: 64,
    ///     usage,
    ///     mapped_at_creation: false,
    /// });
    /// let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
    /// encoder.copy_buffer_to_buffer(&from.buffer, from.offset, &mine, 32, from.bytes);
    /// queue.submit([encoder.finish()]);
    /// drop(lent);
    ///
    /// // ... which becomes a tensor again: two elements, the last first.
    /// let backwards = Layout::strided([2], &[-1], 11)?;
    /// let y = device.wrap_buffer(&mine, backwards, wharf::DType::F32)?;
    /// assert_eq!((&y * 2.0)?.read_now::<f32>()?, [8.0, 6.0]);
    /// # Ok(()) });
    /// ```
    pub fn lend(&self) -> Result<Lent> {
        let present = || self.device.engine.gpu.present("lending");
        let lent = present().and_then(|()| self.realise()).and_then(|value| self.lent(&value));
        lent.map_err(|error| error.during("lend"))
    }

    /// Lends it to passes of your own, which write it: see [`LentMut`]. Values that are not written
    /// stay.
    ///
    /// In place if nobody else holds its memory and nothing else lies in its buffers; otherwise it
    /// is copied there first. Clones, views and what was computed from it before keep what they
    /// had, computed or not. If the call fails, this tensor stays as it was. Computes what is
    /// deferred and submits it; does not wait.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let mut x = device.zeros([4], wharf::DType::F32)?;
    /// let before = (&x + 1.0)?; // deferred, and computed from what x has now
    /// let lent = x.lend_mut()?;
    /// device.wgpu_queue().write_buffer(&lent.ranges()[0].buffer, lent.ranges()[0].offset, &{
    ///     [2.0f32; 4].map(f32::to_le_bytes).concat()
    /// });
    /// drop(lent);
    /// assert_eq!((&x + 1.0)?.read_now::<f32>()?, [3.0; 4]);
    /// assert_eq!(before.read_now::<f32>()?, [1.0; 4]);
    /// # Ok(()) });
    /// ```
    pub fn lend_mut(&mut self) -> Result<LentMut<'_>> {
        let present = self.device.engine.gpu.present("lending");
        let lent = present.and_then(|()| self.own_alone()).and_then(|value| self.lent(&value));
        let lent = lent.map_err(|error| error.during("lend_mut"))?;
        Ok(LentMut { lent, _tensor: self })
    }

    fn lent(&self, value: &Value) -> Result<Lent> {
        let loan = value.lend()?;
        self.device.engine.share(&loan);
        self.device.engine.hand_over()?;
        // What was submitted may have failed.
        value.check()?;
        let begins = (0..loan.bytes).step_by(usize::try_from(loan.segment_bytes).unwrap_or(1));
        let ranges = begins.filter_map(|at| loan.range(at)).collect();
        Ok(Lent { _loan: loan, ranges, layout: self.layout, dtype: self.dtype() })
    }

    /// Memory of its own, dense, in buffers that hold nothing else: what it has, or a copy.
    fn own_alone(&mut self) -> Result<Arc<Value>> {
        let value = self.own()?;
        let from = value.pin()?;
        if from.is_alone() {
            return Ok(value);
        }
        let engine = &self.device.engine;
        let alone = Value::new(engine.allocate_alone(from.bytes)?);
        let to = alone.pin()?;
        engine.copy(true, |encoder| copy(&from, &to, encoder))?;
        value.check()?;
        alone.inherit([&*value]);
        self.node = Node::leaf(Arc::clone(&alone), *self.shape(), self.dtype());
        Ok(alone)
    }
}

/// All of a storage into another of its size, whatever the segments of both.
fn copy(from: &Storage, to: &Storage, encoder: &mut wgpu::CommandEncoder) {
    let mut at = 0;
    while at < from.bytes
        && let (Some(from), Some(to)) = (from.range(at), to.range(at))
    {
        let bytes = from.bytes.min(to.bytes);
        encoder.copy_buffer_to_buffer(&from.buffer, from.offset, &to.buffer, to.offset, bytes);
        at += bytes;
    }
}
