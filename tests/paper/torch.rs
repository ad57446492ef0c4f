//! The oracle against `PyTorch`, an implementation that is independent of this project.

use std::collections::BTreeSet;

use wharf::op::{Op, Reduction};
use wharf::reference::{Number, apply, cast};

use crate::torch_goldens::{DIFFERENCES, casts, elementwise, value};

fn rounded(dtype: wharf::DType, v: Number) -> Number {
    Number::decode(dtype, &v.encode(dtype))
}

#[test]
fn the_oracle_agrees_with_torch() {
    let mut wrong = Vec::new();
    let mut met = [false; DIFFERENCES.len()];
    let mut compared = 0;
    for case in elementwise() {
        assert_eq!(case.operands[0].len(), case.results.len(), "{} {}", case.op, case.dtype);
        for (i, &torch) in case.results.iter().enumerate() {
            compared += 1;
            let values = case.values(i);
            let exact = apply(case.op, case.dtype, &values);
            let got = rounded(case.yields(), exact.value);
            match (case.agrees(i, got), case.differs(i)) {
                (false, Some(difference)) => met[difference] = true,
                (false, None) => wrong.push(format!(
                    "{} {}: {values:?}: {got:?}, torch has {torch:?}",
                    case.op, case.dtype
                )),
                (true, _) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 10_000, "only {compared} were compared");
    for (difference, met) in DIFFERENCES.iter().zip(met) {
        assert!(met, "{} does not differ", difference.op);
    }
}

#[test]
fn casts_agree_with_torch() {
    let nan = |v| matches!(v, Number::Float(x) if x.is_nan());
    for (from, to, operands, results) in casts() {
        assert_eq!(operands.len(), results.len(), "{from} to {to}");
        for (x, want) in operands.into_iter().zip(results) {
            let (x, want) = (value(from, x), value(to, want));
            let got = rounded(to, cast(x, to));
            assert!(got == want || nan(got) && nan(want), "{x:?} to {to}: {got:?}, not {want:?}");
        }
    }
}

/// The operations that are neither elementwise nor reductions.
const OTHERS: &str = "concat stack split pad_constant pad_reflect pad_replicate gather index_select \
    embedding scatter scatter_add take one_hot tril triu arange linspace eye full roll cumsum \
    cumprod cummax cummin softmax log_softmax layer_norm rms_norm matmul linear attention \
    cross_entropy where";

#[test]
fn no_operation_is_without_a_second_opinion() {
    let heads = |text: &'static str| -> BTreeSet<&str> {
        text.lines().filter_map(|line| line.split(' ').next()).collect()
    };
    let elementwise = heads(include_str!("../goldens/torch/elementwise.txt"));
    let shapes = heads(include_str!("../goldens/torch/shapes.txt"));
    for op in Op::ALL {
        let name = op.name();
        assert!(elementwise.contains(name) || shapes.contains(name), "{name}");
    }
    let reductions = Reduction::ALL.iter().map(|reduction| reduction.name());
    for name in reductions.chain(OTHERS.split_whitespace()) {
        assert!(shapes.contains(name), "{name}");
    }
}
