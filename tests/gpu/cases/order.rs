//! Sorting along every axis of views, of values that are hard to order, against a stable sort on
//! the host: positions and bits are equal.

use core::cmp::Ordering;

use wharf::reference::Number;
use wharf::tensor::Order;
use wharf::{Adapter, DType, Device, Layout};

use super::pair::{Pair, bits, bits_of, count, value};
use super::probe::Random;
use super::views::{Move, TARGETS};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, LOWEST, Outcome, Size, case, ensure, ensure_eq, show,
};

use Move::{Flip, Slice, Transpose};

type Form = (&'static [usize], &'static [Move], usize);

/// Lists that are sorted in one step and by rounds; rows that are few, many, and of one element.
const FORMS: &[Form] = &[
    (&[1], &[], 0),
    (&[0, 3], &[], 0),
    (&[37], &[], 0),
    (&[5, 9], &[Transpose], 0),
    (&[40], &[Slice(0, 3..40, 2)], 0),
    (&[3, 1, 17], &[], 2),
    (&[6, 1], &[], 1),
    (&[3, 7, 5], &[Flip(1)], 1),
];

/// Rows of several chunks and of one, by digits of eight bits and of four; and ranked ones.
const LONG: &[Form] = &[
    (&[5000], &[Flip(0)], 0),
    (&[300, 21], &[], 1),
    (&[700], &[Slice(0, 4..700, 1)], 0),
    (&[2, 9001], &[], 1),
    (&[701, 13], &[], 0),
    (&[200, 150], &[], 1),
];

const ORDERS: [Order; 2] = [Order::Ascending, Order::Descending];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let one = |dtype: DType| {
        let case = case!(format!("order::{dtype}"), |ctx| run(ctx, DOWNGRADES[0], dtype));
        case.needs(adapter, DOWNGRADES[0], dtype)
    };
    let largest = |dtype: DType| {
        let case = case!(format!("order::first::{dtype}"), |ctx| first(ctx, DOWNGRADES[0], dtype));
        case.needs(adapter, DOWNGRADES[0], dtype)
    };
    let mut cases: Vec<Case> = DType::ALL.iter().copied().map(one).collect();
    cases.extend(DType::ALL.iter().copied().map(largest));
    // Of each width.
    for dtype in [DType::F32, DType::F16, DType::U8] {
        let name = format!("order::{dtype}::{}", LOWEST.name);
        cases.push(case!(name, |ctx| run(ctx, LOWEST, dtype)).on_demand(adapter));
    }
    let name = format!("order::first::f16::{}", LOWEST.name);
    cases.push(case!(name, |ctx| first(ctx, LOWEST, DType::F16)).on_demand(adapter));
    for dtype in [DType::F32, DType::U8] {
        let long = case!(format!("order::ten_million::{dtype}"), |ctx| ten_million(ctx, dtype));
        cases.push(Case { size: Size::Large, ..long });
    }
    cases.push(case!("order::the_largest_few", |ctx| few(ctx)));
    cases.push(case!("order::the_largest_of_many", |ctx| largest_of_many(ctx)));
    cases.push(case!("order::what_cannot_be_sorted", |ctx| refused(ctx)));
    cases
}

async fn run(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let native = ctx.device(downgrade).await?;
    let mut random = Random::new(31);
    for target in TARGETS {
        let device = native.with_target(target);
        let is_tried_long = matches!(dtype, DType::F32 | DType::I8 | DType::I16 | DType::F64);
        // A list of 8 bytes for each has to lie in one segment.
        let most = device.caps().limits.binding_bytes_max as usize / 12;
        let fits = |form: &&Form| form.0.iter().product::<usize>() < most;
        for form in FORMS.iter().chain(if is_tried_long { LONG } else { &[] }).filter(fits) {
            one(&device, &mut random, dtype, *form).await?;
        }
    }
    Ok(())
}

/// Mostly values at the ends of the dtype, many of them several times, with either sign.
fn hard(dtype: DType, random: &mut Random) -> u64 {
    let top = 1u64 << (8 * dtype.width() - 1);
    let ends: &[f64] =
        &[f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0, 65504.0];
    match random.below(4) {
        0 if dtype.is_float() => bits(dtype, Number::Float(ends[random.below(ends.len())])),
        0 => [0, top, top - 1, top + 1, 2 * (top - 1) + 1][random.below(5)],
        1 if dtype.is_float() => bits(dtype, Number::Float(random.below(5) as f64 - 2.0)),
        1 => random.below(5) as u64,
        _ if dtype == DType::Bool => random.bits() & 1,
        _ => random.bits() & (2 * (top - 1) + 1),
    }
}

/// NaN last, both zeros alike.
fn compare(order: Order, a: Number, b: Number) -> Ordering {
    let (nan, way) = match (a, b) {
        (Number::Float(a), Number::Float(b)) => {
            (a.is_nan().cmp(&b.is_nan()), a.partial_cmp(&b).unwrap_or(Ordering::Equal))
        }
        (Number::Int(a), Number::Int(b)) => (Ordering::Equal, a.cmp(&b)),
        (Number::Bool(a), Number::Bool(b)) => (Ordering::Equal, a.cmp(&b)),
        _ => (Ordering::Equal, Ordering::Equal),
    };
    nan.then(if order == Order::Descending { way.reverse() } else { way })
}

async fn one(
    device: &Device,
    random: &mut Random,
    dtype: DType,
    (dims, moves, axis): Form,
) -> Outcome {
    let draw = (0..dims.iter().product()).map(|_| {
        let word = hard(dtype, random);
        if dtype == DType::Bool { word & 1 } else { word }
    });
    let pair = Pair::new(device, dtype, draw.collect(), dims).await?.view(moves)?;
    let rank = pair.layout.shape().rank();
    let length = pair.layout.shape().dims()[axis].max(1);
    let axes: Vec<usize> = (0..rank).filter(|&a| a != axis).chain([axis]).collect();
    let x: Vec<u64> = {
        let rows = pair.layout.permute(&axes).map_err(show)?;
        rows.places().map(|p| pair.bits[p]).collect()
    };
    for order in ORDERS {
        let place = format!("{dims:?} {moves:?} along {axis} {order:?} for {:?}", device.target());
        let places = pair.tensor.argsort(axis, order).map_err(show)?;
        let sorted = pair.tensor.sort(axis, order).map_err(show)?;
        ensure_eq!(places.dtype(), DType::U32, "{place}: the dtype");
        for result in [&places, &sorted] {
            ensure_eq!(result.shape(), pair.tensor.shape(), "{place}: the shape");
        }
        let in_rows = |got: Vec<u64>| -> Result<Vec<u64>, String> {
            let rows = Layout::dense(*pair.layout.shape()).permute(&axes).map_err(show)?;
            Ok(rows.places().map(|p| got[p]).collect())
        };
        let (places, sorted) =
            (in_rows(bits_of(&places).await?)?, in_rows(bits_of(&sorted).await?)?);
        count();
        let got = places.chunks(length).zip(sorted.chunks(length));
        for (n, (row, (places, sorted))) in x.chunks(length).zip(got).enumerate() {
            let mut want: Vec<usize> = (0..row.len()).collect();
            want.sort_by(|&a, &b| compare(order, value(dtype, row[a]), value(dtype, row[b])));
            for (i, &from) in want.iter().enumerate() {
                let [a, b] = [row[from], row[places[i] as usize % row.len()]];
                ensure!(places[i] == from as u64, "{place}, row {n}: {i} is {b:#x}, not {a:#x}");
                ensure!(sorted[i] == a, "{place}, row {n}: {i} holds {:#x}, not {a:#x}", sorted[i]);
            }
        }
    }
    Ok(())
}

/// Rows, their length, and how many are asked for: that are selected from, in pieces, in pieces of
/// pieces; the most that are selected and one more, which is sorted; all.
const FIRSTS: &[[usize; 3]] = &[
    [5, 333, 20],
    [3, 2100, 20],
    [2, 5003, 1],
    [1, 20_011, 7],
    [40, 257, 16],
    [2, 1030, 64],
    [2, 1030, 65],
    [2, 37, 37],
];

/// What rows are made of.
#[derive(Clone, Copy, Debug)]
enum Crowd {
    /// Values at the ends of the dtype, and others.
    Hard,
    /// Two values, one of them rare: thousands are equal to the last that is asked for.
    Two,
    /// One value.
    One,
}

/// The largest of rows of any dtype, by a stable sort on the host.
async fn first(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let mut random = Random::new(53);
    let native = ctx.device(downgrade).await?;
    for device in TARGETS.map(|target| native.with_target(target)) {
        for &[rows, length, k] in FIRSTS {
            for crowd in [Crowd::Hard, Crowd::Two, Crowd::One] {
                let place = format!("{k} of {rows} x {length}, {crowd:?}, {:?}", device.target());
                let ends = [(); 2].map(|()| hard(dtype, &mut random));
                let draw = (0..rows * length).map(|_| match crowd {
                    Crowd::Hard => hard(dtype, &mut random),
                    Crowd::Two => ends[usize::from(random.below(1 << 10) == 0)],
                    Crowd::One => ends[0],
                });
                let one_bit = |word| if dtype == DType::Bool { word & 1 } else { word };
                let data: Vec<u64> = draw.map(one_bit).collect();
                let pair = Pair::new(&device, dtype, data, &[rows, length]).await?;
                let (values, places) = pair.tensor.top_k(1, k).map_err(show)?;
                let (values, places) = (bits_of(&values).await?, bits_of(&places).await?);
                count();
                for (n, row) in pair.bits.chunks(length).enumerate() {
                    let mut want: Vec<usize> = (0..length).collect();
                    let of = |i: usize| value(dtype, row[i]);
                    want.sort_by(|&a, &b| compare(Order::Descending, of(a), of(b)));
                    for (i, &from) in want.iter().take(k).enumerate() {
                        let got = (values[n * k + i], places[n * k + i]);
                        let want = (row[from], from as u64);
                        ensure_eq!(got, want, "{place}: {i} of row {n}");
                    }
                }
            }
        }
    }
    Ok(())
}

async fn few(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let data: Vec<f32> = (0..60).map(|i| (i * 37 % 60) as f32).collect();
    let (x, _) = device.upload(&data, [3, 20]).map_err(show)?;
    let long = device.zeros([0, 1 << 10], DType::F32).map_err(show)?;
    let (none, places) = long.top_k(1, 1).map_err(show)?;
    let one = device.zeros([1, 1], DType::F32).map_err(show)?;
    let beside = wharf::Tensor::concat(&[&none, &one], 0).and_then(|both| both.compute());
    let all = none.compute().and_then(|()| places.compute()).and(beside);
    all.map_err(|e| format!("of no rows: {e:?}"))?;
    for k in [0, 1, 7, 20, 21] {
        let (values, places) = x.top_k(1, k).map_err(show)?;
        ensure_eq!(values.shape().dims(), [3, k.min(20)], "of {k}");
        let values = values.read::<f32>().await.map_err(show)?;
        let places = places.read::<u32>().await.map_err(show)?;
        for (n, row) in data.chunks(20).enumerate() {
            let mut want: Vec<(f32, u32)> = row.iter().copied().zip(0..).collect();
            want.sort_by(|a, b| b.0.total_cmp(&a.0));
            let first = n * k.min(20);
            for (i, &want) in want.iter().take(k).enumerate() {
                let got = (values[first + i], places[first + i]);
                ensure_eq!(got, want, "{i} of the largest {k} of row {n}");
            }
        }
    }
    count();
    Ok(())
}

/// The largest of so many that pieces are left out: many equal ones, NaN, both zeros, a rest that
/// is no piece, several rows, along either axis.
async fn largest_of_many(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(47);
    let native = ctx.native().await?;
    for device in TARGETS.map(|target| native.with_target(target)) {
        for (length, k) in [(5003, 3), (2100, 20), (20_000, 7), (1030, 1)] {
            let rare = |n: usize| match n {
                0 => f32::NAN,
                1..20 => -0.0,
                // Pieces of a few largest come first, and hold equal ones from behind others.
                20..24 => 40.0,
                n => (n % 37) as f32 - 20.0,
            };
            let data: Vec<f32> = (0..2 * length).map(|_| rare(random.below(1 << 11))).collect();
            let (x, _) = device.upload(&data, [2, length]).map_err(show)?;
            let turned = x.t().and_then(|x| x.contiguous()?.top_k(0, k)).map_err(show)?;
            let rows = [
                x.top_k(1, k).map_err(show)?,
                (turned.0.t().map_err(show)?, turned.1.t().map_err(show)?),
            ];
            for (values, places) in rows {
                let values = values.read::<f32>().await.map_err(show)?;
                let places = places.read::<u32>().await.map_err(show)?;
                for (n, row) in data.chunks(length).enumerate() {
                    let mut want: Vec<(f32, u32)> = row.iter().copied().zip(0..).collect();
                    want.sort_by(|a, b| {
                        let falls = b.0.partial_cmp(&a.0);
                        falls.unwrap_or_else(|| a.0.is_nan().cmp(&b.0.is_nan()))
                    });
                    for (i, want) in want.iter().take(k).enumerate() {
                        let got = (values[n * k + i].to_bits(), places[n * k + i]);
                        let want = (want.0.to_bits(), want.1);
                        ensure_eq!(got, want, "{i} of the largest {k} of {length}, row {n}");
                    }
                }
            }
        }
    }
    count();
    Ok(())
}

/// As many as a program may have, against the host's own sort: of 32 bits as they are, and narrow
/// ones by their places, of which there are few and so thousands of equals.
async fn ten_million(ctx: &Ctx, dtype: DType) -> Outcome {
    let device = ctx.native().await?;
    let n = 10_000_000;
    let mut random = Random::new(61);
    let draw = (0..n).map(|_| random.bits() & (u64::MAX >> (64 - 8 * dtype.width())));
    let pair = Pair::new(&device, dtype, draw.collect(), &[n]).await?;
    count();
    if dtype == DType::U8 {
        let places = pair.tensor.argsort(0, Order::Descending).map_err(show)?;
        let got = places.read::<u32>().await.map_err(show)?;
        let mut want: Vec<u32> = (0..n as u32).collect();
        want.sort_by_key(|&i| core::cmp::Reverse(pair.bits[i as usize]));
        ensure!(got == want, "{:?} is wrong", got.iter().zip(&want).position(|(a, b)| a != b));
        return Ok(());
    }
    // As whole numbers the same bits are ordered by other keys, and NaN with the rest.
    let number = |&word: &u64| f32::from_bits(word as u32);
    let mut want: Vec<f32> = pair.bits.iter().map(number).filter(|x| !x.is_nan()).collect();
    want.sort_unstable_by(f32::total_cmp);
    let sorted = pair.tensor.sort(0, Order::Ascending).map_err(show)?;
    let got = sorted.read::<f32>().await.map_err(show)?;
    let (numbers, rest) = got.split_at(want.len());
    let wrong = numbers.iter().zip(&want).position(|(a, b)| a != b);
    ensure_eq!(wrong, None, "the first that is not in its place");
    ensure!(rest.iter().all(|x| x.is_nan()), "NaN is not last");
    let (values, places) = pair.tensor.top_k(0, 5).map_err(show)?;
    // NaN is the last whichever way, so these are the largest numbers.
    let values = values.read::<f32>().await.map_err(show)?;
    let places = places.read::<u32>().await.map_err(show)?;
    let most: Vec<f32> = want.iter().rev().take(5).copied().collect();
    ensure_eq!(values, most, "the largest");
    let at: Vec<f32> = places.iter().map(|&i| number(&pair.bits[i as usize])).collect();
    ensure_eq!(at, most, "where they are");
    Ok(())
}

async fn refused(ctx: &Ctx) -> Outcome {
    let device = ctx.device(DOWNGRADES[4]).await?;
    let x = device.zeros([3, 5], DType::F32).map_err(show)?;
    let error = x.argsort(2, Order::Ascending).err().map(|error| error.to_string());
    let text = error.unwrap_or_default();
    ensure!(text.starts_with("argsort: ") && text.contains("axis 2"), "a third axis: {text:?}");
    let x = device.zeros([1 << 20], DType::U8).map_err(show)?;
    let error = x.sort(0, Order::Ascending).err().map(|error| error.to_string());
    let text = error.unwrap_or_default();
    ensure!(text.starts_with("sort: a list to be sorted"), "more than a segment: {text:?}");
    Ok(())
}
