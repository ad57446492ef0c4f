//! The bits of a result do not depend on what else is in its batch, where a device promises so:
//! each is computed alone, among a few and among all.

use core::ops::Range;

use wharf::tensor::{Attention, Blocks, Key, Quantized};
use wharf::{Axes, DType, Device, Result, Target, Tensor};

use super::pair::bits_of;
use super::probe::Random;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, Size, case, ensure, show, stores};

/// Each compiles for minutes in a browser, where a model is compared with itself (`published::`).
pub(crate) fn cases() -> Vec<Case> {
    let cases = [
        case!("company::products", |ctx| products(ctx)),
        case!("company::blocks", |ctx| blocks(ctx)),
        case!("company::reductions", |ctx| reductions(ctx)),
        case!("company::scans", |ctx| scans(ctx)),
        case!("company::rows", |ctx| rows(ctx)),
        case!("company::attention", |ctx| attention(ctx)),
        case!("company::what_is_fused", |ctx| fused(ctx)),
        case!("company::beside_other_handles", |ctx| mixed(ctx)),
    ];
    cases.into_iter().map(|case| Case { size: Size::Large, ..case }).collect()
}

/// A handle that promises it, for each class of kernels.
async fn devices(ctx: &Ctx) -> core::result::Result<[Device; 3], String> {
    let device = ctx.native().await?.with_batch_invariance();
    Ok([Target::Cpu64, Target::Cpu, Target::Gpu].map(|target| device.with_target(target)))
}

/// What is made of members, `[batch, ..]` of every input, beside the same of some of them.
async fn same(
    what: &str,
    inputs: &[&Tensor],
    make: impl Fn(&[Tensor]) -> Result<Tensor>,
) -> Outcome {
    let batch = inputs[0].shape().dims()[0];
    let target = inputs[0].device().target();
    let of = |range: Range<usize>| {
        let part = |x: &&Tensor| x.slice(0, range.clone())?.contiguous();
        let parts = inputs.iter().map(part).collect::<Result<Vec<_>>>();
        parts.and_then(|parts| make(&parts)).map_err(show)
    };
    let all = bits_of(&of(0..batch)?).await?;
    let each = all.len() / batch;
    for range in [0..1, batch - 1..batch, 1..3, batch / 5..batch / 2] {
        let some = bits_of(&of(range.clone())?).await?;
        let same = some == all[range.start * each..range.end * each];
        ensure!(same, "{what} for {target:?}: {range:?} of {batch} have other bits");
    }
    Ok(())
}

fn normal(device: &Device, key: u64, dims: &[usize], dtype: DType) -> Result<Tensor> {
    device.normal(Key::new(key), dims.to_vec(), dtype)
}

/// A promise is for what is made by its handle, whoever reads it.
async fn mixed(ctx: &Ctx) -> Outcome {
    for device in devices(ctx).await? {
        let plain = ctx.native().await?.with_target(device.target());
        let x = normal(&device, 5, &[64, 40_000], DType::F32).map_err(show)?;
        let one = plain.ones([1], DType::F32).map_err(show)?;
        same("sums in front of a number", &[&x], |x| &one * &x[0].sum(1)?).await?;
        let none = plain.zeros([1], DType::Bool).map_err(show)?;
        same("what is filled", &[&x], |x| x[0].masked_fill(&none, 0.0)?.softmax(1)).await?;
        let held = |x: &[Tensor]| {
            let mut y = device.zeros(*x[0].shape(), DType::F32)?;
            y.assign((&one * &x[0])?)?;
            y.sum(1)
        };
        same("what is assigned to", &[&x], held).await?;
    }
    Ok(())
}

/// Rows by weights that lie either way, and batches by matrices of their own.
async fn products(ctx: &Ctx) -> Outcome {
    for device in devices(ctx).await? {
        // Of few columns and rows that are no whole quads, k is shared out in several ways.
        let few = [[1, 2562], [2, 3586], [3, 4098], [4, 1026]];
        let sizes = [[384, 1536], [50, 600], [3, 2048], [1, 700], [1000, 33]];
        for [n, k] in few.into_iter().chain(sizes) {
            let x = normal(&device, 1, &[70, k], DType::F32).map_err(show)?;
            let w = normal(&device, 2, &[n, k], DType::F32).map_err(show)?;
            let what = format!("rows by {n} x {k}");
            same(&what, &[&x], |x| x[0].matmul(&w.t()?)).await?;
            let w = w.t().and_then(|w| w.contiguous()).map_err(show)?;
            same(&what, &[&x], |x| x[0].matmul(&w)).await?;
            let w = w.t().and_then(|w| w.cast(DType::Bf16)).map_err(show)?;
            same(&what, &[&x], |x| x[0].linear(&w, None)).await?;
        }
        // What is stored in columns for many rows is summed in another order.
        for [n, k] in [[4, 1024], [8, 4096], [16, 4096]] {
            let x = normal(&device, 1, &[70, k], DType::F32).map_err(show)?;
            let w = normal(&device, 2, &[k, n], DType::F32).map_err(show)?;
            let what = format!("sums of products with {k} x {n}");
            same(&what, &[&x], |x| x[0].matmul(&w)?.relu()?.sum(1)).await?;
        }
        for dtype in [DType::F32, DType::Bf16] {
            let x = normal(&device, 3, &[12, 9, 600], dtype).map_err(show)?;
            let w = normal(&device, 4, &[12, 600, 40], dtype).map_err(show)?;
            same("batches", &[&x, &w], |x| x[0].matmul(&x[1])).await?;
            let w = w.slice(0, 3..4).map_err(show)?;
            same("batches that share a side", &[&x], |x| x[0].matmul(&w)).await?;
        }
        // Of the most axes passes along k follow each other, which elsewhere are taken at once.
        for [m, k, n] in [[64, 20_004, 64], [8, 4100, 1000]] {
            let most = |rows, columns| [2, 1, 1, 1, 1, 1, rows, columns];
            let a = normal(&device, 5, &most(m, k), DType::F32).map_err(show)?;
            let b = normal(&device, 6, &most(k, n), DType::F32).map_err(show)?;
            let of = |n| a.at(n).and_then(|a| a.matmul(&b.at(n)?)).map_err(show);
            let (all, apart) = (a.matmul(&b).map_err(show)?, [of(0)?, of(1)?]);
            let apart = [bits_of(&apart[0]).await?, bits_of(&apart[1]).await?].concat();
            let (target, all) = (device.target(), bits_of(&all).await?);
            let what = format!("{m} x {k} x {n}, of eight axes");
            ensure!(all == apart, "a product of {what} for {target:?} has other bits");
        }
    }
    Ok(())
}

async fn blocks(ctx: &Ctx) -> Outcome {
    for device in devices(ctx).await? {
        let w = normal(&device, 5, &[64, 512], DType::F32).map_err(show)?;
        let x = normal(&device, 6, &[300, 512], DType::F32).map_err(show)?;
        for form in [Blocks::Q8, Blocks::Q4] {
            let w: Quantized = w.quantize(form).await.map_err(show)?.0;
            let what = format!("rows by {}", form.name());
            same(&what, &[&x], |x| x[0].linear(&w, None)).await?;
        }
        let w = super_blocks(&device, 64, 2)?;
        same("rows by q4_k", &[&x], |x| x[0].linear(&w, None)).await?;
    }
    Ok(())
}

/// Blocks that files have and nothing here makes, so many to each of some rows.
fn super_blocks(
    device: &Device,
    rows: usize,
    blocks: usize,
) -> core::result::Result<Quantized, String> {
    let mut random = Random::new(13);
    let bytes: Vec<u8> = (0..rows * blocks * 128).map(|_| random.bits() as u8).collect();
    // The scale of scales and that of minima, as f16, and then both of eight blocks.
    let heads = (0..rows * blocks).flat_map(|_| {
        let bits = [random.bits(), random.bits()];
        [0x1800_1c00, bits[0] as u32, (bits[0] >> 32) as u32, bits[1] as u32]
    });
    let heads: Vec<u32> = heads.collect();
    let (values, _) = device.upload(&bytes, [rows, blocks * 128]).map_err(show)?;
    let (scales, _) = device.upload(&heads, [rows, blocks * 4]).map_err(show)?;
    Quantized::of(&values, &scales).map_err(show)
}

/// What is broadcast to a batch lies as one member does alone, so that other steps are fused; and
/// what one kernel computes has the bits of what one step after the other does.
async fn fused(ctx: &Ctx) -> Outcome {
    type Steps<'a> = &'a dyn Fn(&Tensor) -> Result<Tensor>;
    for device in devices(ctx).await? {
        for dtype in [DType::F32, DType::F16, DType::Bf16] {
            if !stores(device.plan(), dtype) {
                continue;
            }
            let made = |key, dims: &[usize]| normal(&device, key, dims, dtype).map_err(show);
            let (x, place) = (made(1, &[30, 7, 64])?, made(2, &[1, 7, 64])?);
            let (weight, bias) = (made(3, &[64])?, made(4, &[64])?);
            let make = |x: &Tensor, step: Steps<'_>| {
                let scaled = step(&step(&(&place * &weight)?)?.exp()?)?;
                let moved = step(&(x + &step(&(&scaled * &bias)?)?)?)?;
                let sum = step(&step(&moved.square()?)?.sum(Axes::keep(2))?)?;
                let row = step(&moved.layer_norm(2, None, None, 1e-5)?)?;
                let row = step(&(&step(&(&row * &weight)?)? + &bias)?)?;
                let by = step(&row.matmul(&weight.reshape([64, 1])?)?)?;
                let by = step(&(&by * &bias)?)?;
                let all = step(&(&step(&(&row * &sum)?)? + &by)?)?;
                // One number for a member alone.
                let one = step(&step(&all.square()?)?.sum(Axes::keep([1, 2]))?)?;
                &all / &one
            };
            let at_once: Steps<'_> = &|x| Ok(x.clone());
            let one_by_one: Steps<'_> = &|x| x.compute().map(|()| x.clone());
            same(&format!("steps in {dtype}"), &[&x], |x| make(&x[0], at_once)).await?;
            let [once, apart] = [at_once, one_by_one].map(|step| make(&x, step).map_err(show));
            let equal = bits_of(&once?).await? == bits_of(&apart?).await?;
            ensure!(equal, "{dtype} for {:?}: other bits when steps are fused", device.target());
        }
    }
    Ok(())
}

async fn reductions(ctx: &Ctx) -> Outcome {
    for device in devices(ctx).await? {
        // The same for all of a batch.
        for length in [100, 4096] {
            let x = normal(&device, 7, &[70, 1], DType::F32).map_err(show)?;
            let row = normal(&device, 8, &[1, length], DType::F32).map_err(show)?;
            let sum = |x: &[Tensor]| {
                let all = row.broadcast_to([x[0].shape().dims()[0], length])?;
                &all.sum(1)? + &x[0].broadcast_to(*all.shape())?.sum(1)?
            };
            same(&format!("sums of {length} broadcast"), &[&x], sum).await?;
        }
        // The same for some of a member, and lying across what does not.
        let of = |key, dims: &[usize]| normal(&device, key, dims, DType::F32).map_err(show);
        let (x, row, y) = (of(7, &[70, 16, 1])?, of(8, &[1, 256, 8])?, of(9, &[70, 64, 256])?);
        let place = of(10, &[1, 256, 64])?;
        let count = |x: &Tensor| x.shape().dims()[0];
        let sum = |x: &[Tensor]| x[0].broadcast_to([count(&x[0]), 16, 4096])?.sum(1)?.sum(1);
        same("sums of sums of what is broadcast", &[&x], sum).await?;
        let sum = |x: &[Tensor]| {
            let all = row.broadcast_to([count(&x[0]), 256, 8])?;
            all.cumsum(2)?.sum(2)?.sum(1)
        };
        same("sums of scans of what is broadcast", &[&x], sum).await?;
        same("sums of what lies across", &[&y], |y| (&place + &y[0].t()?)?.sum(2)).await?;
        for dims in
            [&[40, 5000][..], &[9, 300, 40], &[300, 1030], &[50, 700], &[20, 5, 7], &[30, 33]]
        {
            let x = normal(&device, 7, dims, DType::F32).map_err(show)?;
            same(&format!("sums of {dims:?}"), &[&x], |x| x[0].sum(1)).await?;
        }
        // Where quads of what is summed lie takes longer to find for many than for one.
        let of = |key, dims: &[usize]| normal(&device, key, dims, DType::F32).map_err(show);
        let (x, p) = (of(1, &[4, 16_384, 8])?, of(2, &[16_384, 8])?);
        let [w, b, g] = [of(3, &[8])?, of(4, &[8])?, of(5, &[8])?];
        let sums = |x: &Tensor| ((((x + &p)? * &w)? + &b)? * &g)?.sum(1);
        same("sums of what is fused", &[&x], |x| sums(&x[0])).await?;
    }
    Ok(())
}

/// By lanes and by groups, in one chunk and in several; of what is computed on the way, too.
async fn scans(ctx: &Ctx) -> Outcome {
    for device in devices(ctx).await? {
        for dims in [&[300, 50][..], &[40, 5000], &[40, 100_000], &[9, 3000, 4]] {
            let x = normal(&device, 14, dims, DType::F32).map_err(show)?;
            same(&format!("running sums of {dims:?}"), &[&x], |x| x[0].cumsum(1)).await?;
            let products = |x: &Tensor| ((x * 1e-3f32)? + 1.0f32)?.cumprod(1);
            same(&format!("running products of {dims:?}"), &[&x], |x| products(&x[0])).await?;
        }
    }
    Ok(())
}

async fn rows(ctx: &Ctx) -> Outcome {
    for device in devices(ctx).await? {
        let x = normal(&device, 8, &[40, 2052], DType::F32).map_err(show)?;
        same("softmax", &[&x], |x| x[0].softmax(1)).await?;
        same("norms", &[&x], |x| x[0].layer_norm(1, None, None, 1e-5)).await?;
        let x = normal(&device, 9, &[70, 64, 64], DType::F32).map_err(show)?;
        same("softmax across rows", &[&x], |x| x[0].softmax(1)).await?;
    }
    Ok(())
}

async fn attention(ctx: &Ctx) -> Outcome {
    for device in devices(ctx).await? {
        // Many queries; one that sees all keys, and one with a mask; heads too wide for a lane.
        let forms = [[17, 12, 128, 128, 32], [80, 2, 1, 600, 32], [10, 3, 5, 70, 160]];
        // How much there is of it chooses among kernels by lanes only.
        let skip = usize::from(device.target() == Target::Gpu);
        for [batch, heads, queries, keys, d] in forms.into_iter().skip(skip) {
            let of = |key, length, dtype| normal(&device, key, &[batch, heads, length, d], dtype);
            for dtype in [DType::F32, DType::F16] {
                if !stores(device.plan(), dtype) {
                    continue;
                }
                let q = of(10, queries, dtype).map_err(show)?;
                let (k, v) = (of(11, keys, dtype), of(12, keys, dtype));
                let (k, v) = (k.map_err(show)?, v.map_err(show)?);
                let what = format!("attention of {dtype} [{batch}, {heads}, {queries}, {d}]");
                let plain = Attention::new();
                same(&what, &[&q, &k, &v], |x| x[0].attention(&x[1], &x[2], &plain)).await?;
                let seen = device.arange(0, keys, 1, DType::I32).and_then(|x| x.lt(keys - 3));
                let masked = plain.masked(&seen.map_err(show)?);
                same(&what, &[&q, &k, &v], |x| x[0].attention(&x[1], &x[2], &masked)).await?;
            }
        }
    }
    // Where a segment has no room for what all of a batch leave between two kernels.
    let small = ctx.device(DOWNGRADES[4]).await?.with_batch_invariance();
    let small = small.with_target(Target::Gpu);
    let of = |key, length| normal(&small, key, &[4, 1, length, 32], DType::F32).map_err(show);
    let (q, k, v) = (of(13, 256)?, of(14, 512)?, of(15, 512)?);
    let plain = Attention::new();
    same("attention in little room", &[&q, &k, &v], |x| x[0].attention(&x[1], &x[2], &plain))
        .await?;
    Ok(())
}
