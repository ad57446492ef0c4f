//! What is said in terms of other operations: moves against lists, mathematics against f64.

use wharf::ledger::Crossings;
use wharf::tensor::Pad;
use wharf::{DType, ErrorKind, Result, Tensor};

use super::super::pair::count;
use super::super::vocabulary::{exact, kept};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, LOWEST, Outcome, case, ensure, ensure_eq, show,
};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("hand::sugar::moves", |ctx| moves(ctx, DOWNGRADES[0])),
        case!("hand::sugar::moves::lowest", |ctx| moves(ctx, LOWEST)),
        case!("hand::sugar::activations", |ctx| activations(ctx, DOWNGRADES[0])),
        case!("hand::sugar::activations::lowest", |ctx| activations(ctx, LOWEST)),
        case!("hand::sugar::measures", |ctx| measures(ctx, DOWNGRADES[0])),
        case!("hand::sugar::measures::lowest", |ctx| measures(ctx, LOWEST)),
        case!("hand::sugar::answers", |ctx| answers(ctx)),
    ]
}

/// A move of `[[0, 1, 2], [3, 4, 5]]`, the shape of what comes of it, and its elements.
struct Row(&'static str, fn(&Tensor) -> Result<Tensor>, &'static [usize], &'static [i32]);

/// Parts of a split one after the other, each behind its length.
fn told(parts: Vec<Tensor>) -> Result<Tensor> {
    let mut told = Vec::new();
    for part in &parts {
        let length = part.device().full(1, part.shape().dims()[0], DType::I32)?;
        told.extend([length, part.flatten(..)?]);
    }
    Tensor::concat(&told, 0)
}

/// Writes into a copy, while the original is held.
fn put(x: &Tensor, write: impl Fn(&mut Tensor) -> Result<()>) -> Result<Tensor> {
    let mut copy = x.clone();
    write(&mut copy)?;
    Ok(copy)
}

#[rustfmt::skip]
const MOVES: &[Row] = &[
    Row("flatten", |x| x.flatten(..), &[6], &[0, 1, 2, 3, 4, 5]),
    Row("flatten a copy", |x| x.t()?.flatten(..), &[6], &[0, 3, 1, 4, 2, 5]),
    Row("flatten some", |x| x.unsqueeze(0)?.flatten(..=1), &[2, 3], &[0, 1, 2, 3, 4, 5]),
    Row("flatten a scalar", |x| x.at((1, 1))?.flatten(..), &[1], &[4]),
    Row("swap_axes", |x| x.swap_axes(0, -1), &[3, 2], &[0, 3, 1, 4, 2, 5]),
    Row("move_axis", |x| x.unsqueeze(0)?.move_axis(2, 0), &[3, 1, 2], &[0, 3, 1, 4, 2, 5]),
    Row("move_axis back", |x| x.unsqueeze(-1)?.move_axis(0, -1), &[3, 1, 2], &[0, 3, 1, 4, 2, 5]),
    Row("repeat", |x| x.repeat([2, 2]), &[4, 6],
        &[0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]),
    Row("repeat at the last", |x| x.at(0)?.repeat([2]), &[6], &[0, 1, 2, 0, 1, 2]),
    Row("repeat anew", |x| x.at(0)?.repeat([2, 1]), &[2, 3], &[0, 1, 2, 0, 1, 2]),
    Row("repeat fewer", |x| x.repeat([2]), &[2, 6], &[0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]),
    Row("repeat never", |x| x.repeat([0, 1]), &[0, 3], &[]),
    Row("repeat of all axes", |x| x.reshape([1, 2, 1, 1, 3, 1, 1, 1])?.at((0, .., 0, 0, ..2, 0, 0))?
        .reshape([1, 1, 1, 2, 1, 2, 1, 1])?.repeat([1, 1, 1, 1, 1, 1, 2, 1])?.reshape([4, 2]),
        &[4, 2], &[0, 0, 1, 1, 3, 3, 4, 4]),
    Row("repeat_interleave", |x| x.repeat_interleave(-1, 2), &[2, 6],
        &[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]),
    Row("repeat_interleave rows", |x| x.t()?.repeat_interleave(0, 2), &[6, 2],
        &[0, 3, 0, 3, 1, 4, 1, 4, 2, 5, 2, 5]),
    Row("chunk", |x| told(x.flatten(..)?.chunk(0, 4)?), &[9], &[2, 0, 1, 2, 2, 3, 2, 4, 5]),
    Row("chunk into more", |x| told(x.at(0)?.chunk(0, 5)?), &[6], &[1, 0, 1, 1, 1, 2]),
    Row("chunk nothing", |x| told(x.at((0, ..0))?.chunk(0, 3)?), &[1], &[0]),
    Row("split_evenly", |x| told(x.flatten(..)?.split_evenly(-1, 3)?), &[9],
        &[2, 0, 1, 2, 2, 3, 2, 4, 5]),
    Row("unstack", |x| { let [a, b, c] = x.unstack(-1)?; (a - c)? * b }, &[2], &[-2, -8]),
    Row("unstack of nothing", |x| x.at((.., ..0))?.unstack::<2>(0)?[1].sum(..), &[], &[0]),
    Row("meshgrid", |x| Tensor::stack(&Tensor::meshgrid(&[&x.at((.., 0))?, &x.at(0)?])?, 0),
        &[2, 2, 3], &[0, 0, 0, 3, 3, 3, 0, 1, 2, 0, 1, 2]),
    Row("diag", |x| x.diag(0), &[2], &[0, 4]),
    Row("diag above", |x| x.diag(1), &[2], &[1, 5]),
    Row("diag below", |x| x.flip(1)?.diag(-1), &[1], &[5]),
    Row("diag outside", |x| x.diag(9), &[0], &[]),
    Row("a diagonal", |x| x.at((1, ..2))?.diag(0), &[2, 2], &[3, 0, 0, 4]),
    Row("a diagonal above", |x| x.at((1, ..2))?.diag(1), &[3, 3], &[0, 3, 0, 0, 0, 4, 0, 0, 0]),
    Row("a diagonal far above", |x| x.at((1, ..1))?.diag(2), &[3, 3], &[0, 0, 3, 0, 0, 0, 0, 0, 0]),
    Row("a diagonal below", |x| x.at((1, ..2))?.diag(-1), &[3, 3], &[0, 0, 0, 3, 0, 0, 0, 4, 0]),
    Row("a diagonal of nothing", |x| x.at((1, ..0))?.diag(-1), &[1, 1], &[0]),
    Row("trace", |x| x.t()?.trace(), &[], &[4]),
    Row("pad with a number", |x| x.pad(&[(0, 1), (1, 0)], 7), &[3, 4],
        &[7, 0, 1, 2, 7, 3, 4, 5, 7, 7, 7, 7]),
    Row("wrap", |x| x.pad(&[(1, 0), (2, 3)], Pad::Wrap), &[3, 8],
        &[4, 5, 3, 4, 5, 3, 4, 5, 1, 2, 0, 1, 2, 0, 1, 2, 4, 5, 3, 4, 5, 3, 4, 5]),
    Row("cumsum_reverse", |x| x.cumsum_reverse(-1), &[2, 3], &[3, 3, 2, 12, 9, 5]),
    Row("cumsum_exclusive", |x| x.cumsum_exclusive(-1), &[2, 3], &[0, 0, 1, 0, 3, 7]),
    Row("cumsum_exclusive of rows", |x| x.t()?.cumsum_exclusive(0), &[3, 2], &[0, 0, 0, 3, 1, 7]),
    Row("cumsum_exclusive of nothing", |x| x.at(..0)?.cumsum_exclusive(0), &[0, 3], &[]),
    Row("assign_at", |x| put(x, |x| x.assign_at((.., 1..), &x.at((.., ..1))?)), &[2, 3],
        &[0, 0, 0, 3, 3, 3]),
    Row("assign_at one", |x| put(x, |x| x.assign_at((1, -1), 9)), &[2, 3], &[0, 1, 2, 3, 4, 9]),
    Row("assign_at a column", |x| put(x, |x| x.assign_at((.., 1), &x.at((0, ..2))?)), &[2, 3],
        &[0, 0, 2, 3, 1, 5]),
    Row("assign_at nothing", |x| put(x, |x| x.assign_at((.., 3..), 7)), &[2, 3],
        &[0, 1, 2, 3, 4, 5]),
    Row("l1_norm", |x| (x - 3)?.l1_norm(1), &[2], &[6, 3]),
    Row("l1_norm of the least bytes", |x| ((x * 0)? - 128)?.cast(DType::I8)?.l1_norm(1), &[2],
        &[384, 384]),
];

async fn moves(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let (x, _) = device.upload(&[0, 1, 2, 3, 4, 5], [2, 3]).map_err(show)?;
    for Row(name, moved, dims, want) in MOVES {
        count();
        let got = moved(&x).map_err(|e| format!("{name}: {e:?}"))?;
        ensure_eq!(got.shape().dims(), *dims, "the shape of {name}");
        ensure_eq!(got.read::<i32>().await.map_err(show)?, *want, "{name}");
    }
    let truths = x.gt(2).and_then(|x| x.at((.., 0))?.diag(1)).map_err(show)?;
    let want = [false, false, false, false, false, true, false, false, false];
    ensure_eq!(truths.read::<bool>().await.map_err(show)?, want, "a diagonal of bools");
    Ok(())
}

/// Of numbers within some hundreds, in every float dtype that holds them.
async fn activations(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let numbers: Vec<f32> = (-12..12).map(|i| i as f32 * 0.75).collect();
    type Of = (&'static str, fn(&Tensor) -> Result<Tensor>, fn(f64) -> f64);
    let selu = |x: f64| {
        let (alpha, scale) = (1.673_263_242_354_377_2, 1.050_700_987_355_480_5);
        scale * if x > 0.0 { x } else { alpha * x.exp_m1() }
    };
    let rows: [Of; 3] = [
        ("selu", Tensor::selu, selu),
        ("hard_sigmoid", Tensor::hard_sigmoid, |x| ((x + 3.0) / 6.0).clamp(0.0, 1.0)),
        ("softsign", Tensor::softsign, |x| x / (1.0 + x.abs())),
    ];
    let (x, _) = device.upload(&numbers, [4, 3, 2]).map_err(show)?;
    for dtype in [DType::F32, DType::F16, DType::Bf16] {
        let x = x.cast(dtype).map_err(show)?;
        let given: Vec<f32> = x.read_as().await.map_err(show)?.0;
        for (name, run, want) in rows {
            let got = run(&x).map_err(show)?;
            let want: Vec<_> = given.iter().map(|&x| exact(want(f64::from(x)), 0.0)).collect();
            kept((name, 1), dtype.name(), &got, &want).await?;
        }
    }
    let slopes = [0.5f64, 0.25, -1.0];
    let weight = device.upload(&slopes.map(|x| x as f32), 3).map_err(show)?.0;
    let leak = |x: f64, slope: f64| if x > 0.0 { x } else { slope * x };
    let slope = |i: usize| slopes[i / 2 % 3];
    let want = numbers.iter().enumerate().map(|(i, &x)| exact(leak(x.into(), slope(i)), 0.0));
    let want: Vec<_> = want.collect();
    kept(("prelu", 1), "channels", &x.prelu(&weight).map_err(show)?, &want).await?;
    let one = weight.at(..1).map_err(show)?;
    let want: Vec<_> = numbers.iter().map(|&x| exact(leak(x.into(), 0.5), 0.0)).collect();
    kept(("prelu", 1), "one", &x.prelu(&one).map_err(show)?, &want).await?;
    let want: Vec<_> = (0..12)
        .map(|i| (i / 6 * 12 + i % 6, i))
        .map(|(first, _)| {
            let gate = 1.0 + (-f64::from(numbers[first + 6])).exp();
            exact(f64::from(numbers[first]) / gate, 0.0)
        })
        .collect();
    let halves = x.reshape([2, 2, 6]).and_then(|x| x.glu(1)).map_err(show)?;
    kept(("glu", 1), "halves", &halves, &want).await
}

async fn near(name: &str, got: &Tensor, want: &[f64], bound: f64) -> Outcome {
    count();
    let got: Vec<f64> = got.read_as().await.map_err(show)?.0;
    ensure_eq!(got.len(), want.len(), "{name}");
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        let off = (got - want).abs();
        ensure!(off <= bound * want.abs().max(1.0), "{name}: {got}, not {want} at {i}");
    }
    Ok(())
}

async fn measures(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let (x, _) = device.upload(&[3.0f32, 4.0, 0.0, 0.0, 1.0, -1.0], [3, 2]).map_err(show)?;
    let (y, _) = device.upload(&[4.0f32, 3.0], 2).map_err(show)?;
    let cosines = [24.0 / 25.0, 0.0, 1.0 / (2f64.sqrt() * 5.0)];
    let (rows, other) = (x.cosine_similarity(1, &y), y.cosine_similarity(-1, &x));
    let cosines = cosines.map(|x| exact(x, 1.0));
    kept(("cosine_similarity", 1), "rows", &rows.map_err(show)?, &cosines).await?;
    kept(("cosine_similarity", 1), "the other", &other.map_err(show)?, &cosines).await?;
    let half = 0.5f64.sqrt();
    let units = [0.6, 0.8, 0.0, 0.0, half, -half].map(|x| exact(x, 0.0));
    kept(("unit", 1), "rows", &x.unit(1).map_err(show)?, &units).await?;
    let root = 27f64.sqrt();
    let all = [3.0, 4.0, 0.0, 0.0, 1.0, -1.0].map(|x| exact(x / root, 0.0));
    kept(("unit", 1), "a matrix", &x.unit(..).map_err(show)?, &all).await?;
    let powers = [8.0, 16.0, 1.0, 1.0, 2.0, 0.5];
    near("powers of 2", &x.powers_of(2).map_err(show)?, &powers, 1e-6).await?;
    let powers = [64.0, 81.0, 1.0, 1.0, 4.0, 1.0 / 3.0];
    near("powers of a row", &x.powers_of(&y).map_err(show)?, &powers, 1e-5).await?;
    let [x, y] = [&x, &y].map(|x| (x * 256.0).and_then(|x| x.cast(DType::F16)));
    // Squares of these are no f16.
    let halves = x.and_then(|x| x.cosine_similarity(1, &y?)).map_err(show)?;
    ensure_eq!(halves.dtype(), DType::F16, "the dtype");
    kept(("cosine_similarity", 1), "halves", &halves, &cosines).await?;
    // Nor is the square of 1024.
    let halves = (&halves * 0.0).and_then(|zeros| (zeros + 1024.0)?.unit(0)).map_err(show)?;
    kept(("unit", 1), "halves", &halves, &[exact(3f64.sqrt().recip(), 0.0); 3]).await
}

async fn answers(ctx: &Ctx) -> Outcome {
    const INF: f32 = f32::INFINITY;
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let up = |data: [f32; 2]| device.upload(&data, 2).map(|(x, _)| x).map_err(show);
    let x = up([1.0, 1000.0])?;
    for (other, equal, close) in [
        ([1.0, 1000.0], true, true),
        ([1.0, 1000.5], false, true),
        ([1.0625, 1000.0], false, true),
        ([1.125, 1000.0], false, false),
        ([1.0, 1002.0], false, false),
        ([1.0, INF], false, false),
        ([1.0, f32::NAN], false, false),
    ] {
        count();
        let y = up(other)?;
        ensure_eq!(x.equal(&y).await.map_err(show)?, equal, "equal {other:?}");
        ensure_eq!(x.allclose(&y, 1e-3, 0.0625).await.map_err(show)?, close, "close {other:?}");
        ensure_eq!(y.allclose(&x, 1e-3, 0.0625).await.map_err(show)?, close, "back {other:?}");
    }
    let (inf, nan) = (up([INF, -INF])?, up([0.0, f32::NAN])?);
    ensure!(inf.allclose(&inf, 0.0, 0.0).await.map_err(show)?, "infinity is itself");
    ensure!(!inf.allclose(&up([INF, INF])?, 1.0, 1.0).await.map_err(show)?, "its sign counts");
    ensure!(!nan.equal(&nan).await.map_err(show)?, "NaN equals nothing");
    ensure!(!nan.allclose(&nan, 1.0, 1.0).await.map_err(show)?, "NaN is close to nothing");
    let column = x.unsqueeze(1).map_err(show)?;
    let before = device.ledger().down.bytes;
    ensure!(!x.equal(&column).await.map_err(show)?, "shapes differ");
    ensure_eq!(device.ledger().down.bytes, before, "nobody is asked");
    let _guard = device.guard(Crossings::Deny);
    let error = x.equal(&x).await.err().ok_or("a denied answer was given")?;
    ensure_eq!(error.kind(), ErrorKind::Denied, "{error}");
    Ok(())
}
