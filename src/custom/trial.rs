//! Trials of kernels: whole arrays, judged by an oracle that computes whole arrays.

use core::future::Future;
use core::ops::{Bound, RangeBounds, RangeInclusive};

use super::check::{CheckCause, CheckReport, Contract, Judged};
use super::check::{is_stored, reduced, runs, uploaded, without_subnormals};
use super::kernel::Kernel;
use super::poses::{FORMS, LONG, Pose};
use super::run::Run;
use super::values::Values;
use crate::device::Device;
use crate::dtype::DType;
use crate::engine::site::asked_at;
use crate::error::Result;
use crate::gpu::Drive;
use crate::ledger::CallSite;
use crate::op::Number;

/// After so many trips a kernel that is tried goes on without end.
const TRIPS: u32 = 1_000_000;

/// What is tried, and what judges it.
struct Rehearsal<'c, O, L> {
    contract: &'c Contract,
    oracle: O,
    launch: L,
    /// Who asked for it: all that crosses is theirs.
    site: CallSite,
}

/// What it is run on.
struct Scenery<'s> {
    kernel: &'s Kernel,
    device: &'s Device,
    /// In words.
    how: &'static str,
    dtype: DType,
    dims: &'static [usize; 2],
    poses: &'static [Pose; 3],
}

/// What all arrays that a kernel reads are given.
enum Fodder {
    Floats(RangeInclusive<f64>),
    Integers(RangeInclusive<i128>),
}

impl Fodder {
    /// In words, and a dtype of that kind.
    const fn named(&self) -> (&'static str, DType) {
        match self {
            Self::Floats(_) => ("floats of that range", DType::F32),
            Self::Integers(_) => ("integers of that range", DType::I32),
        }
    }

    /// Some of it, if the dtype has any.
    fn values(&self, dtype: DType) -> Option<Values> {
        match self {
            Self::Floats(_) if !dtype.is_float() => None,
            Self::Floats(within) => Values::floats(dtype, within.clone()),
            Self::Integers(_) if dtype.is_float() => None,
            Self::Integers(within) => Values::integers(dtype, within),
        }
    }
}

impl Kernel {
    /// Tries it on every float dtype that it takes, the device stores and the contract's operands
    /// are of: ten lengths from 1 to 65 584 elements, most of them ragged, views of every kind,
    /// NaN, infinities, subnormals and extremes, by both classes of kernels and with f16 native
    /// and, if it does without, packed.
    ///
    /// What happens to be right on this driver only is found as well: what a kernel leaves out is
    /// no zero, and it is tried once more with a driver's liberty taken, where an index past the
    /// end of an array means another of its elements. A barrier that is missing is found where that
    /// matters, and not elsewhere.
    ///
    /// Every array that it reads is given as many elements, of one dtype; it is an array of `V` or
    /// of that dtype. `launch` gives the run all else. The oracle computes the first tensor that is
    /// created, in f64, from the arrays in the order of their declarations; nothing else is judged.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::custom::{Contract, Kernel};
    ///
    /// let text = |weight: &str| {
    ///     format!(
    ///         "@group(0) @binding(0) var<storage> x: array<V>;
    ///          @group(0) @binding(1) var<storage, read_write> y: array<V>;
    ///
    ///          @compute @workgroup_size(64)
    ///          fn lag(@builtin(global_invocation_id) at: vec3<u32>) {{
    ///              let e = 4u * at.x + vec4<u32>(0u, 1u, 2u, 3u);
    ///              let before = select(load_x(e - 1u), V(0.0), e == vec4<u32>(0u));
    ///              store_y(at.x, load_x(e) - {weight} * before);
    ///          }}"
    ///     )
    /// };
    /// let exact = |all: &[Vec<f64>]| -> Vec<f64> {
    ///     let before = [&[0.0], &all[0][..]].concat();
    ///     all[0].iter().zip(before).map(|(x, before)| x - 0.5 * before).collect()
    /// };
    /// let contract = Contract::ulp(1.0).or(1e-4).on(-1000.0..=1000.0);
    /// for (weight, is_right) in [("0.5", true), ("0.499", false)] {
    ///     let lag = Kernel::from_wgsl("lag", &text(weight))?;
    ///     let verdict = lag.check(&device, &contract, exact, |run, n, dtype| {
    ///         run.create("y", [n], dtype).threads([n.div_ceil(4), 1, 1])
    ///     });
    ///     let verdict = verdict.await?;
    ///     assert_eq!(verdict.is_right(), is_right, "{verdict}");
    /// }
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    /// If it reads no float, the run is refused, an invocation loops more than a million times, or
    /// the device fails. A wrong result is no error, but the verdict.
    #[track_caller]
    pub fn check<'k, O, L>(
        &'k self,
        device: &'k Device,
        contract: &'k Contract,
        oracle: O,
        launch: L,
    ) -> impl Future<Output = Result<CheckReport>> + use<'k, O, L>
    where
        O: Fn(&[Vec<f64>]) -> Vec<f64>,
        L: for<'a> Fn(Run<'a>, usize, DType) -> Run<'a>,
    {
        self.floats(CallSite::of("kernel.check"), device, contract, (oracle, launch))
    }

    /// [`Kernel::check`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn check_now<O, L>(
        &self,
        device: &Device,
        contract: &Contract,
        oracle: O,
        launch: L,
    ) -> Result<CheckReport>
    where
        O: Fn(&[Vec<f64>]) -> Vec<f64>,
        L: for<'a> Fn(Run<'a>, usize, DType) -> Run<'a>,
    {
        let site = CallSite::of("kernel.check_now");
        pollster::block_on(self.floats(site, device, contract, (oracle, launch)))
    }

    async fn floats<O, L>(
        &self,
        site: CallSite,
        device: &Device,
        contract: &Contract,
        (oracle, launch): (O, L),
    ) -> Result<CheckReport>
    where
        O: Fn(&[Vec<f64>]) -> Vec<f64>,
        L: for<'a> Fn(Run<'a>, usize, DType) -> Run<'a>,
    {
        let oracle = move |all: &[Vec<Number>]| {
            let all: Vec<Vec<f64>> =
                all.iter().map(|all| all.iter().map(|x| x.float()).collect()).collect();
            oracle(&all).into_iter().map(Number::Float).collect()
        };
        let rehearsal = Rehearsal { contract, oracle, launch, site };
        rehearsal.judge(self, device, &Fodder::Floats(contract.operands.clone())).await
    }

    /// As [`Kernel::check`], on every integer dtype that it takes and that has some of these
    /// values, and on bool. What the oracle says is reduced to the dtype, as arithmetic wraps; of a
    /// bool it is 0 or 1. Nothing but its value is right.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::custom::Kernel;
    ///
    /// let count = Kernel::from_wgsl(
    ///     "count",
    ///     "@group(0) @binding(0) var<storage> x: array<u32>;
    ///      @group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;
    ///
    ///      @compute @workgroup_size(64)
    ///      fn count(@builtin(global_invocation_id) at: vec3<u32>) {
    ///          if at.x < arrayLength(&x) {
    ///              atomicAdd(&counts[x[at.x]], 1u);
    ///          }
    ///      }",
    /// )?;
    /// let exact = |all: &[Vec<i128>]| -> Vec<i128> {
    ///     (0..10).map(|n| all[0].iter().filter(|x| **x == n).count() as i128).collect()
    /// };
    /// let verdict = count.check_integers(&device, 0..10, exact, |run, n, _| {
    ///     run.create("counts", [10], DType::U32).threads([n, 1, 1])
    /// });
    /// let verdict = verdict.await?;
    /// assert!(verdict.is_right(), "{verdict}");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    /// As [`Kernel::check`].
    #[track_caller]
    pub fn check_integers<'k, V, O, L>(
        &'k self,
        device: &'k Device,
        values: V,
        oracle: O,
        launch: L,
    ) -> impl Future<Output = Result<CheckReport>> + use<'k, V, O, L>
    where
        V: RangeBounds<i128>,
        O: Fn(&[Vec<i128>]) -> Vec<i128>,
        L: for<'a> Fn(Run<'a>, usize, DType) -> Run<'a>,
    {
        let site = CallSite::of("kernel.check_integers");
        self.integers(site, device, values, (oracle, launch))
    }

    /// [`Kernel::check_integers`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn check_integers_now<O, L>(
        &self,
        device: &Device,
        values: impl RangeBounds<i128>,
        oracle: O,
        launch: L,
    ) -> Result<CheckReport>
    where
        O: Fn(&[Vec<i128>]) -> Vec<i128>,
        L: for<'a> Fn(Run<'a>, usize, DType) -> Run<'a>,
    {
        let site = CallSite::of("kernel.check_integers_now");
        pollster::block_on(self.integers(site, device, values, (oracle, launch)))
    }

    async fn integers<O, L>(
        &self,
        site: CallSite,
        device: &Device,
        values: impl RangeBounds<i128>,
        (oracle, launch): (O, L),
    ) -> Result<CheckReport>
    where
        O: Fn(&[Vec<i128>]) -> Vec<i128>,
        L: for<'a> Fn(Run<'a>, usize, DType) -> Run<'a>,
    {
        let oracle = move |all: &[Vec<Number>]| {
            let all: Vec<Vec<i128>> =
                all.iter().map(|all| all.iter().map(|x| x.whole()).collect()).collect();
            oracle(&all).into_iter().map(Number::Int).collect()
        };
        let start = match values.start_bound() {
            Bound::Included(low) => *low,
            Bound::Excluded(low) => low.saturating_add(1),
            Bound::Unbounded => i128::MIN,
        };
        let end = match values.end_bound() {
            Bound::Included(high) => *high,
            Bound::Excluded(high) => high.saturating_sub(1),
            Bound::Unbounded => i128::MAX,
        };
        let rehearsal = Rehearsal { contract: &Contract::ulp(0.0), oracle, launch, site };
        rehearsal.judge(self, device, &Fodder::Integers(start..=end)).await
    }
}

impl<O, L> Rehearsal<'_, O, L>
where
    O: Fn(&[Vec<Number>]) -> Vec<Number>,
    L: for<'a> Fn(Run<'a>, usize, DType) -> Run<'a>,
{
    async fn judge(
        &self,
        kernel: &Kernel,
        device: &Device,
        fodder: &Fodder,
    ) -> Result<CheckReport> {
        let taken = DType::ALL
            .iter()
            .copied()
            .filter(|dtype| dtype.computes() && fodder.values(*dtype).is_some())
            .filter(|dtype| kernel.reads(*dtype));
        let (here, absent) = taken.partition(|dtype| is_stored(device, *dtype));
        let mut findings = CheckReport::new(kernel.name(), (here, absent));
        if findings.dtypes.is_empty() {
            let (what, dtype) = fodder.named();
            // Why that one does not do says more.
            kernel.holds(dtype)?;
            return Err(CheckCause::Unread { name: kernel.name().to_owned(), what }.into());
        }
        findings = findings.of(kernel.inputs().map(str::to_owned).collect());
        let ended = kernel.ended(device, TRIPS);
        let astray = ended.astray();
        let runs = runs(device).await?.into_iter().filter(|(device, _)| kernel.is_had_by(device));
        let runs = runs.map(|(device, how)| (&ended, device, how));
        let elsewhere = "with some other element past every end";
        for (kernel, device, how) in runs.chain([(&astray, device.clone(), elsewhere)]) {
            for dtype in findings.dtypes.clone() {
                let Some(mut values) = fodder.values(dtype) else { continue };
                for (dims, poses) in FORMS.iter().chain(LONG) {
                    let scenery = Scenery { kernel, device: &device, how, dtype, dims, poses };
                    self.run(&scenery, &mut values, &mut findings).await?;
                }
            }
        }
        Ok(findings)
    }

    async fn run(
        &self,
        scenery: &Scenery<'_>,
        values: &mut Values,
        findings: &mut CheckReport,
    ) -> Result<()> {
        let &Scenery { kernel, device, how, dtype, dims, poses } = scenery;
        let (n, width) = (dims[0] * dims[1], dtype.width());
        let mut run = device.run(kernel);
        let mut operands: Vec<Vec<Number>> = Vec::new();
        for (i, binding) in kernel.inputs().enumerate() {
            let pose = poses[i % poses.len()];
            let whole = pose.stored(dims);
            let bytes = values.bytes(i, whole.iter().product());
            let x = uploaded(device, self.site, dtype, &bytes, whole)?;
            let x = pose.view(&x, dims)?.broadcast_to(*dims)?;
            let places = x.layout().places();
            let read = places.map(|at| Number::decode(dtype, &bytes[at * width..][..width]));
            operands.push(read.collect());
            run = run.read(binding, &x);
        }
        let name = || kernel.name().to_owned();
        let run = (self.launch)(run, n, dtype).soiled();
        let made = asked_at(self.site.location, || run.recorded(|| Ok(())))?;
        let Some(made) = made.first() else {
            return Err(CheckCause::NoResult { name: name() }.into());
        };
        let got = made.take_down(Drive::Wake, self.site).await?;
        let zeroed: Vec<Vec<_>> = operands
            .iter()
            .map(|all| all.iter().map(|x| without_subnormals(dtype, *x)).collect())
            .collect();
        let exact = (self.oracle)(&operands);
        let flushed = (zeroed != operands).then(|| (self.oracle)(&zeroed));
        let count = made.shape().elements();
        if exact.len() != count {
            let (made, exact) = (count, exact.len());
            return Err(CheckCause::Lengths { name: name(), made, exact }.into());
        }
        let made = made.dtype();
        for (i, got) in got.chunks(made.width()).enumerate() {
            let flushed = flushed.as_ref().and_then(|all| all.get(i)).map(|x| reduced(made, *x));
            let got = Number::decode(made, got);
            let outcome = Judged { got, exact: reduced(made, exact[i]), flushed };
            let place = || {
                let poses = &poses[..operands.len().min(poses.len())];
                format!("element {i} of {count}, given {dims:?}, lying {poses:?}, {how}")
            };
            let beside = operands.iter().filter_map(|all| all.get(i).copied()).collect();
            findings.add((dtype, made), self.contract, outcome, place, beside);
        }
        Ok(())
    }
}
