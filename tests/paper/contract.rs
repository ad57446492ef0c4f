//! The numeric contract in the documentation is the one that is tested.

use wharf::DType;
use wharf::op::{
    Op, PRODUCT_WORDS, composed_table, contract_table, joint_table, matrix_table, reduction_table,
};
use wharf::reference::{Number, apply, keeps};

#[test]
fn the_documented_contract_is_the_tested_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/op/contract.md");
    let text = format!(
        "# The numeric contract\n\nA bound in ulp counts units in the last place of the exact \
         result, for f32; f64 counts its own, and 2^-29 of a distance after `or`; narrower \
         floats add half a unit of their own. Subnormal numbers may count as zero except where a \
         result is exact on bits. [`Tolerance`] says it in full.\n\n{}\n\
         # Reductions\n\n{}\n\
         # Rows, running reductions, attention, and what is drawn\n\n{}\n\
         # Operations that are made of others\n\nWhat is not here is off by what it is \
         made of, one rounded after the other.\n\n{}\n\
         # Products\n\nA float of `matmul`, `linear` or a convolution sums `k` products. It is off \
         by at most {PRODUCT_WORDS} of the sum of their magnitudes, where `eps` is 2^-52 for f64 \
         and 2^-23 for all others, and by its own rounding. Where that sum leaves the range of \
         the type that sums, it may also be infinite or NaN. Of weights in blocks \
         [`linear`](crate::Tensor::linear) says what holds.\n\n\
         # Matrices\n\nOf f32, `n` by `n`, where `eps` is 2^-23. Where a result leaves the range \
         of f32 on the way, nothing is said.\n\n{}\n\
         # Fourier transforms\n\nOf f32, `n` long. Each part of each number of `rfft`, `irfft`, \
         `fft` and `ifft` is off by at most (log2 n + 2) eps of the largest magnitude in its row. \
         Of a row that has an infinite number or NaN, or whose sums leave the range of f32, \
         nothing is said.\n",
        contract_table(),
        reduction_table(),
        joint_table(),
        composed_table(),
        matrix_table()
    );
    if std::env::var("WHARF_GOLDENS").is_ok_and(|value| value == "1") {
        std::fs::write(path, &text).expect("a writable checkout");
    }
    let documented = std::fs::read_to_string(path).expect("WHARF_GOLDENS=1 writes it");
    assert!(documented == text, "WHARF_GOLDENS=1 brings {path} up to date:\n{text}");
}

/// An operation on f32, what it may yield, and what it may not.
struct Range {
    op: Op,
    operands: [f64; 3],
    kept: &'static [f64],
    broken: &'static [f64],
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const TINY: f64 = 1.0 / (1_u128 << 118) as f64;
const HUGE: f64 = (1_u128 << 127) as f64;

const RANGES: [Range; 10] = [
    // The product is beyond f32, the sum is not.
    Range {
        op: Op::MulAdd,
        operands: [3e38, 2.0, -3.3e38],
        kept: &[2.7e38, INF],
        broken: &[NAN, -INF, 0.0, 1e38],
    },
    Range {
        op: Op::MulAdd,
        operands: [3e38, -2.0, 3.3e38],
        kept: &[-2.7e38, -INF],
        broken: &[NAN, INF, 0.0],
    },
    Range { op: Op::MulAdd, operands: [3e38, 2.0, -INF], kept: &[-INF, NAN], broken: &[INF, 0.0] },
    Range {
        op: Op::MulAdd,
        operands: [INF, 1.0, 1.0],
        kept: &[INF],
        broken: &[NAN, -INF, 0.0, 1e38],
    },
    Range { op: Op::MulAdd, operands: [INF, 0.0, 1.0], kept: &[NAN], broken: &[INF, 1.0] },
    // The step is beyond f32, its end is not.
    Range {
        op: Op::Lerp,
        operands: [-3e38, 3e38, 1.0],
        kept: &[3e38, INF],
        broken: &[NAN, -INF, 0.0],
    },
    Range {
        op: Op::Lerp,
        operands: [-3e38, 3e38, 0.5],
        kept: &[0.0, INF],
        broken: &[NAN, -INF, 1e38],
    },
    Range {
        op: Op::Lerp,
        operands: [-3e38, 3e38, 0.0],
        kept: &[-3e38, NAN],
        broken: &[INF, -INF, 0.0],
    },
    Range { op: Op::Lerp, operands: [INF, 1.0, 0.5], kept: &[NAN], broken: &[INF, 0.0] },
    // The difference is subnormal, its product with t is not.
    Range {
        op: Op::Lerp,
        operands: [TINY, TINY * 1.000_976_562_5, HUGE],
        kept: &[0.5, TINY],
        broken: &[0.2, NAN, INF],
    },
];

#[test]
fn a_step_out_of_range_may_count_as_infinity_or_zero_and_no_more() {
    for Range { op, operands, kept, broken } in RANGES {
        let values = operands.map(|x| Number::Float((x as f32).into()));
        let judged = |got: f64| keeps(op, DType::F32, &values, Number::Float((got as f32).into()));
        for &got in kept {
            assert!(judged(got), "{op} of {operands:?} may be {got}");
        }
        for &got in broken {
            assert!(!judged(got), "{op} of {operands:?} may not be {got}");
        }
    }
}

/// The oracle counts the units of the result, or those of the term that the contract names: it
/// widens no bound by itself.
#[test]
fn units_are_those_of_what_the_contract_names() {
    let [a, b, c] = [0.75, -0.5, 0.25];
    let terms = [
        ("ulp of the dividend", a),
        ("ulp of the larger operand", a),
        ("ulp of the larger of a b and c", -a * b),
        ("ulp of the larger of a and t (b - a)", a),
    ];
    let (table, mut named) = (contract_table(), 0);
    for &op in Op::ALL.iter().filter(|op| op.takes(DType::F32) && **op != Op::Where) {
        let row = table.lines().find(|line| line.starts_with(&format!("| `{op}` ")));
        let row = row.unwrap_or_else(|| panic!("{op} has no contract"));
        let term = terms.iter().find(|(words, _)| row.contains(words));
        named += usize::from(term.is_some());
        let values = [a, b, c].map(Number::Float);
        let scale = apply(op, DType::F32, &values[..op.arity()]).scale;
        assert_eq!(scale, term.map_or(0.0, |(_, scale)| *scale), "{row}");
    }
    assert!(named >= terms.len(), "only {named} of them count those of a term");
}

/// A reduction of these, what it may yield, and what it may not.
type Row<'a> = (wharf::op::Reduction, &'a [f64], &'a [f64], &'a [f64]);

/// Reductions of f32 whose sums or products leave the range on the way to a result that is in it.
#[test]
fn what_is_on_the_way_may_leave_the_range() {
    use wharf::op::Reduction::{Mean, Norm, Prod, Std, Sum, Var};
    use wharf::reference::reduce;

    #[rustfmt::skip]
    let rows: &[Row<'_>] = &[
        (Prod, &[1e20, 0.0, 1e20], &[0.0, NAN], &[]),
        (Prod, &[1e-30, 1e-30, 1e30, 1e30], &[1.0, 0.0, INF], &[]),
        (Prod, &[1e30, 1e30], &[INF, NAN], &[0.0, 1e38]),
        (Prod, &[1e-30, 1e-30], &[0.0], &[1e-30, INF, NAN]),
        (Prod, &[2.0, 0.0, 3.0], &[0.0], &[1.0, INF, NAN]),
        (Prod, &[2.0, 3.0], &[6.0], &[5.9, INF, NAN]),
        (Mean, &[3e38, 3e38], &[3e38, INF], &[]),
        (Mean, &[1e38, 2e38], &[1.5e38], &[1.4e38, INF, NAN]),
        (Var, &[1.0, 3.0], &[1.0], &[1.1, INF, NAN]),
        (Std, &[1e20, -1e20], &[1e20, INF], &[]),
        (Std, &[1e15, -1e15], &[1e15], &[1.1e15, INF, NAN]),
        (Norm, &[1e20, 1e20], &[1.414_213_562e20, INF], &[]),
        (Norm, &[1e-30, 0.0], &[1e-30, 0.0], &[]),
        (Norm, &[1e-20; 9], &[3e-20, 0.0], &[]),
        (Std, &[1e-25, -1e-25], &[1e-25, 0.0], &[]),
        (Norm, &[3.0, 4.0], &[5.0], &[0.0, 5.1, INF]),
        (Sum, &[3e38, 3e38, -3e38], &[3e38, INF, NAN], &[0.0]),
    ];
    for &(reduction, x, kept, broken) in rows {
        let numbers: Vec<Number> = x.iter().map(|&x| Number::Float(x)).collect();
        let exact = reduce(reduction, DType::F32, &numbers, 0).expect("there are some");
        let is_kept =
            |got| reduction.bound(DType::F32).within(DType::F32, exact, Number::Float(got));
        for &got in kept {
            assert!(is_kept(got), "{reduction} of {x:?} may be {got}");
        }
        for &got in broken {
            assert!(!is_kept(got), "{reduction} of {x:?} may not be {got}");
        }
    }
}
