//! What was found, as `docs/accuracy.md`.

use std::fmt::Write as _;

use wharf::op::{Joint, Tolerance};

use super::worst::Worst;
use super::{DENSE, joint, ops, reductions, worst_of};
use crate::ctx::{Ctx, Outcome, ensure};

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

/// Two digits, upwards.
fn up(x: f64) -> f64 {
    let digit = 10f64.powf(x.log10().floor() - 1.0);
    if x > 0.0 {
        format!("{:.1e}", (x / digit - 1e-9).ceil() * digit).parse().unwrap_or(x)
    } else {
        0.0
    }
}

fn line(name: &str, worst: &Worst, reason: &str) -> String {
    let (bound, needed) = (worst.bound, worst.needed);
    let hundredths = |x: f64| (x * 100.0 - 1e-6).ceil() / 100.0;
    let shown = Tolerance {
        ulp: hundredths(needed.ulp),
        grow: hundredths(needed.grow),
        abs: up(needed.abs),
        ..needed
    };
    let (bound, shown) = (bound.words(), shown.words());
    format!("| `{name}` | {bound} | {shown} | {} | {reason} |\n", worst.place.trim())
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
    let mut line = |name: &str, worst: Result<Worst, String>, reason: &str| match worst {
        Ok(worst) => text.push_str(&line(name, &worst, reason)),
        Err(message) => wrong.push(format!("{name}: {message}")),
    };
    for op in ops() {
        line(op.name(), worst_of(&device, op, DENSE).await, op.loose());
    }
    for joint in Joint::ALL {
        line(joint.name(), joint::joint(&device, joint).await, joint.loose());
    }
    for reduction in reductions() {
        line(reduction.name(), joint::reduction(&device, reduction).await, reduction.loose());
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    text.push_str(LEGEND);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/accuracy.md");
    std::fs::write(path, text).map_err(|error| format!("{path}: {error}"))
}
