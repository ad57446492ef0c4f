//! The contract between what was measured, as `docs/accuracy.md` has it, and twice that.

use std::collections::BTreeMap;

use wharf::DType;
use wharf::op::{Joint, Op, Reduction, Tolerance, composed_bound, composed_table};

/// What rounding alone costs, in units in the last place.
const ROUNDING: f64 = 0.5;

/// Name, contract, what was measured, where, and of four cells why the contract is wider.
fn rows<const N: usize>(text: &str) -> BTreeMap<&str, [&str; N]> {
    let row = |line| {
        let line: &str = line;
        let line = line.strip_prefix("| `")?.strip_suffix(" |")?;
        let (name, cells) = line.split_once("` | ")?;
        let cells: Vec<&str> = cells.split(" | ").map(str::trim).collect();
        Some((name, cells.try_into().ok()?))
    };
    text.lines().filter_map(row).collect()
}

/// The numbers in a bound's words: units, units by binary order, and the distance.
fn numbers(words: &str) -> [f64; 3] {
    let number = |text: &str| text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
    let part = |sign| words.split_once(sign).map_or(0.0, |(_, rest)| number(rest));
    [number(words), part(" + "), part(" or ")]
}

fn promises() -> Vec<(&'static str, Tolerance, &'static str)> {
    let rounded = |bound: &Tolerance| !bound.is_exact();
    let ops = Op::ALL.iter().filter(|op| op.takes(DType::F32));
    let ops = ops.map(|op| (op.name(), op.bound(DType::F32), op.loose()));
    let joint = Joint::ALL.iter().map(|joint| (joint.name(), joint.bound(), joint.loose()));
    let reductions = Reduction::ALL.iter().map(|r| (r.name(), r.bound(DType::F32), r.loose()));
    ops.chain(joint).chain(reductions).filter(|(_, bound, _)| rounded(bound)).collect()
}

/// What f64 needs, of which the contract is that of f32.
fn beyond(text: &str) -> Vec<String> {
    let rows = rows(text);
    let ops = Op::ALL.iter().filter(|op| op.takes(DType::F64));
    let rounded = ops.filter(|op| !op.bound(DType::F64).is_exact());
    let mut wrong = Vec::new();
    for op in rounded {
        let (bound, name) = (op.bound(DType::F64).words(), op.name());
        match rows.get(name) {
            Some([contract, measured, _, reason]) => {
                let kept = numbers(&bound).into_iter().zip(numbers(measured)).all(|(p, n)| n <= p);
                if *contract != bound || *reason != op.loose() || !kept {
                    wrong.push(format!("{name} of f64: {contract}, {measured}; now {bound}"));
                }
            }
            None => wrong.push(format!("{name} of f64 was not measured")),
        }
    }
    wrong
}

/// What is made of others, or judged by a bound that depends on its size.
fn others() -> Vec<String> {
    const SIZED: &str = "cholesky inv lu solve solve_triangular rfft irfft fft ifft matmul";
    let table = composed_table();
    let composed = table.lines().filter_map(|line| {
        let (names, _) = line.strip_prefix("| `")?.split_once(" | ")?;
        Some(names.replace('`', ""))
    });
    composed.chain([SIZED.to_owned()]).flat_map(|names| words(&names)).collect()
}

fn words(names: &str) -> Vec<String> {
    names.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn every_bound_of_what_is_made_of_others_was_measured_and_is_kept() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/accuracy.md");
    let text = std::fs::read_to_string(path).expect("the gpu tier writes it");
    let (rows, others) = (rows::<3>(&text), others());
    let mut wrong = Vec::new();
    for name in &others {
        let Some([contract, measured, _]) = rows.get(&**name) else {
            wrong.push(format!("{name} was not measured"));
            continue;
        };
        let bound = composed_bound(name).map(|bound| bound.words());
        let most = bound.as_ref().map_or(1.0, |bound| numbers(bound)[0]);
        let [needed, ..] = numbers(measured);
        // What needs nothing of its bound was not looked at.
        let right = bound.is_none_or(|bound| bound == *contract) && needed > 0.0 && needed <= most;
        if !right {
            wrong.push(format!("{name}: {measured} of {contract}, now {most}"));
        }
    }
    let unknown = rows.keys().filter(|name| !others.iter().any(|other| other == *name));
    wrong.extend(unknown.map(|name| format!("{name} has no bound")));
    assert!(wrong.is_empty() && others.len() > 30, "{}\n{others:?}", wrong.join("\n"));
}

#[test]
fn every_contract_is_what_was_measured_or_says_why_not() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/accuracy.md");
    let text = std::fs::read_to_string(path).expect("the gpu tier writes it");
    let (narrow, wide) = text.split_once("\nOf f64").expect("a table of either");
    let (rows, mut wrong) = (rows(narrow), beyond(wide));
    for (name, bound, loose) in promises() {
        let Some([contract, measured, _, reason]) = rows.get(name) else {
            wrong.push(format!("{name} was not measured"));
            continue;
        };
        if *contract != bound.words() || *reason != loose {
            wrong.push(format!("{name}: {contract}, {reason:?}; now {}, {loose:?}", bound.words()));
        }
        let least = [ROUNDING, 0.0, 0.0];
        for ((promised, needed), least) in
            numbers(&bound.words()).into_iter().zip(numbers(measured)).zip(least)
        {
            if needed > promised {
                wrong.push(format!("{name} needs {needed}, the contract has {promised}"));
            }
            if promised > 2.0 * needed.max(least) && loose.is_empty() {
                wrong.push(format!("{name} needs {needed}, and the contract has {promised}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "WHARF_ACCURACY=1 cargo test --test gpu accuracy\n{}",
        wrong.join("\n")
    );
}
