//! What a pass of a model runs: told before it runs, and no more than that. A watch sees all that
//! runs on its device, so each case has its own.

use wharf::tensor::{Align, Attention, Conv, Insert, Interpolation, Order, Pad, Pooling, Triangle};
use wharf::testing::Inside;
use wharf::{DType, Device, Result, Target, Tensor};

use super::ramp;
use crate::cases::pair::count;
use crate::ctx::{Case, Ctx, DOWNGRADES, LOWEST, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case!("passes::what_copies_and_indexes_waits", |ctx| deferred(ctx)),
        case!("passes::a_layer_and_its_norm_are_two_kernels", |ctx| layer(ctx)),
        case!("passes::a_mask_is_made_once", |ctx| mask(ctx)),
        case!("passes::a_watch_ends_with_its_handle", |ctx| watched(ctx)),
        case!("passes::what_is_warm_compiles_nothing", |ctx| warm(ctx)),
    ]
}

type Make = fn(&Tensor, &Tensor) -> Result<Tensor>;

/// What is made of numbers `[4, 6]` and indices `[4, 6]` below 3.
const MAKES: &[(&str, Make)] = &[
    ("contiguous", |x, _| x.t()?.contiguous()),
    ("concat", |x, _| Tensor::concat(&[x.clone(), x.clone()], 1)),
    ("stack", |x, _| Tensor::stack(&[x.clone(), x.clone()], 0)),
    ("pad", |x, _| x.pad(&[(1, 0), (0, 2)], Pad::Reflect)),
    ("roll", |x, _| x.roll(1, 2)),
    ("tril", |x, _| x.tril(0)),
    ("gather", |x, index| x.gather(0, index)),
    ("index_select", |x, index| x.index_select(1, &index.slice(0, 0..1)?.squeeze(0)?)),
    ("embedding", Tensor::embedding),
    ("take", Tensor::take),
    ("sort", |x, _| x.sort(1, Order::Descending)),
    ("cast_checked", |x, _| x.cast_checked(DType::I32)),
    ("argsort", |x, _| x.argsort(1, Order::Ascending)),
    ("top_k", |x, _| Ok(x.top_k(1, 2)?.0)),
    ("top_k, where", |x, _| Ok(x.top_k(1, 2)?.1)),
    ("top_k of many", |x, _| Ok(x.repeat([1, 700])?.top_k(1, 3)?.0)),
    ("max_pool", |x, _| x.max_pool(&Pooling::new([2, 3]).stride([1, 2]))),
    ("avg_pool", |x, _| x.avg_pool(&Pooling::new([2, 2]).padding([1, 1]))),
    ("linear", |x, _| image(x)?.interpolate([7, 5], Interpolation::Linear(Align::Corners))),
    ("cubic", |x, _| image(x)?.interpolate([7, 5], Interpolation::Cubic(Align::Edges))),
    ("rfft", |x, _| x.rfft(1, None)),
    ("rfft of a prime", |x, _| x.rfft(1, 67)),
    ("irfft", |x, _| x.rfft(1, None)?.irfft(1, 6)),
    ("fft", |x, _| x.reshape([4, 3, 2])?.fft(1, None)),
    ("ifft", |x, _| x.reshape([4, 3, 2])?.ifft(0, 8)),
    ("cholesky", |x, _| definite(x)?.cholesky()),
    ("solve_triangular", |x, _| definite(x)?.solve_triangular(x, &Triangle::lower())),
    ("cumsum", |x, _| x.cumsum(0)),
    ("conv2d", |x, _| image(x)?.conv2d(&image(&x.slice(0, ..2)?)?, None, &Conv::new())),
    ("adaptive_avg_pool", |x, _| x.adaptive_avg_pool([3, 4])),
    ("nearest", |x, _| image(x)?.interpolate([7, 5], Interpolation::Nearest)),
    ("antialiased", |x, _| image(x)?.interpolate([3, 2], Interpolation::LinearAntialiased)),
    ("lu", |x, _| Ok(definite(x)?.lu()?.factors)),
    ("lu of panels", |x, _| Ok(x.slice(1, ..1)?.pad(&[(0, 40), (0, 43)], 1.5)?.lu()?.factors)),
    ("det", |x, _| definite(x)?.det()),
    ("inv", |x, _| definite(x)?.inv()),
    ("solve", |x, _| definite(x)?.solve(x)),
    ("solve, factored", |x, _| definite(x)?.lu()?.solve(x)),
    ("slogdet", |x, _| Ok(definite(x)?.slogdet()?.1)),
    ("cholesky of blocks", |x, _| definite(&x.repeat([10, 1])?)?.cholesky()),
    ("arange", |x, _| x.device().arange(0, 5, 2, DType::F32)),
    ("linspace", |x, _| x.device().linspace(0, 5, 7, DType::F32)),
    ("eye", |x, _| x.device().eye(3, 4, DType::F32)),
    ("one_hot", |_, index| index.one_hot(3, DType::F32)),
    ("rope", |x, _| x.rope(&x.slice(1, ..3)?, &x.slice(1, 3..)?)),
    ("complex_mul", |x, _| x.reshape([4, 3, 2])?.complex_mul(&x.reshape([4, 3, 2])?)),
    ("complex_conj", |x, _| x.reshape([4, 3, 2])?.complex_conj()),
    ("uncounted", |x, _| {
        let how = Pooling::new([2, 2]).padding([1, 1]).padding_uncounted();
        x.avg_pool(&how)? + x.avg_pool_grad([6, 10], &how)?.amax(..)?
    }),
    ("max_pool_grad", |x, _| {
        let how = Pooling::new([1, 2]).stride([1, 1]);
        let (most, places) = x.max_pool_with_indices(&how)?;
        most.max_pool_grad(&places, [4, 6], &how)
    }),
    ("searchsorted", |_, index| index.at((0, ..2))?.searchsorted(index, Insert::Left)),
    ("quantile", |x, _| x.quantile(1, 0.3)),
    ("conv_transpose2d", |x, _| {
        let how = Conv::new().stride([2, 3]);
        image(x)?.conv_transpose2d(&image(&x.slice(0, ..1)?.slice(1, ..2)?)?, None, &how)
    }),
    ("group_norm", |x, _| image(x)?.group_norm(1, None, None, 1e-5)),
    ("cross", |x, _| x.slice(1, ..3)?.cross(1, &x.slice(1, 3..)?)),
    ("diag", |x, _| x.diag(1)),
    ("cross_entropy", |x, index| x.cross_entropy(1, &index.select(1, 0)?)),
    ("gather_nd", |x, index| x.gather_nd(&index.slice(1, ..2)?)),
    ("repeat_interleave", |x, _| x.repeat_interleave(1, 2)),
    ("grid_sample", |x, _| {
        image(x)?.grid_sample(&x.reshape([1, 4, 3, 2])?, Align::Edges, Pad::Reflect)
    }),
];

fn image(x: &Tensor) -> Result<Tensor> {
    x.unsqueeze(0)?.unsqueeze(0)
}

/// Far from singular: its diagonal is raised.
fn definite(x: &Tensor) -> Result<Tensor> {
    let square = x.matmul(&x.t()?)?;
    &square + &(square.triu(0)?.tril(0)? * 50.0)?
}

fn names(device: &Device, y: &Tensor) -> Result<[Vec<String>; 2]> {
    let watch = device.watch();
    let told = y.explain();
    y.compute()?;
    Ok([told, watch.explanation()]
        .map(|e| e.kernels.iter().map(|kernel| kernel.name().to_owned()).collect()))
}

/// With as few bindings as any adapter has, too: what reads more than one kernel may is recorded
/// from below.
async fn deferred(ctx: &Ctx) -> Outcome {
    for downgrade in [DOWNGRADES[0], LOWEST] {
        deferred_on(&ctx.fresh(downgrade).await?)
            .await
            .map_err(|why| format!("{}: {why}", downgrade.name))?;
    }
    count();
    Ok(())
}

async fn deferred_on(device: &Device) -> Outcome {
    let x = ramp(device, 24).await?.reshape([4, 6]).and_then(|x| x.floor()).map_err(show)?;
    x.compute().map_err(show)?;
    let index: Vec<u32> = (0..24).map(|i| i * 7 % 3).collect();
    let (index, _) = device.upload(&index, [4, 6]).map_err(show)?;
    for (name, make) in MAKES {
        let watch = device.watch();
        // What a read would copy is told as well.
        let y = make(&x, &index).and_then(|y| y.contiguous()).map_err(show)?;
        let early = watch.explanation().kernels.first().map(|kernel| kernel.name().to_owned());
        ensure_eq!(early, None, "{name}: what ran before it is read");
        let [told, ran] = names(device, &y).map_err(show)?;
        ensure!(told == ran && !ran.is_empty(), "{name}: told {told:?}, ran {ran:?}");
    }
    Ok(())
}

/// What stands between a product and a norm goes with the product, and leaves the norm's tail to
/// the norm.
async fn layer(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?.with_target(Target::Cpu64);
    let of = async |n: usize, dims: &[usize]| ramp(&device, n).await?.reshape(dims).map_err(show);
    let (x, w) = (of(48, &[6, 8]).await?, of(64, &[8, 8]).await?);
    let rows: Vec<Tensor> = (0..3)
        .map(|i| x.slice(0, i..i + 1).and_then(|row| row.squeeze(0)))
        .collect::<Result<_>>()
        .map_err(show)?;
    let make = |stop: fn(&Tensor) -> Result<()>| -> Result<Tensor> {
        let product = x.linear(&w, None)?;
        stop(&product)?;
        let sum = ((product + &rows[0])? + &x)?;
        stop(&sum)?;
        let norm = sum.layer_norm(1, None, None, 1e-5)?;
        stop(&norm)?;
        (norm * &rows[1])? + &rows[2]
    };
    let y = make(|_| Ok(())).map_err(show)?;
    let [told, ran] = names(&device, &y).map_err(show)?;
    ensure!(told.len() == 2 && told[1] == "norm_rows", "a product and a norm: {told:?}");
    ensure_eq!(ran, told, "what ran");
    let steps = make(Tensor::compute).map_err(show)?;
    let (got, want) = (y.read::<f32>().await, steps.read::<f32>().await);
    for (got, want) in got.map_err(show)?.into_iter().zip(want.map_err(show)?) {
        ensure!((got - want).abs() <= 1e-4 * want.abs().max(1.0), "{got}, step by step {want}");
    }
    count();
    Ok(())
}

/// A bool mask becomes numbers once, however many attentions there are.
async fn mask(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?.with_target(Target::Cpu64);
    let x = ramp(&device, 64).await?.reshape([2, 4, 8]).map_err(show)?;
    let (seen, _) = device.upload(&[true, true, false, true], [1, 4]).map_err(show)?;
    let how = Attention::new().masked(&seen);
    let y = x.attention(&x, &x, &how).and_then(|y| y.attention(&x, &x, &how)).map_err(show)?;
    let [_, ran] = names(&device, &y).map_err(show)?;
    let made = ran.iter().filter(|name| name.starts_with("elementwise")).count();
    ensure_eq!(made, 1, "kernels that make a mask, of {ran:?}");
    count();
    Ok(())
}

async fn watched(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let x = ramp(&device, 8).await?;
    let run = || (&x + 1.0f32).and_then(|y| y.compute()).map_err(show);
    let first = device.watch();
    run()?;
    let second = device.watch();
    run()?;
    let counts = [&first, &second].map(|watch| watch.explanation().dispatches());
    ensure_eq!(counts, [2, 1], "dispatches since each watch was made");
    ensure!(first.explanation().bytes_allocated >= 64, "two results: {}", first.explanation());
    drop(first);
    run()?;
    ensure_eq!(second.explanation().dispatches(), 2, "dispatches after another watch ended");
    count();
    Ok(())
}

async fn warm(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let x = ramp(&device, 64).await?.reshape([8, 8]).map_err(show)?;
    let y = x.matmul(&x).and_then(|y| y.softmax(1)?.t()?.contiguous()).map_err(show)?;
    let before = device.pipelines();
    let made = device.prewarm([&y]).map_err(show)?;
    ensure!(made >= 2, "{made} kernels of a product, rows and a copy");
    ensure_eq!(device.pipelines(), before + made, "pipelines");
    ensure_eq!(device.prewarm([&y, &x]).map_err(show)?, 0, "kernels that are new the second time");
    y.read::<f32>().await.map_err(show)?;
    ensure_eq!(device.pipelines(), before + made, "pipelines after it was computed");
    // A result in place of what ends there has a kernel of its own.
    let last = Tensor::concat(&[&x, &x], 0).and_then(|both| both + 1.0f32).map_err(show)?;
    let made = device.prewarm([&last]).map_err(show)?;
    let before = device.pipelines();
    last.read::<f32>().await.map_err(show)?;
    ensure_eq!(device.pipelines(), before, "pipelines after {made} were made for it");
    count();
    Ok(())
}
