//! Tensors that are made on the device: nothing crosses.

use super::Tensor;
use super::number::Scalar;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::fill;
use crate::layout::Layout;
use crate::shape::IntoShape;

impl Device {
    /// A tensor with the same number everywhere. `shape` is an array, a slice, one number or `()`:
    /// see [`IntoShape`]. The number must fit the dtype, as beside a tensor: see [`Scalar`].
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = device.full([2, 2], wharf::DType::U8, 7)?;
    /// assert_eq!(x.to_vec::<u8>()?, [7, 7, 7, 7]);
    /// assert!(device.full([2, 2], wharf::DType::U8, 300).is_err());
    /// # Ok(()) });
    /// ```
    pub fn full(
        &self,
        shape: impl IntoShape,
        dtype: DType,
        value: impl Into<Scalar>,
    ) -> Result<Tensor> {
        let shape = shape.into_shape()?;
        let named = |error: Error| error.during("full");
        self.plan().accept(dtype).map_err(named)?;
        let bytes = value.into().encode(dtype).map_err(named)?;
        let bytes = &bytes[..dtype.width()];
        let value = fill::full(self.site(), &shape, dtype, bytes)?;
        Ok(Tensor::of(self.clone(), value, Layout::dense(shape), dtype))
    }

    /// A tensor of zeros; of `false`, for bool.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = device.zeros([2, 3], wharf::DType::F32)?;
    /// assert_eq!(x.to_vec::<f32>()?, [0.0; 6]);
    /// # Ok(()) });
    /// ```
    pub fn zeros(&self, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        match dtype {
            DType::Bool => self.full(shape, dtype, false),
            dtype => self.full(shape, dtype, 0u8),
        }
    }

    /// A tensor of ones; of `true`, for bool.
    pub fn ones(&self, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        match dtype {
            DType::Bool => self.full(shape, dtype, true),
            dtype => self.full(shape, dtype, 1u8),
        }
    }
}
