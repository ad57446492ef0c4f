//! Sums that silently stop early, ties, NaN, and what does not fit one binding; heads and tails.

use wharf::op::Reduction;
use wharf::reference::{Number, reduce};
use wharf::{DType, Target, half};

use crate::cases::pair::count;
use crate::cases::probe::Random;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, Size, case, ensure, ensure_eq, show};

pub(super) fn cases() -> Vec<Case> {
    let large = |case: Case| Case { size: Size::Large, ..case };
    vec![
        case!("reduce::the_sum_of_ones_is_their_number", |ctx| ones(ctx, 24)),
        case!("reduce::the_sum_of_2_26_ones_is_2_26", |ctx| ones_of_bytes(ctx)),
        large(case!("reduce::the_sum_of_2_26_dense_ones_is_2_26", |ctx| ones(ctx, 26))),
        case!("reduce::argmax_of_ten_million", |ctx| argmax(ctx)),
        case!("reduce::the_last_row_counts_in_columns", |ctx| last_rows(ctx)),
        case!("reduce::argmax_across_bindings", |ctx| argmax_across_bindings(ctx)),
        case!("reduce::lengths_around_2_24", |ctx| around_2_24(ctx)),
        case!("reduce::elementwise_work_is_done_on_the_way", |ctx| fused(ctx)),
        large(case!("reduce::two_hundred_mib", |ctx| two_hundred_mib(ctx))),
    ]
}

async fn ones(ctx: &Ctx, log2_max: u32) -> Outcome {
    let device = ctx.native().await?;
    for log2 in [20, 24, 26].into_iter().filter(|&log2| log2 <= log2_max) {
        let ones = device.ones(1usize << log2, DType::F32).map_err(show)?;
        for target in [Target::Cpu64, Target::Gpu] {
            // The tensor stays where it is; the handle decides the class of kernels.
            let (here, _) = ones.to(&device.with_target(target)).await.map_err(show)?;
            let sum = here.sum(..).map_err(show)?;
            let got = sum.read::<f32>().await.map_err(show)?;
            ensure_eq!(got, vec![(1u32 << log2) as f32], "2^{log2} ones for {target:?}");
        }
    }
    Ok(())
}

async fn ones_of_bytes(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let ones = device.ones(1usize << 26, DType::U8).map_err(show)?;
    let float = ones.cast(DType::F32).map_err(show)?.sum(..).map_err(show)?;
    let whole = ones.sum(..).map_err(show)?;
    ensure_eq!(float.read::<f32>().await.map_err(show)?, vec![67_108_864.0], "as f32");
    ensure_eq!(whole.read::<u32>().await.map_err(show)?, vec![1 << 26], "as u32");
    let mean = ones.cast(DType::F16).map_err(show)?.mean(..).map_err(show)?;
    let mean = mean.read::<half::f16>().await.map_err(show)?;
    ensure_eq!(mean, vec![half::f16::ONE], "the mean, whose sum f16 could not hold");
    Ok(())
}

/// Columns of so many rows that chunks of chunks are put together: whatever each of those leaves
/// out, the last one ends with the row that wins, or the first begins with it.
async fn last_rows(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for target in [Target::Cpu, Target::Cpu64, Target::Gpu] {
        let device = device.with_target(target);
        for (rows, columns) in [(3000, 2), (4097, 8), (9001, 3), (20_000, 4)] {
            let place = device.arange(0, rows, 1, DType::F32).and_then(|x| x.unsqueeze(1));
            let x = place.and_then(|x| x.broadcast_to([rows, columns])?.contiguous());
            let x = x.map_err(show)?;
            let name = format!("{rows} x {columns} for {target:?}");
            for (made, want) in [(x.argmax(0), rows - 1), (x.argmin(0), 0)] {
                let got = made.map_err(show)?.read::<u32>().await.map_err(show)?;
                ensure_eq!(got, vec![want as u32; columns], "the place of an extreme of {name}");
                count();
            }
            // Whole numbers below 2^24 are exact, in whatever order.
            let sum = x.ge(1.0).and_then(|x| x.cast(DType::F32)?.sum(0)).map_err(show)?;
            let sum = sum.read::<f32>().await.map_err(show)?;
            ensure_eq!(sum, vec![(rows - 1) as f32; columns], "the sum of {name}");
            let most = x.amax(0).map_err(show)?.read::<f32>().await.map_err(show)?;
            ensure_eq!(most, vec![(rows - 1) as f32; columns], "the largest of {name}");
            count();
        }
    }
    Ok(())
}

async fn argmax(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let n = 10_000_000;
    let mut random = Random::new(5);
    let mut data: Vec<f32> = (0..n).map(|_| (random.bits() >> 40) as f32 / 16_777_216.0).collect();
    // Ties of the highest and the lowest; then NaN, which wins.
    for (places, x) in [([7_654_321, 1_234_567, 9_999_999], 2.0), ([3_333_333, 444, 5], -2.0)] {
        places.iter().for_each(|&place| data[place] = x);
    }
    for nan in [None, Some([8_000_001, 4_000_003])] {
        nan.iter().flatten().for_each(|&place| data[place] = f32::NAN);
        let (x, _) = device.upload(&data, [n]).map_err(show)?;
        for target in [Target::Cpu64, Target::Gpu] {
            let (x, _) = x.to(&device.with_target(target)).await.map_err(show)?;
            let best = x.argmax(0).map_err(show)?.read::<u32>().await.map_err(show)?;
            let least = x.argmin(0).map_err(show)?.read::<u32>().await.map_err(show)?;
            let most = x.amax(0).map_err(show)?.read::<f32>().await.map_err(show)?;
            if nan.is_some() {
                ensure_eq!([best[0], least[0]], [4_000_003; 2], "with NaN for {target:?}");
                ensure!(most[0].is_nan(), "the highest with NaN is {most:?}");
            } else {
                ensure_eq!([best[0], least[0]], [1_234_567, 5], "for {target:?}");
                ensure_eq!(most[0], 2.0, "the highest for {target:?}");
            }
        }
    }
    Ok(())
}

/// One row in several bindings, its highest in each of them in turn.
async fn argmax_across_bindings(ctx: &Ctx) -> Outcome {
    let device = ctx.device(DOWNGRADES[4]).await?;
    let n = 200_003;
    for peak in [7, 70_001, 140_002, n - 1] {
        let data: Vec<f32> = (0..n).map(|i| if i == peak { 2.0 } else { -1.0 }).collect();
        for target in [Target::Cpu64, Target::Gpu] {
            let (x, _) = device.with_target(target).upload(&data, [n]).map_err(show)?;
            let best = x.argmax(0).map_err(show)?.read::<u32>().await.map_err(show)?;
            ensure_eq!(best, vec![peak as u32], "the place for {target:?}");
        }
    }
    Ok(())
}

/// Whole numbers, whose sums are exact in every order, with ties of the highest.
async fn around_2_24(ctx: &Ctx) -> Outcome {
    let most = (1 << 24) + 1;
    let mut random = Random::new(17);
    let data: Vec<f32> = (0..most).map(|_| random.below(3) as f32 - 1.0).collect();
    for downgrade in [DOWNGRADES[0], DOWNGRADES[3]] {
        let device = ctx.device(downgrade).await?;
        for target in [Target::Cpu64, Target::Gpu] {
            let (x, _) = device.with_target(target).upload(&data, [most]).map_err(show)?;
            for n in [most - 2, most - 1, most] {
                let place = format!("{n} for {target:?}, {}", downgrade.name);
                let part = x.slice(0, 0..n).map_err(show)?;
                let sum = part.sum(..).map_err(show)?.read::<f32>().await.map_err(show)?;
                let want: i64 = data[..n].iter().map(|&x| x as i64).sum();
                ensure_eq!(sum, vec![want as f32], "the sum of {place}");
                let best = part.argmax(0).map_err(show)?.read::<u32>().await.map_err(show)?;
                let first = data.iter().position(|&x| x == 1.0).map(|place| place as u32);
                ensure_eq!(best.first().copied(), first, "the first 1 of {place}");
            }
        }
    }
    Ok(())
}

/// `sum((a - b)^2) / 2 + bias`, of a view, without anything stored in between.
async fn fused(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (rows, columns) = (37, 52);
    let data: Vec<f32> = (0..rows * columns).map(|i| (i % 23) as f32 - 11.0).collect();
    let (a, _) = device.upload(&data, [rows, columns]).map_err(show)?;
    let (b, _) = device.upload(&data[..columns], [columns]).map_err(show)?;
    let (bias, _) = device.upload(&data[..rows], [rows]).map_err(show)?;
    for axis in [0, 1] {
        let x = (&a - &b).and_then(|d| d.square()).map_err(show)?;
        let half = x.sum(axis).and_then(|s| s * 0.5f32).map_err(show)?;
        let bias = if axis == 1 { bias.clone() } else { b.clone() };
        let sum = (half + &bias).map_err(show)?;
        let got = sum.read::<f32>().await.map_err(show)?;
        let at = |r: usize, c: usize| (data[r * columns + c] - data[c]).powi(2);
        let want: Vec<f32> = match axis {
            1 => (0..rows).map(|r| (0..columns).map(|c| at(r, c)).sum()).collect(),
            _ => (0..columns).map(|c| (0..rows).map(|r| at(r, c)).sum()).collect(),
        };
        let want: Vec<f32> = want.iter().zip(&data).map(|(s, b)| s * 0.5 + b).collect();
        ensure_eq!(got, want, "over axis {axis}: whole numbers are exact");
    }
    Ok(())
}

async fn two_hundred_mib(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (rows, columns) = (51_200, 1024);
    let mut random = Random::new(3);
    let data: Vec<f32> =
        (0..rows * columns).map(|_| (random.bits() >> 40) as f32 / 16_777_216.0 - 0.5).collect();
    let (x, _) = device.upload(&data, [rows, columns]).map_err(show)?;
    let value = |i: usize| Number::Float(data[i].into());
    for axis in [0, 1] {
        let got = x.sum(axis).map_err(show)?.read::<f32>().await.map_err(show)?;
        for (i, &got) in got.iter().enumerate().step_by(97) {
            let group: Vec<Number> = match axis {
                0 => (0..rows).map(|r| value(r * columns + i)).collect(),
                _ => (0..columns).map(|c| value(i * columns + c)).collect(),
            };
            let exact = reduce(Reduction::Sum, DType::F32, &group, 0).ok_or("a sum")?;
            let bound = Reduction::Sum.bound(DType::F32);
            let kept = bound.within(DType::F32, exact, Number::Float(got.into()));
            ensure!(kept, "over axis {axis}, {i}: {got} for {exact:?}");
        }
    }
    let best = x.argmax(..).map_err(show)?.read::<u32>().await.map_err(show)?[0] as usize;
    let most = data.iter().copied().fold(f32::MIN, f32::max);
    ensure_eq!(data.iter().position(|&v| v == most), Some(best), "the highest of all");
    Ok(())
}
