//! Tensors that are made on the device: nothing crosses.

use super::Tensor;
use super::number::Scalar;
use crate::device::Device;
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::Result;
use crate::exec::Value;
use crate::fuse::What;
use crate::gpu::cause::not_on_paper;
use crate::kernel::cores::{Alone, Task};
use crate::kernel::{Operand, fill};
use crate::layout::Layout;
use crate::plan::Stored;
use crate::proof::Oracle;
use crate::shadow::witnessed;
use crate::shape::{IntoShape, Shape};

impl Device {
    /// Filled under the name of what it is a part of.
    #[track_caller]
    pub(super) fn filled(
        &self,
        what: &'static str,
        shape: Shape,
        dtype: DType,
        number: Scalar,
    ) -> Result<Tensor> {
        let made = self.making(what, dtype)?;
        let bytes = made.number(number).map_err(|error| error.during(what))?;
        let dtype = made.stored;
        let bytes = &bytes[..dtype.width()];
        let named = Task::by(what, Oracle::Filled { bits: fill::bits(bytes) });
        let full = |site: Site<'_>, _: &[Operand]| fill::full(site, &shape, *dtype, bytes);
        let value = witnessed(self.site(), named, &[], (shape, *dtype), full)?;
        Ok(Tensor::of(self.clone(), value, Layout::dense(shape), dtype))
    }

    /// Filled once it is needed: as a part of what is deferred.
    #[track_caller]
    pub(super) fn constant(
        &self,
        shape: Shape,
        dtype: Stored,
        number: impl Into<Scalar>,
    ) -> Result<Tensor> {
        let bytes = number.into().encode(*dtype)?;
        let named =
            Task::by("constant", Oracle::Filled { bits: fill::bits(&bytes[..dtype.width()]) });
        let record = move |site: Site<'_>, _: &[Operand]| {
            fill::full(site, &shape, *dtype, &bytes[..dtype.width()])
        };
        let core = What::core(Alone { named, record });
        Ok(Tensor::deferred(self, core, Vec::new(), shape, dtype))
    }

    /// A tensor with the same number everywhere. `shape` is an array, a slice, one number or `()`:
    /// see [`IntoShape`]. The number must fit the dtype, as beside a tensor: see [`Scalar`].
    /// Recorded at once.
    ///
    /// What the plan makes of the dtype is what it makes of an upload: where it converts, so is the
    /// number, and one that may not change or is out of range is an error. So it is for everything
    /// that is made as a dtype that is named.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = device.full([2, 2], 7, wharf::DType::U8)?;
    /// assert_eq!(x.read_now::<u8>()?, [7, 7, 7, 7]);
    /// assert!(device.full([2, 2], 300, wharf::DType::U8).is_err());
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn full(
        &self,
        shape: impl IntoShape,
        value: impl Into<Scalar>,
        dtype: DType,
    ) -> Result<Tensor> {
        let shape = shape.into_shape()?;
        self.filled("full", shape, dtype, value.into())
    }

    /// A tensor of zeros; of `false`, for bool. Recorded at once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = device.zeros([2, 3], wharf::DType::F32)?;
    /// assert_eq!(x.read_now::<f32>()?, [0.0; 6]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn zeros(&self, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        self.filled("zeros", shape.into_shape()?, dtype, Scalar::zero(dtype))
    }

    /// A tensor without values, on a device [on paper](Device::on_paper): as an upload of such
    /// values would leave it, what the plan makes of their dtype included. On any other device it
    /// is an error. Nothing is recorded.
    ///
    /// ```
    /// use wharf::caps::Caps;
    /// use wharf::{DType, Device, Policy};
    ///
    /// let policy = Policy::exact().allow(DType::F64, DType::F32);
    /// let paper = Device::on_paper(&Caps::webgpu_baseline(), &policy)?;
    /// let weights = paper.blank([70_000, 100_000], DType::F64)?; // 28 GB, of which none are here
    /// assert_eq!((weights.dtype(), paper.memory().bytes_live), (DType::F32, 28_000_000_000));
    /// # Ok::<(), wharf::Error>(())
    /// ```
    pub fn blank(&self, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        if !self.is_on_paper() {
            return Err(not_on_paper(&self.caps().identity));
        }
        let shape = shape.into_shape()?;
        let (_, stored) = self.plan().accept(dtype)?;
        let storage = self.engine.allocate(Engine::bytes_of(&shape, *stored)?, &[])?;
        // New memory begins pinned, until the first pin is dropped.
        drop(storage.pin());
        Ok(Tensor::of(self.clone(), Value::new(storage), Layout::dense(shape), stored))
    }

    /// A tensor of ones; of `true`, for bool. Recorded at once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// assert_eq!(device.ones([2], wharf::DType::F32)?.read_now::<f32>()?, [1.0, 1.0]);
    /// assert_eq!(device.ones((), wharf::DType::Bool)?.read_scalar_now::<bool>()?, true);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn ones(&self, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        self.filled("ones", shape.into_shape()?, dtype, Scalar::one(dtype))
    }
}

impl Tensor {
    /// Zeros of the shape and the dtype of this tensor, on its device; `false`, for bool. None of
    /// its values is computed or read. Recorded at once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3i32, 4], [2, 1])?;
    /// let momentum = x.zeros_like()?;
    /// assert_eq!(momentum.shape().dims(), [2, 1]);
    /// assert_eq!(momentum.read_now::<i32>()?, [0, 0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn zeros_like(&self) -> Result<Self> {
        self.filled_like("zeros_like", Scalar::zero(self.dtype()))
    }

    /// Ones of the shape and the dtype of this tensor, like [`Tensor::zeros_like`]; `true`, for
    /// bool. Recorded at once.
    #[track_caller]
    pub fn ones_like(&self) -> Result<Self> {
        self.filled_like("ones_like", Scalar::one(self.dtype()))
    }

    /// A number everywhere, in the shape and the dtype of this tensor, like
    /// [`Tensor::zeros_like`]. It must fit the dtype: see [`Scalar`]. Recorded at once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3u8, 4], [2])?;
    /// assert_eq!(x.full_like(7)?.read_now::<u8>()?, [7, 7]);
    /// assert!(x.full_like(300).is_err());
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn full_like(&self, value: impl Into<Scalar>) -> Result<Self> {
        self.filled_like("full_like", value.into())
    }

    /// Its dtype is one that is stored, so that a plan has nothing more to say of it.
    #[track_caller]
    fn filled_like(&self, what: &'static str, number: Scalar) -> Result<Self> {
        self.device.filled(what, *self.shape(), self.dtype(), number)
    }
}
