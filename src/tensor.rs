//! Tensors: a share of a storage, plus shape, strides, offset and dtype.

use core::fmt;
use core::future::Future;
use std::sync::Arc;

use crate::device::Device;
use crate::dtype::{DType, Element};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::fuse::{Arg, Node, What};
use crate::gpu::Drive;
use crate::host::cause::CarriageCause;
use crate::host::place::copy;
use crate::kernel::Operand;
use crate::kernel::cores::{Alone, Task};
use crate::layout::Layout;
use crate::ledger::CallSite;
use crate::plan::Stored;
use crate::shape::cause::ShapeCause;
use crate::shape::{Axis, Shape};

mod arrange;
#[cfg(feature = "ndarray")]
mod arrays;
mod assign;
mod attention;
mod cause;
mod close;
mod complex;
mod conv;
mod create;
mod einsum;
mod explain;
mod extremes;
mod fft;
mod foreign;
mod foremost;
mod found;
mod halves;
mod index;
mod join;
mod keys;
mod lend;
mod linalg;
mod loss;
mod made;
mod matmul;
mod moves;
mod norms;
mod number;
mod operators;
mod ops;
mod order;
mod picture;
mod pool;
mod products;
mod quantized;
mod random;
mod range;
mod ranks;
mod reads;
mod reduce;
mod resize;
mod rows;
mod scan;
mod scatter;
mod selecting;
mod sugar;
mod upload;
mod views;

pub use crate::host::blocks::Blocks;
pub use crate::store::BufferRange;
pub use attention::Attention;
use cause::TensorCause;
pub use conv::Conv;
pub use found::Unique;
pub use join::Pad;
pub use keys::Order;
pub use lend::{Lent, LentMut};
pub use linalg::{Lu, Triangle};
pub(crate) use moves::Passage;
pub use number::Scalar;
pub use ops::Other;
pub use pool::Pooling;
pub use quantized::{Factor, Quantized, Rounding, Weight};
pub use random::Key;
pub use ranks::Insert;
pub use resize::{Align, Interpolation};
pub(crate) use upload::{Becoming, Provenance};

/// A value on a device: cheap to clone, never changed by anybody else. A view of it costs nothing.
///
/// ```
/// # wharf::testing::example(async |device| {
/// use wharf::Tensor;
///
/// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let y = ((&x + 1.0)? * x.t()?)?; // checked now,
/// assert_eq!(y.read_now::<f32>()?, [2.0, 9.0, 8.0, 20.0]); // computed now, by one kernel
///
/// assert_eq!(y.at((.., -1))?.read_now::<f32>()?, [9.0, 20.0]); // a column, as a view
/// assert_eq!(y.sum(-1)?.neg()?.abs()?.read_now::<f32>()?, [11.0, 28.0]);
/// assert_eq!(Tensor::concat(&[&x, &y], 0)?.reshape([2, -1])?.shape().dims(), [2, 4]);
/// # Ok(()) });
/// ```
///
/// - A call checks shapes, dtypes and devices; what does not fit is an error at once. Nothing is
///   cast unasked: both sides of an operator have one dtype, and numbers take it ([`Scalar`]).
/// - Each operator of Rust's has a method of its name, which reads on: `x.abs()?.neg()?`.
///   `x += &y` keeps shape and dtype, and makes `x` another value, deferred: clones and views made
///   before keep theirs. It cannot return an error, so `x` carries it: who reads or computes `x`,
///   or anything made from it, is told, with the line of the `+=`.
/// - Operations are *deferred*: they run when somebody reads something computed from them, or calls
///   [`Tensor::compute`]. What assigns or scatters, fills and random numbers are *recorded* at
///   once, and say so. Neither waits for the device. A graph that grows deeper than 128
///   operations, as that of a whole model may, or beyond what one kernel takes (15 tensors, or one
///   less than the adapter binds; some 30 functions), is recorded from below while it grows.
/// - What fails on the device is the error of the next read, and of every read of something
///   computed from it. Running out of memory is told, not kept: read again when there is room.
/// - Axes and places on them count from 0, or back from -1, the last: `x.sum(-1)`,
///   `x.slice(0, -2..)`, `x.at((.., 1..3, -1))`. What an index *tensor* holds counts from 0.
///
/// What of a tensor has to wait for the device is awaited, and blocks by the same name and `_now`:
/// `read` and `read_now`, `to` and `to_now`. In a browser nothing blocks.
///
/// `Debug` prints what it is, never what it holds: nothing crosses unasked.
#[derive(Clone)]
pub struct Tensor {
    device: Device,
    node: Arc<Node>,
    layout: Layout,
    dtype: Stored,
}

impl Tensor {
    /// The device it lives on.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// The dtype it is stored as: after a conversion, not the host's.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype.dtype()
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// The length of an axis, which is an error if there is no such axis.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let images = device.zeros([8, 3, 5, 7], wharf::DType::F32)?;
    /// assert_eq!((images.dim(1)?, images.dim(-1)?), (3, 7));
    /// let error = images.dim(4).unwrap_err();
    /// assert_eq!(error.to_string(), "dim: axis 4 does not exist in [8, 3, 5, 7] of rank 4");
    /// # Ok(()) });
    /// ```
    #[doc(alias = "size")]
    pub fn dim(&self, axis: impl Into<Axis>) -> Result<usize> {
        let found = self.shape().find(axis).map_err(|error| error.during("dim"));
        found.map(|(_, length)| length)
    }

    /// Shape, strides and offset inside its storage.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Computes it now rather than when somebody reads it: its kernels are recorded, and nothing is
    /// waited for. What it was computed from is let go of.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0], [2])?;
    /// let y = (&x + 1.0)?;
    /// y.compute()?;
    /// assert!(y.explain().kernels.is_empty(), "nothing is left to run");
    /// # Ok(()) });
    /// ```
    #[doc(alias("eval", "realize"))]
    #[track_caller]
    pub fn compute(&self) -> Result<()> {
        self.realise().map(drop)
    }

    /// Reads all elements in row-major order.
    ///
    /// `T` must be the tensor's dtype, or it is an error: [`Tensor::read_as`] converts. Computes
    /// what is deferred and submits it; dropping the future cancels the read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3], [3])?;
    /// assert_eq!((&x * 2)?.read::<i32>().await?, [2, 4, 6]);
    /// assert!(x.read::<f32>().await.is_err());
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn read<T: Element>(&self) -> impl Future<Output = Result<Vec<T>>> + use<'_, T> {
        self.read_all(Drive::Wake, CallSite::of("read"))
    }

    /// [`Tensor::read`] into a slice of as many elements.
    #[track_caller]
    pub fn read_into<'a, T: Element>(
        &'a self,
        out: &'a mut [T],
    ) -> impl Future<Output = Result<()>> + use<'a, T> {
        self.read_to(Drive::Wake, CallSite::of("read_into"), out)
    }

    /// [`Tensor::read`], blocking.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.t()?.read_now::<i32>()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok(()) });
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn read_now<T: Element>(&self) -> Result<Vec<T>> {
        pollster::block_on(self.read_all(Drive::Block, CallSite::of("read_now")))
    }

    /// [`Tensor::read_into`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn read_into_now<T: Element>(&self, out: &mut [T]) -> Result<()> {
        pollster::block_on(self.read_to(Drive::Block, CallSite::of("read_into_now"), out))
    }

    /// Reads the only element; of more or none it is an error.
    #[doc(alias("item", "to_scalar"))]
    #[track_caller]
    pub fn read_scalar<T: Element>(&self) -> impl Future<Output = Result<T>> + use<'_, T> {
        self.read_one(Drive::Wake, CallSite::of("read_scalar"))
    }

    /// [`Tensor::read_scalar`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn read_scalar_now<T: Element>(&self) -> Result<T> {
        pollster::block_on(self.read_one(Drive::Block, CallSite::of("read_scalar_now")))
    }

    async fn read_one<T: Element>(&self, drive: Drive, call: CallSite) -> Result<T> {
        if self.shape().elements() != 1 {
            return Err(ShapeCause::NotOne { shape: *self.shape() }.into());
        }
        let mut out = [T::default()];
        self.read_to(drive, call, &mut out).await?;
        let [value] = out;
        Ok(value)
    }

    /// [`Tensor::read`] as a part of another call.
    pub(crate) async fn read_all<T: Element>(
        &self,
        drive: Drive,
        site: CallSite,
    ) -> Result<Vec<T>> {
        let elements = self.shape().elements();
        self.check_read::<T>(elements)?;
        let mut out = Vec::new();
        let copy = |first: usize, chunk: &[u8]| {
            copy(chunk, &mut room(&mut out, elements)?[first..][..chunk.len() / T::DTYPE.width()]);
            Ok(())
        };
        self.pull(drive, site, copy).await?;
        Ok(out)
    }

    fn check_read<T: Element>(&self, elements: usize) -> Result<()> {
        if self.dtype != T::DTYPE {
            return Err(CarriageCause::ReadAs { tensor: *self.dtype, asked: T::DTYPE }.into());
        }
        if elements != self.shape().elements() {
            return Err(ShapeCause::Count { elements, shape: *self.shape() }.into());
        }
        Ok(())
    }

    async fn read_to<T: Element>(&self, drive: Drive, site: CallSite, out: &mut [T]) -> Result<()> {
        self.check_read::<T>(out.len())?;
        let copy = |first: usize, chunk: &[u8]| {
            let values = chunk.len() / T::DTYPE.width();
            copy(chunk, &mut out[first..first + values]);
            Ok(())
        };
        self.pull(drive, site, copy).await.map(drop)
    }
}

impl Tensor {
    /// A tensor around a value that exists.
    #[track_caller]
    pub(crate) fn of(device: Device, value: Arc<Value>, layout: Layout, dtype: Stored) -> Self {
        let node = Node::leaf(value, *layout.shape(), *dtype);
        Self { device, node, layout, dtype }
    }

    /// What comes of these arguments, dense, to be computed when it is needed. Shapes, dtypes and
    /// devices have been checked.
    #[track_caller]
    pub(crate) fn deferred(
        device: &Device,
        what: What,
        args: Vec<Arg>,
        shape: Shape,
        dtype: Stored,
    ) -> Self {
        let node = Node::deferred(device.context(), what, shape, *dtype, args);
        Self { device: device.clone(), node, layout: Layout::dense(shape), dtype }
    }

    /// What kernels of its own make of these tensors, dense, once it is needed. Shapes, dtypes and
    /// devices have been checked.
    #[track_caller]
    pub(crate) fn alone<F>(
        &self,
        named: impl Into<Task>,
        inputs: &[&Self],
        (shape, dtype): (Shape, Stored),
        record: F,
    ) -> Self
    where
        F: Fn(Site<'_>, &[Operand]) -> Result<Arc<Value>> + Send + Sync + 'static,
    {
        let args = inputs.iter().map(|input| input.arg()).collect();
        let named = named.into();
        Self::deferred(&self.device, What::core(Alone { named, record }), args, shape, dtype)
    }

    /// This tensor by another handle on its device.
    pub(crate) fn by(&self, device: &Device) -> Self {
        Self { device: device.clone(), ..self.clone() }
    }

    /// It as an argument of an operation.
    pub(crate) fn arg(&self) -> Arg {
        Arg::View(Arc::clone(&self.node), self.layout)
    }

    /// Its value, computed now if it has not been; or the error of whatever failed on the way.
    #[track_caller]
    pub(crate) fn realise(&self) -> Result<Arc<Value>> {
        let value = self.node.realise(self.device.context())?;
        value.check()?;
        Ok(value)
    }

    /// This one as the result of others that nothing was read of: what befell them befell it.
    pub(crate) fn on_behalf_of(self, others: &[&Self]) -> Result<Self> {
        let value = self.realise()?;
        for other in others {
            value.inherit([&*other.realise()?]);
        }
        Ok(self)
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({} {} on {:?})", *self.dtype, self.layout, self.device)
    }
}

/// Host memory for what is read, taken once the first of it is there: a read that is refused takes
/// none. The system has it zeroed, so that nothing is written twice.
fn room<T: Element>(out: &mut Vec<T>, elements: usize) -> Result<&mut [T]> {
    if out.is_empty() {
        let none = |()| TensorCause::HostMemory { elements, dtype: T::DTYPE };
        *out = bytemuck::allocation::try_zeroed_vec(elements).map_err(none)?;
    }
    Ok(out)
}
