//! What was found, as `docs/accuracy.md`: of f32, then of f64.

use std::fmt::Write as _;

use wharf::DType;

use super::{DENSE, DENSE_F64};
use crate::ctx::{Ctx, Outcome, ensure};
use crate::passport::accuracy::{Inexact, Worst, of_op, ops};

const HEAD: &str = "# Accuracy

The worst that was measured of every operation whose results may lie away from the exact ones, beside its
[contract](../src/op/contract.md). `WHARF_ACCURACY=1 cargo test --test gpu accuracy` writes this file; the paper tier
holds every contract between what was measured and twice that, and asks for the reason where it is wider. The oracle
is f64, in twice its digits for functions of f64, and itself judged by `tests/goldens/exact`.

";

const LEGEND: &str = "
Half a unit is what rounding costs. Of a contract with two parts, \"3 ulp or 1e-7\", each part was measured where the
other does not do. A reason names what the contract leaves room for and this driver does not take: drivers of GPUs may.
SwiftShader and llvmpipe's GL keep the contract on the same samples.
";

const TABLE: &str =
    "| | contract | measured | at | why the contract is wider |\n|---|---|---|---|---|\n";

const NEAREST: &str = "Distances are from the nearest f64, which is
half a unit from the exact result at most.";

/// Why a contract is wider than what was measured.
const fn loose(of: Inexact) -> &'static str {
    match of {
        Inexact::Op(op) => op.loose(),
        Inexact::Joint(joint) => joint.loose(),
        Inexact::Reduction(reduction) => reduction.loose(),
    }
}

fn line(name: &str, worst: &Worst, loose: &str) -> String {
    let (bound, shown) = (worst.bound.words(), worst.shown().words());
    format!("| `{name}` | {bound} | {shown} | {} | {loose} |\n", worst.place.trim())
}

pub(super) async fn write(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let id = &ctx.adapter.caps().identity;
    let mut text = HEAD.to_owned();
    let samples = DENSE.ilog2();
    let _ = writeln!(
        text,
        "Of f32, on {} ({}), {}; 2^{samples} samples of an operation on elements.\n",
        id.name,
        id.backend.name(),
        id.driver_info
    );
    text.push_str(TABLE);
    let mut wrong = Vec::new();
    for of in Inexact::all() {
        match of.worst(&device, DENSE).await {
            Ok(worst) => text.push_str(&line(of.name(), &worst, loose(of))),
            Err(message) => wrong.push(format!("{}: {message}", of.name())),
        }
    }
    text.push_str(LEGEND);
    let samples = DENSE_F64.ilog2();
    let _ = writeln!(text, "\nOf f64, on the same driver; 2^{samples} samples. {NEAREST}\n");
    text.push_str(TABLE);
    for op in ops() {
        match of_op(&device, op, DType::F64, DENSE_F64).await {
            Ok(worst) => text.push_str(&line(op.name(), &worst, op.loose())),
            Err(message) => wrong.push(format!("{op} of f64: {message}")),
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/accuracy.md");
    std::fs::write(path, text).map_err(|error| format!("{path}: {error}"))
}
