//! What only tests and the examples of the documentation call: no part of the public face.

use core::future::Future;
use core::ops::Range;
use std::sync::Arc;

use crate::adapter::Adapter;
use crate::caps::Caps;
use crate::device::Device;
use crate::error::Result;
pub use crate::gpu::{Call, spoil_memory};
use crate::kernel::choice::Table;
use crate::kernel::matmul::choice::scheme::Choice;
use crate::ledger::CallSite;
use crate::shared::lock;
use crate::tensor::Tensor;
use crate::tune::{Manner, Problem, ProductSize, Trial, Tuned};
use crate::wgsl::mutant::Mutant;

/// What tests ask of a device beyond its public face.
pub trait Inside {
    /// Makes the calls of one kind with these numbers, counted from now, fail.
    fn fail(&self, call: Call, range: Range<u64>);

    /// How many failures this device has met that a test asked for.
    fn failures(&self) -> u64;

    /// Loses the device right after the `n`th submission from now, the first being 1.
    fn lose_after(&self, n: u64);

    /// How many pipelines there are.
    fn pipelines(&self) -> usize;

    /// Times dispatches as on a device that writes no timestamps inside of passes.
    fn time_by_passes(&self);

    /// Counts what runs, as where wgpu does not tell of commands that failed; if it `fails`, the
    /// first commands of the next submission that has two do not run.
    fn count_what_runs(&self, fails: bool);

    /// A handle whose dispatches compute so much at most, in additions and multiplications, if
    /// they can be parted.
    #[must_use]
    fn in_dispatches_of(&self, work: u64) -> Self;

    /// Makes every kernel that has a line have a mistake there from now on, or none.
    fn plant(&self, mistake: Option<Mutant>);

    /// Asks the driver for one buffer of this size, past the store.
    ///
    /// # Errors
    /// The driver's refusal.
    fn ask_driver_for(&self, bytes: u64) -> Result<()>;

    /// The product by a kernel and passes as a table of tuned choices names them, whether or not a
    /// table could: `tile sums 4x8 lanes 8 passes 2`.
    ///
    /// # Errors
    /// As [`Tensor::matmul`].
    fn matmul_by(&self, left: &Tensor, right: &Tensor, kernel: &str) -> Result<Tensor>;

    /// The kernels that could compute such a product here, as [`Self::matmul_by`] takes them, each
    /// in one pass along k.
    fn products(&self, size: ProductSize) -> Vec<String>;

    /// [`Device::tune`], where kernels whose names `spoil` accepts yield zeros, and each is
    /// measured as seldom as can be.
    fn tune_spoiled(
        &self,
        problems: &[Problem],
        spoil: impl Fn(&str) -> bool,
        on: impl FnMut(&Trial),
    ) -> impl Future<Output = Result<Tuned>>;
}

impl Inside for Device {
    fn fail(&self, call: Call, range: Range<u64>) {
        self.engine.gpu.fail(call, range);
    }

    fn failures(&self) -> u64 {
        self.engine.gpu.failures()
    }

    fn lose_after(&self, n: u64) {
        self.engine.gpu.lose_after(n);
    }

    fn pipelines(&self) -> usize {
        self.engine.pipelines.count()
    }

    fn time_by_passes(&self) {
        self.engine.gpu.time_by_passes();
    }

    fn count_what_runs(&self, fails: bool) {
        self.engine.gpu.count_what_runs(fails);
    }

    fn in_dispatches_of(&self, work: u64) -> Self {
        let (target, breadth) = (self.target(), Some(self.breadth().in_dispatches_of(work)));
        self.with_choices(Arc::new(Table { target, breadth, entries: Vec::new() }))
    }

    fn plant(&self, mistake: Option<Mutant>) {
        *lock(&self.engine.planted) = mistake;
    }

    fn ask_driver_for(&self, bytes: u64) -> Result<()> {
        let usage = wgpu::BufferUsages::STORAGE;
        self.engine.gpu.create_buffer("wharf.test", bytes, usage).map(drop)
    }

    fn matmul_by(&self, left: &Tensor, right: &Tensor, kernel: &str) -> Result<Tensor> {
        left.matmul_by(right, kernel)
    }

    fn products(&self, size: ProductSize) -> Vec<String> {
        let all = size.candidates(self.rig());
        all.iter().filter(|choice| choice.passes == 1).map(Choice::text).collect()
    }

    async fn tune_spoiled(
        &self,
        problems: &[Problem],
        spoil: impl Fn(&str) -> bool,
        on: impl FnMut(&Trial),
    ) -> Result<Tuned> {
        let manner = Manner { seconds: 0.0, spoil: &spoil };
        self.tuned_by(CallSite::of("tune"), problems, manner, on).await
    }
}

/// An adapter that stores but never computes, with these capabilities: for tests of everything but
/// kernels.
///
/// # Errors
/// Where wgpu was built without its noop backend.
pub async fn noop(caps: Caps) -> Result<Adapter> {
    Adapter::noop(caps).await
}

/// A device that computes nothing, for tests of what lies under one.
#[cfg(test)]
pub(crate) fn noop_device() -> Result<Device> {
    noop_device_of(crate::caps::fixtures::lavapipe())
}

/// One with these capabilities.
#[cfg(test)]
pub(crate) fn noop_device_of(caps: Caps) -> Result<Device> {
    let adapter = pollster::block_on(noop(caps))?;
    adapter.open_now(adapter.negotiate(&crate::Policy::exact()))
}

/// Runs an example with a device: [`Device::best_now`] under
/// [`Policy::exact`](crate::plan::Policy::exact).
///
/// Fails where there is no adapter, unless `WHARF_TEST_NO_GPU=1`: then it does nothing.
#[cfg(not(target_arch = "wasm32"))]
#[track_caller]
pub fn example(run: impl AsyncFnOnce(Device) -> Result<()>) {
    if std::env::var("WHARF_TEST_NO_GPU").is_ok_and(|value| value == "1") {
        return;
    }
    let device = Device::best_now(&crate::plan::Policy::exact());
    let outcome = device.and_then(|device| pollster::block_on(run(device)));
    assert!(outcome.is_ok(), "{outcome:?}\n  where there is no adapter: WHARF_TEST_NO_GPU=1");
}
