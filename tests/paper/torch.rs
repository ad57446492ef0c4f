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

/// What of a tensor is a view, a question, a crossing, drawn by luck, or another name.
const OTHERS: &str = "device dtype layout shape explain lend lend_mut picture compute \
    contiguous at select slice slice_step chunk split_evenly broadcast_to reshape reshape_copied \
    flatten flip permute move_axis swap_axes squeeze unsqueeze t to copy_to_buffer read \
    read_array read_as read_bytes read_into read_view read_scalar save_npy equal allclose assign \
    assign_at assign_slice apply reduce choose_as pad cast cast_checked cast_saturating \
    multinomial multinomial_distinct quantize dim unstack grid_sample_nearest";

/// What numpy judges, in `tests/programs`.
const OF_PROGRAMS: &str = "unit powers_of argmax_last argmin_last slogdet zeros_like ones_like \
    full_like complex_abs";

#[test]
fn no_operation_is_without_a_second_opinion() {
    let files = [
        include_str!("../goldens/torch/elementwise.txt"),
        include_str!("../goldens/torch/shapes.txt"),
        include_str!("../goldens/torch/operations.txt"),
        include_str!("../goldens/torch/images.txt"),
    ];
    let lines = files.into_iter().flat_map(str::lines);
    let asked: BTreeSet<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    let others = OTHERS.split_whitespace().chain(OF_PROGRAMS.split_whitespace());
    let others: BTreeSet<&str> = others.collect();
    let reductions = Reduction::ALL.iter().map(|reduction| reduction.name());
    let of_table = Op::ALL.iter().map(|op| op.name()).chain(reductions);
    let methods = include_str!("../../docs/api.txt").lines().filter_map(|line| {
        let (_, line) = line.strip_prefix("Tensor::")?.split_once("fn ")?;
        let name = line.split(['(', '<']).next()?;
        Some(name.strip_suffix("_now").unwrap_or(name))
    });
    for name in of_table.chain(methods) {
        assert!(asked.contains(name) != others.contains(name), "{name}");
    }
}
