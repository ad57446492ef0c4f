//! Numbers made from positions: arange, linspace, eye.

use wharf::reference::Number;
use wharf::{Adapter, DType, Scalar};

use super::{Host, same};
use crate::cases::pair::{bits, bits_of, carries, count, value};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show,
};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        let name = |what: &str| format!("indexing::{what}::{}", downgrade.name);
        cases.push(case!(name("arange"), |ctx| arange(ctx, downgrade)));
        cases.push(case!(name("linspace"), |ctx| linspace(ctx, downgrade)));
        cases.push(case!(name("eye"), |ctx| eye(ctx, downgrade)));
    }
    cases
}

async fn arange(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let integers = DType::ALL.iter().copied().filter(|d| d.is_integer() && carries(&device, *d));
    for dtype in integers {
        let signed = dtype.class() == wharf::dtype::Class::Signed;
        for (start, end, step) in
            [(0i64, 100, 1), (3, 100, 7), (100, 3, -7), (5, 5, 3), (-100, 27, 2), (0, 1, 9)]
        {
            if start < 0 && !signed {
                continue;
            }
            let mut all = Vec::new();
            let mut next = start;
            while (step > 0 && next < end) || (step < 0 && next > end) {
                all.push(bits(dtype, Number::Int(next.into())));
                next += step;
            }
            let want = Host { dims: vec![all.len()], bits: all };
            let what = format!("arange {start} {end} {step} {dtype}");
            same(&what, device.arange(start, end, step, dtype), &want).await?;
        }
    }
    let n = 200_003u32;
    let row = device.arange(0u32, n, 1u32, DType::U32).map_err(show)?;
    ensure!(bits_of(&row).await? == (0..u64::from(n)).collect::<Vec<_>>(), "a long row");
    let row = device.arange(-1.5f32, 2.0f32, 0.25f32, DType::F16).map_err(show)?;
    let want: Vec<u64> =
        (0..14).map(|i| bits(DType::F16, Number::Float(-1.5 + 0.25 * f64::from(i)))).collect();
    ensure_eq!(bits_of(&row).await?, want, "halves");
    for (what, wrong) in [
        ("past u8", device.arange(0u8, 300u32, 1u8, DType::U8)),
        ("no step", device.arange(0u8, 5u8, 0u8, DType::U8)),
        ("a bool", device.arange(0u8, 1u8, 1u8, DType::Bool)),
        ("never", device.arange(0.0f32, 1.0f32, 0.0f32, DType::F32)),
        ("nowhere", device.arange(3u8, 3u8, 0u8, DType::U8)),
        ("no end", device.arange(0.0f32, f32::INFINITY, 1.0f32, DType::F32)),
    ] {
        ensure!(wrong.is_err(), "{what} is no mistake: {wrong:?}");
    }
    for (what, none) in [
        ("the other way", device.arange(0u8, 5u8, -1i8, DType::I8)),
        ("of floats", device.arange(1.0f32, 0.5f32, 0.25f32, DType::F32)),
        ("unsigned", device.arange(7usize, 3usize, 1usize, DType::U32)),
    ] {
        let none = none.map_err(|e| format!("{what}: {e:?}"))?;
        ensure_eq!((none.shape().dims(), bits_of(&none).await?), (&[0][..], vec![]), "{what}");
    }
    Ok(())
}

async fn linspace(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    for dtype in [DType::F32, DType::F16, DType::Bf16, DType::F64] {
        if !carries(&device, dtype) {
            continue;
        }
        for (start, end) in [(0.0, 1.0), (-2.0, 5.0), (5.0, -2.0), (3.0, 3.0)] {
            for n in [0usize, 1, 2, 3, 5, 257] {
                count();
                let row = device.linspace(start, end, n, dtype).map_err(show)?;
                let got: Vec<f64> =
                    bits_of(&row).await?.into_iter().map(|b| float(dtype, b)).collect();
                ensure_eq!(got.len(), n, "{dtype} from {start} to {end}");
                let ulp = match dtype {
                    DType::F32 => f64::from(f32::EPSILON),
                    DType::F64 => f64::EPSILON,
                    DType::F16 => 2f64.powi(-10),
                    _ => 2f64.powi(-7),
                };
                for (i, &x) in got.iter().enumerate() {
                    let last = n.saturating_sub(1).max(1) as f64;
                    let want = start + (end - start) * i as f64 / last;
                    // The step, the product and the sum are each rounded, at most at the larger
                    // end's magnitude.
                    let bound = 4.0 * ulp * 5.0;
                    ensure!((x - want).abs() <= bound, "{dtype}, {i} of {n}: {x}, not {want}");
                }
                if n > 1 {
                    ensure_eq!((got[0], got[n - 1]), (start, end), "the ends of {n} in {dtype}");
                }
            }
        }
    }
    // The step between them is no f32.
    let ends = device.linspace(-f32::MAX, f32::MAX, 2, DType::F32).map_err(show)?;
    ensure_eq!(ends.read::<f32>().await.map_err(show)?, [-f32::MAX, f32::MAX], "the ends");
    ensure!(device.linspace(0u8, 5u8, 6, DType::I32).is_err(), "integers have no linspace");
    Ok(())
}

fn float(dtype: DType, bits: u64) -> f64 {
    match value(dtype, bits) {
        Number::Float(x) => x,
        _ => f64::NAN,
    }
}

async fn eye(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    for dtype in DType::ALL.iter().copied().filter(|d| carries(&device, *d)) {
        let one = match dtype {
            DType::Bool => Scalar::from(true),
            _ => Scalar::from(1u8),
        };
        let one = bits_of(&device.full([1], one, dtype).map_err(show)?).await?[0];
        for (rows, columns) in [(1usize, 1usize), (5, 5), (3, 8), (300, 257), (0, 4), (4, 0)] {
            let diagonal = |p: &[usize]| if p[0] == p[1] { one } else { 0 };
            let want = Host::build(vec![rows, columns], diagonal);
            same(&format!("eye {dtype}"), device.eye(rows, columns, dtype), &want).await?;
        }
    }
    Ok(())
}
