//! Operations that are made of others, by their contract: numbers of all digits, and terms that
//! take each other away.

use wharf::op::{Exact, composed_bound};
use wharf::reference::Number;
use wharf::tensor::{Align, Interpolation, Pooling};
use wharf::{DType, Device, Tensor};

use super::taps::taps;
use super::{FLOATS, Random, carried, show};
use crate::cases::accuracy::met;
use crate::cases::pair::count;
use crate::ctx::{Case, Ctx, Outcome, case, ensure, ensure_eq};
use crate::passport::accuracy::Worst;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("vocabulary::bounds::activations", |ctx| activations(ctx)),
        case!("vocabulary::bounds::pairs", |ctx| pairs(ctx)),
        case!("vocabulary::bounds::rows", |ctx| rows(ctx)),
        case!("vocabulary::bounds::channels", |ctx| channels(ctx)),
        case!("vocabulary::bounds::sizes", |ctx| sizes(ctx)),
        case!("vocabulary::bounds::scattered", |ctx| scattered(ctx)),
    ]
}

/// Whether a result of an operation, or of so many axes of one, keeps its contract.
pub(crate) async fn kept(
    (name, axes): (&str, usize),
    of: &str,
    got: &Tensor,
    exact: &[Exact],
) -> Outcome {
    count();
    let mut bound = composed_bound(name).ok_or_else(|| format!("{name} has no contract"))?;
    bound.ulp *= axes as f64;
    let dtype = got.dtype();
    let got: Vec<f64> = got.read_as().await.map_err(show)?.0;
    ensure_eq!(got.len(), exact.len(), "{name} of {of}");
    let mut worst = Worst::new(bound);
    for (i, (&got, &exact)) in got.iter().zip(exact).enumerate() {
        let is = bound.within(dtype, exact, Number::Float(got));
        ensure!(is, "{name} of {of}: {got}, not {exact:?} at {i}");
        worst.measure(exact, got, String::new);
    }
    if dtype == DType::F32 {
        met(name, worst.needed.ulp / bound.ulp, of);
    }
    Ok(())
}

/// In units of this scale, or of its own where that is larger.
pub(crate) const fn exact(value: f64, scale: f64) -> Exact {
    Exact { value: Number::Float(value), scale }
}

/// Numbers of all digits, of either sign, some of them much smaller than others: as a tensor of a
/// dtype, and what it has.
async fn drawn(
    device: &Device,
    random: &mut Random,
    (dtype, about): (DType, f64),
    dims: &[usize],
) -> Result<(Tensor, Vec<f64>), String> {
    let one = |random: &mut Random| {
        let part = (random.below(1 << 24) as f64 + 1.0) / f64::from(1 << 24);
        let small = f64::from(1 << random.below(4).pow(2));
        let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
        (about + sign * part * 4.0 / small) as f32
    };
    let data: Vec<f32> = (0..dims.iter().product()).map(|_| one(random)).collect();
    let (x, _) = device.upload(&data, dims).map_err(show)?;
    let x = x.cast(dtype).map_err(show)?;
    let values = x.read_as::<f64>().await.map_err(show)?.0;
    Ok((x, values))
}

async fn activations(ctx: &Ctx) -> Outcome {
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    const SCALE: f64 = 1.050_700_987_355_480_5;
    type Of = (&'static str, fn(&Tensor) -> wharf::Result<Tensor>, fn(f64) -> f64);
    const ROWS: [Of; 3] = [
        ("selu", Tensor::selu, |x| SCALE * if x > 0.0 { x } else { ALPHA * x.exp_m1() }),
        ("hard_sigmoid", Tensor::hard_sigmoid, |x| (x + 3.0).clamp(0.0, 6.0) / 6.0),
        ("softsign", Tensor::softsign, |x| x / (1.0 + x.abs())),
    ];
    let (device, mut random) = (ctx.native().await?, Random::new(91));
    for dtype in carried(&device, FLOATS) {
        let (x, values) = drawn(&device, &mut random, (dtype, 0.0), &[2, 4096]).await?;
        for (name, run, want) in ROWS {
            let want: Vec<Exact> = values.iter().map(|&x| exact(want(x), 0.0)).collect();
            kept((name, 1), dtype.name(), &run(&x).map_err(show)?, &want).await?;
        }
        let (first, second) = values.split_at(4096);
        let gate = |(a, b): (&f64, &f64)| exact(a / (1.0 + (-b).exp()), 0.0);
        let want: Vec<Exact> = first.iter().zip(second).map(gate).collect();
        kept(("glu", 1), dtype.name(), &x.glu(0).map_err(show)?, &want).await?;
        let (weight, slopes) = drawn(&device, &mut random, (dtype, 0.0), &[4096]).await?;
        let leak = |(i, &x): (usize, &f64)| if x > 0.0 { x } else { slopes[i % 4096] * x };
        let want: Vec<Exact> = values.iter().enumerate().map(|at| exact(leak(at), 0.0)).collect();
        kept(("prelu", 1), dtype.name(), &x.prelu(&weight).map_err(show)?, &want).await?;
    }
    Ok(())
}

/// Two products each, which are next to the same.
async fn pairs(ctx: &Ctx) -> Outcome {
    let (device, mut random) = (ctx.native().await?, Random::new(92));
    for dtype in carried(&device, FLOATS) {
        let (x, values) = drawn(&device, &mut random, (dtype, 1.0), &[1024, 2]).await?;
        let (cos, c) = drawn(&device, &mut random, (dtype, 1.0), &[1024, 1]).await?;
        let (sin, s) = drawn(&device, &mut random, (dtype, 1.0), &[1024, 1]).await?;
        let want: Vec<Exact> = (0..2048)
            .map(|i| {
                let (own, other) = (values[i] * c[i / 2], values[i ^ 1] * s[i / 2]);
                let other = if i % 2 == 0 { -other } else { other };
                exact(own + other, own.abs() + other.abs())
            })
            .collect();
        kept(("rope", 1), dtype.name(), &x.rope(&cos, &sin).map_err(show)?, &want).await?;
        let got = x.rope_interleaved(&cos, &sin).map_err(show)?;
        kept(("rope_interleaved", 1), dtype.name(), &got, &want).await?;
        let (y, b) = drawn(&device, &mut random, (dtype, 1.0), &[1024, 2]).await?;
        let want: Vec<Exact> = (0..2048)
            .map(|i| {
                let (k, sign) = (i / 2 * 2, if i % 2 == 0 { -1.0 } else { 1.0 });
                let (one, other) = (values[k] * b[i], sign * values[k + 1] * b[i ^ 1]);
                exact(one + other, one.abs() + other.abs())
            })
            .collect();
        let got = x.complex_mul(&y).map_err(show)?;
        kept(("complex_mul", 1), dtype.name(), &got, &want).await?;
        if dtype.width() < 4 {
            let [x, y] = [&x, &y].map(|x| x.cast(DType::F32));
            let wide = x.and_then(|x| x.complex_mul(&y?)?.cast(dtype)).map_err(show)?;
            ensure!(got.equal(&wide).await.map_err(show)?, "{dtype} is rounded on the way");
        }
        let (x, a) = drawn(&device, &mut random, (dtype, 3.0), &[1024, 3]).await?;
        let (y, b) = drawn(&device, &mut random, (dtype, 3.0), &[1024, 3]).await?;
        let want: Vec<Exact> = (0..3072)
            .map(|i| {
                let at = |n: usize| i / 3 * 3 + (i + n) % 3;
                let (one, other) = (a[at(1)] * b[at(2)], a[at(2)] * b[at(1)]);
                exact(one - other, one.abs() + other.abs())
            })
            .collect();
        kept(("cross", 1), dtype.name(), &x.cross(1, &y).map_err(show)?, &want).await?;
    }
    Ok(())
}

async fn rows(ctx: &Ctx) -> Outcome {
    let (device, mut random) = (ctx.native().await?, Random::new(93));
    for dtype in carried(&device, FLOATS) {
        for (about, length) in [(0.0, 5), (0.0, 200), (100.0, 6), (0.0, 5000)] {
            let dims = [40_000 / (length + 100), length];
            let (x, a) = drawn(&device, &mut random, (dtype, about), &dims).await?;
            let (y, b) = drawn(&device, &mut random, (dtype, about), &dims).await?;
            let of = format!("{dtype} {dims:?}");
            let sum = |x: &[f64]| x.iter().map(|x| x.abs()).sum::<f64>();
            let want: Vec<Exact> = a.chunks(length).map(|x| exact(sum(x), 0.0)).collect();
            kept(("l1_norm", 1), &of, &x.l1_norm(1).map_err(show)?, &want).await?;
            let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let unit = |x: &f64, row: &[f64]| exact(x / norm(row), 0.0);
            let want: Vec<Exact> =
                a.chunks(length).flat_map(|row| row.iter().map(|x| unit(x, row))).collect();
            kept(("unit", 1), &of, &x.unit(1).map_err(show)?, &want).await?;
            let cosine = |(x, y): (&[f64], &[f64])| {
                let both = x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
                exact(both / norm(x) / norm(y), 1.0)
            };
            let want: Vec<Exact> = a.chunks(length).zip(b.chunks(length)).map(cosine).collect();
            let got = x.cosine_similarity(1, &y).map_err(show)?;
            kept(("cosine_similarity", 1), &of, &got, &want).await?;
            for part in [0.3, 0.5, 0.977] {
                let at = |row: &[f64]| {
                    let mut row = row.to_vec();
                    row.sort_by(f64::total_cmp);
                    let place = part * (length - 1) as f64;
                    let (low, high) = (row[place as usize], row[place.ceil() as usize]);
                    let (low, high) = (low * (1.0 - place.fract()), high * place.fract());
                    exact(low + high, low.abs() + high.abs())
                };
                let want: Vec<Exact> = a.chunks(length).map(at).collect();
                kept(("quantile", 1), &of, &x.quantile(1, part).map_err(show)?, &want).await?;
                if part == 0.5 {
                    kept(("median", 1), &of, &x.median(1).map_err(show)?, &want).await?;
                }
            }
        }
    }
    Ok(())
}

async fn channels(ctx: &Ctx) -> Outcome {
    const EPS: f64 = 1e-3;
    let (device, mut random) = (ctx.native().await?, Random::new(94));
    for dtype in carried(&device, FLOATS) {
        for about in [0.0, 30.0] {
            let of = format!("{dtype} about {about}");
            let (x, values) = drawn(&device, &mut random, (dtype, about), &[3, 8, 130]).await?;
            let mut list = async |about| drawn(&device, &mut random, (dtype, about), &[8]).await;
            let ((w, weight), (b, bias)) = (list(0.0).await?, list(about).await?);
            let ((m, mean), (v, var)) = (list(about).await?, list(5.0).await?);
            let ends = |i: usize| (weight[i / 130 % 8], bias[i / 130 % 8]);
            for groups in [1, 4, 8] {
                let size = 8 / groups * 130;
                let mut want = Vec::new();
                for (n, row) in values.chunks(size).enumerate() {
                    let mean = row.iter().sum::<f64>() / size as f64;
                    let var = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / size as f64;
                    let s = (var + EPS).sqrt();
                    let far = row.iter().fold(0.0f64, |far, x| far.max(x.abs())) / s;
                    for (i, x) in row.iter().enumerate() {
                        let ((w, b), y) = (ends(n * size + i), (x - mean) / s);
                        let unit = (1.0 + y.abs() * far / f64::from(1 << 20)) * far;
                        want.push(exact(y * w + b, w.abs() * unit + b.abs() / 64.0));
                    }
                }
                let got = x.group_norm(groups, Some(&w), Some(&b), EPS).map_err(show)?;
                kept(("group_norm", 1), &of, &got, &want).await?;
                if groups == 8 {
                    let got = x.instance_norm(Some(&w), Some(&b), EPS).map_err(show)?;
                    kept(("instance_norm", 1), &of, &got, &want).await?;
                }
            }
            let one = |(i, x): (usize, &f64)| {
                let (w, b) = ends(i);
                let s = (var[i / 130 % 8] + EPS).sqrt();
                let y = (x - mean[i / 130 % 8]) / s * w;
                exact(y + b, y.abs().max(b.abs()))
            };
            let want: Vec<Exact> = values.iter().enumerate().map(one).collect();
            let got = x.batch_norm(&m, &v, Some(&w), Some(&b), EPS).map_err(show)?;
            kept(("batch_norm", 1), &of, &got, &want).await?;
        }
    }
    Ok(())
}

async fn sizes(ctx: &Ctx) -> Outcome {
    const HOWS: [(&str, Interpolation); 6] = [
        ("interpolate_linear", Interpolation::Linear(Align::Edges)),
        ("interpolate_linear", Interpolation::Linear(Align::Corners)),
        ("interpolate_cubic", Interpolation::Cubic(Align::Edges)),
        ("interpolate_cubic", Interpolation::Cubic(Align::Corners)),
        ("interpolate_antialiased", Interpolation::LinearAntialiased),
        ("interpolate_antialiased", Interpolation::CubicAntialiased),
    ];
    let (device, mut random) = (ctx.native().await?, Random::new(95));
    for dtype in carried(&device, FLOATS) {
        for (from, to) in [([7, 9], [5, 31]), ([3, 1000], [3, 7]), ([2, 3001], [5, 2999])] {
            let dims = [2, from[0], from[1]];
            let (x, values) = drawn(&device, &mut random, (dtype, 0.0), &dims).await?;
            let of = |how: &dyn core::fmt::Debug| format!("{dtype} {from:?} to {to:?} {how:?}");
            let axes = from.iter().zip(to).filter(|(from, to)| *from != to).count();
            for (name, how) in HOWS {
                let all = |axis: usize| -> Vec<_> {
                    let of = |i| taps(how, from[axis], to[axis], i);
                    (0..to[axis]).map(of).collect()
                };
                let want = weighed(&values, from, [&all(0), &all(1)]);
                let got = x.interpolate(to, how).map_err(show)?;
                kept((name, axes), &of(&how), &got, &want).await?;
            }
            let covered = |axis: usize| -> Vec<Vec<(usize, f64)>> {
                let (from, to) = (from[axis], to[axis]);
                let all = |i: usize| i * from / to..((i + 1) * from).div_ceil(to);
                let share = |i: usize| all(i).map(move |j| (j, 1.0 / all(i).len() as f64));
                (0..to).map(|i| share(i).collect()).collect()
            };
            let want = means(&values, from, [&covered(0), &covered(1)]);
            let got = x.adaptive_avg_pool(to).map_err(show)?;
            kept(("adaptive_avg_pool", 1), &of(&"covered"), &got, &want).await?;
        }
        let (x, values) = drawn(&device, &mut random, (dtype, 0.0), &[2, 60, 60]).await?;
        let side: Vec<Vec<(usize, f64)>> =
            (0..4).map(|i| (0..15).map(|j| (i * 15 + j, 1.0 / 15.0)).collect()).collect();
        let want = means(&values, [60, 60], [&side, &side]);
        let got = x.avg_pool(&Pooling::new([15, 15])).map_err(show)?;
        kept(("avg_pool", 1), dtype.name(), &got, &want).await?;
    }
    Ok(())
}

/// What each element of an axis is made of, and by which weights.
type Taps<'a> = &'a [Vec<(usize, f64)>];

/// Sums by the weights of both axes, in units of the largest of what has any.
fn weighed(x: &[f64], from: [usize; 2], taps: [Taps<'_>; 2]) -> Vec<Exact> {
    summed(x, from, taps, |(sum, most), x, weight| {
        (sum + x * weight, if weight == 0.0 { most } else { x.abs().max(most) })
    })
}

/// The same in units of the same sums of magnitudes.
fn means(x: &[f64], from: [usize; 2], taps: [Taps<'_>; 2]) -> Vec<Exact> {
    summed(x, from, taps, |(sum, all), x, weight| (sum + x * weight, all + x.abs() * weight))
}

fn summed(
    x: &[f64],
    from: [usize; 2],
    taps: [Taps<'_>; 2],
    add: impl Fn((f64, f64), f64, f64) -> (f64, f64),
) -> Vec<Exact> {
    let mut sums = Vec::new();
    for image in x.chunks(from[0] * from[1]) {
        for row in taps[0] {
            for column in taps[1] {
                let pairs = row.iter().flat_map(|a| column.iter().map(move |b| (a, b)));
                let one = |so_far, (a, b): (&(usize, f64), &(usize, f64))| {
                    add(so_far, image[a.0 * from[1] + b.0], a.1 * b.1)
                };
                let (value, scale) = pairs.fold((0.0, 0.0), one);
                sums.push(exact(value, scale));
            }
        }
    }
    sums
}

/// Many for one element, and few.
async fn scattered(ctx: &Ctx) -> Outcome {
    let (device, mut random) = (ctx.native().await?, Random::new(96));
    for dtype in carried(&device, FLOATS) {
        for (places, count, about) in [(3, 40_000, 0.0), (700, 3000, 0.0), (1, 9000, 3.0)] {
            let of = format!("{dtype}: {count} to {places}");
            let (x, own) = drawn(&device, &mut random, (dtype, 2.0), &[places]).await?;
            let (source, values) = drawn(&device, &mut random, (dtype, about), &[count]).await?;
            let index: Vec<u32> = (0..count).map(|_| random.below(places) as u32).collect();
            let to = device.upload(&index, count).map_err(show)?.0;
            let mut want: Vec<Exact> = own.iter().map(|&x| exact(x, x.abs())).collect();
            for (&at, x) in index.iter().zip(&values) {
                let Number::Float(sum) = want[at as usize].value else { continue };
                want[at as usize] = exact(sum + x, want[at as usize].scale + x.abs());
            }
            for name in ["scatter_add", "index_add"] {
                let got = match name {
                    "index_add" => x.index_add(0, &to, &source),
                    _ => x.scatter_add(0, &to, &source),
                };
                kept((name, 1), &of, &got.map_err(show)?, &want).await?;
            }
            // Factors so near to 1 that the product stays in range.
            let factor = |x: &Tensor| ((x * (1.0 / 64.0))? + 1.0)?.cast(dtype);
            let few = source.slice(0, ..count / 100).and_then(|x| factor(&x)).map_err(show)?;
            let to = to.slice(0, ..count / 100).map_err(show)?;
            let values = few.read_as::<f64>().await.map_err(show)?.0;
            let mut products: Vec<(f64, f64)> = own.iter().map(|&x| (x, 1.0)).collect();
            for (&at, x) in index.iter().zip(&values) {
                let (product, n) = products[at as usize];
                products[at as usize] = (product * x, n + 1.0);
            }
            let want: Vec<Exact> = products.iter().map(|&(x, n)| exact(x, n * x.abs())).collect();
            let got = x.scatter_mul(0, &to, &few).map_err(show)?;
            kept(("scatter_mul", 1), &of, &got, &want).await?;
        }
    }
    Ok(())
}
