//! Pools over windows of one to three axes: strides, paddings, dilations, views, every dtype,
//! against the oracle of a reduction.

use wharf::caps::Feature;
use wharf::op::Reduction;
use wharf::reference::{Number, places, reduce};
use wharf::tensor::Pooling;
use wharf::{Adapter, DType, Device, Target, Tensor};

use super::pair::{Pair, bits, bits_of, count, value};
use super::probe::Random;
use super::views::Move;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, Size, case, ensure, ensure_eq};

use Move::{Flip, Permute, Slice};

/// Windows over the last axes of a view: as many as there are strides.
#[derive(Clone, Debug)]
struct Form {
    dims: &'static [usize],
    moves: Vec<Move>,
    size: &'static [usize],
    stride: &'static [usize],
    padding: &'static [usize],
    dilation: &'static [usize],
}

fn forms() -> Vec<Form> {
    let form = |dims, size, stride, padding, dilation| {
        let moves = Vec::new();
        Form { dims, moves, size, stride, padding, dilation }
    };
    let turned = vec![Permute(vec![0, 3, 1, 2]), Flip(2), Slice(3, 1..7, 1)];
    vec![
        form(&[2, 3, 8, 8], &[2, 2], &[2, 2], &[0, 0], &[1, 1]),
        form(&[1, 2, 7, 9], &[3, 3], &[2, 2], &[1, 1], &[1, 1]),
        form(&[3, 10], &[3], &[1], &[1], &[2]),
        form(&[1, 4, 5, 6], &[2, 3, 2], &[1, 2, 3], &[1, 0, 1], &[1, 1, 2]),
        form(&[1, 1, 6, 5], &[6, 5], &[1, 1], &[0, 0], &[1, 1]),
        form(&[0, 2, 6, 5], &[2, 2], &[1, 1], &[1, 1], &[1, 1]),
        Form { moves: turned, ..form(&[2, 6, 8, 3], &[3, 2], &[2, 1], &[1, 1], &[1, 2]) },
    ]
}

/// A pool of any dtype.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Max,
    Mean,
    MeanOfThose,
}

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    let quick = adapter.caps().has(Feature::ShaderF16);
    for what in [What::Max, What::Mean, What::MeanOfThose] {
        for dtype in DType::ALL.into_iter().filter(|&dtype| dtype != DType::Bool) {
            if what != What::Max && !dtype.is_float() {
                continue;
            }
            let case = case!(format!("pool::{what:?}::{dtype}"), |ctx| run(ctx, what, dtype));
            let usual = quick || dtype == DType::F32;
            let size = if usual { Size::Usual } else { Size::Large };
            cases.push(Case { size, ..case }.needs(adapter, DOWNGRADES[0], dtype));
        }
    }
    cases
}

async fn run(ctx: &Ctx, what: What, dtype: DType) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(31);
    let other = if device.target() == Target::Gpu { Target::Cpu } else { Target::Gpu };
    for device in [device.clone(), device.with_target(other)] {
        // Dtypes differ in how a quad is read; f32 is tried on everything.
        let step = if dtype == DType::F32 { 1 } else { 3 };
        for form in forms().into_iter().step_by(step) {
            let place = format!("{form:?} for {:?}", device.target());
            let run = one(&device, &mut random, what, dtype, &form);
            run.await.map_err(|e| format!("{place}: {e}"))?;
        }
    }
    Ok(())
}

/// Now and then NaN, and the least there is.
fn element(random: &mut Random, dtype: DType) -> u64 {
    let n = random.below(1 << 16);
    if !dtype.is_float() {
        return random.below(usize::MAX) as u64 & (u64::MAX >> (64 - 8 * dtype.width()));
    }
    let x = match n {
        0..600 => f64::NAN,
        600..2000 => f64::NEG_INFINITY,
        _ => n as f64 / 4096.0 - 8.0,
    };
    bits(dtype, Number::Float(x))
}

fn apply<const D: usize>(what: What, x: &Tensor, form: &Form) -> wharf::Result<Tensor> {
    let each = |of: &[usize]| -> [usize; D] { std::array::from_fn(|i| of[i]) };
    let how = Pooling::of(each(form.size)).stride(each(form.stride)).padding(each(form.padding));
    let how = how.dilation(each(form.dilation));
    match what {
        What::Max => x.max_pool(&how),
        What::Mean => x.avg_pool(&how),
        What::MeanOfThose => x.avg_pool(&how.padding_uncounted()),
    }
}

async fn one(
    device: &Device,
    random: &mut Random,
    what: What,
    dtype: DType,
    form: &Form,
) -> Outcome {
    let count_of = form.dims.iter().product();
    let stored = (0..count_of).map(|_| element(random, dtype)).collect();
    let x = Pair::new(device, dtype, stored, form.dims).await?.view(&form.moves)?;
    let y = match form.size.len() {
        1 => apply::<1>(what, &x.tensor, form),
        2 => apply::<2>(what, &x.tensor, form),
        _ => apply::<3>(what, &x.tensor, form),
    };
    let y = y.map_err(|e| format!("{e:?}"))?;
    let dims = x.tensor.shape().dims();
    let (first, axes) = (dims.len() - form.size.len(), form.size.len());
    let mut result = dims.to_vec();
    for i in 0..axes {
        let last = form.dilation[i] * (form.size[i] - 1);
        result[first + i] = (dims[first + i] + 2 * form.padding[i] - last - 1) / form.stride[i] + 1;
    }
    ensure_eq!(y.shape().dims(), result, "the shape");
    ensure_eq!(y.dtype(), dtype, "the dtype");
    let values: Vec<Number> = x.expected().into_iter().map(|b| value(dtype, b)).collect();
    let got = bits_of(&y).await?;
    count();
    let (reduction, beside) = match what {
        What::Max => (Reduction::Max, None),
        What::Mean => (Reduction::Mean, Some(Number::Float(0.0))),
        What::MeanOfThose => (Reduction::Mean, None),
    };
    for (place, &got) in places(&result).zip(&got) {
        let mut window = Vec::new();
        for tap in places(form.size) {
            let mut at = place.clone();
            for i in 0..axes {
                let padded = place[first + i] * form.stride[i] + tap[i] * form.dilation[i];
                at[first + i] = padded.wrapping_sub(form.padding[i]);
            }
            let inside = at.iter().zip(dims).all(|(i, dim)| i < dim);
            let index = || at.iter().zip(dims).fold(0, |n, (i, dim)| n * dim + i);
            window.extend(if inside { Some(values[index()]) } else { beside });
        }
        let Some(want) = reduce(reduction, dtype, &window, 0) else { continue };
        let got = value(dtype, got);
        let kept = reduction.bound(dtype).within(dtype, want, got);
        ensure!(kept, "{place:?}: {got:?}, not {want:?} of {window:?}");
    }
    Ok(())
}
