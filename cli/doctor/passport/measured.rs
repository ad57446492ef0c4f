//! What is measured of an adapter, each part as rows of its passport. What cannot be measured says
//! why in their place.

use serde_json::{Value, json};
use wharf::plan::How;
use wharf::tensor::Blocks;
use wharf::tune::{AttentionSize, Outcome, Problem, ProductSize};
use wharf::tune::{RowsSize, SortSize, SumSize, WeightsSize};
use wharf::{DType, Device};

use super::accuracy::Inexact;
use super::crossing::{self, Crossing, End};
use super::rates::{CASES, Measured, Scene};
use super::{judged, quirks as quirk, show};

/// Samples of an operation on elements.
const SAMPLES: usize = 1 << 18;

/// In place of rows: why there are none.
fn absent(why: impl Into<String>) -> Value {
    json!({ "absent": why.into() })
}

/// Three digits of a number: more is noise, and these are read back as they were written.
fn three(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// Microseconds, of which no row has fewer than a thousandth.
fn micros(seconds: f64) -> f64 {
    three((seconds * 1e9).round() / 1e3)
}

pub(super) async fn crossings(device: &Device) -> Value {
    let row = |crossing: &Crossing| {
        let (verdict, said) = match &crossing.end {
            End::Exact => ("bit-exact", None),
            End::Converted => ("as expected", None),
            End::Refused(error) => ("refused", Some(error.to_string())),
            End::Checked(error) => ("range-checked", Some(error.to_string())),
            End::Failed(error) => ("FAILED", Some(error.to_string())),
            End::Wrong(text) => ("WRONG", Some(text.clone())),
        };
        let values = crossing.receipt.as_ref().map_or(0, |receipt| receipt.tally.values());
        let name = format!("{}, {values} values", crossing.name());
        json!({ "name": name, "how": crossing.how.name(), "verdict": verdict, "said": said })
    };
    crossing::check_all(device, &mut |_| ()).await.iter().map(row).collect()
}

pub(super) async fn cases(device: &Device) -> Value {
    let mut rows = Vec::new();
    for case in judged::all() {
        let carried = matches!(device.plan().carriage(case.dtype).how, How::Native | How::Packed);
        let outcome = if carried { Some(case.run(device).await) } else { None };
        let (compared, verdict, said) = match outcome {
            Some(Ok(compared)) => (compared, "right", None),
            Some(Err(wrong)) => (0, "WRONG", Some(wrong)),
            None => (0, "absent", Some(format!("{} is not carried", case.dtype))),
        };
        rows.push(json!({
            "name": case.name(),
            "compared": compared,
            "verdict": verdict,
            "said": said,
        }));
    }
    Value::Array(rows)
}

pub(super) async fn accuracy(device: &Device) -> Value {
    let mut rows = Vec::new();
    for of in Inexact::all() {
        let (measured, ulp, at, wrong) = match of.worst(device, SAMPLES).await {
            Ok(worst) => {
                let shown = worst.shown();
                (Some(shown.words()), Some(shown.ulp), worst.place.trim().to_owned(), None)
            }
            Err(wrong) => (None, None, String::new(), Some(wrong)),
        };
        rows.push(json!({
            "name": of.name(),
            "contract": of.bound().words(),
            "measured": measured,
            "ulp": ulp,
            "at": at,
            "wrong": wrong,
        }));
    }
    Value::Array(rows)
}

pub(super) async fn quirks(device: &Device) -> Value {
    match quirk::probe(device).await {
        Ok(quirks) => quirks
            .iter()
            .map(|quirk| {
                json!({ "name": quirk.what, "seen": quirk.seen, "surprising": quirk.surprising })
            })
            .collect(),
        Err(error) => absent(error),
    }
}

pub(super) async fn ceilings(device: &Device) -> Value {
    let scene = Scene::new(device, false);
    let mut rows = Vec::new();
    for case in &CASES {
        rows.push(match (case.run)(&scene).await {
            Ok(Some(measured)) => ceiling(case.name, &measured),
            Ok(None) => json!({ "name": case.name, "said": "not here" }),
            Err(error) => json!({ "name": case.name, "said": show(error) }),
        });
    }
    Value::Array(rows)
}

fn ceiling(name: &str, measured: &Measured) -> Value {
    let (rate, unit) = measured.rate().unzip();
    json!({
        "name": name,
        "size": measured.size,
        "rate": rate.map(three),
        "unit": unit,
        "micros": micros(measured.median()),
        "micros_best": micros(measured.best()),
        "runs": measured.seconds.len(),
        "said": measured.wrong,
    })
}

/// What has ways to choose from: products of matrices, a row, narrow floats; and one of each other
/// kind.
const PROBLEMS: [Problem; 9] = [
    Problem::Product(ProductSize::new(256, 256, 256, DType::F32)),
    Problem::Product(ProductSize::new(1, 1024, 1024, DType::F32).transposed()),
    Problem::Product(ProductSize::new(256, 256, 256, DType::F16)),
    Problem::Product(ProductSize::new(256, 256, 256, DType::I8)),
    Problem::Attention(AttentionSize::new(8, 128, 512, 64, DType::F32)),
    Problem::Weights(WeightsSize::new(1, 1024, 1024, Blocks::Q8)),
    Problem::Rows(RowsSize::norm(512, 1024)),
    Problem::Sum(SumSize::rows(64, 1 << 14)),
    Problem::Sort(SortSize::new(1, 1 << 16)),
];

/// What a rate counts, in billions a second.
const fn unit(problem: Problem) -> &'static str {
    match problem {
        Problem::Product(_) | Problem::Attention(_) | Problem::Weights(_) => "GFLOP/s",
        _ => "G/s",
    }
}

pub(super) async fn tuned(device: &Device) -> Value {
    if cfg!(target_family = "wasm") {
        return absent("wharf has no clock in a browser, and cannot tune there");
    }
    let mut rows = Vec::new();
    for problem in PROBLEMS {
        let mut won = None;
        let mut wrong = Vec::new();
        let problems = [problem];
        let tuned = device.tune(&problems, |trial| match &trial.outcome {
            Outcome::Won(rate) => won = Some((trial.kernel.clone(), three(*rate), trial.of)),
            Outcome::Wrong(how) | Outcome::Failed(how) => {
                wrong.push(format!("{}: {how}", trial.kernel));
            }
            _ => {}
        });
        let failed = tuned.await.err().map(show);
        let (kernel, rate, of) =
            won.map_or((None, None, 0), |(kernel, rate, of)| (Some(kernel), Some(rate), of));
        let said = failed.into_iter().chain(wrong).collect::<Vec<_>>().join("; ");
        rows.push(json!({
            "name": problem.to_string(),
            "kernel": kernel,
            "rate": rate,
            "unit": unit(problem),
            "candidates": of,
            "said": Some(said).filter(|said| !said.is_empty()),
        }));
    }
    Value::Array(rows)
}
