//! What was found, as `docs/accuracy.md`.

use std::fmt::Write as _;

use super::DENSE;
use crate::ctx::{Ctx, Outcome, ensure};
use crate::passport::accuracy::{Inexact, Worst};

const HEAD: &str = "# Accuracy

The worst that was measured of every operation whose results may lie away from the exact ones, beside its
[contract](../src/op/contract.md). `WHARF_ACCURACY=1 cargo test --test gpu accuracy` writes this file; the paper tier
holds every contract between what was measured and twice that, and asks for the reason where it is wider. The oracle
is f64, and itself judged by `tests/goldens/exact`.

";

const LEGEND: &str = "
Half a unit is what rounding costs. Of a contract with two parts, \"3 ulp or 1e-7\", each part was measured where the
other does not do. A reason names what the contract leaves room for and this driver does not take: drivers of GPUs may.
SwiftShader and llvmpipe's GL keep the contract on the same samples.
";

/// Why a contract is wider than what was measured.
const fn loose(of: Inexact) -> &'static str {
    match of {
        Inexact::Op(op) => op.loose(),
        Inexact::Joint(joint) => joint.loose(),
        Inexact::Reduction(reduction) => reduction.loose(),
    }
}

fn line(of: Inexact, worst: &Worst) -> String {
    let (bound, shown) = (worst.bound.words(), worst.shown().words());
    format!("| `{}` | {bound} | {shown} | {} | {} |\n", of.name(), worst.place.trim(), loose(of))
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
    text.push_str(
        "| | contract | measured | at | why the contract is wider |\n|---|---|---|---|---|\n",
    );
    let mut wrong = Vec::new();
    for of in Inexact::all() {
        match of.worst(&device, DENSE).await {
            Ok(worst) => text.push_str(&line(of, &worst)),
            Err(message) => wrong.push(format!("{}: {message}", of.name())),
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    text.push_str(LEGEND);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/accuracy.md");
    std::fs::write(path, text).map_err(|error| format!("{path}: {error}"))
}
