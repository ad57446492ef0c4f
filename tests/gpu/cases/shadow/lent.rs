//! A mistake in what is computed from buffers of the caller's own.

use wharf::shadow::Capsule;
use wharf::testing::Inside;
use wharf::{DType, ErrorKind, Layout, Shape};

use super::{PLANTS, mutant, shadowed};
use crate::cases::lent::own;
use crate::cases::pair::count;
use crate::ctx::{Ctx, Outcome, ensure, ensure_eq, show};

/// Two buffers, and two views of one: the replay finds in each what was there.
pub(super) async fn two_buffers(ctx: &Ctx) -> Outcome {
    let plant = PLANTS.iter().find(|plant| plant.operation == "gelu_tanh").ok_or("no plant")?;
    let ramps = [1.0f32, 2.0].map(|step| (0..64).map(|i| step * i as f32 / 16.0).collect());
    for others in [false, true] {
        let (device, shadow) = shadowed(ctx).await?;
        device.plant(Some(mutant(plant)?));
        let buffer = |ramp: &Vec<f32>| own(&device, bytemuck::cast_slice(ramp));
        let [one, other] = ramps.each_ref().map(buffer);
        let dense = Layout::dense(Shape::new([64]).map_err(show)?);
        let x = device.wrap_buffer(&one, dense, DType::F32).map_err(show)?;
        let y = device.wrap_buffer(if others { &other } else { &one }, dense, DType::F32);
        let y = y.and_then(|y| y.flip(0)).map_err(show)?;
        let result = (&x - &y).and_then(|z| z.gelu_tanh()).map_err(show)?;
        let error = result.read::<f32>().await.map(drop).err().ok_or("unnoticed")?;
        ensure_eq!(error.kind(), ErrorKind::Wrong, "{error:?}");
        let capsule = shadow.capsule().ok_or("no capsule")?.to_bytes();
        let capsule = Capsule::from_bytes(&capsule).map_err(show)?;
        let replay = device.replay(&capsule).await.map_err(show)?;
        count();
        ensure!(replay.is_wrong && replay.is_same, "two buffers: {others}: {replay}");
    }
    Ok(())
}
