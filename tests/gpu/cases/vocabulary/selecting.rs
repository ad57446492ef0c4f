//! Masks, coordinates, and values that meet at one destination.

use wharf::reference::places;
use wharf::{Adapter, DType, Tensor};

use super::{Random, Shown, carried, devices, flat, near, show};
use crate::cases::pair::{COMPUTED, NUMBERS};
use crate::cases::views::Move::{Flip, Permute, Slice};
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq};

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = vec![
        case!("vocabulary::selecting::masked_fill", |ctx| filled(ctx)),
        case!("vocabulary::selecting::coordinates", |ctx| coordinates(ctx)),
        case!("vocabulary::selecting::nan_wins", |ctx| nan_wins(ctx)),
        case!("vocabulary::selecting::many_for_one", |ctx| many(ctx)),
        case!("vocabulary::selecting::out_of_range", |ctx| outside(ctx)),
    ];
    for &dtype in NUMBERS {
        let case =
            case!(format!("vocabulary::selecting::meeting::{dtype}"), |ctx| meeting(ctx, dtype));
        cases.push(case.needs(adapter, DOWNGRADES[0], dtype));
    }
    cases
}

type Scatter = fn(&Tensor, usize, &Tensor, &Tensor) -> wharf::Result<Tensor>;

type Fold = fn(f64, f64) -> f64;

const SCATTERS: [(&str, Scatter, Fold); 4] = [
    ("min", |x, axis, i, y| x.scatter_min(axis, i, y), f64::min),
    ("max", |x, axis, i, y| x.scatter_max(axis, i, y), f64::max),
    ("mul", |x, axis, i, y| x.scatter_mul(axis, i, y), |x, y| x * y),
    ("add", |x, axis, i, y| x.scatter_add(axis, i, y), |x, y| x + y),
];

/// An integer as its dtype wraps it.
fn wrapped(dtype: DType, x: f64) -> f64 {
    let modulus = 2f64.powi(8 * dtype.width() as i32);
    match dtype {
        dtype if dtype.is_float() || dtype.width() == 8 => x,
        dtype if dtype.name().starts_with('u') => x.rem_euclid(modulus),
        _ => (x + modulus / 2.0).rem_euclid(modulus) - modulus / 2.0,
    }
}

async fn meeting(ctx: &Ctx, dtype: DType) -> Outcome {
    let mut random = Random::new(3);
    for device in devices(ctx).await? {
        for dtype in carried(&device, &[dtype]) {
            for (axis, dims, length) in [(1, [2, 4, 3], 7), (0, [5, 1, 2], 9), (2, [1, 3, 2], 3)] {
                let x = Shown::new(&device, &mut random, dtype, (&dims, &[Flip(1)])).await?;
                let mut of = dims;
                of[axis] = length;
                let y = Shown::new(&device, &mut random, dtype, (&of, &[Flip(0)])).await?;
                let index: Vec<f64> =
                    (0..y.values.len()).map(|_| random.below(dims[axis]) as f64).collect();
                let index = Shown::of(&device, DType::I32, index, (&of, &[])).await?;
                for (name, scatter, fold) in SCATTERS {
                    let mut want = x.values.clone();
                    for place in places(&of) {
                        let mut to = place.clone();
                        to[axis] = index.at(&place) as usize;
                        let to = flat(&dims, &to);
                        want[to] = fold(want[to], y.at(&place));
                    }
                    let want: Vec<f64> = want.iter().map(|&x| wrapped(dtype, x)).collect();
                    let got = scatter(&x.tensor, axis, &index.tensor, &y.tensor).map_err(show)?;
                    let name = format!("{name} of {dims:?} for {:?}", device.target());
                    near(&name, &got, &dims, &want, 4.0 * super::room(dtype)).await?;
                }
                let list: Vec<f64> = (0..length).map(|_| random.below(dims[axis]) as f64).collect();
                let list = Shown::of(&device, DType::U32, list, (&[length], &[])).await?;
                let mut want = x.values.clone();
                for place in places(&of) {
                    let mut to = place.clone();
                    to[axis] = list.values[place[axis]] as usize;
                    want[flat(&dims, &to)] += y.at(&place);
                }
                let want: Vec<f64> = want.iter().map(|&x| wrapped(dtype, x)).collect();
                let got = x.tensor.index_add(axis, &list.tensor, &y.tensor).map_err(show)?;
                near(
                    &format!("index_add to {dims:?}"),
                    &got,
                    &dims,
                    &want,
                    4.0 * super::room(dtype),
                )
                .await?;
            }
        }
    }
    Ok(())
}

/// Runs that go through many blocks, of signs and a few twos.
async fn many(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let values: Vec<f32> = (0..9000)
        .map(|i| {
            if i % 1300 == 7 {
                2.0
            } else if i % 3 == 0 {
                -1.0
            } else {
                1.0
            }
        })
        .collect();
    let index: Vec<u32> =
        (0..9000u32).map(|i| u32::from(i >= 100) + u32::from(i % 4500 == 4400)).collect();
    let mut want = [3.0f64, 1.0, 1.0];
    for (&i, &x) in index.iter().zip(&values) {
        want[i as usize] *= f64::from(x);
    }
    let (x, _) = device.upload(&[3.0f32, 1.0, 1.0], 3).map_err(show)?;
    let (index, _) = device.upload(&index, 9000).map_err(show)?;
    let (y, _) = device.upload(&values, 9000).map_err(show)?;
    let got = x.scatter_mul(0, &index, &y).map_err(show)?;
    near("a product of thousands", &got, &[3], &want, 0.0).await?;
    let whole = y.cast(DType::I32).and_then(|y| x.cast(DType::I32)?.scatter_mul(0, &index, &y));
    near("of integers", &whole.map_err(show)?, &[3], &want, 0.0).await
}

async fn nan_wins(ctx: &Ctx) -> Outcome {
    const NAN: f32 = f32::NAN;
    const INF: f32 = f32::INFINITY;
    let device = ctx.native().await?;
    let (x, _) = device.upload(&[0.0, NAN, 0.0, -INF, INF], 5).map_err(show)?;
    let (index, _) = device.upload(&[0, 0, 0, 1, 2, 2, 3, 4], 8).map_err(show)?;
    let (y, _) = device.upload(&[1.0, NAN, 2.0, 5.0, INF, -INF, -7.0, 7.0], 8).map_err(show)?;
    let got = x.scatter_max(0, &index, &y).map_err(show)?;
    near("max", &got, &[5], &[f64::NAN, f64::NAN, f64::INFINITY, -7.0, f64::INFINITY], 0.0).await?;
    let got = x.scatter_min(0, &index, &y).map_err(show)?;
    let low = f64::NEG_INFINITY;
    near("min", &got, &[5], &[f64::NAN, f64::NAN, low, low, 7.0], 0.0).await
}

async fn filled(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(4);
    for device in devices(ctx).await? {
        for dtype in carried(&device, COMPUTED) {
            let x =
                Shown::new(&device, &mut random, dtype, (&[3, 4, 5], &[Permute(vec![2, 0, 1])]))
                    .await?;
            let mask = Shown::new(&device, &mut random, DType::Bool, (&[3, 4], &[])).await?;
            let got = match dtype {
                DType::Bool => x.tensor.masked_fill(&mask.tensor, true),
                _ => x.tensor.masked_fill(&mask.tensor, 1),
            };
            let want: Vec<f64> = places(&x.dims)
                .map(|place| if mask.at(&place[1..]) != 0.0 { 1.0 } else { x.at(&place) })
                .collect();
            let got = got.map_err(show)?;
            ensure_eq!(got.dtype(), dtype, "the dtype");
            near(dtype.name(), &got, &x.dims, &want, 0.0).await?;
        }
    }
    Ok(())
}

async fn coordinates(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(5);
    for device in devices(ctx).await? {
        for dtype in carried(&device, COMPUTED) {
            let moves = [Permute(vec![1, 2, 0]), Slice(0, 1..4, 1)];
            let x = Shown::new(&device, &mut random, dtype, (&[2, 4, 5], &moves)).await?;
            for (axes, outer) in [(1, &[4][..]), (2, &[2, 3]), (3, &[6]), (3, &[]), (2, &[0])] {
                let count: usize = outer.iter().product();
                let index = (0..count).flat_map(|_| x.dims[..axes].to_vec());
                let index: Vec<f64> = index.map(|dim| random.below(dim) as f64).collect();
                let dims = [outer, &[axes]].concat();
                let index = Shown::of(&device, DType::I32, index, (&dims, &[])).await?;
                let part = &x.dims[axes..];
                let result = [outer, part].concat();
                let named = |place: &[usize]| -> usize {
                    let (row, rest) = place.split_at(outer.len());
                    let at = |i: usize| index.at(&[row, &[i]].concat()) as usize;
                    let first: Vec<usize> = (0..axes).map(at).collect();
                    flat(&x.dims, &[&first[..], rest].concat())
                };
                let name = format!("{dtype} {axes} of {outer:?} for {:?}", device.target());
                let want: Vec<f64> = places(&result).map(|place| x.values[named(&place)]).collect();
                let got = x.tensor.gather_nd(&index.tensor).map_err(show)?;
                near(&format!("gather {name}"), &got, &result, &want, 0.0).await?;
                let y = Shown::new(&device, &mut random, dtype, (&result, &[])).await?;
                let mut want = x.values.clone();
                for place in places(&result) {
                    want[named(&place)] = y.at(&place);
                }
                let got = x.tensor.scatter_nd(&index.tensor, &y.tensor).map_err(show)?;
                near(&format!("scatter {name}"), &got, &x.dims, &want, 0.0).await?;
            }
        }
    }
    Ok(())
}

/// Told at the read, with the operation, and never clamped.
async fn outside(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let x = device.ones([2, 3], DType::F32).map_err(show)?;
    let (index, _) = device.upload(&[0, 0, 1, 3, -1, 0], [3, 2]).map_err(show)?;
    let (far, _) = device.upload(&[0, 9], 2).map_err(show)?;
    let y = device.ones(3, DType::F32).map_err(show)?;
    let rows = device.ones([2, 3], DType::F32).map_err(show)?;
    let across = far.unsqueeze(1).map_err(show)?;
    // A read of no elements asks nothing, one of what is made of them does.
    let none = device.ones([0, 3], DType::F32).map_err(show)?;
    let with_rows = |none| Tensor::concat(&[none, rows.clone()], 0);
    let results = [
        ("gather_nd", x.gather_nd(&index)),
        ("scatter_nd", x.scatter_nd(&index, &y)),
        ("index_add", x.index_add(0, &far, &rows)),
        ("scatter_mul", x.scatter_mul(0, &across, &rows)),
        ("scatter_max", x.scatter_max(0, &across, &rows)),
        ("scatter", none.scatter(0, &across, &rows).and_then(with_rows)),
        ("scatter_min", none.scatter_min(0, &across, &rows).and_then(with_rows)),
        ("bincount", far.bincount(9)),
        ("bincount", far.cast(DType::I8).and_then(|far| far.bincount(9))),
    ];
    for (name, result) in results {
        let error =
            result.map_err(show)?.read_bytes().await.err().ok_or(format!("{name} was read"))?;
        let text = error.to_string();
        ensure!(text.contains(name) && error.kind() == wharf::ErrorKind::Index, "{name}: {text}");
    }
    Ok(())
}
