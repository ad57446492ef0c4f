//! Every operation on every dtype it takes, in every layout, at ragged sizes, against the oracle
//! and its bounds.

mod check;
mod shared;
mod values;

use wharf::op::Op;
use wharf::reference::Number;
use wharf::{Adapter, DType, Device, Other, Shape, Target};

use super::pair::{Pair, bits, bits_of, count, difference};
use super::views::{Move, TARGETS};
use crate::ctx::{Case, Ctx, DOWNGRADES, Downgrade, Outcome, Size, case, is_slow, matters, show};
use check::check;
use values::Source;

/// How an operand of a case lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    Dense,
    Transposed,
    Backwards,
    Odd,
    Row,
    Column,
    One,
}

use Lie::{Backwards, Column, Dense, Odd, One, Row, Transposed};

/// A case of one operation: a shape, and how its operands lie.
type Form = (&'static [usize], [Lie; 3]);

/// For every operation and dtype. The rows have odd lengths: one kernel reads all of these views.
const FORMS: &[Form] = &[
    (&[0], [Dense; 3]),
    (&[1], [Dense; 3]),
    (&[2], [Dense; 3]),
    (&[3], [Dense; 3]),
    (&[5], [Dense; 3]),
    (&[31], [Dense; 3]),
    (&[33], [Dense; 3]),
    (&[255], [Dense; 3]),
    (&[257], [Dense; 3]),
    (&[1021], [Dense; 3]),
    (&[3, 1], [Transposed, Odd, Backwards]),
    (&[31, 33], [Transposed, Odd, Backwards]),
    (&[5, 51], [Backwards, Row, Transposed]),
    (&[257, 3], [Odd, Column, Row]),
    (&[3, 5], [Column, Backwards, Odd]),
    (&[11, 3], [Row, Transposed, Column]),
];

/// For a few operations: rows of whole quads, and larger sizes.
const MORE: &[Form] = &[
    (&[8, 32], [Transposed, Dense, Row]),
    (&[32, 8], [Dense, Transposed, Column]),
    (&[64, 64], [Backwards, Odd, Dense]),
    (&[16, 12], [Dense, Row, Odd]),
    (&[12, 16], [Dense, Column, Backwards]),
    (&[24, 8], [Odd, One, Dense]),
    (&[2, 64], [One, Dense, Transposed]),
    (&[65_537], [Dense, One, Dense]),
    (&[65_537], [Backwards, Dense, Odd]),
    (&[257, 255], [Transposed, Column, Row]),
];

/// The operations that get the whole range of layouts and sizes.
const THOROUGH: &[Op] =
    &[Op::Neg, Op::Gelu, Op::Add, Op::Lt, Op::Shr, Op::Xor, Op::Where, Op::Clamp];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        for &op in Op::ALL {
            for dtype in DType::ALL.iter().copied().filter(|&d| op.takes(d)) {
                if changes(downgrade, op, dtype) {
                    let name = format!("elementwise::{op}::{dtype}::{}", downgrade.name);
                    let case = case!(name, |ctx| run(ctx, downgrade, op, dtype))
                        .needs(adapter, downgrade, dtype);
                    cases.push(Case { size: size(adapter, op, dtype), ..case });
                }
            }
        }
    }
    for (op, dtype) in [(Op::Add, DType::F32), (Op::Gt, DType::F32), (Op::Neg, DType::F16)] {
        for target in [Target::Gpu, Target::Cpu64] {
            let name = format!("elementwise::{op}::{dtype}::past_one_binding::{target:?}");
            let case = case!(name, |ctx| past_one_binding(ctx, op, dtype, target)).needs(
                adapter,
                DOWNGRADES[0],
                dtype,
            );
            cases.push(Case { size: Size::Large, ..case });
        }
    }
    cases.push(case!("elementwise::zeros_of_remainders", |ctx| zeros_of_remainders(ctx)));
    cases.push(case!("elementwise::sums_of_what_is_shared", |ctx| shared::sums(ctx)));
    cases
}

/// Dividends and divisors: the remainders are zeros, with the sign of one or the other.
const WHOLE: [(f64, f64); 7] = [
    (0.0, -2.0),
    (4.0, -2.0),
    (-4.0, 2.0),
    (-0.0, 2.0),
    (0.0, 2.0),
    (-4.0, -2.0),
    (-0.0, f64::INFINITY),
];

async fn zeros_of_remainders(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let floats =
        [DType::F32, DType::F16, DType::Bf16].map(|dtype| TARGETS.map(|target| (dtype, target)));
    for (dtype, target) in floats.into_iter().flatten() {
        let device = device.with_target(target);
        let sign = 1 << (8 * dtype.width() - 1);
        let side = |of: fn(&(f64, f64)) -> f64| {
            WHOLE.iter().map(of).map(|x| bits(dtype, Number::Float(x)))
        };
        let [a, b]: [Vec<u64>; 2] = [side(|pair| pair.0).collect(), side(|pair| pair.1).collect()];
        let x = Pair::new(&device, dtype, a.clone(), &[WHOLE.len()]).await?.tensor;
        let y = Pair::new(&device, dtype, b.clone(), &[WHOLE.len()]).await?.tensor;
        for (op, signs) in [(Op::RemFloor, &b), (Op::RemTrunc, &a)] {
            count();
            let got = bits_of(&x.apply(op, &[(&y).into()]).map_err(show)?).await?;
            let want: Vec<u64> = signs.iter().map(|bits| bits & sign).collect();
            if let Some(text) = difference(dtype, &got, &want) {
                return Err(format!("{op} of {dtype}: {text}"));
            }
        }
    }
    Ok(())
}

/// When a case runs. Drivers that compile slowly always run narrow dtypes for the thorough
/// operations, and for the others only on demand: narrow dtypes compute as the wide ones do, and
/// their loads and stores do not depend on the operation.
fn size(adapter: &Adapter, op: Op, dtype: DType) -> Size {
    let quick = !is_slow(adapter.caps());
    if quick || dtype.width() >= 4 || dtype == DType::Bool || THOROUGH.contains(&op) {
        Size::Usual
    } else {
        Size::Huge
    }
}

/// Whether a downgrade makes another kernel of an operation, or cuts it differently.
fn changes(downgrade: Downgrade, op: Op, dtype: DType) -> bool {
    match downgrade.name {
        "native" => true,
        "no_f16" => dtype == DType::F16,
        "baseline" => matches!((op, dtype), (Op::Add, DType::F32) | (Op::Where, DType::U8)),
        "small_bindings" => match dtype {
            DType::F32 | DType::I64 => matches!(op, Op::Add | Op::Clamp),
            DType::F16 | DType::Bf16 => matches!(op, Op::Where | Op::Gelu),
            DType::U8 => matches!(op, Op::Lt | Op::Shr | Op::Where),
            DType::Bool => op == Op::Xor,
            _ => false,
        },
        _ => false,
    }
}

async fn run(ctx: &Ctx, downgrade: Downgrade, op: Op, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let thorough = THOROUGH.contains(&op);
    let mut source = Source::new(op, dtype);
    for form in FORMS {
        one(&device, &mut source, *form).await?;
    }
    if downgrade.name == "native" || thorough {
        let other = if device.target() == Target::Gpu { Target::Cpu } else { Target::Gpu };
        let other = device.with_target(other);
        for form in FORMS.iter().skip(8).step_by(3) {
            one(&other, &mut source, *form).await?;
        }
        let most = if thorough { MORE } else { &[] };
        for form in most {
            one(&device, &mut source, *form).await?;
            one(&other, &mut source, *form).await?;
        }
        scalars(&device, &mut source).await?;
    }
    if downgrade.name == "small_bindings" {
        // Segments of some hundred KB, cut and crossed.
        let n = 450_000 / dtype.width();
        let rows = n / 255;
        let shapes: [(Vec<usize>, [Lie; 3]); 3] = [
            (vec![n], [Dense, Backwards, Odd]),
            (vec![rows, 255], [Transposed, Dense, Row]),
            (vec![n / 256, 256], [Dense, Column, Transposed]),
        ];
        for (dims, lies) in shapes {
            shaped(&device, &mut source, &dims, lies).await?;
        }
    }
    Ok(())
}

/// The dtype of an operand.
fn operand_dtype(op: Op, dtype: DType, i: usize) -> DType {
    if op == Op::Where && i == 0 { DType::Bool } else { dtype }
}

async fn one(device: &Device, source: &mut Source, (dims, lies): Form) -> Outcome {
    shaped(device, source, dims, lies).await
}

async fn shaped(device: &Device, source: &mut Source, dims: &[usize], lies: [Lie; 3]) -> Outcome {
    let mut operands = Vec::new();
    for (i, lie) in lies.into_iter().enumerate().take(source.op.arity()) {
        operands.push(lying(device, source, i, dims, lie).await?);
    }
    let op = source.op;
    let others: Vec<Other> = operands[1..].iter().map(|p| Other::from(&p.tensor)).collect();
    let place = format!("{dims:?} {:?} for {:?}", &lies[..op.arity()], device.target());
    let result = operands[0].tensor.apply(op, &others).map_err(show)?;
    let got = bits_of(&result).await.map_err(|e| format!("{place}: {e}"))?;
    count();
    let shape: Shape = *result.shape();
    let values: Vec<Vec<u64>> =
        operands.iter().map(|p| p.expected_in(&shape)).collect::<Result<_, _>>()?;
    check(source, &values, &got).map_err(|text| format!("{place}: {text}"))
}

/// An operand of a shape, or of one that broadcasts to it, as it is to lie.
async fn lying(
    device: &Device,
    source: &mut Source,
    i: usize,
    dims: &[usize],
    lie: Lie,
) -> Result<Pair, String> {
    let dtype = operand_dtype(source.op, source.dtype, i);
    let (rows, columns) = match *dims {
        [n] => (1, n),
        [rows, columns] => (rows, columns),
        _ => return Err(format!("{dims:?} is not of this table")),
    };
    let flat = dims.len() == 1;
    let (stored, moves) = match lie {
        Dense => (dims.to_vec(), vec![]),
        Transposed if flat => (dims.to_vec(), vec![]),
        Transposed => (vec![columns, rows], vec![Move::Transpose]),
        Backwards if flat => (vec![columns], vec![Move::Flip(0)]),
        Backwards => (vec![rows, columns], vec![Move::Flip(1), Move::Flip(0)]),
        Odd if flat => (vec![columns + 3], vec![Move::Slice(0, 1..columns + 1, 1)]),
        Odd => (vec![rows, columns + 3], vec![Move::Slice(1, 1..columns + 1, 1)]),
        Row => (vec![columns], vec![]),
        Column if flat => (vec![1], vec![]),
        Column => (vec![rows, 1], vec![]),
        One => (vec![], vec![]),
    };
    let bits = source.bits(i, stored.iter().product());
    Pair::new(device, dtype, bits, &stored).await?.view(&moves)
}

/// Numbers on either side of a tensor, or as both bounds.
async fn scalars(device: &Device, source: &mut Source) -> Outcome {
    let (op, dtype) = (source.op, source.dtype);
    let n = 131;
    let choices: &[[bool; 3]] = match op.arity() {
        2 => &[[false, true, false], [true, false, false]],
        3 => &[[false, true, true]],
        _ => return Ok(()),
    };
    for choice in choices {
        if !matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Shl | Op::Shr) && choice[0] {
            continue;
        }
        if op == Op::Where {
            // With two numbers there is no operand to take the dtype from.
            continue;
        }
        for round in 0..3 {
            let mut values = Vec::new();
            let mut others = Vec::new();
            let mut x = None;
            for (i, &is_scalar) in choice.iter().enumerate().take(op.arity()) {
                if is_scalar {
                    let number = values::scalar(dtype, i + round);
                    values.push(vec![bits(dtype, number); n]);
                    others.push(number);
                } else {
                    let data = source.bits(i, n);
                    values.push(data.clone());
                    x = Some(Pair::new(device, dtype, data, &[n]).await?.tensor);
                }
            }
            let x = x.ok_or("a tensor is among the operands")?;
            let result = values::with_numbers(op, &x, choice[0], &others).map_err(show)?;
            let got = bits_of(&result).await?;
            count();
            let place = format!("numbers {others:?} at {choice:?} for {:?}", device.target());
            check(source, &values, &got).map_err(|text| format!("{place}: {text}"))?;
        }
    }
    Ok(())
}

/// More than the 128 MiB of a baseline binding.
async fn past_one_binding(ctx: &Ctx, op: Op, dtype: DType, target: Target) -> Outcome {
    let device = ctx.native().await?.with_target(target);
    let mut source = Source::new(op, dtype);
    let n = (1 << 26) + 7;
    let piece = source.bits(0, 4099);
    let bits: Vec<u64> = piece.iter().copied().cycle().take(n).collect();
    let x = Pair::new(&device, dtype, bits, &[n]).await?;
    let one = Pair::new(&device, dtype, source.bits(1, 1), &[]).await?;
    let others = if op.arity() == 2 { vec![Other::from(&one.tensor)] } else { vec![] };
    let got = bits_of(&x.tensor.apply(op, &others).map_err(show)?).await?;
    count();
    let mut values = vec![piece];
    values.extend((op.arity() == 2).then(|| vec![one.bits[0]; 4099]));
    check(&source, &values, &got[..4099])?;
    // All chunks are alike.
    let same = (4099..n).all(|i| got[i] == got[i - 4099]);
    if same { Ok(()) } else { Err("not every chunk is like the first".into()) }
}
