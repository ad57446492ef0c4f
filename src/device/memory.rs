//! What a device's memory holds, may hold, and has room for.

use super::Device;
use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::Result;
use crate::shape::IntoShape;
use crate::store::{Fit, Memory};

impl Device {
    /// What its memory holds. Printing it gives a table.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    ///
    /// let x = device.zeros([256], DType::F32)?;
    /// assert_eq!(device.memory().bytes_live, 1024);
    /// drop(x);
    /// assert_eq!(device.memory().bytes_live, 0); // kept for the next tensor, until `trim`
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn memory(&self) -> Memory {
        self.engine.memory()
    }

    /// Gives unused memory back to the driver, waits until it is done, and returns the bytes. In a
    /// browser it does not wait: the memory is free once what uses it is
    /// [done](Device::synchronize).
    pub fn trim(&self) -> Result<u64> {
        self.engine.trim()
    }

    /// Moves small tensors together on the device, so that thinly used slabs can be given back;
    /// returns the bytes. Tensors stay valid and unchanged. It waits as [`Device::trim`] does, and
    /// where that does not, neither does this.
    pub fn compact(&self) -> Result<u64> {
        self.engine.compact()
    }

    /// Reserves at most this many bytes from now on; `None` lifts the cap. On software adapters the
    /// default is 80 % of the memory that was free when the device was opened, for the machine or
    /// the container, where the system tells (Linux does). Creating a tensor that would exceed the
    /// cap is an out-of-memory error.
    pub fn set_cap(&self, bytes: Option<u64>) {
        self.engine.set_cap(bytes);
    }

    /// Whether a tensor of this [shape](IntoShape) and host dtype would fit, and what it would
    /// take. Nothing is allocated. It is an error only if there can be no such tensor: if the plan
    /// rejects the dtype, or there are more elements than can be counted.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    ///
    /// let fit = device.fit([1024, 1024], DType::F32)?;
    /// assert_eq!(fit.bytes, 4 << 20);
    /// assert!(fit.fits, "{fit}");
    /// # Ok(()) });
    /// ```
    pub fn fit(&self, shape: impl IntoShape, dtype: DType) -> Result<Fit> {
        let shape = shape.into_shape()?;
        let (_, stored) = self.handle.plan.accept(dtype)?;
        Ok(self.engine.fit(Engine::bytes_of(&shape, *stored)?))
    }
}
