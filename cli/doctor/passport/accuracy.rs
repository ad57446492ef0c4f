//! How far results lie from exact ones at worst, over dense samples: what `docs/accuracy.md` and a
//! passport have of every operation.

mod joint;
mod samples;
mod worst;

use wharf::op::{Joint, Op, Reduction, Tolerance};
use wharf::reference::{Number, apply, keeps};
use wharf::{DType, Device, Tensor};

use super::show;
pub(crate) use worst::Worst;

/// The operations whose results may lie away from the exact ones.
pub(crate) fn ops() -> impl Iterator<Item = Op> {
    let inexact = |op: &Op| op.takes(DType::F32) && !op.bound(DType::F32).is_exact();
    Op::ALL.iter().copied().filter(inexact)
}

/// The reductions of that kind.
pub(crate) fn reductions() -> impl Iterator<Item = Reduction> {
    Reduction::ALL.iter().copied().filter(|reduction| !reduction.bound(DType::F32).is_exact())
}

/// Something whose accuracy is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inexact {
    Op(Op),
    Joint(Joint),
    Reduction(Reduction),
}

impl Inexact {
    /// All of them, in the order of their tables.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let joint = Joint::ALL.iter().copied().map(Self::Joint);
        ops().map(Self::Op).chain(joint).chain(reductions().map(Self::Reduction))
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Op(op) => op.name(),
            Self::Joint(joint) => joint.name(),
            Self::Reduction(reduction) => reduction.name(),
        }
    }

    /// Its contract.
    pub(crate) fn bound(self) -> Tolerance {
        match self {
            Self::Op(op) => op.bound(DType::F32),
            Self::Joint(joint) => joint.bound(),
            Self::Reduction(reduction) => reduction.bound(DType::F32),
        }
    }

    /// The worst of `n` samples, or what breaks the contract. What takes many elements has samples
    /// of its own number.
    pub(crate) async fn worst(self, device: &Device, n: usize) -> Result<Worst, String> {
        match self {
            Self::Op(op) => of_op(device, op, DType::F32, n).await,
            Self::Joint(joint) => joint::joint(device, joint).await,
            Self::Reduction(reduction) => joint::reduction(device, reduction).await,
        }
    }
}

/// A number as its dtype has it.
fn shown(dtype: DType, x: f64) -> String {
    if dtype == DType::F64 { format!("{x:e} ") } else { format!("{:e} ", x as f32) }
}

/// The worst of `n` samples of an operation, or what breaks the contract.
pub(crate) async fn of_op(
    device: &Device,
    op: Op,
    dtype: DType,
    n: usize,
) -> Result<Worst, String> {
    let operands = samples::operands(op.arity(), dtype, n, op as u64);
    let n = operands[0].len();
    let upload = |data: &Vec<f64>| Ok(device.upload_as(data, [n], dtype).map_err(show)?.0);
    let tensors = operands[..op.arity()].iter().map(upload);
    let tensors: Vec<Tensor> = tensors.collect::<Result<_, String>>()?;
    let others: Vec<_> = tensors[1..].iter().map(|t| t.clone().into()).collect();
    let result = tensors[0].apply(op, &others).map_err(show)?;
    let (got, _) = result.read_as::<f64>().await.map_err(show)?;
    let bound = op.bound(dtype);
    let (mut worst, mut wrong) = (Worst::of(dtype, bound), Vec::new());
    for (i, &got) in got.iter().enumerate() {
        let at: Vec<f64> = operands[..op.arity()].iter().map(|list| list[i]).collect();
        let values: Vec<Number> = at.iter().map(|&x| Number::Float(x)).collect();
        if !op.covers(&values) {
            continue;
        }
        let exact = apply(op, dtype, &values);
        let number = Number::Float(got);
        if !keeps(op, dtype, &values, number) {
            wrong.push(format!("{op} of {at:?} is {got:e}, not {exact:?}"));
        } else if bound.within(dtype, exact, number) {
            // Else something counted as zero, or as infinity.
            worst.measure(exact, got, || at.iter().map(|&x| shown(dtype, x)).collect());
        }
    }
    let first = &wrong[..wrong.len().min(5)];
    if wrong.is_empty() {
        return Ok(worst);
    }
    Err(format!("{} of {n}: {}", wrong.len(), first.join("; ")))
}
