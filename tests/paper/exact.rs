//! The oracle against answers in 400 bits, by an implementation that is independent of it.

use std::collections::BTreeSet;

use wharf::DType;
use wharf::op::{Distance, Op};
use wharf::reference::{Exact, Number, apply};

use crate::torch_goldens::exact;

/// What the oracle may be off by, in units of f32: nothing beside what any contract allows.
const ORACLE: f64 = 1.0 / 65_536.0;

#[test]
fn the_oracle_is_right_to_many_digits() {
    let (mut wrong, mut compared, mut worst) = (Vec::new(), 0, 0.0_f64);
    for case in exact() {
        for (i, &want) in case.results.iter().enumerate() {
            compared += 1;
            let values = case.values(i);
            let got = apply(case.op, case.dtype, &values).value;
            let exact = Exact { value: want, scale: case.op.scale(&values) };
            let distance = Distance::between(case.dtype, exact, got);
            let off = distance.map_or(f64::INFINITY, |distance| distance.ulp);
            // Infinities, and what f64 has no normal number for.
            let (Number::Float(w), Number::Float(g)) = (want, got) else {
                wrong.push(format!("{} of {values:?}: {got:?}, not {want:?}", case.op));
                continue;
            };
            if w.is_nan() != g.is_nan() {
                wrong.push(format!("{} of {values:?}: {g:e}, not {w:e}", case.op));
            } else if w != g && w.abs().max(g.abs()) > f64::MIN_POSITIVE {
                worst = worst.max(off);
                if off.is_nan() || off > ORACLE {
                    wrong.push(format!("{} of {values:?}: {g:e}, not {w:e}, {off:e}", case.op));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 4000, "only {compared} were compared");
    assert!(worst > 0.0, "nothing was measured");
}

#[test]
fn no_rounded_operation_is_without_exact_answers() {
    let all: BTreeSet<Op> = exact().iter().map(|case| case.op).collect();
    for &op in Op::ALL {
        let rounded = op.takes(DType::F32) && !op.bound(DType::F32).is_exact();
        assert!(!rounded || all.contains(&op), "{op}");
    }
}
