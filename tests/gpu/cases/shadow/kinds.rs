//! Every kind of operation under a shadow.

use wharf::shadow::ShadowPolicy;
use wharf::tensor::{Align, Attention, Conv, Interpolation, Key, Order, Pooling};
use wharf::{DType, Device, Result, Target, Tensor};

use super::{is_clean, numbers, rows_of};
use crate::cases::pair::count;
use crate::ctx::{Ctx, DOWNGRADES, Outcome, ensure, ensure_eq, show};

/// Cores with heads and tails, casts, narrow floats, integers, views and indices.
pub(super) async fn all(ctx: &Ctx) -> Outcome {
    for target in [Target::Gpu, Target::Cpu, Target::Cpu64] {
        let device = ctx.fresh(DOWNGRADES[0]).await?.with_target(target);
        let shadow = device.shadow(ShadowPolicy::all());
        all_kinds(&device).await.map_err(show)?;
        moves(&device).await.map_err(show)?;
        convolutions(&device).await.map_err(show)?;
        let report = shadow.report().await.map_err(show)?;
        is_clean(&report).map_err(|error| format!("{target:?}: {error}"))?;
        ensure!(report.left_out.is_empty(), "{target:?}: left out: {report}");
        drop(shadow);
        extremes(&device).await?;
    }
    Ok(())
}

async fn all_kinds(device: &Device) -> Result<()> {
    let x = numbers(device, 20, 33).await?;
    let (index, _) = device.upload(&[3i32, 0, 19, 3], [4])?;
    let h = x.cast(DType::F16)?;
    let whole = (&x * 7.3)?.cast(DType::I32)?;
    let heads = x
        .at((.., ..32))?
        .reshape([1, 2, 20, 16])
        .or_else(|_| x.at((.., ..32))?.contiguous()?.reshape([1, 2, 20, 16]))?;
    let results = [
        ((&x * 2.0)? + 1.0)?.exp()?,
        x.t()?.matmul(&x)?.gelu()?,
        h.matmul(&h.t()?)?.cast(DType::F32)?,
        ((&x - 0.5)?.square()?.sum(0)? * 0.5)?,
        x.abs()?.amax(1)?,
        (&x * 0.1)?.exp()?.prod(1)?,
        x.var(1, 1)?,
        x.logsumexp(0)?,
        (&x * 3.0)?.softmax(-1)?,
        h.layer_norm(-1, None, None, 1e-5)?.cast(DType::F32)?,
        x.log_softmax(0)?,
        x.cumsum(1)?,
        x.embedding(&index)?,
        Tensor::concat(&[&x, &x.flip(1)?], 0)?,
        heads.attention(&heads, &heads, &Attention::new().causal())?,
        x.gt(0.0)?.choose(&x, -1.0)?,
        x.mean(..)?,
    ];
    for result in &results {
        result.read::<f32>().await?;
    }
    for result in [whole.matmul(&whole.t()?)?, (&whole * 3)?.sum(1)?, whole.amin(0)?] {
        result.read::<i32>().await?;
    }
    x.argmax(1)?.read::<u32>().await.map(drop)
}

/// What is moved, sorted or drawn.
async fn moves(device: &Device) -> Result<()> {
    let x = numbers(device, 24, 21).await?;
    let rows = rows_of(&x)?;
    let (whole, long) = ((&x * 9.3)?.cast(DType::I32)?, numbers(device, 3, 1000).await?);
    let mut assigned = x.clone();
    assigned.assign_slice(1, 3..10, &x.at((.., 11..18))?)?;
    assigned.assign_slice(0, 4..8, 0.25)?;
    assigned.assign_at((2, 1), 7.0)?;
    x.pad(&[(1, 2), (0, 3)], 0.25)?.read::<f32>().await?;
    whole.pad(&[(0, 0), (5, 1)], -7)?.read::<i32>().await?;
    let key = Key::new(5);
    let hard = [0.5, f32::NAN, 0.0, -1e-45, -0.0, f32::INFINITY, -f32::NAN, 0.0, -2.0];
    let (hard, _) = device.upload(&hard, [9])?;
    let floats = [
        assigned,
        x.sort(0, Order::Descending)?,
        hard.sort(0, Order::Descending)?,
        hard.sort(0, Order::Ascending)?,
        long.sort(1, Order::Ascending)?,
        long.top_k(0, 3)?.0,
        x.scatter(0, &rows, &x)?,
        x.scatter_mul(0, &rows, &x)?,
        x.index_add(0, &rows.at((.., 0))?, &x)?,
        x.cast(DType::F16)?.scatter_add(0, &rows, &x.cast(DType::F16)?)?.cast(DType::F32)?,
        x.tril(-1)?,
        x.max_pool(&Pooling::new([3]).stride([2]).padding([1]))?,
        x.avg_pool(&Pooling::new([2]))?,
        x.avg_pool(&Pooling::new([3, 2]).padding([1, 1]).padding_uncounted())?,
        x.cast(DType::F16)?.max_pool(&Pooling::new([2, 3]).stride([1, 2]))?.cast(DType::F32)?,
        x.reshape([4, 6, 21])?.interpolate([9, 13], Interpolation::Linear(Align::Edges))?,
        x.cast(DType::Bf16)?
            .interpolate([30, 8], Interpolation::Cubic(Align::Corners))?
            .cast(DType::F32)?,
        x.reshape([4, 6, 21])?.interpolate([4, 9], Interpolation::LinearAntialiased)?,
        x.cast(DType::F16)?
            .interpolate([11, 5], Interpolation::CubicAntialiased)?
            .cast(DType::F32)?,
        x.adaptive_avg_pool([5, 4])?,
        device.normal(key, [7, 5], DType::F16)?.cast(DType::F32)?,
        device.uniform(key, [7, 5], DType::Bf16)?.cast(DType::F32)?,
        device.full([5], f32::NEG_INFINITY, DType::F32)?,
    ];
    for result in &floats {
        result.read::<f32>().await?;
    }
    let shifted = (&whole - 3)?;
    for result in [
        whole.scatter_add(1, &(&rows % 21u32)?, &whole)?,
        device.integers(key, [9], -4..5, DType::I32)?,
        x.at((.., ..3))?.round()?.cast_checked(DType::I32)?,
        whole.max_pool(&Pooling::new([2, 2]).padding([1, 1]))?,
        shifted.sort(0, Order::Descending)?,
        shifted.cast(DType::U32)?.sort(1, Order::Ascending)?.cast(DType::I32)?,
        shifted.cast(DType::I8)?.sort(1, Order::Ascending)?.cast(DType::I32)?,
    ] {
        result.read::<i32>().await?;
    }
    device.bernoulli(key, [30], 0.3)?.read::<bool>().await?;
    device.random_bits(key, [30])?.read::<u32>().await?;
    device.permutation(key, 3000)?.read::<u32>().await.map(drop)
}

/// Where nothing is named, nothing is said of what a list of the best has there, nor of what is
/// hidden and infinite.
async fn extremes(device: &Device) -> Outcome {
    let shadow = device.shadow(ShadowPolicy::all());
    let x = numbers(device, 4, 3).await.map_err(show)?;
    let (index, _) = device.upload(&[1u32, 3, 1, 3], [4, 1]).map_err(show)?;
    for result in [x.scatter_max(0, &index, &x), x.scatter_min(0, &index, &x)] {
        result.map_err(show)?.read::<f32>().await.map_err(show)?;
    }
    // Nothing times infinity, which the first query does not see, may be anything; so is infinity.
    let flat = device.zeros([1, 2, 8], DType::F32).map_err(show)?;
    let values = [1.0, 1.0, 1.0, 1.0, f32::INFINITY, 1.0, 1.0, 1.0];
    let (values, _) = device.upload(&values, [1, 2, 4]).map_err(show)?;
    let attended = flat.attention(&flat, &values, &Attention::new().causal()).map_err(show)?;
    attended.read::<f32>().await.map_err(show)?;
    // So may what is normed by squares, or by a mean, that f32 has not.
    let (far, _) = device.tensor([[1e20f32, -1e20], [2e38, 3e38], [1.0, 2.0]]).map_err(show)?;
    for normed in [far.layer_norm(1, None, None, 1e-5), far.rms_norm(1, None, 1e-5)] {
        normed.map_err(show)?.read::<f32>().await.map_err(show)?;
    }
    let report = shadow.report().await.map_err(show)?;
    count();
    ensure!(report.wrong.is_none() && report.left_out.is_empty(), "{report}");
    // Two rows that nothing goes to, twice; two values; two rows that are normed, twice.
    ensure_eq!(report.open, 2 * 2 * 3 + 2 + 2 * 2 * 2, "{report}");
    Ok(())
}

/// Every number of dimensions, with strides, dilations, groups and padding.
async fn convolutions(device: &Device) -> Result<()> {
    let x = numbers(device, 12, 60).await?;
    let taken = |count: usize| x.reshape([720])?.at(..count);
    let line = Conv::new().stride([2]).dilation([2]).padding([3]);
    let plane = Conv::new().groups(4).stride([1, 2]).padding([0, 1]);
    let h = x.cast(DType::F16)?;
    for result in [
        x.reshape([3, 4, 60])?.conv1d(&taken(60)?.reshape([5, 4, 3])?, None, &line)?,
        x.reshape([3, 4, 6, 10])?.conv2d(&taken(24)?.reshape([4, 1, 3, 2])?, None, &plane)?,
        x.reshape([1, 2, 5, 6, 12])?.conv3d(
            &taken(48)?.reshape([3, 2, 2, 2, 2])?,
            None,
            &Conv::new(),
        )?,
        h.reshape([3, 4, 60])?
            .conv1d(&h.reshape([720])?.at(..12)?.reshape([4, 1, 3])?, None, &Conv::new().groups(4))?
            .cast(DType::F32)?,
    ] {
        result.read::<f32>().await?;
    }
    Ok(())
}
