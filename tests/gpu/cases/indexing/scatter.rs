//! Scattering: the last value wins, and sums have the same bits in every run.

use wharf::caps::{Caps, Limit};
use wharf::reference::Number;
use wharf::testing::{Call, Inside};
use wharf::{Adapter, DType, Device, Target};

use super::{Host, indices, same, targets, with};
use crate::cases::faults::fails;
use crate::cases::pair::{COMPUTED, Pair, bits, bits_of, count, difference, value};
use crate::cases::probe::Random;
use crate::cases::views::{TARGETS, probe_bits};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show,
};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        let dtypes: &[DType] = match downgrade.name {
            "native" => COMPUTED,
            "small_bindings" => &[DType::U8, DType::F16, DType::F32, DType::I32],
            _ => &[],
        };
        for &dtype in dtypes {
            let name = |what: &str| format!("indexing::{what}::{dtype}::{}", downgrade.name);
            if matches!(dtype, DType::Bool | DType::F16 | DType::F32 | DType::I64) {
                cases.push(
                    case!(name("scatter"), |ctx| scatter(ctx, downgrade, dtype))
                        .needs(adapter, downgrade, dtype),
                );
            }
            if dtype != DType::Bool {
                cases.push(
                    case!(name("scatter_add"), |ctx| scatter_add(ctx, downgrade, dtype))
                        .needs(adapter, downgrade, dtype),
                );
            }
        }
    }
    cases.push(case!("indexing::scatter_add_keeps_its_order", |ctx| deterministic(ctx)));
    cases.push(case!("indexing::index_add_of_columns", |ctx| transposed(ctx)));
    cases.push(case!("indexing::scatter_add_between_blocks", |ctx| between_blocks(ctx)));
    cases.push(case!("indexing::index_add_short_of_memory", |ctx| short_of_memory(ctx)));
    cases.push(case!("indexing::scatter_of_many", |ctx| many(ctx)));
    cases.push(case!("indexing::whole_numbers_in_any_order", |ctx| tallied(ctx)));
    cases.push(case!("indexing::scatter_out_of_range", |ctx| out_of_range(ctx)));
    cases
}

/// The shape of what is scattered into, the axis, and how many there are along it.
fn table(small_bindings: bool) -> Vec<(Vec<usize>, usize, usize)> {
    let mut table = vec![
        (vec![5], 0, 3),
        (vec![5], 0, 0),
        (vec![1], 0, 300),
        (vec![7, 4], 0, 65),
        (vec![7, 4], 1, 9),
        (vec![3, 5, 2], 1, 33),
        (vec![300], 0, 8200),
    ];
    if small_bindings {
        table.push((vec![70_001], 0, 60_000));
        table.push((vec![300, 257], 0, 400));
    }
    table
}

async fn scatter(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    for (dims, axis, n) in table(downgrade.name == "small_bindings") {
        let from = with(&dims, axis, n);
        let own = probe_bits(dtype, dims.iter().product(), 1).await;
        let new = probe_bits(dtype, from.iter().product(), 2).await;
        let x = Pair::new(&device, dtype, own.clone(), &dims).await?.tensor;
        let y = Pair::new(&device, dtype, new.clone(), &from).await?.tensor;
        let (index, at) = indices(&device, DType::U32, &from, dims[axis], 3).await?;
        let mut want = Host { dims: dims.clone(), bits: own };
        for (place, &bits) in wharf::reference::places(&from).zip(&new) {
            let to = with(&place, axis, at.at(&place) as usize);
            let to = to.iter().zip(&dims).fold(0, |at, (&i, &dim)| at * dim + i);
            want.bits[to] = bits;
        }
        same(&format!("scatter {dims:?} {axis} {n}"), x.scatter(axis, &index, &y), &want).await?;
    }
    Ok(())
}

/// Small whole numbers, whose sums are exact in every order.
fn whole(dtype: DType, n: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    let number = |i: i64| match dtype.class() {
        wharf::dtype::Class::Float => Number::Float(i as f64),
        _ => Number::Int(i128::from(i)),
    };
    (0..n).map(|_| bits(dtype, number(random.below(7) as i64 - 3))).collect()
}

async fn scatter_add(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    for &target in targets(dtype) {
        let here = device.with_target(target);
        for (dims, axis, n) in table(downgrade.name == "small_bindings") {
            let from = with(&dims, axis, n);
            let (index, at) = indices(&here, DType::I32, &from, dims[axis], 3).await?;
            add(&here, dtype, &dims, axis, (&index, &at), &from).await?;
            // One index for each row.
            let mut few = vec![1; dims.len()];
            few[axis] = n;
            let (index, at) = indices(&here, DType::I32, &few, dims[axis], 4).await?;
            let all = Host::build(from.clone(), |p| {
                let mut first = vec![0; p.len()];
                first[axis] = p[axis];
                at.at(&first)
            });
            add(&here, dtype, &dims, axis, (&index, &all), &from).await?;
        }
    }
    Ok(())
}

async fn add(
    device: &Device,
    dtype: DType,
    dims: &[usize],
    axis: usize,
    (index, at): (&wharf::Tensor, &Host),
    from: &[usize],
) -> Outcome {
    let own = whole(dtype, dims.iter().product(), 1);
    let new = whole(dtype, from.iter().product(), 2);
    let x = Pair::new(device, dtype, own.clone(), dims).await?.tensor;
    let y = Pair::new(device, dtype, new.clone(), from).await?.tensor;
    let number = |b: u64| match value(dtype, b) {
        Number::Float(x) => x as i128,
        Number::Int(n) => n,
        Number::Bool(b) => i128::from(b),
    };
    let mut sums: Vec<i128> = own.iter().map(|&b| number(b)).collect();
    for (place, &bits) in wharf::reference::places(from).zip(&new) {
        let to = with(&place, axis, at.at(&place) as usize);
        sums[to.iter().zip(dims).fold(0, |at, (&i, &dim)| at * dim + i)] += number(bits);
    }
    let want = sums.into_iter().map(|n| match dtype.class() {
        wharf::dtype::Class::Float => bits(dtype, Number::Float(n as f64)),
        _ => bits(dtype, Number::Int(n)),
    });
    let want = Host { dims: dims.to_vec(), bits: want.collect() };
    let what = format!("scatter_add {dtype} {dims:?} {axis} from {from:?}");
    same(&what, x.scatter_add(axis, index, &y), &want).await
}

/// Sums that depend on their order are those of the documented order, in every run on every target.
async fn deterministic(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let n = 20_000;
    let mut random = Random::new(9);
    let data: Vec<f32> = (0..n).map(|_| random.below(1 << 20) as f32 * 1e-3 - 300.0).collect();
    let (index, at) = indices(&device, DType::U32, &[n], 17, 10).await?;
    let want: Vec<u64> = in_order(&data, &at.bits, 17).iter().map(|x| x.to_bits().into()).collect();
    for target in TARGETS.into_iter().cycle().take(6) {
        let here = device.with_target(target);
        let (source, _) = here.upload(&data, [n]).map_err(show)?;
        let zeros = here.zeros([17], DType::F32).map_err(show)?;
        let got = bits_of(&zeros.scatter_add(0, &index, &source).map_err(show)?).await?;
        count();
        let odd = difference(DType::F32, &got, &want);
        ensure_eq!(odd, None, "sums of another order on {target:?}");
    }
    Ok(())
}

/// Runs that begin with the last of a block, end there, and span several.
async fn between_blocks(ctx: &Ctx) -> Outcome {
    let native = ctx.native().await?;
    let mut random = Random::new(10);
    for target in TARGETS {
        let device = native.with_target(target);
        for first in [62usize, 63, 64, 65, 127, 190] {
            for length in [1, 2, 64, 65, 66, 129] {
                let (run, totals) = (core::iter::repeat_n(first, length), first + 40);
                let keys: Vec<usize> = (0..first).chain(run).chain(first + 1..totals).collect();
                let n = keys.len();
                let data: Vec<f32> =
                    (0..n).map(|_| random.below(1 << 20) as f32 * 1e-3 - 300.0).collect();
                let bits: Vec<u64> = keys.iter().map(|&key| key as u64).collect();
                let want = in_order(&data, &bits, totals);
                let keys: Vec<u32> = keys.into_iter().map(|key| key as u32).collect();
                let (index, _) = device.upload(&keys, [n]).map_err(show)?;
                let (source, _) = device.upload(&data, [n]).map_err(show)?;
                let zeros = device.zeros([totals], DType::F32).map_err(show)?;
                let got = zeros.scatter_add(0, &index, &source).map_err(show)?;
                let got = got.read::<f32>().await.map_err(show)?;
                count();
                ensure_eq!(got, want, "{length} from {first} on {target:?}");
            }
        }
    }
    Ok(())
}

/// All of a buffer, but not in its order.
async fn transposed(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let data: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let (source, _) = device.upload(&data, [4, 3]).map_err(show)?;
    let (index, _) = device.upload(&[1u32, 0, 1], [3]).map_err(show)?;
    let zeros = device.zeros([2, 4], DType::F32).map_err(show)?;
    let got = source.t().and_then(|rows| zeros.index_add(0, &index, &rows)).map_err(show)?;
    let got = got.read::<f32>().await.map_err(show)?;
    ensure_eq!(got, [1.0, 4.0, 7.0, 10.0, 2.0, 8.0, 14.0, 20.0], "a column to each row");
    Ok(())
}

/// Segments that can be halved, and a driver that has no room for what is larger than the halves.
/// Totals of rows that a half would cut are right, or there are none.
async fn short_of_memory(ctx: &Ctx) -> Outcome {
    let lower = |caps: Caps| {
        let caps = caps.with_limit(Limit::BindingBytes, 24 << 20);
        caps.with_limit(Limit::BufferBytes, 24 << 20)
    };
    let device = ctx.fresh(Downgrade { name: "narrow", lower }).await?;
    let zeros = device.zeros([800_000, 5], DType::F32).map_err(show)?;
    let places = [3, 625_868, 700_000, 625_868];
    let rows: Vec<f32> = (1..=20).map(|i| i as f32).collect();
    let mut want = vec![0.0; 4_000_000];
    for (row, place) in rows.chunks(5).zip(places) {
        row.iter().enumerate().for_each(|(i, x)| want[5 * place + i] += x);
    }
    let (index, _) = device.upload(&places.map(|place| place as u32), [4]).map_err(show)?;
    let (source, _) = device.upload(&rows, [4, 5]).map_err(show)?;
    device.fail(Call::Buffer, 14 << 20..u64::MAX);
    let short = zeros.index_add(0, &index, &source);
    device.fail(Call::Buffer, 0..0);
    ensure!(device.failures() > 0, "there was room");
    match short {
        Ok(sums) => ensure!(sums.read::<f32>().await.map_err(show)? == want, "of halves"),
        Err(error) => ensure!(error.is_out_of_memory(), "{error:?}"),
    }
    let sums = zeros.index_add(0, &index, &source).map_err(show)?;
    ensure!(sums.read::<f32>().await.map_err(show)? == want, "as soon as there is room");
    Ok(())
}

/// Sums as `shaders/runs.wgsl` says: of runs of equal keys, in blocks of 64 of the sorted list.
/// What goes on into a neighbouring block is added up in the next round, two places to a block.
fn in_order(data: &[f32], keys: &[u64], totals: usize) -> Vec<f32> {
    let mut sums = vec![0.0; totals];
    let mut list: Vec<(Option<usize>, f32)> =
        keys.iter().zip(data).map(|(&key, &x)| (Some(key as usize), x)).collect();
    list.sort_by_key(|&(key, _)| key);
    while !list.is_empty() {
        let mut rest = vec![(None, 0.0); 2 * list.len().div_ceil(64)];
        for (b, block) in list.chunks(64).enumerate() {
            let before = b.checked_sub(1).and_then(|_| list[64 * b - 1].0);
            let after = list.get(64 * (b + 1)).and_then(|&(key, _)| key);
            for run in block.chunk_by(|x, y| x.0 == y.0) {
                let Some(key) = run[0].0 else { continue };
                let is_late = before == Some(key) && run.as_ptr() == block.as_ptr();
                let is_open =
                    after == Some(key) && run.as_ptr_range().end == block.as_ptr_range().end;
                let sum = run[1..].iter().fold(run[0].1, |sum, x| sum + x.1);
                match (is_late, is_open) {
                    (false, false) => sums[key] += sum,
                    (late, open) => {
                        rest[2 * b + usize::from(!late)] = (Some(key), sum);
                        if late && open {
                            rest[2 * b + 1] = (Some(key), 0.0);
                        }
                    }
                }
            }
        }
        if list.len() <= 64 {
            break;
        }
        list = rest;
    }
    sums
}

/// More positions than a row of groups of a GPU takes.
async fn many(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    let (slots, n) = (4099, 70_001);
    let (index, at) = indices(&device, DType::U32, &[n], slots, 3).await?;
    let x = Pair::new(&device, DType::U32, vec![0; slots], &[slots]).await?.tensor;
    let y = Pair::new(&device, DType::U32, (1..=n as u64).collect(), &[n]).await?.tensor;
    let mut want = Host { dims: vec![slots], bits: vec![0; slots] };
    for (i, &to) in (1..).zip(&at.bits) {
        want.bits[to as usize] = i;
    }
    same("scatter of many", x.scatter(0, &index, &y), &want).await
}

async fn out_of_range(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let x = device.zeros([4, 3], DType::F32).map_err(show)?;
    let y = device.ones([2, 3], DType::F32).map_err(show)?;
    let (index, _) = device.upload(&[1i32, 4], [2, 1]).map_err(show)?;
    for (what, bad) in
        [("scatter_add", x.scatter_add(0, &index, &y)), ("scatter", x.scatter(0, &index, &y))]
    {
        let error = fails(&bad.map_err(show)?).await?.to_string();
        let want = format!("{what} of [4, 3] along axis 0: ");
        ensure!(error.starts_with(&want), "{error}");
        ensure!(error.contains("outside 0..4, the first at [1"), "{error}");
    }
    Ok(())
}

/// Sums of many integers, which wrap, to few totals and to more than a workgroup has: the same as
/// one after the other.
async fn tallied(ctx: &Ctx) -> Outcome {
    const MANY: usize = 100_003;
    let native = ctx.native().await?;
    let mut random = Random::new(91);
    for target in [Target::Gpu, Target::Cpu] {
        let device = native.with_target(target);
        // Totals: 5 and 3 of 5 rows, all that a workgroup has, and one more.
        for (keys, columns) in [(5, 1), (5, 3), (1024, 1), (1025, 1), (400, 3)] {
            let rows = MANY / columns;
            let index: Vec<i32> = (0..rows).map(|_| random.below(keys) as i32).collect();
            let source: Vec<i32> = (0..rows * columns).map(|_| random.bits() as i32).collect();
            let mut want: Vec<i32> = (0..keys * columns).map(|i| i as i32).collect();
            let (totals, _) = device.upload(&want, [keys, columns]).map_err(show)?;
            for (i, &value) in source.iter().enumerate() {
                let to = index[i / columns] as usize * columns + i % columns;
                want[to] = want[to].wrapping_add(value);
            }
            let (index, _) = device.upload(&index, [rows]).map_err(show)?;
            let (source, _) = device.upload(&source, [rows, columns]).map_err(show)?;
            let sums = totals.index_add(0, &index, &source).map_err(show)?;
            count();
            let got = sums.read::<i32>().await.map_err(show)?;
            ensure!(got == want, "{keys} keys of {columns}, {target:?}");
        }
    }
    Ok(())
}
