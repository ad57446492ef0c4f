//! What only some sizes, places and strides come to.

use wharf::reference::{Exact, Number, matmul_keeps};
use wharf::tensor::{Align, Pad};
use wharf::{Adapter, DType, Tensor};

use super::grids::repeats;
use super::{TARGETS, devices};
use crate::cases::probe::Random;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    vec![
        case!("hunt::bands_of_tiles", |ctx| of_bands(ctx)),
        case!("hunt::long_products", |ctx| of_long_products(ctx)),
        case!("hunt::three_batches", |ctx| of_batches(ctx)),
        case!("hunt::stepped_products", |ctx| of_steps(ctx)),
        case!("hunt::seven_axes", |ctx| of_axes(ctx)),
        case!("hunt::sampled_views", |ctx| of_samples(ctx)),
        case!("hunt::remainders_of_large_quotients", |ctx| of_quotients(ctx)),
        case!("hunt::remainders", |ctx| of_remainders(ctx)).needs(
            adapter,
            DOWNGRADES[0],
            DType::F64,
        ),
    ]
}

async fn floats(x: wharf::Result<Tensor>) -> Result<Vec<f32>, String> {
    x.map_err(show)?.read::<f32>().await.map_err(show)
}

/// Tiles of rows are taken in bands of eight, of which the last may have fewer; the last tile may
/// be whole. Each row is as its equal among the first seven.
async fn of_bands(ctx: &Ctx) -> Outcome {
    let k = 8;
    for (rows, n) in [(740, 260), (768, 256), (1500, 260)] {
        let at = |i: usize| ((i / k % 7 * 5 + i % k * 3) % 11) as f32;
        let data: Vec<f32> = (0..rows * k).map(at).collect();
        let right: Vec<f32> = (0..k * n).map(|i| (i * 7 % 13) as f32).collect();
        for device in devices(ctx).await? {
            let (b, _) = device.upload(&right, [k, n]).map_err(show)?;
            let (few, _) = device.upload(&data[..7 * k], [7, k]).map_err(show)?;
            let (all, _) = device.upload(&data, [rows, k]).map_err(show)?;
            let what = format!("{:?}", device.target());
            repeats::<f32>([few.matmul(&b), all.matmul(&b)], rows, &what).await?;
        }
    }
    Ok(())
}

/// Sums so long that one that is not cut into chunks is beyond its bound: all roundings go one way.
/// So many columns that none is split along k.
async fn of_long_products(ctx: &Ctx) -> Outcome {
    const K: usize = 1 << 14;
    let (x, columns) = (2.01f32, 64);
    let sum = f64::from(x) * K as f64;
    let exact = Exact { value: Number::Float(sum), scale: sum };
    for device in devices(ctx).await? {
        let b = device.ones([K, columns], DType::F32).map_err(show)?;
        for rows in [1, 6, 40] {
            let a = device.full([rows, K], x, DType::F32).map_err(show)?;
            for got in floats(a.matmul(&b)).await? {
                let keeps = matmul_keeps(DType::F32, K, exact, Number::Float(got.into()));
                ensure!(keeps, "{rows} rows: {got}, not {sum}, {:?}", device.target());
            }
        }
    }
    Ok(())
}

/// Batches of three axes, of which either side repeats other ones, so that none can be joined.
async fn of_batches(ctx: &Ctx) -> Outcome {
    for device in devices(ctx).await? {
        for (a, b) in [([2, 1, 5], [2, 3, 1]), ([1, 4, 2], [3, 1, 2])] {
            let tensor = |dims: [usize; 3], last: [usize; 2], by: usize| {
                let all = dims.iter().chain(&last).product::<usize>();
                let data: Vec<f32> = (0..all).map(|i| (i * by % 17) as f32).collect();
                let (x, _) = device.upload(&data, [all])?;
                x.reshape([dims[0], dims[1], dims[2], last[0], last[1]])
            };
            let x = tensor(a, [9, 8], 5).map_err(show)?;
            let y = tensor(b, [8, 12], 7).map_err(show)?;
            let both = [0, 1, 2].map(|i| a[i].max(b[i]));
            let spread = |x: &Tensor| {
                let dims = x.shape().dims();
                let dims = [both[0], both[1], both[2], dims[3], dims[4]];
                let all = x.broadcast_to(dims)?.contiguous()?;
                all.reshape([both.iter().product(), dims[3], dims[4]])
            };
            let got = floats(x.matmul(&y)).await?;
            let (x, y) = (spread(&x).map_err(show)?, spread(&y).map_err(show)?);
            for i in 0..both.iter().product() {
                let one = |t: &Tensor| t.slice(0, i..i + 1)?.squeeze(0)?.contiguous();
                let want = one(&x).and_then(|x| x.matmul(&one(&y)?));
                let want = floats(want).await?;
                ensure_eq!(got[i * 108..][..108], want[..], "{i} of {a:?}, {:?}", device.target());
            }
        }
    }
    Ok(())
}

/// Both sides of a product with every step along either axis, transposed or not: a quad of memory
/// holds what belongs together only where a step is one. Sums of small whole numbers are exact.
async fn of_steps(ctx: &Ctx) -> Outcome {
    const SIDE: usize = 8;
    let data: Vec<f32> = (0..16 * SIDE * SIDE).map(|i| (i * 7 % 13) as f32 - 6.0).collect();
    let native = ctx.native().await?;
    for device in TARGETS.map(|target| native.with_target(target)) {
        let (x, _) = device.upload(&data, [4 * SIDE, 4 * SIDE]).map_err(show)?;
        let stepped = |rows: usize, columns: usize, turned: bool| {
            let view = x.slice_step(0, 0..rows * SIDE, rows as isize)?;
            let view = view.slice_step(1, 0..columns * SIDE, columns as isize)?;
            if turned { view.t() } else { Ok(view) }
        };
        let mut views = Vec::new();
        for (rows, columns) in [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 2), (2, 4), (4, 4)] {
            for turned in [false, true] {
                let view = stepped(rows, columns, turned).map_err(show)?;
                let dense = view.contiguous().map_err(show)?;
                views.push((view, dense, (rows, columns, turned)));
            }
        }
        let one = &views[0].0;
        for (view, dense, what) in &views {
            let want = floats(dense.matmul(one)).await?;
            ensure_eq!(floats(view.matmul(one)).await?, want, "{what:?}, {:?}", device.target());
            let want = floats(one.matmul(dense)).await?;
            ensure_eq!(floats(one.matmul(view)).await?, want, "by {what:?}, {:?}", device.target());
        }
    }
    Ok(())
}

/// Views of seven axes, none of which joins its neighbour, by element and by rows that lie dense:
/// as what they show, laid out anew.
async fn of_axes(ctx: &Ctx) -> Outcome {
    type Make = fn(&Tensor) -> wharf::Result<Tensor>;
    const MAKE: [Make; 4] = [|x| x.contiguous(), |x| x.relu(), |x| x.sum(6), |x| x.softmax(6)];
    const DIMS: [usize; 7] = [3, 2, 3, 2, 3, 2, 8];
    let all = DIMS.iter().map(|n| 2 * n).product::<usize>();
    let data: Vec<f32> = (0..all).map(|i| (i * 7919 % 4001) as f32 - 2000.0).collect();
    let native = ctx.native().await?;
    for device in TARGETS.map(|target| native.with_target(target)) {
        let (x, _) = device.upload(&data, [all]).map_err(show)?;
        let x = x.reshape(DIMS.map(|n| 2 * n)).map_err(show)?;
        for last in [1, 2] {
            let (mut view, mut shown, mut step) = (x.clone(), vec![0], all);
            for (axis, n) in DIMS.into_iter().enumerate() {
                let by = if axis == 6 { last } else { 2 };
                view = view.slice_step(axis, 0..by * n, by as isize).map_err(show)?;
                step /= 2 * n;
                let places = |&at: &usize| (0..n).map(move |i| at + i * by * step);
                shown = shown.iter().flat_map(places).collect();
            }
            let shown: Vec<f32> = shown.into_iter().map(|at| data[at]).collect();
            let (dense, _) = device.upload(&shown, DIMS).map_err(show)?;
            for (n, make) in MAKE.iter().enumerate() {
                let (got, want) = (floats(make(&view)).await?, floats(make(&dense)).await?);
                ensure_eq!(got == want, true, "{n} by {last}, {:?}", device.target());
            }
        }
    }
    Ok(())
}

/// An image whose channels lie innermost, and one that is mirrored: as the same laid out anew.
async fn of_samples(ctx: &Ctx) -> Outcome {
    let native = ctx.native().await?;
    let data: Vec<f32> = (0..90).map(|i| (i * 37 % 91) as f32).collect();
    let places: Vec<f32> = (0..40).map(|i| (i * 29 % 41) as f32 / 20.0 - 1.0).collect();
    for device in TARGETS.map(|target| native.with_target(target)) {
        let (image, _) = device.upload(&data, [1, 5, 6, 3]).map_err(show)?;
        let (grid, _) = device.upload(&places, [1, 4, 5, 2]).map_err(show)?;
        let image = image.permute([0, 3, 1, 2]).map_err(show)?;
        for view in [image.clone(), image.flip(3).map_err(show)?] {
            let dense = view.contiguous().map_err(show)?;
            let sampled = |x: &Tensor| x.grid_sample(&grid, Align::Edges, Pad::Replicate);
            let (got, want) = (floats(sampled(&view)).await?, floats(sampled(&dense)).await?);
            ensure_eq!(got, want, "{:?}", device.target());
        }
    }
    Ok(())
}

/// Remainders by `d` just below `d`, where the third step of a division rounds its quotient up:
/// dividends of quotients around 2^28, found by arithmetic of integers.
async fn of_remainders(ctx: &Ctx) -> Outcome {
    const UNIT: f64 = 1.0 / (1u64 << 52) as f64;
    let odd = |i: u64| ((1u64 << 52) + (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 12)) | 1;
    let divisors: Vec<u64> = (1..400).map(odd).collect();
    // n = N 2^-24 and d = D 2^-52: N 2^28 = -1 modulo D.
    let dividend = |d: u64| d - inverse(1 << 28, d);
    let below: Vec<f64> = divisors.iter().map(|&d| d as f64 * UNIT).collect();
    let above: Vec<f64> =
        divisors.iter().map(|&d| dividend(d) as f64 / (1u64 << 24) as f64).collect();
    let device = ctx.native().await?;
    let (n, _) = device.upload(&above, [above.len()]).map_err(show)?;
    let (d, _) = device.upload(&below, [below.len()]).map_err(show)?;
    let got = n.rem(&d).map_err(show)?.read::<f64>().await.map_err(show)?;
    for ((got, d), n) in got.iter().zip(&below).zip(&above) {
        // A unit of the dividend is allowed.
        let off = (got - (d - UNIT)).abs();
        ensure!(off <= 0.5f64.powi(24), "{n} by {d}: {got}");
    }
    Ok(())
}

/// Of numbers below a multiple of their divisors by less than a quotient shows, which is rounded up
/// by more than one.
async fn of_quotients(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(29);
    let pair = |_| {
        let divisor = f32::from_bits(0x3f80_0000 | random.bits() as u32 & 0x007f_ffff);
        let whole = ((1 << 10) + (random.bits() & 0x3ff)) << 19;
        let multiple = (whole as f64 * f64::from(divisor)) as f32;
        (f32::from_bits(multiple.to_bits() - 1), divisor)
    };
    let (above, below): (Vec<f32>, Vec<f32>) = (0..4096).map(pair).unzip();
    let device = ctx.native().await?;
    let (n, _) = device.upload(&above, [above.len()]).map_err(show)?;
    let (d, _) = device.upload(&below, [below.len()]).map_err(show)?;
    let got = floats(n.rem(&d)).await?;
    for ((got, d), n) in got.iter().zip(&below).zip(&above) {
        let [got, d, n] = [got, d, n].map(|&x| f64::from(x));
        ensure!(got == n % d, "{n} by {d}: {got}, not {}", n % d);
    }
    Ok(())
}

/// What times `x` is 1, modulo an odd `m`.
fn inverse(x: u64, m: u64) -> u64 {
    let (mut r, mut s) = ([i128::from(m), i128::from(x % m)], [0i128, 1]);
    while r[1] != 0 {
        let q = r[0] / r[1];
        r = [r[1], r[0] - q * r[1]];
        s = [s[1], s[0] - q * s[1]];
    }
    s[0].rem_euclid(i128::from(m)) as u64
}
