//! Replays: of what another driver recorded, and on a device that has work of its own.

use wharf::ErrorKind;
use wharf::shadow::Capsule;
use wharf::testing::Inside;

use super::{PLANTS, Plant, mutant, shadowed};
use crate::cases::pair::count;
use crate::ctx::{Ctx, Outcome, ensure, ensure_eq, show};

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
