//! Softmax, its logarithm and norms, along every axis of views, with rows of length 1, ragged, and
//! longer than a group holds; masks; against the oracle.

use wharf::op::Joint;
use wharf::reference::{Exact, Number, log_softmax, norm, softmax};
use wharf::{Adapter, DType, Device, Layout, Target, Tensor};

use super::pair::{Pair, bits, bits_of, carries, count, value};
use super::probe::Random;
use super::reduce::NO_SUBGROUPS;
use super::views::Move;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, Size, case, ensure, ensure_eq, is_slow, matters,
    show,
};

use Joint::{CrossEntropy, LayerNorm, LogSoftmax, RmsNorm, Softmax};
use Move::{Flip, Transpose};

const EPS: f32 = 1e-5;

type Form = (&'static [usize], &'static [Move], usize);

const FORMS: &[Form] = &[
    (&[1], &[], 0),
    (&[3, 1], &[], 1),
    (&[9, 5], &[], 1),
    (&[9, 32], &[], 1),
    (&[33, 7], &[Transpose], 1),
    (&[5, 1021], &[], 1),
];

const MORE: &[Form] = &[
    (&[4], &[], 0),
    (&[0, 3], &[], 1),
    (&[3, 0], &[], 1),
    (&[300, 2], &[], 1),
    (&[40, 33], &[], 0),
    (&[40, 36], &[Flip(1)], 0),
    (&[3, 4, 5], &[], 1),
    (&[4, 6, 8], &[], 0),
    (&[17, 1028], &[], 1),
    // Long rows along an axis that is not the innermost in memory.
    (&[300, 1001], &[], 0),
    (&[300, 1000], &[], 0),
    // Lengths around the size of a GPU's workgroup.
    (&[5, 63], &[], 1),
    (&[5, 64], &[], 1),
    (&[5, 65], &[], 1),
    (&[65, 3], &[], 0),
    (&[3, 255], &[], 1),
    (&[3, 256], &[], 1),
    (&[3, 257], &[], 1),
    // What a lane of a GPU keeps in registers, and the first row that is too long for it.
    (&[2, 1501], &[], 1),
    (&[2, 8192], &[], 1),
    (&[2, 8196], &[], 1),
    // All cores share a row.
    (&[2, 40_000], &[], 1),
    (&[1, 65_535], &[], 1),
    (&[1, 65_536], &[], 1),
    (&[2, 65_537], &[], 1),
    // Of more rows, too.
    (&[17, 16_387], &[], 1),
];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    let quick = !is_slow(adapter.caps());
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        for what in [Softmax, LogSoftmax, LayerNorm, RmsNorm] {
            for dtype in [DType::F32, DType::F16, DType::Bf16, DType::F64] {
                let runs = match downgrade.name {
                    "native" => true,
                    "small_bindings" => dtype == DType::F32,
                    "no_f16" => dtype == DType::F16 && what == Softmax,
                    _ => false,
                };
                if runs {
                    let name = format!("rows::{what:?}::{dtype}::{}", downgrade.name);
                    let case = case!(name, |ctx| run(ctx, downgrade, what, dtype))
                        .needs(adapter, downgrade, dtype);
                    // Drivers that compile slowly run dtypes other than f32 only on demand.
                    let usual = quick || dtype == DType::F32;
                    cases.push(Case { size: if usual { Size::Usual } else { Size::Huge }, ..case });
                }
            }
        }
    }
    let trees = if matters(adapter, NO_SUBGROUPS) { &[Softmax, LayerNorm][..] } else { &[] };
    for &what in trees {
        let name = format!("rows::{what:?}::f32::{}", NO_SUBGROUPS.name);
        cases.push(case!(name, |ctx| run(ctx, NO_SUBGROUPS, what, DType::F32)));
    }
    let long = case!("rows::softmax_of_sixteen_million", |ctx| sixteen_million(ctx));
    cases.push(Case { size: if quick { Size::Usual } else { Size::Large }, ..long });
    let long = case!("rows::norms_of_sixteen_million", |ctx| long_norms(ctx));
    cases.push(Case { size: if quick { Size::Usual } else { Size::Large }, ..long });
    cases.push(case!("rows::softmax_of_plus_and_minus_ten_thousand", |ctx| far_apart(ctx)));
    cases.push(case!("rows::cross_entropy_of_classes", |ctx| cross_entropy(ctx)));
    cases.push(case!("rows::masked_rows", |ctx| masked(ctx)));
    cases.push(case!("rows::more_than_a_segment_once_they_are_cast", |ctx| widened(ctx)).needs(
        adapter,
        DOWNGRADES[4],
        DType::I64,
    ));
    cases.push(case!("rows::scale_and_shift_follow_in_the_kernel", |ctx| scaled(ctx)));
    cases
}

/// Operands of 160 KB fit into a segment of 192 KiB, and their results of 320 KB do not.
async fn widened(ctx: &Ctx) -> Outcome {
    let device = ctx.device(DOWNGRADES[4]).await?;
    let x = device.zeros([100, 400], DType::F32).map_err(show)?;
    let (row, thousands) = (x.softmax(1).map_err(show)?, 1000.0f32);
    let wide = (row * thousands).map_err(show)?.cast(DType::I64).map_err(show)?;
    let got = wide.read::<i64>().await.map_err(show)?;
    ensure_eq!(got.iter().position(|&x| x != 2), None, "1000 / 400 is 2 and a half");
    count();
    Ok(())
}

/// Every weight is a power of two, and every sum on the way exact.
async fn sixteen_million(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for target in [Target::Cpu64, Target::Gpu] {
        let zeros = device.with_target(target).zeros([1 << 24], DType::F32).map_err(show)?;
        let got = zeros.softmax(0).map_err(show)?.read::<f32>().await.map_err(show)?;
        let odd = got.iter().position(|&x| x != 1.0 / 16_777_216.0);
        ensure_eq!(odd, None, "a weight that is not 2^-24, for {target:?}");
    }
    Ok(())
}

/// Equally many values of either sign, so that the mean is 0. The last quarter is larger, to reveal
/// a sum that ends early.
async fn long_norms(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let n = 1usize << 24;
    let size = |i: usize| if i < n / 4 * 3 { 1.0 } else { 5.0 };
    let number = |i: usize| if i.is_multiple_of(2) { size(i) } else { -size(i) };
    let data: Vec<f32> = (0..n).map(number).collect();
    for target in [Target::Cpu64, Target::Gpu] {
        let (x, _) = device.with_target(target).upload(&data, [n]).map_err(show)?;
        for y in [x.layer_norm(0, None, None, EPS), x.rms_norm(0, None, EPS)] {
            let got = y.map_err(show)?.read::<f32>().await.map_err(show)?;
            // The mean square is 7. The slack allows for roundings of the sums and of the root.
            let want = |x: f32| x / (7.0f32 + EPS).sqrt();
            let near = |(&got, &x): (&f32, &f32)| (got - want(x)).abs() <= 4e-6 * x.abs();
            ensure_eq!(got.len(), n, "for {target:?}");
            let odd = got.iter().zip(&data).position(|pair| !near(pair));
            ensure_eq!(odd, None, "not itself over the root of 7, for {target:?}");
        }
    }
    Ok(())
}

pub(super) fn exact(what: Joint, row: &[f64]) -> Vec<Exact> {
    match what {
        Softmax => softmax(row),
        LogSoftmax => log_softmax(row),
        LayerNorm => norm(row, EPS.into(), true),
        _ => norm(row, EPS.into(), false),
    }
}

pub(super) fn apply(what: Joint, x: &Tensor, axis: usize) -> wharf::Result<Tensor> {
    match what {
        Softmax => x.softmax(axis),
        LogSoftmax => x.log_softmax(axis),
        LayerNorm => x.layer_norm(axis, None, None, EPS),
        _ => x.rms_norm(axis, None, EPS),
    }
}

async fn run(ctx: &Ctx, downgrade: Downgrade, what: Joint, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let other = if device.target() == Target::Gpu { Target::Cpu } else { Target::Gpu };
    let mut random = Random::new(21);
    for device in [device.clone(), device.with_target(other)] {
        let all = dtype == DType::F32 && downgrade.name != NO_SUBGROUPS.name;
        let more = if all { MORE } else { &[] };
        let step = if is_slow(ctx.adapter.caps()) { 3 } else { 1 };
        for &(dims, moves, axis) in FORMS.iter().chain(more).step_by(step) {
            one(&device, &mut random, what, dtype, (dims, moves, axis)).await?;
        }
        if downgrade.name == "small_bindings" {
            for dims in [&[300, 400][..], &[3, 60_000], &[4000, 30]] {
                one(&device, &mut random, what, dtype, (dims, &[], 1)).await?;
            }
        }
    }
    Ok(())
}

async fn one(
    device: &Device,
    random: &mut Random,
    what: Joint,
    dtype: DType,
    (dims, moves, axis): (&[usize], &[Move], usize),
) -> Outcome {
    let place = format!("{dims:?} {moves:?} along {axis} for {:?}", device.target());
    let number = |random: &mut Random| random.below(4096) as f64 / 256.0 - 8.0;
    let stored = (0..dims.iter().product()).map(|_| bits(dtype, Number::Float(number(random))));
    let pair = Pair::new(device, dtype, stored.collect(), dims).await?.view(moves)?;
    let result = apply(what, &pair.tensor, axis).map_err(|e| format!("{place}: {e:?}"))?;
    ensure_eq!(result.shape(), pair.tensor.shape(), "{place}: the shape");
    ensure_eq!(result.dtype(), dtype, "{place}: the dtype");
    let got = bits_of(&result).await.map_err(|e| format!("{place}: {e}"))?;
    count();
    // Compares both row by row along the axis.
    let rank = pair.layout.shape().rank();
    let order: Vec<usize> = (0..rank).filter(|&a| a != axis).chain([axis]).collect();
    let length = pair.layout.shape().dims()[axis].max(1);
    let x = pair.layout.permute(&order).map_err(show)?;
    let y = Layout::dense(*pair.layout.shape()).permute(&order).map_err(show)?;
    let x: Vec<f64> = x.places().map(|p| float(dtype, pair.bits[p])).collect();
    let y: Vec<u64> = y.places().map(|p| got[p]).collect();
    for (n, (row, got)) in x.chunks(length).zip(y.chunks(length)).enumerate() {
        judge(what, dtype, &exact(what, row), got).map_err(|e| format!("{place}, row {n}: {e}"))?;
    }
    Ok(())
}

fn float(dtype: DType, bits: u64) -> f64 {
    match value(dtype, bits) {
        Number::Float(x) => x,
        _ => f64::NAN,
    }
}

fn judge(what: Joint, dtype: DType, exact: &[Exact], got: &[u64]) -> Outcome {
    for (i, (exact, &bits)) in exact.iter().zip(got).enumerate() {
        let got = value(dtype, bits);
        ensure!(what.bound().within(dtype, *exact, got), "{i} is {got:?}, not {exact:?}");
    }
    Ok(())
}

/// Values that overflow unless the highest is subtracted first.
async fn far_apart(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let row = |r: usize| (0..37).map(move |c| [1e4_f32, -1e4, 0.5, 9999.0][(r + c * (r + 1)) % 4]);
    let data: Vec<f32> = (0..70).flat_map(row).collect();
    for target in [Target::Cpu64, Target::Gpu] {
        let (x, _) = device.with_target(target).upload(&data, [70, 37]).map_err(show)?;
        for what in [Softmax, LogSoftmax] {
            let got = bits_of(&apply(what, &x, 1).map_err(show)?).await?;
            for (row, got) in data.chunks(37).zip(got.chunks(37)) {
                let row: Vec<f64> = row.iter().map(|&x| x.into()).collect();
                judge(what, DType::F32, &exact(what, &row), got)?;
            }
        }
    }
    Ok(())
}

/// Minus infinity becomes 0. A row of nothing else becomes NaN, and so does one with NaN or
/// infinity.
async fn masked(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let low = f32::NEG_INFINITY;
    for length in [3, 8, 65_537] {
        let mut data = vec![1.0f32; 5 * length];
        data[1] = low;
        data[length..2 * length].fill(low);
        data[2 * length + 2] = f32::NAN;
        data[3 * length] = f32::INFINITY;
        data[4 * length..5 * length - 1].fill(low);
        for target in [Target::Cpu64, Target::Gpu] {
            let (x, _) = device.with_target(target).upload(&data, [5, length]).map_err(show)?;
            let y = x.softmax(1).map_err(show)?.read::<f32>().await.map_err(show)?;
            let z = x.log_softmax(1).map_err(show)?.read::<f32>().await.map_err(show)?;
            ensure_eq!((y[1], z[1]), (0.0, low), "a masked element");
            for (y, z) in y[length..4 * length].iter().zip(&z[length..4 * length]) {
                ensure!(y.is_nan() && z.is_nan(), "{y} and {z} in a row without a softmax");
            }
            ensure_eq!(y[5 * length - 1], 1.0, "alone in its row, for {target:?}");
        }
    }
    Ok(())
}

/// A norm of numbers that are doubled first, times a weight and plus a bias: 16 bits are rounded
/// once.
async fn scaled(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let data: Vec<f32> = (0..24 * 36).map(|i| (i * 7 % 31) as f32).collect();
    for dtype in [DType::F32, DType::F16].into_iter().filter(|&dtype| carries(&device, dtype)) {
        let cast = |data: &[f32], shape: &[usize]| device.upload(data, shape)?.0.cast(dtype);
        let x = cast(&data, &[24, 36]).and_then(|x| x * 2.0).map_err(show)?;
        let weight = cast(&data[..36], &[36]).map_err(show)?;
        let bias = cast(&[0.5; 36], &[36]).map_err(show)?;
        let normed = x.layer_norm(1, Some(&weight), Some(&bias), EPS).map_err(show)?;
        let got = bits_of(&normed).await?;
        for (row, got) in data.chunks(36).zip(got.chunks(36)) {
            let doubled: Vec<f64> = row.iter().map(|&x| 2.0 * f64::from(x)).collect();
            for ((exact, &w), &got) in norm(&doubled, EPS.into(), true).iter().zip(&data).zip(got) {
                let (Number::Float(y), Number::Float(got)) = (exact.value, value(dtype, got))
                else {
                    return Err("a float".into());
                };
                let want = y * f64::from(w) + 0.5;
                let half = if dtype == DType::F16 { want.abs() / 2048.0 } else { 0.0 };
                ensure!((want - got).abs() <= half + 1e-4, "{dtype}: {got}, not {want}");
            }
        }
    }
    Ok(())
}

async fn cross_entropy(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let data: Vec<f32> = (0..9 * 13).map(|i| (i * 37 % 101) as f32 / 10.0).collect();
    let classes: Vec<u32> = (0..9).map(|i| i * 5 % 13).collect();
    let (x, _) = device.upload(&data, [9, 13]).map_err(show)?;
    let (targets, _) = device.upload(&classes, [9]).map_err(show)?;
    let loss = x.cross_entropy(1, &targets).map_err(show)?;
    let got = loss.read::<f32>().await.map_err(show)?;
    for ((row, &class), &got) in data.chunks(13).zip(&classes).zip(&got) {
        let row: Vec<f64> = row.iter().map(|&x| x.into()).collect();
        let mut exact = log_softmax(&row)[class as usize];
        if let Number::Float(x) = exact.value {
            exact.value = Number::Float(-x);
        }
        let kept = CrossEntropy.bound().within(DType::F32, exact, Number::Float(got.into()));
        ensure!(kept, "{got}, not {exact:?}");
    }
    let (wrong, _) = device.upload(&[13u32; 9], [9]).map_err(show)?;
    let read = x.cross_entropy(1, &wrong).map_err(show)?.read::<f32>().await;
    let error = read.err().ok_or("a class out of range is no error")?.to_string();
    let want = "cross_entropy of [9, 13] along axis 1: 9 of 9 indices in [9] are outside 0..13";
    ensure!(error.starts_with(want), "{error}");
    Ok(())
}
