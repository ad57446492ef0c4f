//! What would run to compute a tensor, without running it.

use super::Tensor;
use crate::device::Device;
use crate::engine::notes::Explanation;
use crate::engine::{Engine, Site};
use crate::error::Result;
use crate::fuse::{Context, Sketched};
use crate::kernel::{Operand, moves};

impl Tensor {
    /// The kernels that reading this tensor would run: names, dispatches, bytes, why each was
    /// chosen, and their WGSL: printing it shows all. Nothing is computed, and nothing is decided
    /// by asking. What ran already is not among them - what was computed before, and what is not
    /// deferred but recorded at once, such as a [scatter](Tensor::scatter_add), a draw or zeros -:
    /// [`Device::watch`] lists that too.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, -2.0], [2])?;
    /// let y = ((&x * 2.0)? + 1.0)?.relu()?;
    /// assert_eq!(y.explain().kernels.len(), 1); // for all three operations
    /// # Ok(()) });
    /// ```
    #[must_use]
    #[track_caller]
    pub fn explain(&self) -> Explanation {
        self.explained().unwrap_or_else(|error| Explanation {
            kernels: Vec::new(),
            bytes_allocated: 0,
            error: Some(error),
        })
    }

    #[track_caller]
    fn explained(&self) -> Result<Explanation> {
        let (paper, sketched) = (self.device.engine.sketched()?, Sketched::default());
        let error = self.sketch(&paper, &sketched).err();
        let told = paper.sketch.map(|sketch| sketch.notes.explanation(error));
        Ok(told.unwrap_or_default())
    }

    /// Notes what computing and reading it runs; what was sketched before is there already.
    #[track_caller]
    fn sketch(&self, paper: &Engine, sketched: &Sketched) -> Result<()> {
        let site = Site { engine: paper, ..self.device.site() };
        let context = Context { site, sketched: Some(sketched) };
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

impl Device {
    /// Compiles every kernel that reading these tensors would run, side by side on all cores, and
    /// returns how many there were. Nothing is computed: the first pass of a model then waits for
    /// no compiler. Kernels are kept by text, so that other values of the same shapes, and most of
    /// other shapes, need no more. Of a graph so deep that it is recorded from below as it grows,
    /// what is left is compiled.
    ///
    /// A driver that compiles at the first dispatch, as llvmpipe does, still has that to do. On
    /// [paper](Device::on_paper) there is no compiler, and none are compiled.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// let y = x.matmul(&x)?.softmax(1)?;
    /// println!("{} kernels compiled", device.prewarm([&y])?);
    /// assert_eq!(device.prewarm([&y])?, 0); // they are there
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn prewarm<'a>(&self, tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<usize> {
        let (paper, sketched) = (self.engine.sketched()?, Sketched::default());
        for tensor in tensors {
            self.engine.same_device(&tensor.device.engine)?;
            tensor.sketch(&paper, &sketched)?;
        }
        if self.engine.gpu.is_on_paper() {
            return Ok(0);
        }
        let kernels = paper.sketch.map(|sketch| sketch.kernels()).unwrap_or_default();
        self.engine.pipelines.prewarm(&self.engine.gpu, &kernels)
    }
}
