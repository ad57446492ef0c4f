//! What is as long as the data says: four bytes cross, whoever asks is named, and a guard stops it.

use wharf::ledger::Crossings;
use wharf::reference::places;
use wharf::{DType, ErrorKind};

use super::{Random, Shown, carried, devices, near, show};
use crate::cases::pair::COMPUTED;
use crate::cases::views::Move::{Flip, Permute, Slice};
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("vocabulary::finding::masked", |ctx| masked(ctx)),
        case!("vocabulary::finding::unique", |ctx| unique(ctx)),
        case!("vocabulary::finding::what_crosses", |ctx| crossing(ctx)),
        case!("vocabulary::finding::errors_come_along", |ctx| poisoned(ctx)),
    ]
}

async fn masked(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(11);
    for device in devices(ctx).await? {
        for dtype in carried(&device, COMPUTED) {
            for (dims, moves) in [
                (&[7, 9, 2][..], vec![Permute(vec![2, 0, 1]), Slice(1, 1..6, 1)]),
                (&[45], vec![Flip(0)]),
                (&[3, 0], vec![]),
                (&[], vec![]),
            ] {
                let x = Shown::new(&device, &mut random, dtype, (dims, &moves)).await?;
                let name = format!("{dtype} {dims:?} for {:?}", device.target());
                let all: Vec<f64> = places(&x.dims)
                    .filter(|place| x.at(place) != 0.0)
                    .flat_map(|place| place.into_iter().map(|i| i as f64))
                    .collect();
                let found = x.values.iter().filter(|x| **x != 0.0).count();
                let got = x.tensor.nonzero().await.map_err(show)?;
                near(&format!("nonzero {name}"), &got, &[found, x.dims.len()], &all, 0.0).await?;
                // A mask that broadcasts.
                let last = x.dims.last().copied().unwrap_or(1);
                let mask = Shown::new(&device, &mut random, DType::Bool, (&[last], &[])).await?;
                let want: Vec<f64> = (x.values.iter().enumerate())
                    .filter(|(i, _)| mask.values[i % last.max(1)] != 0.0)
                    .map(|(_, &x)| x)
                    .collect();
                let got = x.tensor.masked_select(&mask.tensor).await.map_err(show)?;
                ensure_eq!(got.dtype(), dtype, "the dtype");
                near(&format!("masked_select {name}"), &got, &[want.len()], &want, 0.0).await?;
            }
        }
    }
    // Beyond what one group scans, and beyond a segment.
    let data: Vec<u32> = (0..70_001).map(|i| u32::from(i % 7 == 3 || i > 70_000 - 40)).collect();
    let want: Vec<f64> = (0..data.len()).filter(|&i| data[i] == 1).map(|i| i as f64).collect();
    for downgrade in [DOWNGRADES[0], DOWNGRADES[4]] {
        let device = ctx.device(downgrade).await?;
        let (x, _) = device.upload(&data, data.len()).map_err(show)?;
        let got = x.nonzero().await.map_err(show)?;
        near(downgrade.name, &got, &[want.len(), 1], &want, 0.0).await?;
        let places = device.arange(0, data.len(), 1, DType::U32).map_err(show)?;
        let got = places.masked_select(&x.ne(0).map_err(show)?).await.map_err(show)?;
        near(downgrade.name, &got, &[want.len()], &want, 0.0).await?;
    }
    Ok(())
}

async fn unique(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(12);
    for device in devices(ctx).await? {
        for dtype in carried(&device, COMPUTED) {
            for (dims, moves) in [(&[5, 8][..], vec![Flip(1)]), (&[0], vec![]), (&[1], vec![])] {
                let x = Shown::new(&device, &mut random, dtype, (dims, &moves)).await?;
                let mut values = x.values.clone();
                values.sort_by(f64::total_cmp);
                values.dedup();
                let place = |x: &f64| values.iter().position(|y| y == x).unwrap_or(99) as f64;
                let inverse: Vec<f64> = x.values.iter().map(place).collect();
                let times = |y: &f64| x.values.iter().filter(|x| *x == y).count() as f64;
                let counts: Vec<f64> = values.iter().map(times).collect();
                let found = x.tensor.unique().await.map_err(show)?;
                let name = format!("{dtype} {dims:?} for {:?}", device.target());
                ensure_eq!(found.values.dtype(), dtype, "the dtype");
                near(&format!("values of {name}"), &found.values, &[values.len()], &values, 0.0)
                    .await?;
                near(&format!("counts of {name}"), &found.counts, &[values.len()], &counts, 0.0)
                    .await?;
                near(&format!("inverse of {name}"), &found.inverse, &x.dims, &inverse, 0.0).await?;
            }
        }
    }
    let device = ctx.native().await?;
    let (x, _) = device.upload(&[f32::NAN, 0.0, 1.0, -0.0, f32::NAN], 5).map_err(show)?;
    let found = x.unique().await.map_err(show)?;
    near("zeros and NaN", &found.values, &[4], &[0.0, 1.0, f64::NAN, f64::NAN], 0.0).await?;
    near("how often", &found.counts, &[4], &[2.0, 1.0, 1.0, 1.0], 0.0).await
}

async fn crossing(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (x, _) = device.upload(&[0, 5, 0, 5], 4).map_err(show)?;
    let mask = x.gt(1).map_err(show)?;
    for call in ["nonzero", "masked_select", "unique"] {
        let before = device.ledger().down;
        let line = line!() + 2;
        match call {
            "nonzero" => x.nonzero().await.map(drop),
            "masked_select" => x.masked_select(&mask).await.map(drop),
            _ => x.unique().await.map(drop),
        }
        .map_err(show)?;
        let ledger = device.ledger();
        ensure_eq!(ledger.down.bytes - before.bytes, 4, "bytes of {call}");
        ensure_eq!(ledger.down.count - before.count, 1, "crossings of {call}");
        let named = ledger.largest.iter().find(|crossing| crossing.call == call);
        let at = named.ok_or(format!("{call} is not named"))?.line.line();
        ensure!((line..line + 4).contains(&at), "{call} at line {at}, not after {line}");
    }
    let before = device.ledger().down;
    let _guard = device.guard(Crossings::Deny);
    for denied in
        [x.nonzero().await.err(), x.masked_select(&mask).await.err(), x.unique().await.err()]
    {
        ensure_eq!(denied.ok_or("it crossed")?.kind(), ErrorKind::Denied, "under a guard");
    }
    ensure_eq!(device.ledger().down, before, "what crossed");
    Ok(())
}

/// What was out of range before is the error of the question.
async fn poisoned(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (x, _) = device.upload(&[1, 2, 3], 3).map_err(show)?;
    let (far, _) = device.upload(&[0, 7], 2).map_err(show)?;
    let taken = x.take(&far).map_err(show)?;
    let errors = [taken.nonzero().await.err(), taken.unique().await.err()];
    for error in errors {
        ensure_eq!(error.ok_or("it was found")?.kind(), ErrorKind::Index, "the cause");
    }
    Ok(())
}
