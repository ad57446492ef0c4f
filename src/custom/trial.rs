//! Trials of kernels: whole arrays, judged by an oracle that computes whole arrays.

use super::check::{CheckCause, Contract, Findings, Judged};
use super::check::{is_stored, runs, uploaded, without_subnormals};
use super::kernel::Kernel;
use super::poses::{FORMS, LONG, Pose};
use super::run::Run;
use super::values::Values;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::op::Number;

/// After so many trips a kernel that is tried goes on without end.
const TRIPS: u32 = 1_000_000;

/// A kernel, what judges it, and how it is run.
struct Rehearsal<'k, O, L> {
    kernel: &'k Kernel,
    contract: &'k Contract,
    oracle: O,
    launch: L,
}

/// What it is run on.
struct Scenery<'s> {
    device: &'s Device,
    /// In words.
    how: &'static str,
    dtype: DType,
    dims: &'static [usize; 2],
    poses: &'static [Pose; 3],
}

impl Kernel {
    /// Tries it on every float dtype that it takes and the device stores: ten lengths from 1 to
    /// 65 584 elements, most of them ragged, views of every kind, NaN, infinities, subnormals and
    /// extremes, by both classes of kernels and with f16 native and packed.
    ///
    /// Every array that it reads is given as many elements, of one dtype; it is an array of `V` or
    /// of that dtype. `launch` gives the run all else. The oracle computes the first tensor that is
    /// created, in f64, from the arrays in the order of their bindings; nothing else is judged.
    ///
    /// `pollster::block_on` waits for it where nothing else does.
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
    pub async fn check(
        &self,
        device: &Device,
        contract: &Contract,
        oracle: impl Fn(&[Vec<f64>]) -> Vec<f64>,
        launch: impl for<'a> Fn(Run<'a>, usize, DType) -> Run<'a>,
    ) -> Result<Findings> {
        let floats = DType::ALL.into_iter().filter(|d| d.is_float() && self.reads(*d));
        let (here, absent) = floats.partition(|dtype| is_stored(device, *dtype));
        let mut findings = Findings::new(self.name(), (here, absent));
        if findings.dtypes.is_empty() {
            // Why f32 does not do says more.
            self.as_floats()?;
            return Err(CheckCause::NoFloats { name: self.name().to_owned() }.into());
        }
        findings = findings.of(self.inputs().map(str::to_owned).collect());
        let kernel = &self.ended(device, TRIPS);
        let rehearsal = Rehearsal { kernel, contract, oracle, launch };
        for (device, how) in runs(device).await? {
            for dtype in findings.dtypes.clone() {
                let mut values = Values::new(dtype, contract.operands.clone());
                for (dims, poses) in FORMS.iter().chain(LONG) {
                    let scenery = Scenery { device: &device, how, dtype, dims, poses };
                    rehearsal.run(&scenery, &mut values, &mut findings).await?;
                }
            }
        }
        Ok(findings)
    }
}

impl<O, L> Rehearsal<'_, O, L>
where
    O: Fn(&[Vec<f64>]) -> Vec<f64>,
    L: for<'a> Fn(Run<'a>, usize, DType) -> Run<'a>,
{
    async fn run(
        &self,
        scenery: &Scenery<'_>,
        values: &mut Values,
        findings: &mut Findings,
    ) -> Result<()> {
        let &Scenery { device, how, dtype, dims, poses } = scenery;
        let (n, width) = (dims[0] * dims[1], dtype.width());
        let mut run = device.run(self.kernel);
        let mut operands: Vec<Vec<Number>> = Vec::new();
        for (i, binding) in self.kernel.inputs().enumerate() {
            let pose = poses[i % poses.len()];
            let whole = pose.stored(dims);
            let bytes = values.bytes(i, whole.iter().product());
            let x = uploaded(device, dtype, &bytes, whole)?;
            let x = pose.view(&x, dims)?.broadcast_to(*dims)?;
            let places = x.layout().places();
            let read = places.map(|at| Number::decode(dtype, &bytes[at * width..][..width]));
            operands.push(read.collect());
            run = run.read(binding, &x);
        }
        let name = || self.kernel.name().to_owned();
        let made = (self.launch)(run, n, dtype).recorded(|| Ok(()))?;
        let Some(made) = made.first() else {
            return Err(CheckCause::NoResult { name: name() }.into());
        };
        let got = made.read_bytes().await?;
        let zeroed: Vec<Vec<_>> = operands
            .iter()
            .map(|all| all.iter().map(|x| without_subnormals(dtype, *x)).collect())
            .collect();
        let exact = self.exact(&operands);
        let flushed = (zeroed != operands).then(|| self.exact(&zeroed));
        let count = made.shape().elements();
        if exact.len() != count {
            let (made, exact) = (count, exact.len());
            return Err(CheckCause::Lengths { name: name(), made, exact }.into());
        }
        for (i, got) in got.chunks(made.dtype().width()).enumerate() {
            let flushed = flushed.as_ref().and_then(|all| all.get(i).copied());
            let got = Number::decode(made.dtype(), got);
            let outcome = Judged { got, exact: exact[i], flushed };
            let place = || {
                let poses = &poses[..operands.len().min(poses.len())];
                format!("element {i} of {count}, given {dims:?}, lying {poses:?}, {how}")
            };
            let beside = operands.iter().filter_map(|all| all.get(i).copied()).collect();
            findings.add((dtype, made.dtype()), self.contract, outcome, place, beside);
        }
        Ok(())
    }

    fn exact(&self, operands: &[Vec<Number>]) -> Vec<Number> {
        let floats = |all: &Vec<Number>| all.iter().map(|x| x.float()).collect();
        let exact = (self.oracle)(&operands.iter().map(floats).collect::<Vec<_>>());
        exact.into_iter().map(Number::Float).collect()
    }
}
