//! A look at the values: what is shown crosses, and nothing else.

use core::future::Future;

use super::Tensor;
use crate::error::Result;
use crate::gpu::Drive;
use crate::host::Picture;
use crate::host::picture::{EDGE, is_cut};
use crate::ledger::CallSite;

impl Tensor {
    /// Its values as text, to be printed, with dtype, shape and adapter: by numpy's conventions,
    /// and floats with as many decimals as one of them needs.
    ///
    /// Of more than 1000 values the first and the last three along each axis are shown. They are
    /// brought together on the device, and only they cross.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = device.arange(0, 10_000, 1, wharf::DType::I32)?.reshape([100, 100])?;
    /// let picture = x.picture().await?.to_string();
    /// let values = picture.split_once('\n').map(|(_, values)| values);
    /// assert_eq!(values, Some("\
    /// [[   0,    1,    2, ...,   97,   98,   99],
    ///  [ 100,  101,  102, ...,  197,  198,  199],
    ///  [ 200,  201,  202, ...,  297,  298,  299],
    ///  ...,
    ///  [9700, 9701, 9702, ..., 9797, 9798, 9799],
    ///  [9800, 9801, 9802, ..., 9897, 9898, 9899],
    ///  [9900, 9901, 9902, ..., 9997, 9998, 9999]]"));
    /// assert_eq!(device.ledger().down.bytes, 36 * 4);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn picture(&self) -> impl Future<Output = Result<Picture>> + use<'_> {
        self.drawn(Drive::Wake, CallSite::of("picture"))
    }

    /// [`Tensor::picture`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn picture_now(&self) -> Result<Picture> {
        pollster::block_on(self.drawn(Drive::Block, CallSite::of("picture_now")))
    }

    async fn drawn(&self, drive: Drive, site: CallSite) -> Result<Picture> {
        let shown = self.shown(0).map_err(|error| error.during("picture"))?;
        let bytes = shown.take_down(drive, site).await?;
        let place = &self.device.caps().identity.name;
        Ok(Picture::new(self.dtype(), self.shape(), place, &bytes))
    }

    /// What a picture shows of it. Corners are small views, so that what is copied is small too.
    #[track_caller]
    fn shown(&self, axis: usize) -> Result<Self> {
        self.corners(axis, &|axis| is_cut(self.shape(), axis))
    }

    #[track_caller]
    fn corners(&self, axis: usize, is_cut: &dyn Fn(usize) -> bool) -> Result<Self> {
        let Some(axis) = (axis..self.shape().rank()).find(|&axis| is_cut(axis)) else {
            return Ok(self.clone());
        };
        let length = self.shape().dims()[axis];
        let end = |range| self.slice(axis, range)?.corners(axis + 1, is_cut);
        Self::concat(&[&end(0..EDGE)?, &end(length - EDGE..length)?], axis)
    }
}
