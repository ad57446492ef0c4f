//! Whether tensors are equal, or nearly so: computed on the device, answered to the host.

use core::future::Future;

use super::Tensor;
use super::cause::float;
use super::reduce::computed;
use crate::engine::site::asked;
use crate::error::{Error, Result};
use crate::gpu::Drive;
use crate::ledger::CallSite;
use crate::op::Refusal;

impl Tensor {
    /// Whether both have the same shape and equal elements: NaN equals nothing. Computed on the
    /// device; what crosses is the answer. Tensors of two shapes differ without being asked.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3], [3])?;
    /// assert!(x.equal(&((&x + 1)? - 1)?).await?);
    /// assert!(!x.equal(&x.flip(0)?).await?);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "array_equal")]
    #[track_caller]
    pub fn equal<'a>(&'a self, other: &'a Self) -> impl Future<Output = Result<bool>> + use<'a> {
        answered(self.sameness(other), Drive::Wake, CallSite::of("equal"))
    }

    /// [`Tensor::equal`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn equal_now(&self, other: &Self) -> Result<bool> {
        let question = self.sameness(other);
        pollster::block_on(answered(question, Drive::Block, CallSite::of("equal_now")))
    }

    /// Whether no element is further from that of the other than `atol` plus `rtol` times its
    /// magnitude, or both are the same infinity; NaN is close to nothing. Shapes broadcast. Of
    /// floats, f16 and bf16 computed in f32, on the device; what crosses is the answer.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 100.0], [2])?;
    /// assert!(x.allclose(&(&x * 1.000_001)?, 1e-5, 1e-8).await?);
    /// assert!(!x.allclose(&(&x * 1.001)?, 1e-5, 1e-8).await?);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "isclose")]
    #[track_caller]
    pub fn allclose<'a>(
        &'a self,
        other: &'a Self,
        rtol: f64,
        atol: f64,
    ) -> impl Future<Output = Result<bool>> + use<'a> {
        answered(self.closeness(other, rtol, atol), Drive::Wake, CallSite::of("allclose"))
    }

    /// [`Tensor::allclose`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn allclose_now(&self, other: &Self, rtol: f64, atol: f64) -> Result<bool> {
        let question = self.closeness(other, rtol, atol);
        pollster::block_on(answered(question, Drive::Block, CallSite::of("allclose_now")))
    }

    /// Whether all elements are equal, as one bool; nothing to ask where the shapes differ.
    #[track_caller]
    fn sameness(&self, other: &Self) -> Result<Option<Self>> {
        let doing = "equal";
        let same = self.device.engine.same_device(&other.device.engine);
        same.map_err(|error| error.during(doing))?;
        let (left, right) = (self.dtype(), other.dtype());
        if left != right {
            return Err(Refusal::Mixed { doing, left, right }.into());
        }
        if self.shape() != other.shape() {
            return Ok(None);
        }
        self.eq(other).map_err(|error| error.during(doing))?.all(..).map(Some)
    }

    #[track_caller]
    fn closeness(&self, other: &Self, rtol: f64, atol: f64) -> Result<Option<Self>> {
        let what = "allclose";
        let (left, right) = (self.dtype(), other.dtype());
        if left != right {
            return Err(Refusal::Mixed { doing: what, left, right }.into());
        }
        float(what, left)?;
        let close = || {
            let wide = computed(left);
            let (x, y) = (self.cast(wide)?, other.cast(wide)?);
            let room = ((y.abs()? * rtol)? + atol)?;
            // Everything is within the room that infinity leaves, and that overflows.
            let finite = x.is_finite()?.and(&y.is_finite()?)?;
            let near = (&x - &y)?.abs()?.le(&room)?.and(&finite)?;
            near.or(&x.eq(&y)?)?.all(..).map(Some)
        };
        asked(close).map_err(|error: Error| error.during(what))
    }
}

/// Reads what was asked.
async fn answered(question: Result<Option<Tensor>>, drive: Drive, site: CallSite) -> Result<bool> {
    let Some(question) = question? else { return Ok(false) };
    let answer = question.read_all::<bool>(drive, site).await?;
    Ok(answer == [true])
}
