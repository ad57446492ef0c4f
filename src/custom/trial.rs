//! Trials of kernels: whole arrays, judged by an oracle that computes whole arrays.

use super::check::{CheckCause, Contract, Findings, Outcome};
use super::check::{is_stored, runs, uploaded, without_subnormals};
use super::kernel::Kernel;
use super::poses::FORMS;
use super::run::Run;
use super::values::Values;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::op::Number;

/// A kernel, what judges it, and how it is run.
pub(super) struct Trial<'k, O, L> {
    pub(super) kernel: &'k Kernel,
    pub(super) contract: &'k Contract,
    pub(super) oracle: O,
    pub(super) launch: L,
}

pub(super) async fn check<O, L>(trial: &Trial<'_, O, L>, device: &Device) -> Result<Findings>
where
    O: Fn(&[Vec<f64>]) -> Vec<f64>,
    L: for<'a> Fn(Run<'a>, usize, DType) -> Run<'a>,
{
    let kernel = trial.kernel;
    let floats = DType::ALL.into_iter().filter(|dtype| dtype.is_float() && kernel.reads(*dtype));
    let (here, absent) = floats.partition(|dtype| is_stored(device, *dtype));
    let mut findings = Findings::new(kernel.name(), (here, absent));
    if findings.dtypes.is_empty() {
        let name = kernel.name().to_owned();
        return Err(CheckCause::Nothing { name, what: "no float" }.into());
    }
    for (device, how) in runs(device).await? {
        for dtype in findings.dtypes.clone() {
            let mut values = Values::new(dtype, trial.contract.operands.clone());
            for form in 0..FORMS.len() {
                let place = (dtype, form, how);
                trial.run(&device, &mut values, place, &mut findings).await?;
            }
        }
    }
    Ok(findings)
}

impl<O, L> Trial<'_, O, L>
where
    O: Fn(&[Vec<f64>]) -> Vec<f64>,
    L: for<'a> Fn(Run<'a>, usize, DType) -> Run<'a>,
{
    async fn run(
        &self,
        device: &Device,
        values: &mut Values,
        (dtype, form, how): (DType, usize, &str),
        findings: &mut Findings,
    ) -> Result<()> {
        let (dims, poses) = &FORMS[form];
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
            let outcome = Outcome { got, exact: exact[i], flushed };
            let place = || format!("element {i} of {dims:?} {poses:?} {how}");
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
