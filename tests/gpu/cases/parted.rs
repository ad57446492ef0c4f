//! Dispatches that would keep a GPU too long are parted: the same bits, by more of them.

use wharf::tensor::{Attention, Blocks, Conv, Key, Order, Pooling, Quantized, Tensor};
use wharf::testing::Inside;
use wharf::wgsl::Target;
use wharf::{DType, Device, Result};

use crate::ctx::{Case, Ctx, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases() -> Vec<Case> {
    vec![case!("parted::the_same_bits", |ctx| same_bits(ctx))]
}

/// Additions and multiplications of a dispatch, where its kernel can be parted so finely.
const WORK: u64 = 400_000;

/// Work of every kind that is parted, at sizes that nothing divides.
fn works(device: &Device, weights: &Quantized) -> Result<Vec<(&'static str, Tensor)>> {
    let random = |key: u64, dims: &[usize]| device.uniform(Key::new(key), dims, DType::F32);
    let (a, b) = (random(1, &[301, 70])?, random(2, &[70, 131])?);
    let (batch, other) = (random(3, &[5, 41, 70])?, random(4, &[5, 70, 131])?);
    let heads = random(5, &[2, 3, 137, 64])?;
    let (queries, keys) = (random(6, &[1, 4, 2, 32])?, random(7, &[1, 4, 700, 32])?);
    let image = random(8, &[3, 5, 17, 19])?;
    let (few, many) = (random(9, &[7, 5, 3, 3])?, random(10, &[40, 16, 3, 3])?);
    let (channels, each) = (random(11, &[2, 16, 33, 33])?, random(14, &[16, 1, 9, 9])?);
    let padded = Conv::new().padding([1, 1]);
    Ok(vec![
        ("a product", a.matmul(&b)?),
        ("a batch of products", batch.matmul(&other)?),
        ("attention", heads.attention(&heads, &heads, &Attention::new())?),
        ("causal attention", heads.attention(&heads, &heads, &Attention::new().causal())?),
        ("keys of few queries", queries.attention(&keys, &keys, &Attention::new())?),
        ("a convolution of few channels", image.conv2d(&few, None, &padded)?),
        ("a convolution of many", channels.conv2d(&many, None, &padded)?),
        ("a convolution of each channel", channels.conv2d(&each, None, &padded.groups(16))?),
        ("a pool", channels.max_pool(&Pooling::new([5, 5]).stride([1, 1]))?),
        ("short rows in order", random(15, &[401, 101])?.sort(1, Order::Ascending)?),
        ("a product by weights in blocks", random(13, &[301, 64])?.linear(weights, None)?),
    ])
}

async fn same_bits(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    let weights = device.uniform(Key::new(12), [96, 64], DType::F32).map_err(show)?;
    let (weights, _) = weights.quantize(Blocks::Q8).await.map_err(show)?;
    let parting = device.in_dispatches_of(WORK);
    let (whole, parted) = (works(&device, &weights), works(&parting, &weights));
    for ((what, whole), (_, parted)) in whole.map_err(show)?.iter().zip(parted.map_err(show)?) {
        let count = |x: &Tensor| -> usize {
            x.explain().kernels.iter().map(|kernel| kernel.dispatches.len()).sum()
        };
        ensure!(count(&parted) > count(whole), "{what} is not parted: {} dispatches", count(whole));
        let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        let one = bits(whole.read::<f32>().await.map_err(show)?);
        ensure_eq!(bits(parted.read::<f32>().await.map_err(show)?), one, "{what}");
    }
    Ok(())
}
