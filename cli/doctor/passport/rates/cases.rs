//! What is measured, and how each result is judged.

use core::future::Future;
use core::pin::Pin;

use bytemuck::cast_slice;
use wharf::caps::Feature;
use wharf::half::f16;
use wharf::host::HostViewMut;
use wharf::op::Op;
use wharf::reference::{Number, Strided, keeps, matmul, matmul_keeps};
use wharf::{DType, Device, Element, Result, Tensor};

use super::super::clock::seconds;
use super::super::random::Random;
use super::fma;
use super::measure::{Measured, Work, time};

/// Something to measure; nothing where the adapter has no such thing.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) run: for<'a> fn(&'a Scene<'a>) -> Running<'a>,
}

/// A case that is being measured.
type Running<'a> = Pin<Box<dyn Future<Output = Result<Option<Measured>>> + 'a>>;

/// In this order: the first is the process's first.
pub(crate) const CASES: [Case; 14] = [
    Case { name: "first product", run: |scene| Box::pin(first_product(scene)) },
    Case { name: "dispatch", run: |scene| Box::pin(dispatch(scene)) },
    Case { name: "dispatch and wait", run: |scene| Box::pin(wait(scene)) },
    Case { name: "dispatch and read", run: |scene| Box::pin(latency(scene)) },
    Case { name: "copy up", run: |scene| Box::pin(up(scene)) },
    Case { name: "copy down", run: |scene| Box::pin(down(scene)) },
    Case { name: "copy on the device", run: |scene| Box::pin(copy(scene)) },
    Case { name: "add", run: |scene| Box::pin(add(scene)) },
    Case { name: "multiply and add", run: |scene| Box::pin(chain(scene)) },
    Case { name: "fma f32", run: |scene| Box::pin(fma::fused(scene, DType::F32)) },
    Case { name: "fma f16", run: |scene| Box::pin(fma::fused(scene, DType::F16)) },
    Case { name: "product f32", run: |scene| Box::pin(product(scene, DType::F32)) },
    Case { name: "product f16", run: |scene| Box::pin(product(scene, DType::F16)) },
    Case { name: "row by matrix", run: |scene| Box::pin(row(scene)) },
];

/// Where it is measured, and how large things are.
pub(crate) struct Scene<'a> {
    pub(super) device: &'a Device,
    pub(super) quick: bool,
    /// Values that are copied and added.
    values: Vec<f32>,
}

/// Numbers between -1 and 1 that look random, the same in every run.
fn numbers(count: usize) -> Vec<f32> {
    let mut random = Random::new(1);
    (0..count).map(|_| (random.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
}

/// How many places of a result are judged.
const SAMPLE: usize = 1000;

/// Places spread over all of it, the first and the last among them.
fn places(count: usize) -> impl Iterator<Item = usize> {
    let step = (count - 1).div_ceil(SAMPLE).max(1);
    (0..count).step_by(step).chain([count - 1])
}

/// The first place at which something is not right.
fn first_wrong(count: usize, right: impl Fn(usize) -> bool) -> Option<String> {
    places(count).find(|&i| !right(i)).map(|i| format!("WRONG at {i}"))
}

impl<'a> Scene<'a> {
    pub(crate) fn new(device: &'a Device, quick: bool) -> Self {
        let count = if quick { 1 << 18 } else { 1 << 24 };
        Self { device, quick, values: numbers(count) }
    }

    fn megabytes(&self) -> String {
        format!("{:.0} MB", self.bytes() / 1e6)
    }

    fn bytes(&self) -> f64 {
        size_of_val(&*self.values) as f64
    }

    fn there(&self) -> Result<Tensor> {
        Ok(self.device.upload(&self.values, self.values.len())?.0)
    }

    pub(super) async fn time(&self, run: impl AsyncFnMut() -> Result<()>) -> Result<Vec<f64>> {
        time(self.quick, run).await
    }

    /// Until everything that was recorded is done.
    pub(super) async fn done(&self) -> Result<()> {
        #[cfg(not(target_family = "wasm"))]
        return self.device.synchronize_now();
        // In a browser only a read waits.
        #[cfg(target_family = "wasm")]
        return self.device.zeros([1], DType::U32)?.read::<u32>().await.map(drop);
    }

    /// Times what yields a tensor, until it is computed.
    async fn computed(&self, make: impl Fn() -> Result<Tensor>) -> Result<(Vec<f64>, Tensor)> {
        let seconds = self.time(async || {
            make()?.compute()?;
            self.done().await
        });
        Ok((seconds.await?, make()?))
    }
}

/// The values of a tensor, waited for as directly as it goes.
async fn waited<T: Element>(tensor: &Tensor) -> Result<Vec<T>> {
    #[cfg(not(target_family = "wasm"))]
    return tensor.read_now::<T>();
    #[cfg(target_family = "wasm")]
    return tensor.read::<T>().await;
}

/// A product of two matrices, from their upload to its last byte: what a process waits for.
async fn first_product(scene: &Scene<'_>) -> Result<Option<Measured>> {
    let side = if scene.quick { 64 } else { 512 };
    let values = &scene.values[..side * side];
    let began = seconds();
    let (a, _) = scene.device.upload(values, [side, side])?;
    let result = waited::<f32>(&a.matmul(&a)?).await?;
    let seconds = vec![seconds() - began];
    let operands = ([cast_slice(values); 2], [side as isize, 1]);
    let wrong = judge(DType::F32, [side; 3], operands, cast_slice(&result));
    Ok(Some(Measured { size: format!("{side}^3"), work: Work::Once, seconds, wrong }))
}

/// Dispatches that follow each other, and one wait for all of them.
const MANY: usize = 256;

/// What one dispatch of many costs.
async fn dispatch(scene: &Scene<'_>) -> Result<Option<Measured>> {
    let (x, _) = scene.device.upload(&[1.0f32, 2.0, 3.0, 4.0], [4])?;
    let mut last = x.clone();
    let seconds = scene.time(async || {
        last = x.clone();
        for _ in 0..MANY {
            last = (&last + 1.0f32)?;
            last.compute()?;
        }
        scene.done().await
    });
    let seconds = seconds.await?.into_iter().map(|seconds| seconds / MANY as f64).collect();
    let (got, by) = (last.read::<f32>().await?, MANY as f32);
    let wrong =
        (got != [1.0 + by, 2.0 + by, 3.0 + by, 4.0 + by]).then(|| format!("WRONG: {got:?}"));
    Ok(Some(Measured { size: format!("4 values, of {MANY}"), work: Work::Once, seconds, wrong }))
}

/// One dispatch, until it is known to be done.
async fn wait(scene: &Scene<'_>) -> Result<Option<Measured>> {
    let (x, _) = scene.device.upload(&[1.0f32, 2.0, 3.0, 4.0], [4])?;
    let (seconds, y) = scene.computed(|| &x + &x).await?;
    let got = y.read::<f32>().await?;
    let wrong = (got != [2.0, 4.0, 6.0, 8.0]).then(|| format!("WRONG: {got:?}"));
    Ok(Some(Measured { size: "4 values".into(), work: Work::Once, seconds, wrong }))
}

/// The same with its result.
async fn latency(scene: &Scene<'_>) -> Result<Option<Measured>> {
    let (x, _) = scene.device.upload(&[1.0f32, 2.0, 3.0, 4.0], [4])?;
    let mut got = Vec::new();
    let seconds = scene.time(async || {
        got = waited::<f32>(&(&x + &x)?).await?;
        Ok(())
    });
    let seconds = seconds.await?;
    let wrong = (got != [2.0, 4.0, 6.0, 8.0]).then(|| format!("WRONG: {got:?}"));
    Ok(Some(Measured { size: "4 values".into(), work: Work::Once, seconds, wrong }))
}

async fn up(scene: &Scene<'_>) -> Result<Option<Measured>> {
    let seconds = scene.time(async || {
        scene.there()?;
        scene.done().await
    });
    let seconds = seconds.await?;
    let same = scene.there()?.read::<f32>().await? == scene.values;
    let wrong = (!same).then(|| "WRONG: other values are there".into());
    let work = Work::Bytes(scene.bytes());
    Ok(Some(Measured { size: scene.megabytes(), work, seconds, wrong }))
}

async fn down(scene: &Scene<'_>) -> Result<Option<Measured>> {
    let x = scene.there()?;
    let mut values = vec![0f32; scene.values.len()];
    let seconds = scene.time(async || {
        let count = values.len();
        let mut view = HostViewMut::new(&mut values, count)?;
        #[cfg(not(target_family = "wasm"))]
        return x.read_view_now(&mut view);
        #[cfg(target_family = "wasm")]
        return x.read_view(&mut view).await;
    });
    let seconds = seconds.await?;
    let wrong = (values != scene.values).then(|| "WRONG: other values came".into());
    let work = Work::Bytes(scene.bytes());
    Ok(Some(Measured { size: scene.megabytes(), work, seconds, wrong }))
}

async fn copy(scene: &Scene<'_>) -> Result<Option<Measured>> {
    let x = scene.there()?;
    let count = scene.values.len();
    // One more, so that it is a part of another tensor, which cannot share the memory of this one.
    let mut y = scene.device.zeros([count + 1], DType::F32)?;
    let seconds = scene.time(async || {
        y.assign_slice(0, 0..count, &x)?;
        scene.done().await
    });
    let seconds = seconds.await?;
    let same = y.slice(0, 0..count)?.read::<f32>().await? == scene.values;
    let wrong = (!same).then(|| "WRONG: other values are there".into());
    let work = Work::Bytes(2.0 * scene.bytes());
    Ok(Some(Measured { size: scene.megabytes(), work, seconds, wrong }))
}

async fn add(scene: &Scene<'_>) -> Result<Option<Measured>> {
    let (x, y) = (scene.there()?, scene.there()?.flip(0)?.contiguous()?);
    y.compute()?;
    let (seconds, sum) = scene.computed(|| &x + &y).await?;
    let (sum, count) = (sum.read::<f32>().await?, scene.values.len());
    let number = |value: f32| Number::Float(value.into());
    let wrong = first_wrong(count, |i| {
        let operands = [i, count - 1 - i].map(|i| number(scene.values[i]));
        keeps(Op::Add, DType::F32, &operands, number(sum[i]))
    });
    let work = Work::Bytes(3.0 * scene.bytes());
    Ok(Some(Measured { size: scene.megabytes(), work, seconds, wrong }))
}

/// Pairs of steps in one kernel: `x 2 + 1`, then half of that `+ 1`, which is `x + 1.5` exactly.
const PAIRS: usize = 16;

async fn chain(scene: &Scene<'_>) -> Result<Option<Measured>> {
    let whole: Vec<f32> = (0..scene.values.len() / 4).map(|i| (i % 1000) as f32).collect();
    let (x, _) = scene.device.upload(&whole, whole.len())?;
    let computed = scene.computed(|| {
        (0..PAIRS).try_fold(x.clone(), |x, _| x.mul_add(2.0f32, 1.0f32)?.mul_add(0.5f32, 1.0f32))
    });
    let (seconds, y) = computed.await?;
    let y = y.read::<f32>().await?;
    let wrong = first_wrong(whole.len(), |i| y[i] == whole[i] + 1.5 * PAIRS as f32);
    let work = Work::Flops((whole.len() * PAIRS * 4) as f64);
    let size = format!("{:.0} MB, {} steps", scene.bytes() / 4e6, 2 * PAIRS);
    Ok(Some(Measured { size, work, seconds, wrong }))
}

/// Values as a dtype, and their bytes.
fn stored(values: &[f32], dtype: DType) -> Vec<u8> {
    match dtype {
        DType::F16 => values.iter().flat_map(|&x| f16::from_f32(x).to_le_bytes()).collect(),
        _ => cast_slice(values).to_vec(),
    }
}

fn matrix(scene: &Scene<'_>, data: &[f32], shape: [usize; 2], dtype: DType) -> Result<Tensor> {
    Ok(scene.device.upload_as(data, shape, dtype)?.0)
}

async fn product(scene: &Scene<'_>, dtype: DType) -> Result<Option<Measured>> {
    if dtype == DType::F16 && !scene.device.caps().has(Feature::ShaderF16) {
        return Ok(None);
    }
    let side = if scene.quick { 128 } else { 1024 };
    multiply(scene, dtype, [side; 3], |[m, k, n]| Work::Flops((2 * m * k * n) as f64)).await
}

async fn row(scene: &Scene<'_>) -> Result<Option<Measured>> {
    let side = if scene.quick { 256 } else { 4096 };
    multiply(scene, DType::F32, [1, side, side], |[_, k, n]| Work::Bytes((4 * k * n) as f64)).await
}

/// `[m, k]` by the transposed `[n, k]`, as weights are stored.
async fn multiply(
    scene: &Scene<'_>,
    dtype: DType,
    dims: [usize; 3],
    work: fn([usize; 3]) -> Work,
) -> Result<Option<Measured>> {
    let [m, k, n] = dims;
    let (left, right) = (&scene.values[..m * k], &scene.values[..n * k]);
    let (a, b) = (matrix(scene, left, [m, k], dtype)?, matrix(scene, right, [n, k], dtype)?);
    let (seconds, y) = scene.computed(|| a.linear(&b, None)).await?;
    let operands = [left, right].map(|values| stored(values, dtype));
    let operands = [&operands[0][..], &operands[1]];
    let got = match dtype {
        DType::F16 => cast_slice(&y.read::<f16>().await?).to_vec(),
        _ => cast_slice(&y.read::<f32>().await?).to_vec(),
    };
    let wrong = judge(dtype, dims, (operands, [1, k as isize]), &got);
    let size = if m == 1 { format!("{k} x {n}") } else { format!("{m}^3") };
    Ok(Some(Measured { size, work: work(dims), seconds, wrong }))
}

/// What is wrong with a sample of a product, whose right side, `[k, n]`, has these strides.
fn judge(
    dtype: DType,
    [m, k, n]: [usize; 3],
    ([left, right], [down, across]): ([&[u8]; 2], [isize; 2]),
    got: &[u8],
) -> Option<String> {
    let width = dtype.width();
    first_wrong(m * n, |i| {
        let (row, column) = (i / n, i % n);
        let strided = |bytes, offset, strides| Strided { dtype, bytes, offset, strides };
        let offset = column * across.unsigned_abs();
        let a = strided(left, row * k, &[0, 1]);
        let walk = [down, 0];
        let b = strided(right, offset, &walk);
        let exact = matmul(&[1, 1], k, &a, &b);
        let got = Number::decode(dtype, &got[i * width..(i + 1) * width]);
        exact.first().is_some_and(|exact| matmul_keeps(dtype, k, *exact, got))
    })
}
