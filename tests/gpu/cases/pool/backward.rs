//! Gradients of pools against what each window sends back.

use wharf::op::Reduction;
use wharf::reference::{Number, places, reduce};
use wharf::tensor::Pooling;
use wharf::{DType, Device, Target, Tensor};

use super::{Form, Move, What, forms, pooling, ragged, taken};
use crate::cases::pair::{Pair, bits, bits_of, carries, count, value};
use crate::cases::probe::Random;
use crate::cases::views::TARGETS;
use crate::ctx::{Ctx, DOWNGRADES, Outcome, ensure, ensure_eq, matters, show};

pub(super) async fn run(ctx: &Ctx, dtype: DType) -> Outcome {
    let mut random = Random::new(33);
    let matter = DOWNGRADES.iter().filter(|downgrade| matters(&ctx.adapter, **downgrade));
    for (n, &downgrade) in matter.enumerate() {
        let device = ctx.device(downgrade).await?;
        for device in TARGETS.map(|target| device.with_target(target)) {
            if !carries(&device, dtype) {
                continue;
            }
            // Dtypes differ in how a quad is read; f32 is tried on everything, once.
            let all = dtype == DType::F32 && n == 0 && device.target() != Target::Gpu;
            // Along four axes, windows and what they go over have an axis too many.
            let forms = forms().into_iter().chain(ragged()).filter(|form| form.size.len() < 4);
            for form in taken(forms, all, 12, n) {
                let place = format!("{form:?} for {:?}, {}", device.target(), downgrade.name);
                let run = one(&device, &mut random, dtype, &form);
                run.await.map_err(|e| format!("{place}: {e}"))?;
            }
        }
    }
    Ok(())
}

/// Gradients of a maximum and of both means, by the places of the first.
fn gradients<const D: usize>(
    what: What,
    [x, y]: [&Tensor; 2],
    form: &Form,
) -> wharf::Result<(Tensor, Tensor)> {
    let (how, dims): (Pooling<D>, _) = (pooling(form), x.shape().dims());
    let size = std::array::from_fn(|i| dims[dims.len() - D + i]);
    let (_, places) = x.max_pool_with_indices(&how)?;
    let gradient = match what {
        What::Max => y.max_pool_grad(&places, size, &how)?,
        What::Mean => y.avg_pool_grad(size, &how)?,
        What::MeanOfThose => y.avg_pool_grad(size, &how.padding_uncounted())?,
    };
    Ok((gradient, places))
}

/// Places that their window has not: behind it, and between its taps.
pub(super) async fn elsewhere(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for (size, how, place) in [
        (4, Pooling::new([3]).stride([2]), 3u32),
        (3, Pooling::new([2]).stride([1]).dilation([2]), 1),
    ] {
        let arrives = device.ones([1], DType::F32).map_err(show)?;
        let (places, _) = device.upload(&[place], [1]).map_err(show)?;
        let gradient = arrives.max_pool_grad(&places, [size], &how).map_err(show)?;
        let got = gradient.read::<f32>().await.map_err(show)?;
        ensure!(got.iter().all(|&x| x == 0.0), "place {place} of {size} got {got:?}");
        count();
    }
    Ok(())
}

/// A step or a reach of what has no next one, which no kernel could be told.
pub(super) async fn beyond(ctx: &Ctx) -> Outcome {
    let (device, far) = (ctx.native().await?, 1 << (usize::BITS - 2));
    let one = Pooling::new([1]).stride([2]).dilation([far]);
    let wide = Pooling::new([2]).stride([far]).padding([1]);
    for (how, windows, want) in [
        (one, 2, [1.0, 0.0, 1.0]),
        (wide, 1, [0.5, 0.0, 0.0]),
        (one.stride([far]), 1, [1.0, 0.0, 0.0]),
    ] {
        let arrives = device.ones([windows], DType::F32).map_err(show)?;
        let mean = arrives.avg_pool_grad([3], &how).map_err(show)?;
        let got = mean.read::<f32>().await.map_err(show)?;
        ensure_eq!(got, want, "of a mean, {how:?}");
        let (x, _) = device.upload(&[3.0f32, 2.0, 1.0], [3]).map_err(show)?;
        let (most, places) = x.max_pool_with_indices(&how).map_err(show)?;
        let (most, at) = (most.read::<f32>().await, places.read::<u32>().await);
        ensure_eq!(most.map_err(show)?, [3.0, 1.0][..windows], "the largest, {how:?}");
        ensure_eq!(at.map_err(show)?, [0, 2][..windows], "its place, {how:?}");
        let back = arrives.max_pool_grad(&places, [3], &how).map_err(show)?;
        let want = want.map(|x: f32| x.ceil());
        ensure_eq!(back.read::<f32>().await.map_err(show)?, want, "of the largest, {how:?}");
    }
    Ok(())
}

/// Integers that arrive at one element wrap to their width.
pub(super) async fn wraps(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let how = Pooling::new([2]).stride([1]);
    let (places, _) = device.upload(&[1u32, 1], [2]).map_err(show)?;
    let (arrives, _) = device.upload(&[100i8, 100], [2]).map_err(show)?;
    let got = arrives.max_pool_grad(&places, [3], &how).map_err(show)?;
    ensure_eq!(got.read::<i8>().await.map_err(show)?, [0, -56, 0], "of i8");
    let (arrives, _) = device.upload(&[40_000u16, 40_000], [2]).map_err(show)?;
    let got = arrives.max_pool_grad(&places, [3], &how).map_err(show)?;
    ensure_eq!(got.read::<u16>().await.map_err(show)?, [0, 14_464, 0], "of u16");
    Ok(())
}

/// Few different numbers, so that many are equal.
async fn pair(
    device: &Device,
    random: &mut Random,
    dtype: DType,
    dims: &[usize],
    moves: &[Move],
) -> Result<Pair, String> {
    let mut one = || match random.below(16) {
        n if dtype.is_float() => bits(dtype, Number::Float(n as f64 / 4.0 - 2.0)),
        n => bits(dtype, Number::Int(n as i128)),
    };
    let stored = (0..dims.iter().product()).map(|_| one()).collect();
    Pair::new(device, dtype, stored, dims).await?.view(moves)
}

/// The places of the elements of a window.
fn elements(form: &Form, dims: &[usize], window: &[usize]) -> Vec<Vec<usize>> {
    let first = dims.len() - form.size.len();
    let place = |tap: Vec<usize>| {
        let mut at = window.to_vec();
        for (i, tap) in tap.into_iter().enumerate() {
            let padded = window[first + i] * form.stride[i] + tap * form.dilation[i];
            at[first + i] = padded.wrapping_sub(form.padding[i]);
        }
        at
    };
    let inside = |at: &Vec<usize>| at.iter().zip(dims).all(|(i, dim)| i < dim);
    places(form.size).map(place).filter(inside).collect()
}

async fn one(device: &Device, random: &mut Random, dtype: DType, form: &Form) -> Outcome {
    let x = pair(device, random, dtype, form.dims, &form.moves).await?;
    let dims = x.tensor.shape().dims();
    let (first, axes) = (dims.len() - form.size.len(), form.size.len());
    let mut arrives = dims.to_vec();
    for i in 0..axes {
        let last = form.dilation[i] * (form.size[i] - 1);
        arrives[first + i] =
            (dims[first + i] + 2 * form.padding[i] - last - 1) / form.stride[i] + 1;
    }
    let y = pair(device, random, dtype, &arrives, &[Move::Flip(first)]).await?;
    let of_y: Vec<Number> = y.expected().into_iter().map(|b| value(dtype, b)).collect();
    for what in [What::Max, What::Mean, What::MeanOfThose] {
        if what != What::Max && !dtype.is_float() {
            continue;
        }
        let both = [&x.tensor, &y.tensor];
        let (got, found) = match axes {
            1 => gradients::<1>(what, both, form),
            2 => gradients::<2>(what, both, form),
            _ => gradients::<3>(what, both, form),
        }
        .map_err(show)?;
        ensure_eq!(got.shape().dims(), dims, "the shape of {what:?}");
        ensure_eq!(got.dtype(), dtype, "the dtype of {what:?}");
        let found = bits_of(&found).await?;
        let mut shares = vec![Vec::new(); dims.iter().product()];
        let flat = |place: &[usize], dims: &[usize]| {
            place.iter().zip(dims).fold(0, |n, (i, dim)| n * dim + i)
        };
        for (n, place) in places(&arrives).enumerate() {
            let window = elements(form, dims, &place);
            let all: usize = form.size.iter().product();
            let (least, share) = match what {
                What::Max => (true, 1),
                What::Mean => (false, all),
                What::MeanOfThose => (false, window.len()),
            };
            for at in window {
                if !least || flat(&at[first..], &dims[first..]) as u64 == found[n] {
                    shares[flat(&at, dims)].push(match of_y[n] {
                        Number::Float(x) => Number::Float(x / share as f64),
                        number => number,
                    });
                }
            }
        }
        count();
        for (i, (bits, shares)) in bits_of(&got).await?.into_iter().zip(shares).enumerate() {
            let got = value(dtype, bits);
            if let (Number::Int(got), false) = (got, dtype.is_float()) {
                let sum = shares.iter().fold(0, |sum, share| match share {
                    Number::Int(n) => sum + n,
                    _ => sum,
                });
                ensure_eq!(got, sum, "{i} of {what:?}");
                continue;
            }
            let want = reduce(Reduction::Sum, dtype, &shares, 0).ok_or("a sum of nothing")?;
            let kept = Reduction::Sum.bound(dtype).within(dtype, want, got);
            ensure!(kept, "{i} of {what:?}: {got:?}, not {want:?} of {shares:?}");
        }
    }
    Ok(())
}
