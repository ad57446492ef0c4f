//! Random numbers: on every driver the same bits as on the host with the same key.

use std::collections::HashMap;
use std::ops::Range;

use wharf::op::Joint;
use wharf::reference::Number;
use wharf::reference::random as host;
use wharf::tensor::Key;
use wharf::{Adapter, DType, Device, ErrorKind};

use super::pair::{bits, bits_of, carries, count, difference, value};
use super::views::TARGETS;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show,
};

const SIZES: [usize; 8] = [0, 1, 3, 5, 257, 2049, 65_535, 100_003];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        let name = |what: &str| format!("random::{what}::{}", downgrade.name);
        cases.push(case!(name("bits"), |ctx| random_bits(ctx, downgrade)));
        cases.push(case!(name("uniform"), |ctx| uniform(ctx, downgrade)));
        cases.push(case!(name("normal"), |ctx| normal(ctx, downgrade)));
        cases.push(case!(name("bernoulli"), |ctx| bernoulli(ctx, downgrade)));
        cases.push(case!(name("integers"), |ctx| integers(ctx, downgrade)));
        cases.push(case!(name("permutation"), |ctx| permutation(ctx, downgrade)));
    }
    cases.push(case!("random::nothing_crosses", |ctx| nothing_crosses(ctx)));
    cases.push(case!("random::mistakes", |ctx| mistakes(ctx)));
    cases
}

/// Both targets of a device.
async fn targets(ctx: &Ctx, downgrade: Downgrade) -> Result<[Device; 2], String> {
    let device = ctx.device(downgrade).await?;
    Ok(TARGETS.map(|target| device.with_target(target)))
}

async fn random_bits(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    for device in targets(ctx, downgrade).await? {
        for (seed, n) in (0..).zip(SIZES) {
            count();
            let key = Key::new(seed * 0x1234_5678_9abc_def1);
            let got = bits_of(&device.random_bits(key, [n]).map_err(show)?).await?;
            let words = (0..n as u64).map(|i| host::word(key.words(), 0, i).into());
            let want: Vec<u64> = words.collect();
            if let Some(text) = difference(DType::U32, &got, &want) {
                return Err(format!("{n} words: {text}"));
            }
        }
    }
    Ok(())
}

async fn uniform(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let key = Key::new(7).child(1 << 40);
    for device in targets(ctx, downgrade).await? {
        for dtype in [DType::F32, DType::F16, DType::Bf16, DType::F64] {
            if !carries(&device, dtype) || (dtype == DType::F64 && !carries(&device, DType::I64)) {
                continue;
            }
            for n in SIZES {
                count();
                let got = bits_of(&device.uniform(key, [n], dtype).map_err(show)?).await?;
                let draw = |i| bits(dtype, Number::Float(host::uniform(key.words(), dtype, i)));
                let want: Vec<u64> = (0..n as u64).map(draw).collect();
                if let Some(text) = difference(dtype, &got, &want) {
                    return Err(format!("{n} of {dtype}: {text}"));
                }
            }
        }
    }
    Ok(())
}

fn float(dtype: DType, bits: u64) -> f64 {
    match value(dtype, bits) {
        Number::Float(x) => x,
        _ => f64::NAN,
    }
}

async fn normal(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let (_, key) = Key::new(11).split();
    for device in targets(ctx, downgrade).await? {
        for dtype in [DType::F32, DType::F16, DType::Bf16] {
            for n in SIZES {
                count();
                let got = bits_of(&device.normal(key, [n], dtype).map_err(show)?).await?;
                ensure_eq!(got.len(), n, "the count");
                let (mut sum, mut squares) = (0.0, 0.0);
                for (i, &got) in got.iter().enumerate() {
                    let exact = Number::Float(host::normal(key.words(), i as u64)).into();
                    let kept = Joint::Normal.bound().within(dtype, exact, value(dtype, got));
                    let got = float(dtype, got);
                    ensure!(kept, "{dtype}, {i}: {got}, not {exact:?}");
                    (sum, squares) = (sum + got, squares + got * got);
                }
                let n = n as f64;
                if n > 60_000.0 {
                    // Within five standard deviations of the mean, and of the variance.
                    ensure!((sum / n).abs() < 5.0 / n.sqrt(), "the mean is {}", sum / n);
                    let off = (squares / n - 1.0).abs();
                    ensure!(off < 5.0 * (2.0 / n).sqrt() + 0.005, "the variance is off by {off}");
                }
            }
        }
    }
    Ok(())
}

async fn bernoulli(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let key = Key::new(13);
    for device in targets(ctx, downgrade).await? {
        for probability in [0.0, 1.0, 0.25, 1e-4] {
            count();
            let n = 65_539;
            let coins = device.bernoulli(key, [n], probability).map_err(show)?;
            let threshold = (probability * 2f64.powi(32)) as u64;
            let flip = |i| u64::from(host::chance(key.words(), threshold, i));
            let want: Vec<u64> = (0..n as u64).map(flip).collect();
            if let Some(text) = difference(DType::Bool, &bits_of(&coins).await?, &want) {
                return Err(format!("{probability}: {text}"));
            }
            let share = want.iter().sum::<u64>() as f64 / n as f64;
            ensure!((share - probability).abs() < 0.01, "{share} of {probability}");
        }
    }
    Ok(())
}

async fn integers(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let key = Key::new(17);
    for device in targets(ctx, downgrade).await? {
        for dtype in DType::ALL.iter().copied().filter(|d| d.is_integer() && carries(&device, *d)) {
            let signed = dtype.class() == wharf::dtype::Class::Signed;
            let narrow = 8 * dtype.width().min(4) as u32;
            let all = if signed { -(1 << (narrow - 1))..1 << (narrow - 1) } else { 0..1 << narrow };
            // Of so many that what the second word carries is seen.
            let most = all.start..all.end - (all.end - all.start) / 4;
            for range in [0..1, 3..100, all, most, if signed { -7..8 } else { 7..8 }] {
                for n in [0usize, 5, 65_537] {
                    count();
                    let what = format!("{n} of {range:?} in {dtype}");
                    let drawn = device.integers(key, [n], range.clone(), dtype).map_err(show)?;
                    let size = (range.end - range.start) as u64;
                    let draw = |i| {
                        let number = host::integer(key.words(), range.start, size, i);
                        bits(dtype, Number::Int(number.into()))
                    };
                    let want: Vec<u64> = (0..n as u64).map(draw).collect();
                    if let Some(text) = difference(dtype, &bits_of(&drawn).await?, &want) {
                        return Err(format!("{what}: {text}"));
                    }
                }
            }
        }
    }
    Ok(())
}

async fn permutation(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    // Of the longest, one in which only the second words say who comes first.
    ensure!(has_tie(Key::new(19).child(72).words(), 20_000), "no tie");
    let lengths = [0u32, 1, 2, 3, 255, 257, 2048, 2049, 4097, 20_000];
    for device in targets(ctx, downgrade).await? {
        for (n, child) in lengths.into_iter().zip([0, 1, 2, 3, 4, 5, 6, 7, 8, 72]) {
            count();
            let key = Key::new(19).child(child);
            let order = device.permutation(key, n as usize).map_err(show)?;
            let want: Vec<u64> =
                host::permutation(key.words(), n).into_iter().map(u64::from).collect();
            if let Some(text) = difference(DType::U32, &bits_of(&order).await?, &want) {
                return Err(format!("{n}: {text}"));
            }
        }
    }
    Ok(())
}

/// Whether two positions share their first word, and the later one has the lower second word.
fn has_tie(key: [u32; 2], count: u64) -> bool {
    let mut last = HashMap::new();
    (0..count).map(|i| host::long(key, i)).any(|word| {
        let before = last.insert(word >> 32, word);
        before.is_some_and(|before| before > word)
    })
}

async fn nothing_crosses(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let _guard = device.guard(wharf::ledger::Crossings::Deny);
    let key = Key::new(23);
    let noise = device.normal(key, [100, 10], DType::F32).map_err(show)?;
    let order = device.permutation(key, 100).map_err(show)?;
    let shuffled = noise.index_select(0, &order).map_err(show)?;
    device.flush().map_err(show)?;
    ensure_eq!(shuffled.shape().dims(), [100, 10], "the shape");
    let error = shuffled.read::<f32>().await.err().map(|e| e.kind());
    ensure_eq!(error, Some(ErrorKind::Denied), "a read is a crossing");
    Ok(())
}

async fn mistakes(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let key = Key::new(0);
    for (result, want) in [
        (device.uniform(key, [3], DType::I32), "uniform: i32, not a float"),
        (device.normal(key, [3], DType::U8), "normal: u8, not f32, f16 or bf16"),
        (device.bernoulli(key, [3], 1.5), "bernoulli: probability 1.5 is outside 0..=1"),
        (device.bernoulli(key, [3], f64::NAN), "bernoulli: probability NaN is outside 0..=1"),
        (
            device.integers(key, [3], 5..5, DType::I32),
            "integers: 5..5 has 0 numbers, not 1 to 2^32",
        ),
        (
            device.integers(key, [3], Range { start: 5, end: 2 }, DType::I32),
            "integers: 5..2 has 0 numbers, not 1 to 2^32",
        ),
        (device.integers(key, [3], 0..257, DType::U8), "integers: scalar 256 is not a value of u8"),
        (device.integers(key, [3], 0..2, DType::F32), "integers: f32, not an integer"),
    ] {
        let error = result.err().map(|error| error.to_string()).unwrap_or_default();
        ensure_eq!(error, want, "the message");
    }
    Ok(())
}
