//! Lanes that load in turn, as some drivers like it: the same bits as where each loads its own.

use wharf::caps::Feature;
use wharf::tensor::{Align, Interpolation, Key, Tensor};
use wharf::wgsl::Target;
use wharf::{Adapter, DType, Device, Result};

use crate::ctx::{Case, Ctx, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let caps = adapter.caps();
    let eight = [caps.limits.subgroup_min, caps.limits.subgroup_max] == [8; 2];
    let takes = eight && caps.has(Feature::Subgroup) && caps.has(Feature::ShaderInt64);
    let case = case!("turns::the_same_bits", |ctx| same_bits(ctx));
    vec![case.unless(!takes, "subgroups of eight")]
}

/// Loads of every form that are by quads: few lanes at work, lanes with a trip less than others,
/// views that begin anywhere, rows with gaps, rows for all, one after the other and apart.
fn works(device: &Device) -> Result<Vec<Tensor>> {
    let random = |key: u64, dims: &[usize]| device.uniform(Key::new(key), dims, DType::F32);
    let mut works = Vec::new();
    for length in [1, 3, 4, 5, 29, 33, 61, 64, 65, 1021, 5000, 70_001] {
        let (a, b) = (random(1, &[length])?, random(2, &[length])?);
        works.extend([(&a + &b)?, (&a.cast(DType::F16)? * 3.0f32)?.cast(DType::F32)?]);
        works.extend([(a.cast(DType::I32)? + 7i32)?.cast(DType::F32)?, a.sum(..)?, a.cumsum(0)?]);
    }
    let wide = random(3, &[67, 132])?;
    let row = random(4, &[132])?;
    let part = wide.slice(1, 4..100)?;
    works.extend([
        (&part + 1.0f32)?,
        (&wide * &row)?,
        (&part.slice(0, 3..60)? - &part.slice(0, 7..64)?)?,
    ]);
    works.extend([
        wide.sum([0])?,
        wide.sum([1])?,
        part.sum([1])?,
        wide.softmax(1)?,
        part.softmax(0)?,
    ]);
    works.extend([wide.layer_norm(1, None, None, 1e-5)?, wide.argmax(1)?.cast(DType::F32)?]);
    works.extend([(wide.t()? + 1.0f32)?, wide.sort(1, wharf::tensor::Order::Ascending)?]);
    let image = random(5, &[2, 3, 20, 28])?;
    works.push(image.interpolate([40, 50], Interpolation::Linear(Align::Edges))?);
    Ok(works)
}

async fn same_bits(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let turns = device.with_target(Target::CpuByLane);
    ensure_eq!(turns.target(), Target::CpuByLane, "the target");
    let each = [Target::CpuByLane, Target::Cpu64].map(|target| device.with_target(target));
    let [mine, theirs] = each.map(|device| works(&device));
    let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    for (i, (mine, theirs)) in mine.map_err(show)?.iter().zip(theirs.map_err(show)?).enumerate() {
        let mine = bits(mine.read::<f32>().await.map_err(show)?);
        let theirs = bits(theirs.read::<f32>().await.map_err(show)?);
        ensure!(mine == theirs, "work {i} differs in turns");
    }
    Ok(())
}
