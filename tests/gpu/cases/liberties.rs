//! Liberties that WGSL gives to compilers and drivers, and those at hand do not take: each is
//! planted in the line where it would be taken, and results keep their contracts.

use wharf::DType;
use wharf::op::Op;
use wharf::reference::{Exact, Number};
use wharf::testing::Inside;

use super::shadow::mistake;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, show};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case!("liberties::equals_divide_to_one", |ctx| quotients(ctx)),
        case!("liberties::roots_are_off_by_two_units", |ctx| roots(ctx)),
    ]
}

/// Where there is neither NaN nor infinity, x / x is 1.
async fn quotients(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    device.plant(Some(mistake(
        "op/round.wgsl",
        "return select((a * part) / (b * part), nan_where(a, none), none);",
        "return select(select((a * part) / (b * part), vec4<f32>(1.0), \
         bitcast<vec4<u32>>(a) == bitcast<vec4<u32>>(b)), nan_where(a, none), none);",
    )?));
    const NONE: [f32; 5] = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    const ONE: [f32; 5] = [1.0, -3.0, f32::MAX, f32::MIN_POSITIVE, -1e-30];
    let all = [NONE, ONE].concat();
    let (x, _) = device.upload(&all, [all.len()]).map_err(show)?;
    let same = &x;
    let got = (&x / same).map_err(show)?.read::<f32>().await.map_err(show)?;
    for (x, got) in all.iter().zip(&got) {
        let right = if NONE.iter().any(|y| x.to_bits() == y.to_bits()) { f32::NAN } else { 1.0 };
        ensure!(got.to_bits() == right.to_bits() || got.is_nan() && right.is_nan(), "{x}: {got}");
    }
    Ok(())
}

async fn roots(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    device.plant(Some(mistake(
        "op/round.wgsl",
        "let y = inverseSqrt(x);",
        "let y = inverseSqrt(x) * 1.0000002;",
    )?));
    // Of every binary order some.
    let normal = (0..4096_u32).map(|i| f32::from_bits(0x0080_0000 + i * 0x7f001));
    let all: Vec<f32> = normal.chain([0.0, f32::INFINITY, f32::MAX, -1.0, f32::NAN]).collect();
    let (x, _) = device.upload(&all, [all.len()]).map_err(show)?;
    let got = x.sqrt().map_err(show)?.read::<f32>().await.map_err(show)?;
    for (&x, got) in all.iter().zip(got) {
        let exact = Exact::from(Number::Float(f64::from(x).sqrt()));
        let kept = Op::Sqrt.bound(DType::F32).within(DType::F32, exact, Number::Float(got.into()));
        ensure!(kept, "{x}: {got}");
    }
    Ok(())
}
