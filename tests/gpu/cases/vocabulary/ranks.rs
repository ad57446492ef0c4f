//! Places in sorted lists, bins, quantiles and draws.

use wharf::op::Exact;
use wharf::reference::places;
use wharf::reference::random::uniform;
use wharf::tensor::{Insert, Key};
use wharf::{Axes, DType, Tensor, half};

use super::{FLOATS, Random, Shown, carried, devices, exact, kept, near, show};
use crate::cases::views::Move::{Flip, Permute, Slice, Transpose};
use crate::ctx::{Case, Ctx, Outcome, case, ensure, ensure_eq};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("vocabulary::ranks::searchsorted", |ctx| searched(ctx)),
        case!("vocabulary::ranks::bins", |ctx| bins(ctx)),
        case!("vocabulary::ranks::quantiles", |ctx| quantiles(ctx)),
        case!("vocabulary::ranks::multinomial", |ctx| drawn(ctx)),
    ]
}

const INSERTS: [Insert; 2] = [Insert::Left, Insert::Right];

/// How many of a list stand before a value; NaN after all numbers.
fn before(list: &[f64], x: f64, side: Insert) -> f64 {
    let stands = |y: f64| match side {
        Insert::Left => y < x || x.is_nan() && !y.is_nan(),
        Insert::Right => y <= x || x.is_nan(),
    };
    list.iter().filter(|y| stands(**y)).count() as f64
}

async fn searched(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(21);
    let dtypes = [DType::F32, DType::F16, DType::F64, DType::I8, DType::U32, DType::I64];
    for device in devices(ctx).await? {
        for dtype in carried(&device, &dtypes) {
            for length in [0, 1, 5, 8, 100] {
                let mut list =
                    Shown::new(&device, &mut random, dtype, (&[length], &[])).await?.values;
                list.sort_by(f64::total_cmp);
                if dtype.is_float() && length > 5 {
                    list[length - 2..].fill(f64::NAN);
                }
                let sorted = Shown::of(&device, dtype, list.clone(), (&[length], &[])).await?;
                let mut values =
                    Shown::new(&device, &mut random, dtype, (&[5, 6], &[])).await?.values;
                if dtype.is_float() {
                    values[7] = f64::NAN;
                }
                let values = Shown::of(&device, dtype, values, (&[5, 6], &[Transpose])).await?;
                for side in INSERTS {
                    let name = format!("{dtype} among {length} {side:?} for {:?}", device.target());
                    let got = sorted.tensor.searchsorted(&values.tensor, side).map_err(show)?;
                    ensure_eq!(got.dtype(), DType::U32, "{name}: the dtype");
                    let want: Vec<f64> =
                        values.values.iter().map(|&x| before(&list, x, side)).collect();
                    near(&name, &got, &values.dims, &want, 0.0).await?;
                }
            }
        }
    }
    // Each row in its own list.
    let device = ctx.native().await?;
    let lists = Shown::of(
        &device,
        DType::I32,
        (0..24).map(|i| f64::from(i % 8 * (1 + i / 8))).collect(),
        (&[3, 8], &[]),
    )
    .await?;
    let values = Shown::new(&device, &mut random, DType::I32, (&[5, 3], &[Transpose])).await?;
    for side in INSERTS {
        let got = lists.tensor.searchsorted(&values.tensor, side).map_err(show)?;
        let row = |i: usize| &lists.values[i * 8..i * 8 + 8];
        let want: Vec<f64> =
            places(&values.dims).map(|at| before(row(at[0]), values.at(&at), side)).collect();
        near("lists", &got, &[3, 5], &want, 0.0).await?;
    }
    Ok(())
}

async fn bins(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(22);
    for device in devices(ctx).await? {
        for dtype in carried(&device, &[DType::I32, DType::U32, DType::I64, DType::U64]) {
            let x: Vec<f64> = (0..300).map(|_| random.below(6) as f64).collect();
            let want: Vec<f64> = (0..8)
                .map(|bin| x.iter().filter(|x| **x == f64::from(bin)).count() as f64)
                .collect();
            let x = Shown::of(&device, dtype, x, (&[20, 15], &[Transpose])).await?;
            let got = x.tensor.bincount(8).map_err(show)?;
            near(dtype.name(), &got, &[8], &want, 0.0).await?;
            for narrow in [DType::I8, DType::U8, DType::I16, DType::U16] {
                let got = x.tensor.cast(narrow).and_then(|x| x.bincount(8)).map_err(show)?;
                let got: Vec<f64> = got.read_as().await.map_err(show)?.0;
                ensure_eq!(got, want, "{narrow}");
            }
        }
        for dtype in carried(&device, FLOATS) {
            let mut x = Shown::new(&device, &mut random, dtype, (&[300], &[])).await?.values;
            x[..3].copy_from_slice(&[f64::NAN, f64::INFINITY, 9.0]);
            // Edges are eighths, so that nothing is rounded.
            let (low, high, count) = (-1.0, 1.5, 5);
            let mut want = [0.0; 5];
            for &x in x.iter().filter(|x| (low..=high).contains(*x)) {
                want[(((x - low) / 0.5) as usize).min(count - 1)] += 1.0;
            }
            let x = Shown::of(&device, dtype, x, (&[300], &[Flip(0)])).await?;
            let got = x.tensor.histogram(count, low..=high).map_err(show)?;
            near(dtype.name(), &got, &[5], &want, 0.0).await?;
        }
    }
    Ok(())
}

/// The largest finite number of a float dtype.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 65504.0,
        DType::Bf16 => half::bf16::MAX.to_f64(),
        DType::F32 => f32::MAX.into(),
        _ => f64::MAX,
    }
}

/// What so large a part lies below.
fn lying_at(part: f64, mut all: Vec<f64>) -> Exact {
    if all.iter().any(|x| x.is_nan()) {
        return exact(f64::NAN, 0.0);
    }
    all.sort_by(f64::total_cmp);
    let place = part * (all.len() - 1) as f64;
    let (low, high) = (all[place as usize], all[place.ceil() as usize]);
    if low == high {
        return exact(low, 0.0);
    }
    let (a, b) = ((1.0 - place.fract()) * low, place.fract() * high);
    // An infinity has no units.
    let of = a.abs() + b.abs();
    exact(a + b, if of.is_finite() { of } else { 0.0 })
}

async fn quantiles(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(23);
    for device in devices(ctx).await? {
        for dtype in carried(&device, FLOATS) {
            let moves = [Permute(vec![2, 0, 1]), Slice(0, 1..6, 1)];
            let mut x = Shown::new(&device, &mut random, dtype, (&[3, 4, 7], &[])).await?.values;
            x[5] = f64::NAN;
            x[40] = f64::INFINITY;
            // On the last axis of the view neighbours that are equal and infinite, and some whose
            // difference overflows.
            let column = |i: usize| [0, 7, 14, 21].map(|row| 28 + row + i);
            let most = largest(dtype);
            for (i, values) in [
                (1, [f64::INFINITY; 4]),
                (2, [1.0, f64::INFINITY, f64::INFINITY, f64::INFINITY]),
                (3, [f64::NEG_INFINITY, most, -most, most]),
            ] {
                for (place, value) in column(i).into_iter().zip(values) {
                    x[place] = value;
                }
            }
            let x = Shown::of(&device, dtype, x, (&[3, 4, 7], &moves)).await?;
            for (axes, part) in [
                (vec![1], 0.0),
                (vec![2], 0.5),
                (vec![2, 0], 0.3),
                (vec![0, 1, 2], 1.0),
                (vec![0], 0.7),
            ] {
                let left: Vec<usize> = (0..3)
                    .map(|axis| if axes.contains(&axis) { 1 } else { x.dims[axis] })
                    .collect();
                let want: Vec<Exact> = places(&left)
                    .map(|row| {
                        let row_of = |place: &[usize]| {
                            (0..3).all(|axis| axes.contains(&axis) || place[axis] == row[axis])
                        };
                        let mine = places(&x.dims).filter(|at| row_of(at)).map(|at| x.at(&at));
                        lying_at(part, mine.collect())
                    })
                    .collect();
                let name = format!("{dtype} {part} over {axes:?} for {:?}", device.target());
                let got = x.tensor.quantile(Axes::keep(&axes), part).map_err(show)?;
                ensure_eq!(got.dtype(), dtype, "{name}: the dtype");
                ensure_eq!(got.shape().dims(), left, "{name}: the shape");
                kept(("quantile", 1), &name, &got, &want).await?;
                if part == 0.5 {
                    let got = x.tensor.median(&axes).map_err(show)?;
                    let dims: Vec<usize> = (0..3)
                        .filter(|axis| !axes.contains(axis))
                        .map(|axis| x.dims[axis])
                        .collect();
                    ensure_eq!(got.shape().dims(), dims, "{name}: the shape");
                    kept(("median", 1), &name, &got, &want).await?;
                }
            }
        }
    }
    Ok(())
}

/// The draws that the same uniform numbers make on the host: sums of eighths are not rounded.
async fn drawn(ctx: &Ctx) -> Outcome {
    let key = Key::new(5);
    for device in devices(ctx).await? {
        let data = [0.5f64, 0.0, 2.0, 1.25, 0.0, 0.25, 3.0, 1.0, 0.0, 4.0];
        let weights = Shown::of(&device, DType::F32, data.to_vec(), (&[2, 5], &[])).await?;
        let draw = |count, back| -> Result<Tensor, String> {
            let weights = &weights.tensor;
            let drawn = if back {
                weights.multinomial(key, count)
            } else {
                weights.multinomial_distinct(key, count)
            };
            drawn.map_err(show)
        };
        let luck = |i: usize| uniform(key.words(), DType::F32, i as u64);
        let want: Vec<f64> = (0..80)
            .map(|i| {
                let row = &data[i / 40 * 5..][..5];
                let mark = luck(i) * row.iter().sum::<f64>();
                let mut sum = 0.0;
                row.iter()
                    .take_while(|&&x| {
                        sum += x;
                        sum <= mark
                    })
                    .count() as f64
            })
            .collect();
        near("put back", &draw(40, true)?, &[2, 40], &want, 0.0).await?;
        let mut want = Vec::new();
        for row in 0..2 {
            let time = |i: usize| -(1.0 - luck(row * 5 + i)).ln() / data[row * 5 + i];
            let mut order: Vec<usize> = (0..5).filter(|i| data[row * 5 + i] > 0.0).collect();
            order.sort_by(|&a, &b| time(a).total_cmp(&time(b)));
            want.extend(order.into_iter().take(3).map(|i| i as f64));
        }
        near("each once", &draw(3, false)?, &[2, 3], &want, 0.0).await?;
        let all = draw(5, false)?.read::<u32>().await.map_err(show)?;
        for row in all.chunks(5) {
            let mut row = row.to_vec();
            row.sort_unstable();
            ensure!(row == [0, 1, 2, 3, 4], "each place once: {row:?}");
        }
    }
    lucky(ctx).await
}

/// Draws at the ends of what is likely.
async fn lucky(ctx: &Ctx) -> Outcome {
    // The only weight has a luck of exactly 0, and comes first all the same.
    let (key, lucky) = (Key::new(20524), 1552);
    ensure_eq!(uniform(key.words(), DType::F32, lucky), 0.0, "the luck");
    let mut alone = [0.0f32; 2048];
    alone[lucky as usize] = 1.0;
    let device = ctx.native().await?;
    let (weights, _) = device.upload(&alone, 2048).map_err(show)?;
    let drawn = weights.multinomial_distinct(key, 1).map_err(show)?;
    let drawn = drawn.read::<u32>().await.map_err(show)?;
    ensure_eq!(drawn, [lucky as u32], "the only weight");
    // Nor does it make a rare place likely.
    let mut rare = [1e-9f32; 2048];
    rare[0] = 1.0;
    let (weights, _) = device.upload(&rare, 2048).map_err(show)?;
    let drawn = weights.multinomial_distinct(key, 1).map_err(show)?;
    ensure_eq!(drawn.read::<u32>().await.map_err(show)?, [0], "the likely place");
    // Near both ends of what f32 has one of two is drawn as often as the other, and 0 never.
    for (row, least, most) in [([1.5e38f32; 2], 1888, 2208), ([0.0, 2e-38], 4096, 4096)] {
        let (weights, _) = device.upload(&row, 2).map_err(show)?;
        let weights = weights.broadcast_to([4096, 2]).map_err(show)?;
        let drawn = weights.multinomial_distinct(Key::new(6), 1).map_err(show)?;
        let drawn: u32 = drawn.read::<u32>().await.map_err(show)?.iter().sum();
        ensure!((least..=most).contains(&drawn), "{drawn} of 4096 by weights of {row:?}");
    }
    // Sums of blocks rise by a unit in the last place where there is no weight, and these keys have
    // marks between: no such place is drawn.
    let weigh =
        |i: usize| if i.is_multiple_of(2) { 0.0 } else { (1 + i * 7919 % 101) as f32 / 19.0 };
    let (weights, _) =
        device.upload(&(0..20_000).map(weigh).collect::<Vec<_>>(), 20_000).map_err(show)?;
    for seed in [4638, 5054, 5778] {
        let drawn = weights.multinomial(Key::new(seed), 256).map_err(show)?;
        let drawn = drawn.read::<u32>().await.map_err(show)?;
        let none = drawn.iter().find(|&&place| weigh(place as usize) == 0.0);
        ensure_eq!(none, None, "a place of no weight by the key {seed}");
    }
    Ok(())
}
