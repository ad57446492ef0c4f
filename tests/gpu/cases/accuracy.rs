//! How far results lie from exact ones at worst, over dense samples: nowhere beyond the contract.
//!
//! `WHARF_ACCURACY=1` takes more of them and writes what was found to `docs/accuracy.md`.

mod met;
mod report;

pub(crate) use met::met;

use super::pair::{Pair, bits_of, count, value};
use wharf::op::Op;
use wharf::{Adapter, DType};

use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, show, stores};
use crate::passport::accuracy::{Inexact, of_op, ops};
use crate::torch_goldens::exact;

/// Samples of an operation, and as many where they are written down.
const USUAL: usize = 1 << 16;
const DENSE: usize = 1 << 20;
/// The same of f64, of which every exact result takes many steps.
const USUAL_F64: usize = 1 << 12;
const DENSE_F64: usize = 1 << 17;

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    if std::env::var("WHARF_ACCURACY").is_ok_and(|value| value == "1") {
        cases.push(case!("accuracy::written_down", |ctx| report::write(ctx)));
        return cases;
    }
    for of in Inexact::all() {
        cases.push(case!(format!("accuracy::{}", of.name()), |ctx| one(ctx, of)));
    }
    for op in ops() {
        let case = case!(format!("accuracy::{op}::f64"), |ctx| double(ctx, op));
        cases.push(case.needs(adapter, DOWNGRADES[0], DType::F64));
    }
    cases.push(case!("accuracy::in_many_digits", |ctx| in_many_digits(ctx)));
    cases
}

async fn one(ctx: &Ctx, of: Inexact) -> Outcome {
    count();
    of.worst(&ctx.native().await?, USUAL).await.map(drop)
}

async fn double(ctx: &Ctx, op: Op) -> Outcome {
    count();
    of_op(&ctx.native().await?, op, DType::F64, USUAL_F64).await.map(drop)
}

/// Kernels by answers in 400 bits, without the oracle.
async fn in_many_digits(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut wrong = Vec::new();
    for case in exact().into_iter().filter(|case| stores(device.plan(), case.dtype)) {
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
