//! What would run to compute a tensor, without running it.

use super::Tensor;
use crate::engine::Site;
use crate::engine::sketch::Explanation;
use crate::error::Result;
use crate::fuse::{Context, Sketched};
use crate::kernel::{Operand, moves};

impl Tensor {
    /// The kernels that reading this tensor would run: names, dispatches, bytes, why each was
    /// chosen, and their WGSL: printing it shows all. Nothing is computed, and nothing is decided
    /// by asking.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, -2.0], [2])?;
    /// let y = ((&x * 2.0)? + 1.0)?.relu()?;
    /// assert_eq!(y.explain().kernels.len(), 1); // for all three operations
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn explain(&self) -> Explanation {
        self.explained().unwrap_or_else(|error| Explanation {
            kernels: Vec::new(),
            bytes_allocated: 0,
            error: Some(error),
        })
    }

    fn explained(&self) -> Result<Explanation> {
        let paper = self.device.engine.on_paper()?;
        let (target, sketched) = (self.device.target(), Sketched::default());
        let context = Context { site: Site { engine: &paper, target }, sketched: Some(&sketched) };
        let error = self.sketch(context).err();
        Ok(paper.sketch.map_or_else(Explanation::default, |sketch| sketch.explanation(error)))
    }

    fn sketch(&self, context: Context<'_>) -> Result<()> {
        let value = self.node.realise(context)?;
        value.check()?;
        if !self.layout.is_dense() && !self.shape().is_empty() {
            let from = Operand { value, layout: self.layout, dtype: self.dtype() };
            context.site.engine.remark(|| "a row-major copy of a view, for reading".into());
            moves::contiguous(context.site, &from)?;
        }
        Ok(())
    }
}
