//! Replays: of what another driver recorded, and on a device that has work of its own.

use wharf::shadow::{Capsule, ShadowPolicy};
use wharf::testing::Inside;
use wharf::{ErrorKind, Target};

use super::{PLANTS, Plant, mutant, shadowed};
use crate::cases::pair::count;
use crate::ctx::{Ctx, DOWNGRADES, Outcome, ensure, ensure_eq, show};

/// What is recorded there reads memory that nobody holds any more, and that the replay is given.
pub(super) async fn beside_work(ctx: &Ctx) -> Outcome {
    let plant = PLANTS.iter().find(|plant| plant.operation == "gelu_tanh").ok_or("no plant")?;
    let (device, shadow) = shadowed(ctx).await?;
    device.plant(Some(mutant(plant)?));
    let dims = [512, 512];
    let ramp: Vec<f32> = (0..1 << 18).map(|i| (i % 64) as f32 / 16.0).collect();
    let (x, _) = device.upload(&ramp, dims).map_err(show)?;
    let wrong = x.gelu_tanh().map_err(show)?.read::<f32>().await;
    let error = wrong.map(drop).err().ok_or("unnoticed")?;
    ensure_eq!(error.kind(), ErrorKind::Wrong, "{error:?}");
    let capsule = shadow.capsule().ok_or("no capsule")?;

    let other = ctx.native().await?;
    let (x, _) = other.upload(&vec![1.0f32; 1 << 18], dims).map_err(show)?;
    let y = (&x + 1.0).map_err(show)?;
    y.compute().map_err(show)?;
    drop(x);
    let replay = other.replay(&capsule).await.map_err(show)?;
    ensure!(replay.is_wrong, "{replay}");
    let y = y.read::<f32>().await.map_err(show)?;
    count();
    ensure!(y.iter().all(|y| *y == 2.0), "not 2.0, but {}", y[0]);
    Ok(())
}

/// Bound from the second of three parts to the middle of the third, each a segment where bindings
/// are small.
pub(super) async fn from_the_middle(ctx: &Ctx) -> Outcome {
    const PART: usize = 1 << 16;
    let plant = PLANTS.iter().find(|plant| plant.operation == "gelu_tanh").ok_or("no plant")?;
    // No part begins as another does.
    let ramp: Vec<f32> = (0..3 * PART).map(|i| (i % 61) as f32 / 16.0).collect();
    for downgrade in [DOWNGRADES[0], DOWNGRADES[4]] {
        let device = ctx.fresh(downgrade).await?.with_target(Target::Cpu);
        let shadow = device.shadow(ShadowPolicy::all().steps(1 << 14));
        device.plant(Some(mutant(plant)?));
        let (x, _) = device.upload(&ramp, [3 * PART]).map_err(show)?;
        let result = x.at(PART..2 * PART + PART / 2).and_then(|x| x.gelu_tanh()).map_err(show)?;
        let error = result.read::<f32>().await.map(drop).err().ok_or("unnoticed")?;
        ensure_eq!(error.kind(), ErrorKind::Wrong, "{error:?}");
        let capsule = shadow.capsule().ok_or("no capsule")?;
        let replay = device.replay(&capsule).await.map_err(show)?;
        count();
        ensure!(replay.is_wrong && replay.is_same, "with {}: {replay}", downgrade.name);
    }
    Ok(())
}

/// A file that another driver has written: wrong here as well, since its kernels are what is wrong.
pub(super) async fn recorded(ctx: &Ctx, plant: &'static Plant, file: &[u8]) -> Outcome {
    let capsule = Capsule::from_bytes(file).map_err(show)?;
    ensure!(capsule.operation().starts_with(plant.operation), "{}", capsule.operation());
    let origin = capsule.origin();
    ensure!(origin.contains(" on llvmpipe (LLVM 15.0.6, 256 bits) (vulkan)"), "{origin}");
    let replay = ctx.native().await?.replay(&capsule).await.map_err(show)?;
    count();
    ensure!(replay.is_wrong, "right here: {replay}");
    ensure!(replay.recorded.starts_with(capsule.finding()), "{replay}");
    // The same element, and a number that is out by about as much.
    let place = |text: &str| text.split(" is ").next().map(str::to_owned);
    ensure_eq!(place(&replay.here), place(&replay.recorded), "{replay}");
    Ok(())
}
