//! Kernels without wgpu's checks, for a user who answers for them: the same bits as with them, and
//! text of the user's own keeps them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use wharf::adapter::TrustedModules;
use wharf::custom::{Formula, Kernel};
use wharf::tensor::{Attention, Conv, Key, Order, Tensor};
use wharf::wgsl::Target;
use wharf::{DType, Device, Policy, Result, wgpu};

use crate::ctx::{Case, Ctx, Outcome, case, ensure, ensure_eq, show};
use crate::promise;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case!("trusting::the_same_bits", |ctx| same_bits(ctx)),
        case!("trusting::own_texts_keep_their_checks", |ctx| own_texts(ctx)),
    ]
}

/// The kernels that were made without checks.
static TRUSTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn noted(
    device: &wgpu::Device,
    module: wgpu::ShaderModuleDescriptor<'_>,
    checks: wgpu::ShaderRuntimeChecks,
) -> wgpu::ShaderModule {
    let name = module.label.unwrap_or_default().to_owned();
    TRUSTED.lock().unwrap_or_else(PoisonError::into_inner).push(name);
    promise::trusted(device, module, checks)
}

/// What was made without checks where only the user wrote kernels.
static OF_OTHERS: AtomicUsize = AtomicUsize::new(0);

fn counted(
    device: &wgpu::Device,
    module: wgpu::ShaderModuleDescriptor<'_>,
    checks: wgpu::ShaderRuntimeChecks,
) -> wgpu::ShaderModule {
    OF_OTHERS.fetch_add(1, Ordering::Relaxed);
    promise::trusted(device, module, checks)
}

async fn trusting(ctx: &Ctx, by: TrustedModules) -> std::result::Result<Device, String> {
    let adapter = ctx.adapter.clone().trusting(by);
    adapter.open(adapter.negotiate(&Policy::exact())).await.map_err(show)
}

/// Work of every kind whose loops or places are reckoned, at sizes that nothing divides.
fn works(device: &Device) -> Result<Vec<Tensor>> {
    let f32 = DType::F32;
    let random = |key: u64, dims: &[usize]| device.uniform(Key::new(key), dims, f32);
    let (a, b) = (random(1, &[131, 70])?, random(2, &[70, 301])?);
    let heads = random(3, &[2, 37, 64])?;
    let (image, weight) = (random(4, &[1, 5, 17, 19])?, random(5, &[7, 5, 3, 3])?);
    let (places, _) = device.upload(&[3u32, 130, 0, 64, 3], [5])?;
    let (numbers, _) = device.upload(&[7i32, i32::MIN, -5, 0], [4])?;
    let (divisors, _) = device.upload(&[0i32, -1, 0, 3], [4])?;
    Ok(vec![
        a.matmul(&b)?,
        a.slice(0, 0..1)?.linear(&random(6, &[45, 70])?, None)?,
        b.t()?.matmul(&a.t()?)?,
        heads.attention(&heads, &heads, &Attention::new().causal())?,
        image.conv2d(&weight, None, &Conv::new().padding([1, 1]))?,
        a.softmax(1)?,
        a.layer_norm(0, None, None, 1e-5)?,
        a.sum([0])?,
        a.sum([1])?,
        a.cumsum(1)?,
        a.sort(1, Order::Ascending)?,
        a.argsort(0, Order::Descending)?.cast(f32)?,
        a.index_select(0, &places)?,
        a.scatter_add(0, &places.unsqueeze(1)?, &random(7, &[5, 70])?)?,
        (&numbers / &divisors)?.cast(f32)?,
        numbers.rem(&divisors)?.cast(f32)?,
    ])
}

async fn same_bits(ctx: &Ctx) -> Outcome {
    let trusting = trusting(ctx, noted).await?;
    let checked = ctx.adapter.open(ctx.adapter.negotiate(&Policy::exact())).await.map_err(show)?;
    for target in [Target::Cpu64, Target::Gpu] {
        let [mine, theirs] = [&trusting, &checked].map(|device| {
            let own = device.target();
            // What lacks 64-bit integers has no kernels with them.
            device.with_target(if target == Target::Gpu { target } else { own })
        });
        let (mine, theirs) = (works(&mine).map_err(show)?, works(&theirs).map_err(show)?);
        for (i, (mine, theirs)) in mine.iter().zip(&theirs).enumerate() {
            let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let mine = bits(mine.read::<f32>().await.map_err(show)?);
            let theirs = bits(theirs.read::<f32>().await.map_err(show)?);
            ensure!(mine == theirs, "work {i} differs without checks, {target:?}");
        }
    }
    // A place that is out of range is still refused, not read.
    let (index, _) = trusting.upload(&[u32::MAX], [1]).map_err(show)?;
    let (x, _) = trusting.upload(&[1.0f32; 4], [4]).map_err(show)?;
    let error = x.take(&index).map_err(show)?.read::<f32>().await.err();
    ensure!(error.is_some(), "a place out of range was read");
    let names = TRUSTED.lock().unwrap_or_else(PoisonError::into_inner);
    let has = |name: &str| names.iter().any(|made| made == name);
    ensure!(has("softmax_group") && has("rank"), "checks were left in: {names:?}");
    Ok(())
}

const BEYOND: &str = "
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(1)
fn main() { y[0] = x[min(arrayLength(&x), 1000000u) + 7u]; }";

async fn own_texts(ctx: &Ctx) -> Outcome {
    let device = trusting(ctx, counted).await?;
    let (x, _) = device.upload(&[1.5f32; 8], [8]).map_err(show)?;
    let kernel = Kernel::from_wgsl("beyond_its_array", BEYOND).map_err(show)?;
    let run = device.run(&kernel).read("x", &x).create("y", [1], DType::F32);
    let [y] = run.groups([1, 1, 1]).record().map_err(show)?;
    y.read::<f32>().await.map_err(show)?;
    ensure_eq!(OF_OTHERS.load(Ordering::Relaxed), 0, "a kernel of the user's own lost its checks");
    let twice = Formula::new("twice_of(x)", "x + x").map_err(show)?;
    let y = x.apply(&twice, &[]).map_err(show)?;
    ensure_eq!(y.read::<f32>().await.map_err(show)?, vec![3.0; 8], "the formula");
    ensure_eq!(OF_OTHERS.load(Ordering::Relaxed), 0, "a formula lost its checks");
    Ok(())
}
