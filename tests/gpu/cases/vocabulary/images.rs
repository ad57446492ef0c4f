//! Images of other sizes or at other places, and convolutions that go back: each element by its
//! definition.

use wharf::op::Exact;
use wharf::reference::places;
use wharf::shadow::ShadowPolicy;
use wharf::tensor::{Align, Conv, Interpolation, Pad};
use wharf::{DType, Device, Scalar, Target, Tensor};

use super::taps::taps;
use super::{FLOATS, Random, Shown, carried, devices, exact, flat, kept, near, room, show, tried};
use crate::cases::pair::count;
use crate::cases::views::Move::{self, Flip, Permute};
use crate::cases::views::TARGETS;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, matters};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("vocabulary::images::interpolate", |ctx| resized(ctx)),
        case!("vocabulary::images::interpolate_ragged", |ctx| ragged(ctx)),
        case!("vocabulary::images::nearest_moves_bits", |ctx| nearest(ctx)),
        case!("vocabulary::images::adaptive_avg_pool", |ctx| pooled(ctx)),
        case!("vocabulary::images::conv_transpose", |ctx| spread(ctx)),
        case!("vocabulary::images::grid_sample", |ctx| sampled(ctx)),
        case!("vocabulary::images::grid_sample_by_hand", |ctx| sampled_by_hand(ctx)),
        case!("vocabulary::images::grid_sample_in_parts", |ctx| sampled_in_parts(ctx)),
        case!("vocabulary::images::grid_sample_refuses", |ctx| refused(ctx)),
    ]
}

/// The row of the contract, and how many axes change.
fn contract(how: Interpolation, from: &[usize], to: [usize; 2]) -> (&'static str, usize) {
    let name = match how {
        Interpolation::Nearest => "nearest",
        Interpolation::Linear(_) => "interpolate_linear",
        Interpolation::Cubic(_) => "interpolate_cubic",
        _ => "interpolate_antialiased",
    };
    let last = &from[from.len() - 2..];
    (name, last.iter().zip(to).filter(|(from, to)| *from != to).count())
}

/// Of images: the sum over all taps of both axes at once, in units of the largest.
fn interpolated(x: &Shown, how: Interpolation, to: [usize; 2]) -> (Vec<usize>, Vec<Exact>) {
    let first = x.dims.len() - 2;
    let dims = [&x.dims[..first], &to].concat();
    let one = |place: Vec<usize>| {
        let [rows, columns] = [0, 1].map(|i| taps(how, x.dims[first + i], to[i], place[first + i]));
        let (mut sum, mut most) = (0.0, 0.0f64);
        for &(row, weight) in &rows {
            for &(column, other) in &columns {
                let weight = weight * other;
                // What has no weight does not count, be it infinite.
                if weight != 0.0 {
                    let x = x.at(&[&place[..first], &[row, column]].concat());
                    (sum, most) = (sum + weight * x, most.max(x.abs()));
                }
            }
        }
        exact(sum, if most.is_finite() { most } else { 0.0 })
    };
    let values = places(&dims).map(one).collect();
    (dims, values)
}

/// What has no number is NaN.
fn values(all: &[Exact]) -> Vec<f64> {
    all.iter().map(|one| super::float(one.value)).collect()
}

const HOWS: [Interpolation; 7] = [
    Interpolation::Nearest,
    Interpolation::Linear(Align::Edges),
    Interpolation::Linear(Align::Corners),
    Interpolation::Cubic(Align::Edges),
    Interpolation::Cubic(Align::Corners),
    Interpolation::LinearAntialiased,
    Interpolation::CubicAntialiased,
];

/// A shape, what is done to it, and the sizes of its last axes.
type Resizes = (&'static [usize], Vec<Move>, &'static [[usize; 2]]);

/// Views, and the sizes that f32 gets; the others get the first.
fn forms() -> Vec<Resizes> {
    const ANY: &[[usize; 2]] = &[[6, 9], [2, 3], [1, 4], [3, 13]];
    vec![
        (&[2, 3, 4, 5], vec![Permute(vec![0, 3, 1, 2])], ANY),
        (&[5, 7], vec![Flip(1)], ANY),
        // Whole quads before and after, in more rows than a lane takes; a part of such rows.
        (&[9, 2, 5, 8], vec![], &[[7, 16], [3, 4], [5, 11]]),
        (&[3, 4, 16], vec![Move::Slice(2, 4..12, 1)], &[[7, 20], [6, 8]]),
        // Whole quads that begin anywhere.
        (&[3, 4, 6], vec![Move::Slice(2, 0..4, 1)], &[[7, 4], [6, 8]]),
        // More lines than a lane walks down, by elements and by quads, of one line and of many.
        (&[2, 9, 5], vec![], &[[37, 8], [37, 10], [9, 10]]),
        (&[4, 1, 3], vec![], &[[35, 7]]),
        // Few of many: elements that a quad needs lie far apart.
        (&[2, 41], vec![], &[[3, 6], [1, 1], [2, 3]]),
    ]
}

/// A line of one to nine elements, at one to nine.
async fn ragged(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(44);
    for device in devices(ctx).await? {
        for from in 1..10 {
            let x = Shown::new(&device, &mut random, DType::F32, (&[2, from], &[])).await?;
            for (to, how) in (1..10).flat_map(|to| [(to, HOWS[1]), (to, HOWS[4])]) {
                let name = format!("{from} at {to}, {how:?} for {:?}", device.target());
                let got = x.tensor.interpolate([2, to], how).map_err(show)?;
                let (dims, want) = interpolated(&x, how, [2, to]);
                ensure_eq!(got.shape().dims(), dims, "{name}: the shape");
                kept(contract(how, &x.dims, [2, to]), &name, &got, &want).await?;
            }
        }
    }
    Ok(())
}

async fn resized(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(41);
    for device in devices(ctx).await? {
        for dtype in carried(&device, FLOATS) {
            for (dims, moves, sizes) in tried(ctx, &device, forms(), dtype) {
                let mut x = Shown::new(&device, &mut random, dtype, (dims, &[])).await?.values;
                // In the middle of 41 it lies a whole distance from the first of three.
                let place = if dims == [2, 41] { 20 } else { 8 };
                x[place] = f64::INFINITY;
                let x = Shown::of(&device, dtype, x, (dims, &moves)).await?;
                let sizes = if dtype == DType::F32 { sizes } else { &sizes[..1] };
                for &to in sizes {
                    for how in HOWS {
                        let name = format!(
                            "{dtype} {:?} to {to:?} {how:?} for {:?}",
                            x.dims,
                            device.target()
                        );
                        let got = x.tensor.interpolate(to, how).map_err(show)?;
                        ensure_eq!(got.dtype(), dtype, "{name}: the dtype");
                        let (dims, want) = interpolated(&x, how, to);
                        ensure_eq!(got.shape().dims(), dims, "{name}: the shape");
                        if how == Interpolation::Nearest {
                            near(&name, &got, &dims, &values(&want), 0.0).await?;
                        } else {
                            kept(contract(how, &x.dims, to), &name, &got, &want).await?;
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

async fn nearest(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(42);
    for device in devices(ctx).await? {
        for dtype in carried(&device, DType::ALL) {
            let x = Shown::new(&device, &mut random, dtype, (&[3, 4, 5], &[Flip(0)])).await?;
            let got = x.tensor.interpolate([7, 3], Interpolation::Nearest).map_err(show)?;
            let (dims, want) = interpolated(&x, Interpolation::Nearest, [7, 3]);
            ensure_eq!(got.dtype(), dtype, "the dtype");
            near(dtype.name(), &got, &dims, &values(&want), 0.0).await?;
        }
    }
    Ok(())
}

async fn pooled(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(43);
    for device in devices(ctx).await? {
        for dtype in carried(&device, FLOATS) {
            for (dims, moves, _) in tried(ctx, &device, forms(), dtype) {
                let x = Shown::new(&device, &mut random, dtype, (dims, &moves)).await?;
                let first = x.dims.len() - 2;
                for to in [[1, 1], [2, 2], [3, 2], [5, 9]] {
                    let dims = [&x.dims[..first], &to].concat();
                    let want: Vec<Exact> = places(&dims)
                        .map(|place| {
                            let [rows, columns] = [0, 1].map(|i| {
                                let (from, at) = (x.dims[first + i], place[first + i]);
                                at * from / to[i]..((at + 1) * from).div_ceil(to[i])
                            });
                            let count = (rows.len() * columns.len()) as f64;
                            let cells = rows
                                .flat_map(|row| columns.clone().map(move |column| [row, column]));
                            let cells = cells.map(|cell| x.at(&[&place[..first], &cell].concat()));
                            let (sum, all) = cells.fold((0.0, 0.0), |(sum, all), x| {
                                (sum + x / count, all + x.abs() / count)
                            });
                            exact(sum, all)
                        })
                        .collect();
                    let got = x.tensor.adaptive_avg_pool(to).map_err(show)?;
                    let name = format!("{dtype} {:?} to {to:?} for {:?}", x.dims, device.target());
                    ensure_eq!(got.shape().dims(), dims, "{name}: the shape");
                    kept(("adaptive_avg_pool", 1), &name, &got, &want).await?;
                }
            }
        }
    }
    // What lies beside a window does not count, be it infinite.
    let device = ctx.native().await?;
    let (x, _) = device.upload(&[1.0f32, 3.0, f32::INFINITY, 5.0, 7.0], [1, 5]).map_err(show)?;
    let got = x.adaptive_avg_pool([4]).map_err(show)?;
    near("infinity", &got, &[1, 4], &[2.0, f64::INFINITY, f64::INFINITY, 6.0], 0.0).await
}

/// A transposed convolution of one, two or three axes.
#[derive(Clone, Copy, Debug)]
struct Form {
    x: &'static [usize],
    w: &'static [usize],
    stride: &'static [usize],
    padding: &'static [usize],
    dilation: &'static [usize],
    more: &'static [usize],
    groups: usize,
}

const FORMS: &[Form] = &[
    form(&[2, 3, 5], &[3, 2, 3], &[1], &[0], &[1], &[0], 1),
    form(&[1, 2, 4], &[2, 3, 4], &[2], &[1], &[1], &[1], 1),
    form(&[1, 1, 3], &[1, 1, 2], &[3], &[0], &[1], &[2], 1),
    form(&[1, 2, 4], &[2, 1, 3], &[2], &[1], &[2], &[1], 2),
    form(&[1, 1, 5], &[1, 1, 3], &[2], &[0], &[3], &[0], 1),
    form(&[1, 1, 3], &[1, 1, 5], &[4], &[3], &[2], &[3], 1),
    form(&[2, 4, 3, 4], &[4, 3, 2, 2], &[2, 2], &[0, 0], &[1, 1], &[0, 0], 1),
    form(&[1, 4, 3, 5], &[4, 2, 3, 3], &[2, 1], &[1, 2], &[1, 2], &[1, 0], 2),
    form(&[1, 2, 2, 3, 2], &[2, 1, 2, 3, 2], &[2, 2, 1], &[0, 1, 1], &[1, 1, 1], &[0, 1, 0], 1),
    // Several places at once: of two lengths, begun in the middle, some without a tap, in groups.
    form(&[1, 1, 5], &[1, 1, 4], &[2], &[0], &[3], &[0], 1),
    form(&[2, 3, 4], &[3, 2, 8], &[5], &[2], &[1], &[1], 1),
    form(&[2, 4, 3], &[4, 1, 4], &[7], &[0], &[1], &[3], 2),
    form(&[1, 4, 3, 2], &[4, 3, 4, 6], &[4, 3], &[0, 1], &[1, 1], &[0, 2], 2),
    form(&[1, 2, 3, 2], &[2, 1, 5, 7], &[3, 4], &[1, 3], &[1, 1], &[2, 0], 1),
    form(&[1, 2, 2, 2, 2], &[2, 1, 4, 2, 3], &[4, 2, 2], &[1, 0, 1], &[1, 1, 1], &[0, 0, 1], 2),
];

const fn form(
    x: &'static [usize],
    w: &'static [usize],
    stride: &'static [usize],
    padding: &'static [usize],
    dilation: &'static [usize],
    more: &'static [usize],
    groups: usize,
) -> Form {
    Form { x, w, stride, padding, dilation, more, groups }
}

fn how<const D: usize>(form: &Form) -> Conv<D> {
    let each = |of: &[usize]| -> [usize; D] { std::array::from_fn(|i| of[i]) };
    let how = Conv::new().stride(each(form.stride)).padding(each(form.padding));
    how.dilation(each(form.dilation)).output_padding(each(form.more)).groups(form.groups)
}

/// Every element of the input, spread.
fn spread_out(form: &Form, x: &Shown, w: &Shown, bias: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let (each_in, each_out) = (form.x[1] / form.groups, form.w[1]);
    let mut dims = vec![form.x[0], each_out * form.groups];
    for i in 0..form.stride.len() {
        let spread = (form.x[2 + i] - 1) * form.stride[i] + form.dilation[i] * (form.w[2 + i] - 1);
        dims.push(spread + form.more[i] + 1 - 2 * form.padding[i]);
    }
    let mut sums: Vec<f64> = places(&dims).map(|place| bias[place[1]]).collect();
    for from in places(&x.dims) {
        for tap in places(&form.w[1..]) {
            let group = from[1] / each_in;
            let mut to = vec![from[0], group * each_out + tap[0]];
            let mut inside = true;
            for i in 0..form.stride.len() {
                let at = from[2 + i] * form.stride[i] + tap[1 + i] * form.dilation[i];
                inside &= (form.padding[i]..form.padding[i] + dims[2 + i]).contains(&at);
                to.push(at.wrapping_sub(form.padding[i]));
            }
            if inside {
                sums[flat(&dims, &to)] += x.at(&from) * w.at(&[&[from[1]], &tap[..]].concat());
            }
        }
    }
    (dims, sums)
}

async fn spread(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(44);
    for (n, device) in devices(ctx).await?.into_iter().enumerate() {
        for dtype in carried(&device, &[DType::F32, DType::F16, DType::I32, DType::F64]) {
            let step = if dtype == DType::F32 && n < 2 { 1 } else { 4 };
            for form in FORMS.iter().skip(n % step).step_by(step) {
                let x = Shown::new(&device, &mut random, dtype, (form.x, &[Flip(2)])).await?;
                let w = Shown::new(&device, &mut random, dtype, (form.w, &[])).await?;
                let rows = form.w[1] * form.groups;
                let bias = Shown::new(&device, &mut random, dtype, (&[rows], &[])).await?;
                let b = Some(&bias.tensor);
                let got: wharf::Result<Tensor> = match form.stride.len() {
                    1 => x.tensor.conv_transpose1d(&w.tensor, b, &how(form)),
                    2 => x.tensor.conv_transpose2d(&w.tensor, b, &how(form)),
                    _ => x.tensor.conv_transpose3d(&w.tensor, b, &how(form)),
                };
                let (dims, want) = spread_out(form, &x, &w, &bias.values);
                let name = format!("{dtype} {form:?} for {:?}", device.target());
                near(&name, &got.map_err(show)?, &dims, &want, 8.0 * room(dtype)).await?;
            }
        }
    }
    // Far beyond the result, at a stride whose places no list has room for.
    let device = ctx.native().await?;
    let (one, _) = device.upload(&[2.0f32], [1, 1, 1]).map_err(show)?;
    let (w, _) = device.upload(&[1.0f32, 10.0, 100.0], [1, 1, 3]).map_err(show)?;
    let far = Conv::new().stride([usize::MAX >> 8]);
    let got = one.conv_transpose1d(&w, None, &far).map_err(show)?;
    ensure_eq!(got.read::<f32>().await.map_err(show)?, [2.0, 20.0, 200.0], "a far stride");
    Ok(())
}

/// Every way in which an image is sampled: of the nearest or not, what is aligned, what is around.
fn samplings() -> Vec<(bool, Align, Pad)> {
    let around = || [Pad::Constant(0.into()), Pad::Replicate, Pad::Reflect, Pad::Wrap];
    let aligned = || [Align::Edges, Align::Corners].into_iter();
    let both =
        |align| around().into_iter().flat_map(move |pad| [false, true].map(|n| (n, align, pad)));
    aligned().flat_map(both).collect()
}

fn sample(
    image: &Tensor,
    grid: &Tensor,
    (nearest, align, around): (bool, Align, Pad),
) -> Result<Tensor, String> {
    let sampled = match nearest {
        true => image.grid_sample_nearest(grid, align, around),
        false => image.grid_sample(grid, align, around),
    };
    sampled.map_err(show)
}

/// Places far beyond both ends, of images and grids as views show them, in quads and not: judged in
/// the shadow, by the core's oracle.
async fn sampled(ctx: &Ctx) -> Outcome {
    let turned = || Permute(vec![0, 3, 1, 2]);
    let forms = [
        ([2, 5, 7, 3], vec![turned()], [2, 4, 5, 2], vec![]),
        ([2, 2, 4, 6], vec![Flip(3)], [2, 3, 3, 2], vec![Flip(0), Flip(1)]),
        ([1, 9, 1, 2], vec![], [1, 1, 6, 2], vec![Flip(3)]),
    ];
    many_channels(ctx).await?;
    let mut random = Random::new(45);
    for &downgrade in DOWNGRADES.iter().filter(|downgrade| matters(&ctx.adapter, **downgrade)) {
        for (n, target) in TARGETS.into_iter().enumerate() {
            let device = ctx.fresh(downgrade).await?.with_target(target);
            let shadow = device.shadow(ShadowPolicy::all());
            for dtype in carried(&device, &[DType::F32, DType::F16, DType::Bf16]) {
                let some = dtype != DType::F32 || downgrade.name != "native";
                let (skip, step) = if some { (n, 5) } else { (0, 1) };
                for (dims, moves, grid_dims, turns) in &forms {
                    let x = Shown::new(&device, &mut random, dtype, (dims, moves)).await?;
                    let all = grid_dims.iter().product::<usize>();
                    let places = (0..all).map(|_| random.below(1 << 20) as f64 / 2e5 - 2.6);
                    let places = places.collect();
                    let kind = if dtype == DType::F16 { dtype } else { DType::F32 };
                    let grid = Shown::of(&device, kind, places, (grid_dims, turns)).await?;
                    for how in samplings().into_iter().skip(skip).step_by(step) {
                        let got = sample(&x.tensor, &grid.tensor, how)?;
                        ensure_eq!(got.dtype(), dtype, "{how:?}: the dtype");
                        let (tripled, third) = (&got * 3.0, Scalar::from(0.5));
                        let got = tripled.and_then(|x| x + third).map_err(show)?;
                        let _: (Vec<f64>, _) = got.read_as().await.map_err(show)?;
                        count();
                    }
                }
            }
            let report = shadow.report().await.map_err(show)?;
            ensure!(report.wrong.is_none(), "{} {target:?}: {report}", downgrade.name);
            ensure!(report.left_out.is_empty(), "{} {target:?}: {report}", downgrade.name);
            // Of f16 a place may be as near to one as to another.
            ensure!(report.judged > 0 && report.open * 50 <= report.judged, "{report}");
        }
    }
    Ok(())
}

/// More channels than an invocation may loop over.
async fn many_channels(ctx: &Ctx) -> Outcome {
    let channels = 70_000;
    for device in devices(ctx).await? {
        let x = device.arange(0, channels, 1, DType::F32).map_err(show)?;
        let x = x.reshape([1, channels, 1, 1]).map_err(show)?;
        let grid = device.zeros([1, 1, 1, 2], DType::F32).map_err(show)?;
        let got =
            sample(&x, &grid, (false, EDGES, Pad::Replicate))?.read::<f32>().await.map_err(show)?;
        let wrong = got.iter().zip(0..).find(|(got, n)| **got != *n as f32);
        ensure!(wrong.is_none() && got.len() == channels, "channel {wrong:?}");
    }
    Ok(())
}

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const EDGES: Align = Align::Edges;
const CORNERS: Align = Align::Corners;

/// Of the nearest or not, what is aligned, what is around, places, and what is there.
type Sight = (bool, Align, Option<Pad>, [f32; 6], [f32; 6]);

/// Of a line of 1, 2, 4 and infinity; beside it is 9, where nothing else is said.
const SIGHTS: [Sight; 10] = [
    (false, CORNERS, None, [-1.0, -0.5, 0.0, 0.25, 1.0, 2.0], [1.0, 1.75, 3.0, 3.75, INF, 9.0]),
    (false, EDGES, None, [-1.0, -0.75, -1.25, -1.5, 0.25, INF], [5.0, 1.0, 9.0, 9.0, 4.0, 9.0]),
    (
        false,
        EDGES,
        Some(Pad::Replicate),
        [-9.0, -INF, -0.5, 0.5, NAN, 9.0],
        [1.0, 1.0, 1.5, INF, NAN, INF],
    ),
    (
        false,
        EDGES,
        Some(Pad::Reflect),
        [-1.0, -1.25, -1.5, -1.75, INF, NAN],
        [1.0, 1.0, 1.5, 2.0, NAN, NAN],
    ),
    (
        false,
        CORNERS,
        Some(Pad::Reflect),
        [-1.0, -1.5, 5.0, 3.0, 4.0, INF],
        [1.0, 1.75, INF, 1.0, 3.0, NAN],
    ),
    (
        false,
        EDGES,
        Some(Pad::Wrap),
        [-0.75, 1.25, 3.25, 0.25, -0.5, -INF],
        [1.0, 1.0, 1.0, 4.0, 1.5, NAN],
    ),
    (true, EDGES, None, [-1.0, -0.5, 0.0, -1.01, 0.5, NAN], [1.0, 1.0, 4.0, 9.0, 4.0, NAN]),
    (true, CORNERS, None, [-1.0, 0.0, -1.3, -1.4, 1.3, 1.4], [1.0, 4.0, 1.0, 9.0, INF, 9.0]),
    (
        true,
        EDGES,
        Some(Pad::Reflect),
        [-1.1, -1.6, -2.1, -2.9, 1.1, 1.6],
        [1.0, 2.0, 4.0, INF, INF, 4.0],
    ),
    (
        true,
        CORNERS,
        Some(Pad::Wrap),
        [1.0, 1.6, 2.3, -1.6, -0.3, 0.3],
        [INF, 1.0, 2.0, INF, 2.0, 4.0],
    ),
];

/// What lies at a place, by hand; infinities, and NaN.
async fn sampled_by_hand(ctx: &Ctx) -> Outcome {
    for device in devices(ctx).await? {
        let (line, _) = device.upload(&[1.0f32, 2.0, 4.0, INF], [1, 1, 1, 4]).map_err(show)?;
        let (column, flipped) = (line.t().map_err(show)?, line.flip(3).map_err(show)?);
        // Along an axis of one element with aligned corners every place is that one.
        let (grid, _) = device.upload(&[-1.0, -INF, 0.0, INF], [1, 1, 2, 2]).map_err(show)?;
        let got = sample(&line, &grid, (false, CORNERS, Pad::Constant(9.into())))?;
        near("one line", &got, &[1, 1, 1, 2], &[1.0, 3.0], 1e-6).await?;
        for (nearest, align, around, places, want) in SIGHTS {
            let around = around.unwrap_or(Pad::Constant(9.into()));
            let want = want.map(f64::from);
            let pairs = |down: bool| -> Vec<f32> {
                places.iter().flat_map(|&g| if down { [0.0, g] } else { [g, 0.0] }).collect()
            };
            for (image, down) in [(&line, false), (&column, true)] {
                let (grid, _) = device.upload(&pairs(down), [1, 6, 1, 2]).map_err(show)?;
                let name = format!("{nearest} {align:?} {around:?}, down: {down}");
                let got = sample(image, &grid, (nearest, align, around))?;
                near(&name, &got, &[1, 1, 6, 1], &want, 1e-6).await?;
            }
            // Each image by its own grid: in the second, everything lies the other way round.
            let all: Vec<f32> = [pairs(false), pairs(false).iter().map(|g| -g).collect()].concat();
            let (grid, _) = device.upload(&all, [2, 6, 1, 2]).map_err(show)?;
            // A tie goes to the even element, which is another one from the other end.
            if !nearest {
                let two = Tensor::concat(&[&line, &flipped], 0).map_err(show)?;
                let name = format!("{align:?} {around:?} of two");
                let got = sample(&two, &grid, (nearest, align, around))?;
                near(&name, &got, &[2, 1, 6, 1], &[want, want].concat(), 1e-6).await?;
            }
        }
    }
    Ok(())
}

/// Images, grids and results of which each by itself is more than a segment; and more pixels than
/// a GPU has lanes for, whose shares of channels are not even.
async fn sampled_in_parts(ctx: &Ctx) -> Outcome {
    let (whole, small) = (ctx.native().await?, ctx.device(DOWNGRADES[4]).await?);
    let devices = [whole.with_target(Target::Cpu), whole.with_target(Target::Gpu), small.clone()];
    for (image, grid) in [
        ([3, 2, 190, 210], [3, 4, 4, 2]),
        ([1, 1, 8, 9], [1, 1, 70_001, 2]),
        ([2, 20, 4, 4], [2, 50, 60, 2]),
        ([2, 3, 4, 4], [2, 1, 66_000, 2]),
    ] {
        let mut results = Vec::new();
        for device in &devices {
            let made = |device: &Device| {
                let all = |dims: [usize; 4]| dims.iter().product::<usize>();
                let ramp = |n| device.linspace(-1.5, 1.5, n, DType::F32);
                let x = ramp(all(image))?.sin()?.reshape(image)?;
                let grid = ramp(all(grid))?.reshape(grid)?;
                x.grid_sample(&grid, Align::Edges, Pad::Reflect)
            };
            results.push(made(device).map_err(show)?.read::<f32>().await.map_err(show)?);
        }
        count();
        ensure!(results[0].len() == image[1] * grid.iter().product::<usize>() / 2, "how many");
        let alike = results.iter().all(|result| *result == results[0]);
        ensure!(alike, "{image:?} at {grid:?}: in parts it is another");
    }
    // One channel of one image cannot be cut.
    let x = small.zeros([1, 1, 300, 300], DType::F32).map_err(show)?;
    let grid = small.zeros([1, 1, 1, 2], DType::F32).map_err(show)?;
    let refused = x.grid_sample(&grid, Align::Edges, Pad::Wrap);
    let text = "grid_sample: an image or a grid of 90000 elements, above ";
    let refused = refused.err().map(|error| error.to_string()).unwrap_or_default();
    ensure!(refused.starts_with(text), "an image of one channel: {refused}");
    Ok(())
}

async fn refused(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let zeros = |dims: &[usize], dtype| device.zeros(dims, dtype).map_err(show);
    let (x, grid) = (zeros(&[2, 1, 3, 4], DType::F32)?, zeros(&[2, 5, 5, 2], DType::F32)?);
    let float = "compute in another dtype and cast: `cast(dtype)`";
    let grids = "images are `[n, channels, height, width]`, and a grid is `[n, y, x, 2]`";
    let places = "f32 tells no more places apart: `interpolate` makes it smaller";
    let far = Pad::Constant(1e39.into());
    let dtype = "take a dtype that has it; a tensor becomes one by `cast(dtype)`";
    let whole = x.cast(DType::I32).map_err(show)?;
    let at_wide = zeros(&[2, 5, 5], DType::F32)?;
    let wide = x.broadcast_to([2, 1, 3, 4]).map_err(show)?.slice(3, ..1).map_err(show)?;
    let wide = wide.broadcast_to([2, 1, 3, (1 << 22) + 1]).map_err(show)?;
    let zero = Pad::Constant(0.into());
    for (image, grid, around, text, help) in [
        (&whole, &grid, zero, "input: i32, not f32, f16 or bf16", float),
        (&x, &grid.cast(DType::U8).map_err(show)?, zero, "grid: u8, not f32, f16 or bf16", float),
        (&x, &at_wide, zero, "a grid of [2, 5, 5] for images of [2, 1, 3, 4]", grids),
        (
            &x,
            &grid.slice(0, ..1).map_err(show)?,
            zero,
            "a grid of [1, 5, 5, 2] for images of [2, 1, 3, 4]",
            grids,
        ),
        (
            &x.slice(2, ..0).map_err(show)?,
            &grid,
            zero,
            "an image of [2, 1, 0, 4] has an axis of 0 elements, not 1 to 4194304",
            "there is nothing to look at",
        ),
        (
            &wide,
            &grid,
            zero,
            "an image of [2, 1, 3, 4194305] has an axis of 4194305 elements, not 1 to 4194304",
            places,
        ),
        (&x, &grid, far, "scalar 1e39 is not a value of f32", dtype),
    ] {
        let text = format!("grid_sample_nearest: {text}");
        let error = image.grid_sample_nearest(grid, Align::Edges, around).err();
        let error = error.ok_or_else(|| format!("{text}: it was done"))?;
        count();
        ensure_eq!(error.to_string(), text, "the message");
        ensure_eq!(error.help().as_deref(), Some(help), "{text}: the help");
    }
    Ok(())
}
