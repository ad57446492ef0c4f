//! Pools over windows of one to three axes: strides, paddings, dilations, views, every dtype,
//! against the oracle of a reduction.

use wharf::dtype::Class;
use wharf::op::Reduction;
use wharf::reference::{Number, places, reduce};
use wharf::tensor::Pooling;
use wharf::{Adapter, DType, Device, Target, Tensor};

use super::pair::{NUMBERS, Pair, bits, bits_of, carries, count, value};
use super::probe::Random;
use super::views::{Move, TARGETS};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, LOWEST, Outcome, Size, case, ensure, ensure_eq, is_slow,
    matters, show,
};

use Move::{Flip, Permute, Slice};

mod backward;

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
        form(&[1, 1, 0, 8], &[2, 2], &[1, 1], &[1, 0], &[1, 1]),
        Form { moves: turned, ..form(&[2, 6, 8, 3], &[3, 2], &[2, 1], &[1, 1], &[1, 2]) },
        // Rows of whole quads: of the result as well, and not.
        form(&[2, 3, 9, 16], &[3, 3], &[1, 1], &[1, 1], &[1, 1]),
        form(&[2, 2, 7, 12], &[3, 4], &[2, 2], &[1, 2], &[2, 1]),
        form(&[3, 1, 6, 20], &[2, 3], &[1, 3], &[1, 1], &[1, 3]),
        // Such rows from a whole quad on, and from within one.
        Form {
            moves: vec![Slice(3, 4..16, 1), Slice(2, 1..7, 1)],
            ..form(&[2, 2, 7, 20], &[3, 3], &[1, 1], &[1, 1], &[1, 1])
        },
        Form {
            moves: vec![Slice(3, 3..15, 1), Permute(vec![1, 0, 2, 3])],
            ..form(&[2, 3, 5, 20], &[3, 3], &[2, 1], &[1, 1], &[1, 1])
        },
        // Rows that begin at whole quads, and end within one.
        Form {
            moves: vec![Slice(3, 4..9, 1)],
            ..form(&[2, 2, 5, 16], &[3, 3], &[1, 1], &[1, 1], &[1, 1])
        },
        // Planes that are far apart.
        form(&[1, 2, 5, 4, 8], &[2, 2, 3], &[2, 1, 1], &[1, 1, 1], &[3, 1, 1]),
        // Several axes before the windows; windows that see nothing but padding.
        form(&[2, 2, 3, 4, 8], &[2, 2], &[1, 1], &[1, 0], &[1, 1]),
        form(&[2, 3, 2, 8], &[2, 2], &[1, 1], &[1, 1], &[3, 1]),
        // As many axes as there can be before the windows, of one result and of several.
        form(&[1, 2, 1, 1, 3, 2, 2], &[2, 2], &[1, 1], &[0, 0], &[1, 1]),
        Form {
            moves: vec![Permute(vec![4, 0, 1, 2, 3, 5, 6, 7])],
            ..form(&[2, 1, 1, 2, 3, 1, 3, 4], &[2, 3], &[2, 2], &[1, 1], &[1, 1])
        },
        // Along more axes than the kernel of windows has.
        form(&[3, 4, 3, 5], &[2, 2, 2, 2], &[1, 2, 1, 1], &[0, 1, 0, 1], &[1, 1, 1, 1]),
        // More than the kernel of windows takes, in a row and in all.
        form(&[2, 40], &[6], &[7], &[3], &[6]),
        form(&[1, 2, 20, 19], &[18, 17], &[1, 1], &[9, 0], &[1, 1]),
        form(&[1, 2, 12, 36], &[1, 5, 33], &[1, 2, 1], &[0, 2, 0], &[1, 1, 1]),
    ]
}

/// Rows of one to nine elements and windows of one to three: where a quad ends, and where a row.
const RAGGED: [(&[usize], &[usize]); 9] = [
    (&[2, 2, 3, 1], &[1]),
    (&[2, 2, 3, 2], &[2]),
    (&[2, 2, 3, 3], &[3]),
    (&[2, 2, 3, 4], &[3]),
    (&[2, 2, 3, 5], &[3]),
    (&[2, 2, 3, 6], &[2]),
    (&[2, 2, 3, 7], &[3]),
    (&[2, 2, 3, 8], &[3]),
    (&[2, 2, 3, 9], &[3]),
];

fn ragged() -> impl Iterator<Item = Form> {
    RAGGED.into_iter().flat_map(|(dims, size)| {
        let padding: &[usize] = if size[0] > 1 { &[1] } else { &[0] };
        [&[1], &[2]].map(|stride| {
            let (moves, dilation) = (Vec::new(), &[1][..]);
            Form { dims, moves, size, stride, padding, dilation }
        })
    })
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
    let quick = !is_slow(adapter.caps());
    for what in [What::Max, What::Mean, What::MeanOfThose] {
        for &dtype in NUMBERS {
            if what != What::Max && !dtype.is_float() {
                continue;
            }
            let case = case!(format!("pool::{what:?}::{dtype}"), |ctx| {
                run(ctx, DOWNGRADES[0], what, dtype)
            });
            let usual = quick || dtype == DType::F32;
            let size = if usual { Size::Usual } else { Size::Large };
            cases.push(Case { size, ..case }.needs(adapter, DOWNGRADES[0], dtype));
        }
    }
    for (what, dtype) in [
        (What::Max, DType::F32),
        (What::Max, DType::I8),
        (What::Mean, DType::F16),
        (What::MeanOfThose, DType::F32),
    ] {
        let name = format!("pool::{what:?}::{dtype}::{}", LOWEST.name);
        cases.push(case!(name, |ctx| run(ctx, LOWEST, what, dtype)).on_demand(adapter));
    }
    for &dtype in NUMBERS {
        let usual = quick || matches!(dtype, DType::F32 | DType::I32);
        let size = if usual { Size::Usual } else { Size::Large };
        for case in [
            case!(format!("pool::indices::{dtype}"), |ctx| placed(ctx, dtype)),
            case!(format!("pool::backward::{dtype}"), |ctx| backward::run(ctx, dtype)),
        ] {
            cases.push(Case { size, ..case }.needs(adapter, DOWNGRADES[0], dtype));
        }
    }
    cases.push(case!("pool::roundings", |ctx| roundings(ctx)));
    cases.push(case!("pool::backward::elsewhere", |ctx| backward::elsewhere(ctx)));
    cases.push(case!("pool::backward::beyond", |ctx| backward::beyond(ctx)));
    cases.push(case!("pool::backward::wraps", |ctx| backward::wraps(ctx)));
    cases
}

/// Where the largest elements are, at native and at lowered capabilities.
async fn placed(ctx: &Ctx, dtype: DType) -> Outcome {
    let mut random = Random::new(32);
    let matter = DOWNGRADES.iter().filter(|downgrade| matters(&ctx.adapter, **downgrade));
    for (n, &downgrade) in matter.enumerate() {
        let device = ctx.device(downgrade).await?;
        for device in TARGETS.map(|target| device.with_target(target)) {
            if !carries(&device, dtype) {
                continue;
            }
            let all = dtype == DType::F32 && n == 0;
            for form in taken(forms().into_iter(), all, 5, n) {
                let place = format!("{form:?} for {:?}, {}", device.target(), downgrade.name);
                let run = places_of_one(&device, &mut random, dtype, &form);
                run.await.map_err(|e| format!("{place}: {e}"))?;
            }
        }
    }
    Ok(())
}

/// All of them, or every so many-th with everything that the adapter has; with less a third of
/// those.
fn taken(
    forms: impl Iterator<Item = Form>,
    all: bool,
    every: usize,
    downgrade: usize,
) -> impl Iterator<Item = Form> {
    let (skip, step) = match (all, downgrade) {
        (true, _) => (0, 1),
        (_, 0) => (1, every),
        (_, n) => (1 + n % 3 * every, 3 * every),
    };
    forms.skip(skip).step_by(step)
}

fn indices<const D: usize>(x: &Tensor, form: &Form) -> wharf::Result<(Tensor, Tensor)> {
    x.max_pool_with_indices(&pooling::<D>(form))
}

/// Few different numbers, so that many are equal; the least there is, and NaN.
async fn places_of_one(device: &Device, random: &mut Random, dtype: DType, form: &Form) -> Outcome {
    let least = |dtype: DType| match dtype {
        dtype if dtype.is_float() => Number::Float(f64::NEG_INFINITY),
        dtype if dtype.name().starts_with('u') => Number::Int(0),
        dtype => Number::Int(-1 << (8 * dtype.width() - 1)),
    };
    let mut one = || match random.below(8) {
        0..4 => bits(dtype, least(dtype)),
        4 if dtype.is_float() && random.below(4) == 0 => bits(dtype, Number::Float(f64::NAN)),
        n if dtype.is_float() => bits(dtype, Number::Float(n as f64 - 6.0)),
        n => bits(dtype, Number::Int(n as i128)),
    };
    let stored = (0..form.dims.iter().product()).map(|_| one()).collect();
    let x = Pair::new(device, dtype, stored, form.dims).await?.view(&form.moves)?;
    let pooled = match form.size.len() {
        1 => indices::<1>(&x.tensor, form),
        2 => indices::<2>(&x.tensor, form),
        4 => indices::<4>(&x.tensor, form),
        _ => indices::<3>(&x.tensor, form),
    };
    let (most, places_of) = pooled.map_err(show)?;
    ensure_eq!(places_of.dtype(), DType::U32, "the dtype of places");
    ensure_eq!(places_of.shape(), most.shape(), "the shapes");
    let dims = x.tensor.shape().dims();
    let (first, axes) = (dims.len() - form.size.len(), form.size.len());
    let values: Vec<Number> = x.expected().into_iter().map(|b| value(dtype, b)).collect();
    let flat =
        |place: &[usize], dims: &[usize]| place.iter().zip(dims).fold(0, |n, (i, dim)| n * dim + i);
    let larger = |a: Number, b: Number| match (a, b) {
        (Number::Float(a), Number::Float(b)) => a > b || a.is_nan() && !b.is_nan(),
        (Number::Int(a), Number::Int(b)) => a > b,
        _ => false,
    };
    let (got, found) = (bits_of(&most).await?, bits_of(&places_of).await?);
    count();
    for ((place, got), found) in places(most.shape().dims()).zip(got).zip(found) {
        let mut best: Option<(Number, usize)> = None;
        for tap in places(form.size) {
            let mut at = place.clone();
            for i in 0..axes {
                let padded = place[first + i] * form.stride[i] + tap[i] * form.dilation[i];
                at[first + i] = padded.wrapping_sub(form.padding[i]);
            }
            if at.iter().zip(dims).all(|(i, dim)| i < dim) {
                let here = (values[flat(&at, dims)], flat(&at[first..], &dims[first..]));
                best = best.filter(|best| !larger(here.0, best.0)).or(Some(here));
            }
        }
        let Some((want, at)) = best else {
            ensure_eq!(found, u64::from(u32::MAX), "{place:?}: a place in nothing but padding");
            ensure_eq!(got, bits(dtype, least(dtype)), "{place:?}: of nothing but padding");
            continue;
        };
        ensure_eq!(found as usize, at, "{place:?}: where {want:?} is");
        let got = value(dtype, got);
        let nan = |x: Number| matches!(x, Number::Float(x) if x.is_nan());
        ensure!(got == want || nan(got) && nan(want), "{place:?}: {got:?}, not {want:?}");
    }
    Ok(())
}

async fn run(ctx: &Ctx, downgrade: Downgrade, what: What, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(31);
    let other = if device.target() == Target::Gpu { Target::Cpu } else { Target::Gpu };
    for (n, device) in [device.clone(), device.with_target(other)].into_iter().enumerate() {
        // Dtypes differ in how a quad is read; f32 is tried on everything, if nothing is lacking.
        let (first, step) = match (downgrade.name, dtype) {
            ("native", DType::F32) => (0, 1),
            ("native", _) => (0, 3),
            _ => (n, 6),
        };
        for form in forms().into_iter().chain(ragged()).skip(first).step_by(step) {
            let place = format!("{form:?} for {:?}", device.target());
            let run = one(&device, &mut random, what, dtype, &form);
            run.await.map_err(|e| format!("{place}: {e}"))?;
        }
    }
    Ok(())
}

/// Now and then NaN, and the least there is; or negative, below any padding.
fn element(random: &mut Random, dtype: DType, negative: bool) -> u64 {
    let n = random.below(1 << 16);
    if !dtype.is_float() {
        let sign = if negative && dtype.class() == Class::Signed { least(dtype) } else { 0 };
        return sign | random.below(usize::MAX) as u64 & (u64::MAX >> (64 - 8 * dtype.width()));
    }
    let x = match n {
        0..600 => f64::NAN,
        600..2000 => f64::NEG_INFINITY,
        _ => n as f64 / 4096.0 - if negative { 17.0 } else { 8.0 },
    };
    bits(dtype, Number::Float(x))
}

/// The bits of the least number of a dtype.
fn least(dtype: DType) -> u64 {
    match dtype.class() {
        Class::Float => bits(dtype, Number::Float(f64::NEG_INFINITY)),
        Class::Signed => 1 << (8 * dtype.width() - 1),
        _ => 0,
    }
}

/// Elements that are lost where they are added to the first one by one, along one axis or another.
async fn roundings(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for size in [[256, 256], [200, 56]] {
        let [rows, columns] = size;
        let dims = [rows + 1, columns + 1, 4];
        let value = |at: &Vec<usize>| match at[..2] {
            [0, 0] => 1.0,
            [0, _] | [_, 0] => 0.99 / (1 << 24) as f32,
            _ => 0.0,
        };
        let values: Vec<f32> = places(&dims).map(|at| value(&at)).collect();
        let window: Vec<Number> =
            places(&size).map(|at| Number::Float(value(&at).into())).collect();
        let want = reduce(Reduction::Mean, DType::F32, &window, 0).ok_or("of nothing")?;
        for device in TARGETS.map(|target| device.with_target(target)) {
            let (x, _) = device.upload(&values, dims).map_err(show)?;
            let how = Pooling::new([rows, columns, 1]).stride([1; 3]);
            let pooled = x.avg_pool(&how).map_err(show)?;
            let got = pooled.read::<f32>().await.map_err(show)?[0];
            count();
            let got = Number::Float(got.into());
            let kept = Reduction::Mean.bound(DType::F32).within(DType::F32, want, got);
            let place = format!("{rows} x {columns} for {:?}", device.target());
            ensure!(kept, "{place}: {got:?}, not {want:?}");
        }
    }
    Ok(())
}

fn pooling<const D: usize>(form: &Form) -> Pooling<D> {
    let each = |of: &[usize]| -> [usize; D] { std::array::from_fn(|i| of[i]) };
    let how = Pooling::new(each(form.size)).stride(each(form.stride)).padding(each(form.padding));
    how.dilation(each(form.dilation))
}

fn apply<const D: usize>(what: What, x: &Tensor, form: &Form) -> wharf::Result<Tensor> {
    let how = pooling::<D>(form);
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
    let count_of: usize = form.dims.iter().product();
    let stored = (0..count_of).map(|i| element(random, dtype, 2 * i < count_of)).collect();
    let x = Pair::new(device, dtype, stored, form.dims).await?.view(&form.moves)?;
    let y = match form.size.len() {
        1 => apply::<1>(what, &x.tensor, form),
        2 => apply::<2>(what, &x.tensor, form),
        4 => apply::<4>(what, &x.tensor, form),
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
        let got = value(dtype, got);
        let Some(want) = reduce(reduction, dtype, &window, 0) else {
            ensure_eq!(got, value(dtype, least(dtype)), "{place:?} of nothing");
            continue;
        };
        let kept = reduction.bound(dtype).within(dtype, want, got);
        ensure!(kept, "{place:?}: {got:?}, not {want:?} of {window:?}");
    }
    Ok(())
}
