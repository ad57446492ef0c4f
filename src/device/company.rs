//! Whether results may depend on what else is in their batch.

use super::Device;
use crate::kernel::matmul::choice::Chooser;

impl Device {
    /// A handle on the same device for which the bits of a result do not depend on what else is in
    /// its batch: a row of a product, by weights in blocks too, the attention of one of several
    /// sequences `[batch, heads, tokens, d]`, and a reduction, scan, norm or softmax over axes
    /// after the batch's (in memory too) are the same alone and among thousands. Columns are not
    /// promised, nor members that `einsum` or `solve` takes for columns.
    ///
    /// Kernels are then chosen by what all of a batch have in common, not by how many they are, and
    /// what was tuned is not asked: a single row may take the time of many. Operations that one
    /// kernel computes stay apart, and each rounds as if it was stored: which of them are fused
    /// depends on how a batch lies, and compilers round less where one follows another. It holds on
    /// one adapter and driver, for what as f32 fits into one segment of memory. Where there is none
    /// for the parts of a product, that is an error, instead of other bits.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::tensor::Key;
    ///
    /// let device = device.with_batch_invariance();
    /// let x = device.normal(Key::new(1), [64, 600], DType::F32)?;
    /// let weight = device.normal(Key::new(2), [50, 600], DType::F32)?;
    /// let together = x.linear(&weight, None)?;
    /// let alone = x.slice(0, 7..8)?.linear(&weight, None)?;
    /// assert_eq!(together.slice(0, 7..8)?.read_now::<f32>()?, alone.read_now::<f32>()?);
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn with_batch_invariance(&self) -> Self {
        self.with(|handle| handle.batch_invariant = true)
    }

    pub(crate) fn without_batch_invariance(&self) -> Self {
        self.with(|handle| handle.batch_invariant = false)
    }

    pub(crate) fn is_batch_invariant(&self) -> bool {
        self.handle.batch_invariant
    }

    /// Who chooses the kernels of its products.
    pub(crate) fn chooser(&self) -> Chooser {
        if self.handle.batch_invariant { Chooser::AnyBatch } else { Chooser::Tables }
    }
}
