//! Products by cooperative matrices, forced, tuned and adopted, where the driver reports any.
//! Nobody gets them without asking.

use wharf::caps::CooperativeShape;
use wharf::testing::Inside;
use wharf::tune::Outcome as Found;
use wharf::tune::ProductSize;
use wharf::{Policy, wgpu};

use super::*;
use crate::promise;

/// Squares of a subgroup, down and across; subgroups, down and across; squares of k in a stage;
/// passes along k.
const TILES: &[[u32; 6]] = &[
    // The tiles of the table.
    [2, 2, 1, 1, 2, 1],
    [2, 2, 2, 2, 2, 1],
    [4, 4, 2, 2, 2, 1],
    // Odd tiles, and several passes.
    [1, 1, 1, 1, 1, 1],
    [1, 2, 3, 1, 1, 2],
    [2, 1, 1, 2, 4, 3],
];

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let all = adapter.caps().cooperative.clone();
    let mut cases = vec![case!("matmul::cooperative::unasked", |ctx| unasked(ctx))];
    if all.is_empty() {
        println!(
            "matmul::cooperative: NOT RUN but for `unasked`: {} reports no cooperative matrices",
            adapter.caps().identity.name
        );
        return cases;
    }
    for of in all {
        for (i, &tile) in TILES.iter().enumerate() {
            let numbers = tile.map(|n| n.to_string()).join("x");
            let name = format!("matmul::cooperative::{}::{}_{numbers}", of.factors, of.side);
            cases.push(case!(name, |ctx| forced(ctx, of, tile, 400 + i as u64)));
        }
        let named = |what| format!("matmul::cooperative::{}::{}_{what}", of.factors, of.side);
        cases.push(case!(named("tails"), |ctx| tails_by(ctx, of)));
        cases.push(case!(named("propagates"), |ctx| propagates_by(ctx, of)));
        cases.push(case!(named("deep_k"), |ctx| deep_by(ctx, of)));
        cases.push(case!(named("panels"), |ctx| panels_by(ctx, of)));
    }
    cases.push(case!("matmul::cooperative::tuned", |ctx| tuned(ctx)));
    cases.push(case!("matmul::cooperative::adopted", |ctx| adopted(ctx)));
    cases
}

/// A device that may use cooperative matrices, with kernels of a GPU.
async fn allowed(ctx: &Ctx, lower: fn(Caps) -> Caps) -> Result<Device, String> {
    let adapter = ctx.adapter.clone().experimental(promise::token());
    let plan = wharf::plan::negotiate(&lower(adapter.caps().clone()), &Policy::exact());
    Ok(adapter.open(plan).await.map_err(show)?.with_target(Target::Gpu))
}

/// The product by this tile, which must be what computes it.
fn product(a: &Tensor, b: &Tensor, of: CooperativeShape, tile: [u32; 6]) -> Result<Tensor, String> {
    let [high, wide, down, across, deep, passes] = tile;
    let side = of.side;
    let (rows, columns, depth) = (high * side, wide * side, deep * side);
    // The number of invocations if subgroups have the largest size.
    let lanes = a.device().caps().limits.subgroup_max * u64::from(down * across);
    let scheme = format!("cooperative {side} {down}x{across} deep {depth}");
    let kernel = format!("{scheme} sums {rows}x{columns} lanes {lanes} passes {passes}");
    let got = a.device().matmul_by(a, b, &kernel).map_err(show)?;
    let plan = got.explain().to_string();
    let empty = got.shape().is_empty() || a.shape().dims().last() == Some(&0);
    let used = plan.contains(&format!("cooperative matrices of {side} x {side}"));
    ensure!(used || empty, "another kernel computes it: {plan}");
    Ok(got)
}

/// Some dozens of shapes, lies and batches by one tile.
async fn forced(ctx: &Ctx, of: CooperativeShape, tile: [u32; 6], seed: u64) -> Outcome {
    let device = allowed(ctx, |caps| caps).await?;
    let mut pool = Pool::new(&device, of.factors, seed).await?;
    let bytes = pool.bytes();
    let large = tile[0] * tile[1] > 4;
    pool.lies = if large { FEW[seed as usize % FEW.len()] } else { ALL };
    for _ in 0..if large { 8 } else { 16 } {
        let [a, b] = shapes(&mut pool, 150_000)?;
        let got = product(&a, &b, of, tile)?;
        pool.check(&bytes, [&a, &b], &got).await.map_err(|e| format!("{tile:?}: {e}"))?;
    }
    Ok(())
}

/// Operations after a product are computed in its kernel; the result differs from that computed
/// apart by one rounding.
async fn tails_by(ctx: &Ctx, of: CooperativeShape) -> Outcome {
    let device = allowed(ctx, |caps| caps).await?;
    let mut pool = Pool::new(&device, of.factors, 5).await?;
    for [m, n, k] in [[33, 64, 40], [16, 31, 17], [4, 256, 300]] {
        let mut view = |m, n| pool.view(&[], m, n).map_err(show);
        let (a, b, bias, scale) = (view(m, k)?, view(k, n)?, view(1, n)?, view(m, n)?);
        let then = |t: &Tensor| (t.mul_add(2, &bias)? * &scale)?.relu();
        let apart = product(&a, &b, of, TILES[1])?;
        bits_of(&apart).await?;
        let want = bits_of(&then(&apart).map_err(show)?).await?;
        let got = bits_of(&then(&product(&a, &b, of, TILES[1])?).map_err(show)?).await?;
        count();
        for (&got, &want) in got.iter().zip(&want) {
            let [Number::Float(got), Number::Float(want)] =
                [value(of.factors, got), value(of.factors, want)]
            else {
                return Err("not floats".into());
            };
            // Computed apart, the product is rounded to f16 first.
            let near = (got - want).abs() <= (want.abs() + 32.0) / 512.0;
            let equal = of.factors == DType::F32;
            ensure!(if equal { got == want } else { near }, "{m} x {n} x {k}: {got}, not {want}");
        }
    }
    Ok(())
}

/// Values beyond an operand's edge, in rows, columns and k, reach no result.
async fn propagates_by(ctx: &Ctx, of: CooperativeShape) -> Outcome {
    let device = allowed(ctx, |caps| caps).await?;
    let mut data = vec![f32::NAN; 40 * 24];
    for row in 8..24 {
        data[row * 24..row * 24 + 21].fill(1.0);
    }
    data[11 * 24 + 2] = f32::INFINITY;
    let (t, _) = device.upload(&data, [40, 24]).map_err(show)?;
    let t = t.cast(of.factors).map_err(show)?;
    t.compute().map_err(show)?;
    let a = t.slice(0, 8..24).and_then(|t| t.slice(1, 0..21)).map_err(show)?;
    let b = a.t().map_err(show)?;
    for (a, b) in [(&a, &b), (&b, &a)] {
        let got = product(a, b, of, TILES[1])?.cast(DType::F32).map_err(show)?;
        let n = got.shape().dims()[1];
        for (i, got) in got.read::<f32>().await.map_err(show)?.into_iter().enumerate() {
            let place = if n == 16 { 3 } else { 2 };
            let reached = i / n == place || i % n == place;
            let want = if reached { f32::INFINITY } else { (37 - n) as f32 };
            ensure_eq!(got, want, "index {i} of {n} columns");
        }
    }
    Ok(())
}

/// Many chunks of k, in one pass and in several: the bound of chunks of 256.
async fn deep_by(ctx: &Ctx, of: CooperativeShape) -> Outcome {
    let device = allowed(ctx, |caps| caps).await?;
    let mut pool = Pool::new(&device, of.factors, 11).await?;
    let bytes = pool.bytes();
    for (k, passes) in [(255, 1), (257, 1), (4100, 1), (6001, 1), (6001, 5)] {
        let a = pool.lying(0, &[], 9, k).map_err(show)?;
        let b = pool.lying(0, &[], k, 20).map_err(show)?;
        let [high, wide, down, across, deep, _] = TILES[0];
        let got = product(&a, &b, of, [high, wide, down, across, deep, passes])?;
        pool.check(&bytes, [&a, &b], &got).await?;
    }
    Ok(())
}

/// Operands and results of several segments.
async fn panels_by(ctx: &Ctx, of: CooperativeShape) -> Outcome {
    let Some(small) = DOWNGRADES.iter().find(|d| d.name == "small_bindings") else {
        return Err("no such downgrade".into());
    };
    let device = allowed(ctx, small.lower).await?;
    let mut pool = Pool::new(&device, of.factors, 3).await?;
    let bytes = pool.bytes();
    for [m, n, k] in [[300, 40, 500], [301, 399, 11]] {
        let a = pool.view(&[], m, k).map_err(show)?;
        let b = pool.view(&[], k, n).map_err(show)?;
        let got = product(&a, &b, of, TILES[1])?;
        pool.check(&bytes, [&a, &b], &got).await?;
    }
    Ok(())
}

/// Without the token, or with a disabled one, cooperative matrices are not requested, tuned or
/// used, and the plan says why.
async fn unasked(ctx: &Ctx) -> Outcome {
    let plain = ctx.native().await?;
    let disabled = ctx.adapter.clone().experimental(wgpu::ExperimentalFeatures::disabled());
    ensure_eq!(disabled.caps(), ctx.adapter.caps(), "a disabled token changes nothing");
    ensure!(!plain.caps().has(Feature::CooperativeMatrix), "not asked for");
    let bit = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;
    ensure!(!plain.wgpu_device().features().contains(bit), "nor had");
    let said = plain.plan().to_string().contains("needs `Adapter::experimental`");
    ensure_eq!(said, !ctx.adapter.caps().cooperative.is_empty(), "{}", plain.plan());
    // A choice from elsewhere falls back to the table.
    let device = plain.with_target(Target::Gpu);
    let mut pool = Pool::new(&device, DType::F16, 1).await?;
    let bytes = pool.bytes();
    let (a, b) = (pool.lying(0, &[], 8, 16), pool.lying(0, &[], 16, 8));
    let (a, b) = (a.map_err(show)?, b.map_err(show)?);
    let lanes = plain.caps().limits.subgroup_max;
    let kernel = format!("cooperative 8 1x1 deep 16 sums 16x16 lanes {lanes} passes 1");
    let got = a.device().matmul_by(&a, &b, &kernel).map_err(show)?;
    let plan = got.explain().to_string();
    ensure!(!plan.contains("cooperative"), "{plan}");
    pool.check(&bytes, [&a, &b], &got).await
}

/// Cooperative matrices are candidates only where they are allowed; a wrong one does not win.
async fn tuned(ctx: &Ctx) -> Outcome {
    let problem = [ProductSize::new(33, 70, 300, DType::F16).transposed().into()];
    let device = allowed(ctx, |caps| caps).await?;
    let mut right = Vec::new();
    let by_teams = |kernel: &str| kernel.starts_with("cooperative");
    let tuned = device.tune(&problem, |trial| {
        if by_teams(&trial.kernel) && matches!(trial.outcome, Found::Right(_)) {
            right.push(trial.kernel.clone());
        }
    });
    tuned.await.map_err(show)?;
    ensure!(right.len() >= 3, "{right:?}");
    let mut wrong = 0;
    let spoiled = device.tune_spoiled(&problem, by_teams, |trial| {
        wrong += usize::from(matches!(trial.outcome, Found::Wrong(_)));
    });
    let spoiled = spoiled.await.map_err(show)?;
    ensure!(wrong >= right.len(), "{wrong} wrong of {right:?}");
    ensure!(!spoiled.iter().any(|(_, kernel)| by_teams(&kernel)), "{spoiled}");
    let plain = ctx.native().await?.with_target(Target::Gpu);
    let mut others = Vec::new();
    let tuned = plain.tune(&problem, |trial| others.push(trial.kernel.clone()));
    tuned.await.map_err(show)?;
    ensure!(!others.iter().any(|kernel| by_teams(kernel)), "{others:?}");
    Ok(())
}

/// A user's own device that has the feature needs no token of wharf's.
async fn adopted(ctx: &Ctx) -> Outcome {
    let token = promise::token();
    // A second handle stands for the user's adapter; wharf's own device tells which features the
    // user's device needs.
    let own = ctx.adapter.clone().experimental(token);
    let made = own.open(own.negotiate(&Policy::exact())).await.map_err(show)?;
    let (device, queue) = (made.wgpu_device(), made.wgpu_queue());
    let plan = ctx.adapter.negotiate(&Policy::exact());
    let adopted = ctx.adapter.adopt(&plan, device.clone(), queue.clone()).map_err(show)?;
    ensure!(adopted.caps().has(Feature::CooperativeMatrix), "{}", adopted.plan());
    let device = adopted.with_target(Target::Gpu);
    for &of in &ctx.adapter.caps().cooperative {
        let mut pool = Pool::new(&device, of.factors, 2).await?;
        let bytes = pool.bytes();
        let (a, b) = (pool.lying(0, &[], 40, 30), pool.lying(1, &[], 30, 20));
        let (a, b) = (a.map_err(show)?, b.map_err(show)?);
        pool.check(&bytes, [&a, &b], &product(&a, &b, of, TILES[1])?).await?;
    }
    let again = adopted.reopen().await.map_err(show)?;
    ensure!(!again.caps().has(Feature::CooperativeMatrix), "a promise is not repeated");
    Ok(())
}
