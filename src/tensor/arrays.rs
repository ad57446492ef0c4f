//! Into arrays of the crate `ndarray`.

use core::future::Future;

use ndarray::ArrayD;

use super::Tensor;
use crate::dtype::Element;
use crate::error::{Result, mistake};
use crate::gpu::Drive;
use crate::ledger::CallSite;

impl Tensor {
    /// [`Tensor::read`] into an array of the crate `ndarray` of the same shape, row-major.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::ndarray::{array, s};
    ///
    /// let a = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// let (x, _) = device.tensor(a.slice(s![.., ..;-1]))?; // or `&a`: any strides
    /// let y = (x * 2.0)?.read_array::<f32>().await?;
    /// assert_eq!(y, array![[6.0, 4.0, 2.0], [12.0, 10.0, 8.0]].into_dyn());
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn read_array<T: Element>(&self) -> impl Future<Output = Result<ArrayD<T>>> + use<'_, T> {
        self.array_down(Drive::Wake, CallSite::of("read_array"))
    }

    /// [`Tensor::read_array`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn read_array_now<T: Element>(&self) -> Result<ArrayD<T>> {
        pollster::block_on(self.array_down(Drive::Block, CallSite::of("read_array_now")))
    }

    async fn array_down<T: Element>(&self, drive: Drive, site: CallSite) -> Result<ArrayD<T>> {
        let values = self.read_all(drive, site).await?;
        let array = ArrayD::from_shape_vec(self.shape().dims(), values);
        array.map_err(|error| mistake(site.call, error.to_string()))
    }
}
