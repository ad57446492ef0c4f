//! What is counted, found and ranked of ten million numbers, against what the host counted.

use wharf::DType;
use wharf::tensor::Insert;

use super::{Random, show};
use crate::cases::pair::count;
use crate::ctx::{Case, Ctx, Outcome, Size, case, ensure, ensure_eq};

const MANY: usize = 10_000_000;
/// The numbers are below this.
const BELOW: usize = 1000;

pub(super) fn cases() -> Vec<Case> {
    let cases = vec![
        case!("vocabulary::many::counted", |ctx| counted(ctx)),
        case!("vocabulary::many::found", |ctx| found(ctx)),
        case!("vocabulary::many::ranked", |ctx| ranked(ctx)),
    ];
    cases.into_iter().map(|case| Case { size: Size::Large, ..case }).collect()
}

/// Numbers of which the larger ones are rare, the last of all is there, and 500 never is; and how
/// often each occurs.
fn drawn() -> (Vec<u32>, Vec<u32>) {
    let mut random = Random::new(88);
    let mut draw = || {
        let below = 1 + random.below(BELOW);
        random.below(below) as u32
    };
    let mut data: Vec<u32> = (0..MANY).map(|_| draw()).collect();
    data[MANY - 2] = BELOW as u32 - 1;
    data.iter_mut().filter(|x| **x == 500).for_each(|x| *x = 3);
    let mut counts = vec![0; BELOW];
    data.iter().for_each(|&x| counts[x as usize] += 1);
    (data, counts)
}

/// The first place at which they differ.
fn alike<T: PartialEq>(what: &str, got: &[T], want: &[T]) -> Outcome {
    count();
    ensure_eq!(got.len(), want.len(), "{what}: how many");
    ensure_eq!(got.iter().zip(want).position(|(a, b)| a != b), None, "{what}: the first wrong one");
    Ok(())
}

async fn counted(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (data, counts) = drawn();
    let (x, _) = device.upload(&data, MANY).map_err(show)?;
    let got = x.bincount(BELOW).map_err(show)?.read::<u32>().await.map_err(show)?;
    alike("bincount", &got, &counts)?;
    let floats = x.cast(DType::F32).map_err(show)?;
    let got = floats.histogram(10, 0.0..=BELOW as f64).map_err(show)?;
    let want: Vec<u32> = counts.chunks(BELOW / 10).map(|part| part.iter().sum()).collect();
    alike("histogram", &got.read::<u32>().await.map_err(show)?, &want)?;

    let unique = x.unique().await.map_err(show)?;
    let values: Vec<u32> = (0..BELOW as u32).filter(|&x| counts[x as usize] > 0).collect();
    alike("unique", &unique.values.read::<u32>().await.map_err(show)?, &values)?;
    let occur: Vec<u32> = values.iter().map(|&x| counts[x as usize]).collect();
    alike("their counts", &unique.counts.read::<u32>().await.map_err(show)?, &occur)?;
    let mut place = vec![0; BELOW];
    values.iter().zip(0..).for_each(|(&x, at)| place[x as usize] = at);
    let inverse: Vec<u32> = data.iter().map(|&x| place[x as usize]).collect();
    alike("their places", &unique.inverse.read::<u32>().await.map_err(show)?, &inverse)
}

async fn found(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (data, _) = drawn();
    let (x, _) = device.upload(&data, MANY).map_err(show)?;
    let places: Vec<u32> = (0..).zip(&data).filter(|(_, x)| **x != 0).map(|(i, _)| i).collect();
    let got = x.nonzero().await.map_err(show)?.read::<u32>().await.map_err(show)?;
    alike("nonzero", &got, &places)?;
    let few = x.ge(990).map_err(show)?;
    let got = x.masked_select(&few).await.map_err(show)?.read::<u32>().await.map_err(show)?;
    let want: Vec<u32> = data.iter().copied().filter(|&x| x >= 990).collect();
    ensure!(!want.is_empty(), "there are large numbers");
    alike("masked_select", &got, &want)
}

async fn ranked(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (data, counts) = drawn();
    let (x, _) = device.upload(&data, MANY).map_err(show)?;
    let thirds = device.arange(0, BELOW as i32, 3, DType::U32).map_err(show)?;
    let got = thirds.searchsorted(&x, Insert::Left).map_err(show)?;
    let want: Vec<u32> = data.iter().map(|x| x.div_ceil(3)).collect();
    alike("searchsorted", &got.read::<u32>().await.map_err(show)?, &want)?;

    let floats = x.cast(DType::F32).map_err(show)?;
    let at = |place: usize| {
        let mut before = 0;
        let lies = |n: &u32| {
            before += *n as usize;
            before > place
        };
        counts.iter().position(lies).unwrap_or(BELOW) as f32
    };
    let middle = (at(MANY / 2 - 1) + at(MANY / 2)) / 2.0;
    let got = floats.median(..).map_err(show)?.read::<f32>().await.map_err(show)?;
    alike("median", &got, &[middle])?;
    // Of so many the last but one is a place of its own.
    let part = (MANY - 2) as f64 / (MANY - 1) as f64;
    let got = floats.quantile(.., part).map_err(show)?.read::<f32>().await.map_err(show)?;
    let (low, high) = (at(MANY - 2), at(MANY - 1));
    ensure!(got[0] >= low && got[0] <= high, "quantile: {}, not of {low} to {high}", got[0]);
    count();
    Ok(())
}
