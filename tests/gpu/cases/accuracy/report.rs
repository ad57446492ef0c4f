//! What was found, as `docs/accuracy.md`: of f32, then of f64, then what others have met.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use wharf::DType;
use wharf::op::{PRODUCT_WORDS, Tolerance, composed_bound, matrix_room};

use super::met::all;
use super::{DENSE, DENSE_F64};
use crate::cases::{fourier, linalg, matmul, vocabulary};
use crate::ctx::{Ctx, Outcome, Size, ensure};
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

const OTHERS: &str = "
Of f32, on the same driver, what is made of others, of a matrix, of a row or of many terms: the worst that its tests
have met. A bound adds up what all steps may need, and is not held to twice that. Of `interpolate` it is for each axis.

| | contract | measured | at |
|---|---|---|---|
";

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

/// What those have met that judge operations by bounds of their own.
async fn others(ctx: &Ctx) -> Result<BTreeMap<String, (f64, String)>, String> {
    let adapter = &ctx.adapter;
    let cases = [vocabulary::cases(adapter), linalg::cases(adapter), fourier::cases(adapter)];
    let products = matmul::cases(adapter).into_iter().filter(|case| case.name.contains("f32"));
    let cases = cases.into_iter().flatten().chain(products);
    for case in cases.filter(|case| case.size == Size::Usual && case.absent.is_none()) {
        (case.run)(ctx).await.map_err(|message| format!("{}: {message}", case.name))?;
    }
    Ok(all())
}

/// A row of theirs: units of what has a number, else the part of the bound.
fn other(name: &str, part: f64, place: &str) -> String {
    let hundredths = |x: f64| (x * 100.0 - 1e-6).ceil() / 100.0 + 0.0;
    let place = place.trim_start_matches("f32").trim_matches([':', ' ']);
    let needed = hundredths(part);
    let [contract, measured] = match (composed_bound(name), matrix_room(name, 0)) {
        (Some(bound), _) => {
            let measured = Tolerance::ulp(hundredths(part * bound.ulp));
            [bound.words(), measured.words()]
        }
        (None, Some(room)) => {
            let times = (room / 16.0 / f64::from(f32::EPSILON)).round();
            let times = if times == 1.0 { String::new() } else { format!("{times} ") };
            [format!("{times}(n + 16) eps"), format!("{needed} of it")]
        }
        (None, None) if name == "matmul" => [PRODUCT_WORDS.into(), format!("{needed} of it")],
        (None, None) => ["(log2 n + 2) eps".into(), format!("{needed} of it")],
    };
    format!("| `{name}` | {contract} | {measured} | {place} |\n")
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
    text.push_str(OTHERS);
    for (name, (part, place)) in others(ctx).await? {
        text.push_str(&other(&name, part, &place));
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/accuracy.md");
    std::fs::write(path, text).map_err(|error| format!("{path}: {error}"))
}
