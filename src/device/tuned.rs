//! Which kernels a device runs: of which class, as they were tuned, and what somebody may want to
//! tune.

use std::sync::Arc;

use super::Device;
use super::problems::Problems;
use crate::caps::breadth::Breadth;
use crate::kernel::choice::{Measurable, Problem, Table};
use crate::wgsl::Target;
use crate::wgsl::rig::Rig;

impl Device {
    /// A handle on the same device that runs another class of kernels, with the same results at
    /// another speed. Where the adapter lacks what they need, 64-bit integers or subgroups of
    /// eight, it is the nearest class that runs there.
    #[doc(hidden)]
    #[must_use]
    pub fn with_target(&self, target: Target) -> Self {
        let target = target.within(self.caps());
        self.with(|handle| handle.target = target)
    }

    /// A handle on the same device, and what operations by it are computed for: what to
    /// [tune](Device::tune) for a program that is at hand. A device [on paper](Device::on_paper)
    /// notes as well.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::tune::{Problem, ProductSize, RowsSize};
    ///
    /// let (noting, problems) = device.noting();
    /// let (x, w) = (noting.ones([4, 64], DType::F32)?, device.ones([64, 32], DType::F32)?);
    /// let y = x.matmul(&w)?.softmax(1)?; // what is computed asks the handle of its first operand
    /// # let _ = y;
    /// let product = ProductSize::new(4, 32, 64, DType::F32);
    /// let wanted: [Problem; 2] = [product.into(), RowsSize::softmax(4, 32).into()];
    /// assert_eq!(problems.list(), wanted);
    /// let tuned = device.tune(&problems.list(), |_| ()).await?;
    /// # let _ = tuned;
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn noting(&self) -> (Self, Problems) {
        let problems = Problems::default();
        (self.with(|handle| handle.problems = Some(problems.clone())), problems)
    }

    pub(crate) fn with_choices(&self, table: Arc<Table>) -> Self {
        self.with(|handle| handle.tuned = Some(table))
    }

    /// What candidates run on.
    pub(crate) fn rig(&self) -> Rig<'_> {
        self.site().rig()
    }

    /// How broad the GPU is: as it was timed, or as chips of its kind are.
    pub(crate) fn breadth(&self) -> Breadth {
        if self.target() != Target::Gpu {
            return Breadth::USUAL;
        }
        let tuned = self.handle.tuned.as_deref().filter(|_| !self.handle.batch_invariant);
        let timed = tuned.filter(|table| table.target == self.target());
        timed.and_then(|table| table.breadth).unwrap_or(self.engine.gpu.breadth)
    }

    /// What was tuned for problems of this size, if anything was.
    pub(crate) fn tuned<S: Measurable + Into<Problem>>(&self, size: S) -> Option<S::Choice> {
        // Nothing is chosen by how large a batch is.
        if self.handle.batch_invariant {
            return None;
        }
        if let Some(problems) = &self.handle.problems {
            problems.note(size.into());
        }
        self.handle.tuned.as_deref()?.choice(self.target(), size)
    }
}
