//! Products whose right side is of a narrower float, as weights are: read as it lies, by kernels of
//! every class.

use super::rungs::Rung;
use super::*;

/// What `x` is, and what its weights are.
const SIDES: [[DType; 2]; 4] = [
    [DType::F32, DType::F16],
    [DType::F32, DType::Bf16],
    [DType::F16, DType::F8E4M3],
    [DType::F64, DType::F32],
];

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let each = SIDES.into_iter().enumerate().flat_map(|(n, sides)| {
        let [x, w] = sides;
        let forced = case!(format!("matmul::widened::{x}_by_{w}"), |ctx| forced(ctx, sides));
        // One stands for all where compilers are slow.
        let forced = Case { size: if n > 0 { Size::Large } else { Size::Usual }, ..forced };
        let chosen = case!(format!("linear::{x}_by_{w}"), |ctx| chosen(ctx, sides));
        // f64 is widened first.
        let forced = Some(forced).filter(|_| x != DType::F64);
        forced.into_iter().chain([chosen]).map(move |case| case.needs(adapter, DOWNGRADES[0], x))
    });
    each.collect()
}

async fn pools(device: &Device, sides: [DType; 2]) -> Result<[Pool; 2], String> {
    Ok([Pool::new(device, sides[0], 31).await?, Pool::new(device, sides[1], 32).await?])
}

/// The shapes of both sides, and how the right one lies.
const FORCED: [(usize, [usize; 3]); 3] = [(1, [1, 64, 24]), (0, [7, 33, 21]), (3, [40, 96, 72])];

/// By tiles and strips of registers, and by what GPUs have.
async fn forced(ctx: &Ctx, sides: [DType; 2]) -> Outcome {
    let device = ctx.native().await?;
    let [mut left, mut right] = pools(&device, sides).await?;
    let bytes = [left.bytes(), right.bytes()];
    let bytes = [&*bytes[0], &*bytes[1]];
    let tiles = [By::Tile([4, 2, 8, 1]), By::Tile([1, 1, 64, 2]), By::Strips([8, 2, 8, 1])];
    let rungs = Rung::few().into_iter().filter(|rung| rung.runs_on(device.caps(), sides[0], 96));
    for (lie, [m, k, n]) in FORCED {
        for by in tiles {
            let a = left.lying(0, &[], m, k).map_err(show)?;
            let b = right.lying(lie, &[], k, n).map_err(show)?;
            let got = by.product(&a, &b).map_err(show)?;
            check(bytes, [&a, &b], &got).await.map_err(|e| format!("{by:?}: {e}"))?;
        }
    }
    let gpu = device.with_target(Target::Gpu);
    let [mut left, mut right] = pools(&gpu, sides).await?;
    for rung in rungs {
        for (lie, [m, k, n]) in FORCED {
            let a = left.lying(0, &[], m, k).map_err(show)?;
            let b = right.lying(lie, &[2], k, n).map_err(show)?;
            let got = rung.product(&a, &b).map_err(show)?;
            check(bytes, [&a, &b], &got).await.map_err(|e| format!("{rung:?}: {e}"))?;
        }
    }
    Ok(())
}

/// Layers as models have them, by what the tables choose.
async fn chosen(ctx: &Ctx, sides: [DType; 2]) -> Outcome {
    let device = ctx.native().await?;
    for target in [Target::Cpu, Target::Cpu64, Target::Gpu] {
        let device = device.with_target(target);
        let [mut left, mut right] = pools(&device, sides).await?;
        let bytes = [left.bytes(), right.bytes()];
        for [m, k, n] in [[1, 96, 40], [5, 33, 21], [64, 128, 72], [2, 64, 300]] {
            let x = left.lying(0, &[], m, k).map_err(show)?;
            let w = right.lying(0, &[], n, k).map_err(show)?;
            let got = x.linear(&w, None).map_err(show)?;
            let weights = w.t().map_err(show)?;
            check([&bytes[0], &bytes[1]], [&x, &weights], &got).await?;
        }
    }
    Ok(())
}
