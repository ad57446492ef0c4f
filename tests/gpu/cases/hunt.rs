//! Kernels of rows against rows that are laid for their mistakes.

use wharf::op::{Joint, Reduction};
use wharf::reference::{Exact, Number, attention, reduce, scan};
use wharf::tensor::Attention;
use wharf::{Adapter, DType, Device, Tensor};

use super::reduce::NO_SUBGROUPS;
use super::rows;
use super::views::TARGETS;
use crate::ctx::{Case, Ctx, Outcome, case, ensure_eq, matters, show};

use bait::{LENGTHS, LONG, Lone, TERMS, WEIGHTS};

mod bait;
mod grids;
mod sizes;

use Joint::{LayerNorm, LogSoftmax, RmsNorm, Softmax};
use Reduction::{ArgMax, ArgMin, LogSumExp, Max, Min, Sum, Var};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for what in [Softmax, LogSoftmax, LayerNorm, RmsNorm] {
        cases.push(case!(format!("hunt::rows::{what:?}"), |ctx| of_rows(ctx, what)));
    }
    for what in [Sum, Max, Min, ArgMax, ArgMin, Var, LogSumExp] {
        cases.push(case!(format!("hunt::reduce::{what}"), |ctx| of_reductions(ctx, what)));
    }
    for what in [Sum, Max] {
        cases.push(case!(format!("hunt::scan::{what}"), |ctx| of_scans(ctx, what)));
    }
    cases.push(case!("hunt::attention::masks", |ctx| of_masks(ctx)));
    cases.push(case!("hunt::attention::keys", |ctx| of_keys(ctx)));
    cases.extend(grids::cases());
    cases.extend(sizes::cases(adapter));
    cases
}

/// Every class of kernels: for each target, and those of a GPU without subgroups.
async fn devices(ctx: &Ctx) -> Result<Vec<Device>, String> {
    let native = ctx.native().await?;
    let mut all: Vec<Device> = TARGETS.iter().map(|&target| native.with_target(target)).collect();
    if matters(&ctx.adapter, NO_SUBGROUPS) {
        all.push(ctx.device(NO_SUBGROUPS).await?.with_target(TARGETS[1]));
    }
    Ok(all)
}

fn wide(row: &[f32]) -> Vec<f64> {
    row.iter().map(|&x| x.into()).collect()
}

fn numbers(row: &[f32]) -> Vec<Number> {
    row.iter().map(|&x| Number::Float(x.into())).collect()
}

async fn of_rows(ctx: &Ctx, what: Joint) -> Outcome {
    let baits = if matches!(what, LayerNorm | RmsNorm) { TERMS } else { WEIGHTS };
    for &length in LENGTHS {
        let data = bait::rows(length, baits);
        let exact = data.chunks(length).map(|row| rows::exact(what, &wide(row)));
        let exact: Vec<Exact> = exact.flatten().collect();
        let mut alive = Vec::new();
        for device in devices(ctx).await? {
            let (x, _) = device.upload(&data, [data.len() / length, length]).map_err(show)?;
            let got = read(&mut alive, rows::apply(what, &x, 1)).await?;
            compare(&data, length, (&exact, length), &got, |exact, got| {
                what.bound().within(DType::F32, exact, got)
            })
            .map_err(|e| format!("{:?}: {e}", device.target()))?;
        }
    }
    Ok(())
}

/// What a tensor holds. It stays alive: its memory, handed on, would hold what the next kernel is
/// to compute before that has run.
async fn read(alive: &mut Vec<Tensor>, x: wharf::Result<Tensor>) -> Result<Vec<f32>, String> {
    let x = x.map_err(show)?;
    let got = x.read::<f32>().await.map_err(show)?;
    alive.push(x);
    Ok(got)
}

/// Each result against what is exact; `each` of them belong to a row.
fn compare(
    data: &[f32],
    length: usize,
    (exact, each): (&[Exact], usize),
    got: &[f32],
    within: impl Fn(Exact, Number) -> bool,
) -> Outcome {
    ensure_eq!(exact.len(), got.len(), "how many");
    for (i, (&exact, &got)) in exact.iter().zip(got).enumerate() {
        if !within(exact, Number::Float(got.into())) {
            let row = &data[i / each * length..][..length];
            let place = i % each;
            let (first, last) = (&row[..length.min(6)], row[length - 1]);
            return Err(format!(
                "{place} of {first:?} .. {last} ({length}) is {got:?}, not {exact:?}"
            ));
        }
    }
    Ok(())
}

async fn of_reductions(ctx: &Ctx, what: Reduction) -> Outcome {
    let baits = [WEIGHTS, TERMS].concat();
    let baits: &[Lone] = if what == Var { TERMS } else { &baits };
    let into = what.yields(DType::F32);
    let long = (matches!(what, Sum | Max | ArgMax)).then_some((LONG, &TERMS[..2]));
    for (length, baits) in LENGTHS.iter().map(|&length| (length, baits)).chain(long) {
        let data = bait::rows(length, baits);
        let exact = data.chunks(length).map(|row| reduce(what, DType::F32, &numbers(row), 0));
        let exact: Vec<Exact> = exact.collect::<Option<_>>().ok_or("a result of every row")?;
        let mut alive = Vec::new();
        for device in devices(ctx).await? {
            let (x, _) = device.upload(&data, [data.len() / length, length]).map_err(show)?;
            let columns = x.t().and_then(|x| x.contiguous()).map_err(show)?;
            for (x, axis) in [(&x, 1), (&columns, 0)] {
                let y = x.reduce(what, axis).and_then(|y| y.cast(DType::F32));
                let got = read(&mut alive, y).await?;
                compare(&data, length, (&exact, 1), &got, |exact, got| {
                    let got = match (exact.value, got) {
                        (Number::Int(_), Number::Float(x)) => Number::Int(x as i128),
                        (_, got) => got,
                    };
                    what.bound(DType::F32).within(into, exact, got)
                })
                .map_err(|e| format!("{:?} along {axis}: {e}", device.target()))?;
            }
        }
    }
    Ok(())
}

async fn of_scans(ctx: &Ctx, what: Reduction) -> Outcome {
    let bound = if what == Sum { Joint::CumSum.bound() } else { what.bound(DType::F32) };
    for length in [5, 64, 65, 129, 261, 1044] {
        let data = bait::rows(length, &TERMS[..3]);
        let exact = data.chunks(length).flat_map(|row| scan(what, DType::F32, &numbers(row)));
        let exact: Vec<Exact> = exact.collect();
        let mut alive = Vec::new();
        for device in devices(ctx).await? {
            let (x, _) = device.upload(&data, [data.len() / length, length]).map_err(show)?;
            let y = if what == Sum { x.cumsum(1) } else { x.cummax(1) };
            let got = read(&mut alive, y).await?;
            let within = |exact, got| bound.within(DType::F32, exact, got);
            compare(&data, length, (&exact, length), &got, within)
                .map_err(|e| format!("{:?}: {e}", device.target()))?;
        }
    }
    Ok(())
}

/// The rows as masks, where neither queries nor keys say anything.
async fn of_masks(ctx: &Ctx) -> Outcome {
    for keys in [1, 2, 3, 4, 5, 8, 13, 16, 33, 36, 70, 300] {
        let scores = bait::rows(keys, WEIGHTS);
        let queries = scores.len() / keys;
        let mut alive = Vec::new();
        for device in devices(ctx).await? {
            let (mask, _) = device.upload(&scores, [queries, keys]).map_err(show)?;
            let [q, k] = [queries, keys].map(|n| device.zeros([1, n, 8], DType::F32));
            let how = Attention::new().masked(&mask);
            let (q, k) = (q.map_err(show)?, k.map_err(show)?);
            attend(&mut alive, (&q, &k), &how, &scores, keys).await?;
        }
    }
    Ok(())
}

/// The rows as columns of keys: each query picks one.
async fn of_keys(ctx: &Ctx) -> Outcome {
    for keys in [1, 2, 3, 4, 5, 8, 13, 16, 33, 36, 70, 300] {
        let mut scores = bait::rows(keys, &WEIGHTS[..4]);
        scores.iter_mut().for_each(|x| *x = x.max(-1e30));
        let queries = scores.len() / keys;
        let mut alive = Vec::new();
        for device in devices(ctx).await? {
            let heads = queries.div_ceil(8);
            let mut padded = scores.clone();
            padded.resize(heads * 8 * keys, 0.0);
            let (k, _) = device.upload(&padded, [heads, 8, keys]).map_err(show)?;
            let k = k.permute([0, 2, 1]).and_then(|k| k.contiguous()).map_err(show)?;
            let pick = device.eye(8, 8, DType::F32).map_err(show)?;
            let q = pick.broadcast_to([heads, 8, 8]).and_then(|q| q.contiguous()).map_err(show)?;
            let how = Attention::new().scaled(1.0);
            attend(&mut alive, (&q, &k), &how, &padded, keys).await?;
        }
    }
    Ok(())
}

/// Attention whose scores are known, to values that all differ.
async fn attend(
    alive: &mut Vec<Tensor>,
    (q, k): (&Tensor, &Tensor),
    how: &Attention,
    scores: &[f32],
    keys: usize,
) -> Outcome {
    let (device, heads) = (q.device(), k.shape().dims()[0]);
    let value = |n: usize| ((n * 7 + n / 4 * 5) % 23) as f32 - 11.0;
    let values: Vec<f32> = (0..keys * 4).map(value).collect();
    let (v, _) = device.upload(&values, [1, keys, 4]).map_err(show)?;
    let v = v.broadcast_to([heads, keys, 4]).and_then(|v| v.contiguous()).map_err(show)?;
    let got = read(alive, q.attention(k, &v, how)).await?;
    let values = wide(&values);
    let values: Vec<&[f64]> = values.chunks(4).collect();
    let exact = scores.chunks(keys).flat_map(|row| attention(&wide(row), &values));
    let exact: Vec<Exact> = exact.collect();
    compare(scores, keys, (&exact, 4), &got, |exact, got| {
        Joint::Attention.bound().within(DType::F32, exact, got)
    })
    .map_err(|e| format!("{:?}: {e}", device.target()))
}
