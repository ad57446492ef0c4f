//! Floats of 8 bits on the device, held to what `ml_dtypes` makes of them, and as weights.

use wharf::dtype::{f8e4m3, f8e5m2};
use wharf::half::f16;
use wharf::{Adapter, DType, Device, Policy, Tensor};

use super::faults::fails;
use super::pair::count;
use super::probe::Random;
use super::views::TARGETS;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show,
};
use crate::ends::{Ends, of_f8e4m3, of_f8e5m2};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    let code = |d: &&Downgrade| matches!(d.name, "native" | "no_f16");
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)).filter(code) {
        let name = format!("eights::every_code::{}", downgrade.name);
        cases.push(case!(name, |ctx| every_code(ctx, downgrade)));
        let name = format!("eights::every_f16::{}", downgrade.name);
        cases.push(case!(name, |ctx| every_f16(ctx, downgrade)));
    }
    cases.push(case!("eights::where_rounding_changes", |ctx| edges(ctx)));
    cases.push(case!("eights::saturating", |ctx| saturating(ctx)));
    cases.push(case!("eights::weights", |ctx| weights(ctx)));
    cases.push(case!("eights::by_policy", |ctx| by_policy(ctx)));
    cases
}

/// Each with what becomes of it.
fn both() -> [(DType, Ends); 2] {
    [(DType::F8E4M3, of_f8e4m3()), (DType::F8E5M2, of_f8e5m2())]
}

/// All 256 codes of a dtype.
fn codes(device: &Device, dtype: DType) -> Result<Tensor, String> {
    let all = || 0..=u8::MAX;
    let up = match dtype {
        DType::F8E4M3 => device.upload(&all().map(f8e4m3::from_bits).collect::<Vec<_>>(), 256),
        _ => device.upload(&all().map(f8e5m2::from_bits).collect::<Vec<_>>(), 256),
    };
    up.map(|(tensor, _)| tensor).map_err(show)
}

async fn every_code(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    for device in TARGETS.map(|target| device.with_target(target)) {
        for (dtype, ends) in both() {
            let all = codes(&device, dtype)?;
            for wide in [DType::F32, DType::F16] {
                let wide = all.cast(wide).and_then(|x| x.cast(DType::F32)).map_err(show)?;
                let got = wide.read::<f32>().await.map_err(show)?;
                for (code, got) in (0..=u8::MAX).zip(got) {
                    let want = ends.value(code);
                    let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                    ensure!(same, "{code:#x} of {dtype} is {got:e}, not {want:e}");
                }
                count();
            }
        }
    }
    Ok(())
}

/// Compares what became of numbers with what should have.
async fn rounded(what: &str, of: &[f32], ends: &Ends, got: &Tensor) -> Outcome {
    let got = got.read_bytes().await.map_err(show)?;
    ensure_eq!(got.len(), of.len(), "{what}");
    for (&x, code) in of.iter().zip(got) {
        let right = match ends.code(x) {
            Some(want) => code == want,
            None => ends.value(code).is_nan(),
        };
        ensure!(right, "{what}: {x:e} ({:#x}) gives {code:#x}", x.to_bits());
    }
    count();
    Ok(())
}

async fn every_f16(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let numbers: Vec<f32> = all.iter().map(|x| x.to_f32()).collect();
    for device in TARGETS.map(|target| device.with_target(target)) {
        let (x, _) = device.upload(&all, all.len()).map_err(show)?;
        for (dtype, ends) in both() {
            let got = x.cast(dtype).map_err(show)?;
            rounded(&format!("f16 to {dtype}"), &numbers, &ends, &got).await?;
        }
    }
    Ok(())
}

async fn edges(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(8);
    for device in TARGETS.map(|target| device.with_target(target)) {
        for (dtype, ends) in both() {
            let near = |&first: &u32| [-1, 0, 1].map(|by| first.wrapping_add_signed(by));
            let mut bits: Vec<u32> = ends.firsts.iter().flat_map(near).collect();
            bits.extend((0..5001).map(|_| random.bits() as u32));
            bits.extend(bits.clone().into_iter().map(|bits| bits ^ 1 << 31));
            let numbers: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
            let (x, _) = device.upload(&numbers, numbers.len()).map_err(show)?;
            let got = x.cast(dtype).map_err(show)?;
            rounded(&format!("f32 to {dtype}"), &numbers, &ends, &got).await?;
            // Rounded within a kernel as well as when it is stored.
            let through = x.cast(dtype).and_then(|x| x.cast(DType::F32)).map_err(show)?;
            let again = through.cast(dtype).map_err(show)?;
            rounded(&format!("f32 through {dtype}"), &numbers, &ends, &again).await?;
        }
    }
    Ok(())
}

async fn saturating(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let far = [0.3, -0.3, 447.0, 464.5, -1e6, 7e4, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    let (x, _) = device.upload(&far, far.len()).map_err(show)?;
    for (dtype, most) in [
        (DType::F8E4M3, 448.0),
        (DType::F8E5M2, 57_344.0),
        (DType::F16, 65_504.0),
        (DType::F32, f32::MAX),
    ] {
        let got = x.cast_saturating(dtype).map_err(show)?;
        let got: Vec<f32> = got.read_as().await.map_err(show)?.0;
        let bounded: Vec<f32> = far.iter().map(|x| x.clamp(-most, most)).collect();
        let (plain, _) = device.upload(&bounded, far.len()).map_err(show)?;
        let want = plain.cast(dtype).map_err(show)?;
        let want: Vec<f32> = want.read_as().await.map_err(show)?.0;
        for (i, (got, want)) in got.iter().zip(&want).enumerate() {
            let same = got == want || got.is_nan() && want.is_nan() && far[i].is_nan();
            ensure!(same, "{} as {dtype}: {got}, not {want}", far[i]);
        }
        count();
    }
    let whole = [-1_000_000, -449, 17, 60_000, i32::MAX];
    let (x, _) = device.upload(&whole, 5).map_err(show)?;
    let got = x.cast_saturating(DType::F8E4M3).map_err(show)?.read_as::<f32>().await;
    ensure_eq!(got.map_err(show)?.0, [-448.0, -448.0, 16.0, 448.0, 448.0], "of integers");
    let bytes = x.cast(DType::U8).and_then(|x| x.cast_saturating(DType::F8E5M2)).map_err(show)?;
    let got = bytes.read_as::<f32>().await.map_err(show)?.0;
    ensure_eq!(got, [0.0, 0.0, 16.0, 256.0, 256.0], "of bytes");
    Ok(())
}

/// A weight of 8 bits is what it would be cast to, and is cast on its way.
async fn weights(ctx: &Ctx) -> Outcome {
    let native = ctx.native().await?;
    let mut random = Random::new(9);
    // Each shape on each target, by turns of one dtype and of the other.
    let mut turns = both().map(|(dtype, _)| dtype).into_iter().cycle();
    for device in TARGETS.map(|target| native.with_target(target)) {
        for (rows, k, n) in [(1, 96, 40), (7, 33, 21), (64, 128, 72)] {
            let mut numbers = |count: usize| -> Vec<f32> {
                (0..count).map(|_| random.below(33) as f32 / 8.0 - 2.0).collect()
            };
            let (x, _) = device.upload(&numbers(rows * k), [rows, k]).map_err(show)?;
            let (w, _) = device.upload(&numbers(n * k), [n, k]).map_err(show)?;
            if let Some(dtype) = turns.next() {
                let w = w.cast(dtype).and_then(|w| w.contiguous()).map_err(show)?;
                w.read_bytes().await.map_err(show)?;
                let y = x.linear(&w, None).map_err(show)?;
                let wide: Vec<f32> = w.read_as().await.map_err(show)?.0;
                let (wide, _) = device.upload(&wide, [n, k]).map_err(show)?;
                let want = x.linear(&wide, None).map_err(show)?;
                let [got, want] = [y.read::<f32>().await, want.read::<f32>().await];
                let [got, want] = [got.map_err(show)?, want.map_err(show)?];
                for (got, want) in got.into_iter().zip(want) {
                    // Sums of sixty-fourths, which f32 has all of.
                    ensure_eq!(got, want, "{rows} by {k} by {n} of {dtype}");
                }
                count();
            }
        }
    }
    Ok(())
}

/// What a policy makes of it is bounded as an upload is.
async fn by_policy(ctx: &Ctx) -> Outcome {
    let device = ctx.device(DOWNGRADES[2]).await?;
    for (dtype, fits) in [(DType::F8E4M3, 464.0f32), (DType::F8E5M2, 61_439.0)] {
        let policy = Policy::exact().allow(DType::F64, dtype).overflow_is_error();
        let device = device.with_policy(&policy);
        let (x, _) = device.upload(&[1.0, fits, f32::NAN], 3).map_err(show)?;
        let made = x.cast(DType::F64).map_err(show)?;
        let codes = made.read_bytes().await.map_err(show)?;
        ensure!(made.dtype() == dtype && codes.len() == 3, "{made:?}");
        let (x, _) = device.upload(&[1.0, fits * 1.01, -1e9], 3).map_err(show)?;
        let error = fails(&x.cast(DType::F64).map_err(show)?).await?.to_string();
        let lost = "2 of 3 values would change, the first at [1]";
        ensure!(error.ends_with(lost), "{error}");
        count();
    }
    Ok(())
}
