//! How far results lie from exact ones at worst, over dense samples: nowhere beyond the contract.
//!
//! `WHARF_ACCURACY=1` takes more of them and writes what was found to `docs/accuracy.md`.

mod joint;
mod report;
mod samples;
mod worst;

use wharf::op::{Joint, Op, Reduction};
use wharf::reference::{Number, apply, keeps};
use wharf::{DType, Device, Tensor};

use super::pair::{Pair, bits_of, count, value};
use crate::ctx::{Case, Ctx, Outcome, case, ensure, show};
use crate::torch_goldens::exact;
use worst::Worst;

/// Samples of an operation, and as many where they are written down.
const USUAL: usize = 1 << 16;
const DENSE: usize = 1 << 20;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    if std::env::var_os("WHARF_ACCURACY").is_some() {
        cases.push(case!("accuracy::written_down", |ctx| report::write(ctx)));
        return cases;
    }
    for op in ops() {
        cases.push(case!(format!("accuracy::{op}"), |ctx| of_op(ctx, op)));
    }
    cases.push(case!("accuracy::in_many_digits", |ctx| in_many_digits(ctx)));
    for joint in Joint::ALL {
        cases.push(case!(format!("accuracy::{joint}"), |ctx| of_joint(ctx, joint)));
    }
    for reduction in reductions() {
        cases.push(case!(format!("accuracy::{reduction}"), |ctx| of_reduction(ctx, reduction)));
    }
    cases
}

/// The operations whose results may lie away from the exact ones.
fn ops() -> impl Iterator<Item = Op> {
    let inexact = |op: &Op| op.takes(DType::F32) && !op.bound(DType::F32).is_exact();
    Op::ALL.iter().copied().filter(inexact)
}

fn reductions() -> impl Iterator<Item = Reduction> {
    Reduction::ALL.into_iter().filter(|reduction| !reduction.bound(DType::F32).is_exact())
}

async fn of_op(ctx: &Ctx, op: Op) -> Outcome {
    count();
    worst_of(&ctx.native().await?, op, USUAL).await.map(drop)
}

async fn of_joint(ctx: &Ctx, joint: Joint) -> Outcome {
    count();
    joint::joint(&ctx.native().await?, joint).await.map(drop)
}

async fn of_reduction(ctx: &Ctx, reduction: Reduction) -> Outcome {
    count();
    joint::reduction(&ctx.native().await?, reduction).await.map(drop)
}

/// Kernels by answers in 400 bits, without the oracle.
async fn in_many_digits(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut wrong = Vec::new();
    for case in exact() {
        count();
        let n = case.results.len();
        let mut tensors = Vec::new();
        for list in &case.operands {
            tensors.push(Pair::new(&device, case.dtype, list.clone(), &[n]).await?.tensor);
        }
        let others: Vec<_> = tensors[1..].iter().map(|t| t.clone().into()).collect();
        let got = bits_of(&tensors[0].apply(case.op, &others).map_err(show)?).await?;
        for (i, &got) in got.iter().enumerate() {
            let (values, got) = (case.values(i), value(case.dtype, got));
            if case.op.covers(&values) && !case.agrees(i, got) {
                wrong.push(format!("{} {values:?}: {got:?}, not {:?}", case.op, case.results[i]));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
    Ok(())
}

async fn worst_of(device: &Device, op: Op, n: usize) -> Result<Worst, String> {
    let operands = match op.arity() {
        1 => [samples::single(n, op as u64), vec![], vec![]],
        _ => samples::several(n, op as u64),
    };
    let n = operands[0].len();
    let upload = |data: &Vec<f32>| Ok(device.upload(data, [n]).map_err(show)?.0);
    let tensors = operands[..op.arity()].iter().map(upload);
    let tensors: Vec<Tensor> = tensors.collect::<Result<_, String>>()?;
    let others: Vec<_> = tensors[1..].iter().map(|t| t.clone().into()).collect();
    let result = tensors[0].apply(op, &others).map_err(show)?;
    let got = result.read::<f32>().await.map_err(show)?;
    let bound = op.bound(DType::F32);
    let (mut worst, mut wrong) = (Worst::new(bound), Vec::new());
    for (i, &got) in got.iter().enumerate() {
        let at: Vec<f32> = operands[..op.arity()].iter().map(|list| list[i]).collect();
        let values: Vec<Number> = at.iter().map(|&x| Number::Float(x.into())).collect();
        if !op.covers(&values) {
            continue;
        }
        let exact = apply(op, DType::F32, &values);
        let number = Number::Float(got.into());
        if !keeps(op, DType::F32, &values, number) {
            wrong.push(format!("{op} of {at:?} is {got:e}, not {exact:?}"));
        } else if bound.within(DType::F32, exact, number) {
            // Else something counted as zero, or as infinity.
            worst.measure(exact, got, || at.iter().map(|x| format!("{x:e} ")).collect());
        }
    }
    let first = &wrong[..wrong.len().min(5)];
    ensure!(wrong.is_empty(), "{} of {n}: {}", wrong.len(), first.join("; "));
    Ok(worst)
}
