//! Images of other sizes, and convolutions that go back, each element by its definition.

use wharf::reference::places;
use wharf::tensor::{Align, Conv, Interpolation};
use wharf::{DType, Tensor};

use super::{FLOATS, Random, Shown, carried, devices, flat, near, room, show};
use crate::cases::views::Move::{self, Flip, Permute};
use crate::ctx::{Case, Ctx, Outcome, case, ensure_eq};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("vocabulary::images::interpolate", |ctx| resized(ctx)),
        case!("vocabulary::images::nearest_moves_bits", |ctx| nearest(ctx)),
        case!("vocabulary::images::adaptive_avg_pool", |ctx| pooled(ctx)),
        case!("vocabulary::images::conv_transpose", |ctx| spread(ctx)),
    ]
}

/// The elements that one of the result is made of on an axis, and their weights.
fn taps(how: Interpolation, from: usize, to: usize, i: usize) -> Vec<(usize, f64)> {
    let (align, cubic) = match how {
        Interpolation::Nearest => return vec![(i * from / to, 1.0)],
        Interpolation::Linear(align) => (align, false),
        Interpolation::Cubic(align) => (align, true),
    };
    let place = match align {
        Align::Edges => (i as f64 + 0.5) * from as f64 / to as f64 - 0.5,
        Align::Corners if to == 1 => 0.0,
        Align::Corners => i as f64 * (from - 1) as f64 / (to - 1) as f64,
    };
    let place = if cubic { place } else { place.max(0.0) };
    let weight = |far: f64| match (cubic, far) {
        (false, far) => 1.0 - far,
        (true, far) if far <= 1.0 => (1.25 * far - 2.25) * far * far + 1.0,
        (true, far) => -0.75 * (((far - 5.0) * far + 8.0) * far - 4.0),
    };
    let reach = if cubic { -1..3 } else { 0..2 };
    let one = |tap: i32| {
        let at = place.floor() + f64::from(tap);
        (at.clamp(0.0, (from - 1) as f64) as usize, weight((at - place).abs()))
    };
    reach.map(one).collect()
}

/// Of images: the sum over all taps of both axes at once.
fn interpolated(x: &Shown, how: Interpolation, to: [usize; 2]) -> (Vec<usize>, Vec<f64>) {
    let first = x.dims.len() - 2;
    let dims = [&x.dims[..first], &to].concat();
    let one = |place: Vec<usize>| {
        let [rows, columns] = [0, 1].map(|i| taps(how, x.dims[first + i], to[i], place[first + i]));
        let mut sum = 0.0;
        for &(row, weight) in &rows {
            for &(column, other) in &columns {
                let weight = weight * other;
                // What has no weight does not count, be it infinite.
                if weight != 0.0 {
                    sum += weight * x.at(&[&place[..first], &[row, column]].concat());
                }
            }
        }
        sum
    };
    let values = places(&dims).map(one).collect();
    (dims, values)
}

const HOWS: [Interpolation; 5] = [
    Interpolation::Nearest,
    Interpolation::Linear(Align::Edges),
    Interpolation::Linear(Align::Corners),
    Interpolation::Cubic(Align::Edges),
    Interpolation::Cubic(Align::Corners),
];

fn forms() -> [(&'static [usize], Vec<Move>); 2] {
    [(&[2, 3, 4, 5], vec![Permute(vec![0, 3, 1, 2])]), (&[5, 7], vec![Flip(1)])]
}

async fn resized(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(41);
    for device in devices(ctx).await? {
        for dtype in carried(&device, FLOATS) {
            for (dims, moves) in forms() {
                let mut x = Shown::new(&device, &mut random, dtype, (dims, &[])).await?.values;
                x[8] = f64::INFINITY;
                let x = Shown::of(&device, dtype, x, (dims, &moves)).await?;
                let sizes = [[6, 9], [2, 3], [1, 4], [3, 13]];
                let sizes = if dtype == DType::F32 { &sizes[..] } else { &sizes[..1] };
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
                        near(&name, &got, &dims, &want, 2.0 * room(dtype)).await?;
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
        for dtype in carried(&device, &DType::ALL) {
            let x = Shown::new(&device, &mut random, dtype, (&[3, 4, 5], &[Flip(0)])).await?;
            let got = x.tensor.interpolate([7, 3], Interpolation::Nearest).map_err(show)?;
            let (dims, want) = interpolated(&x, Interpolation::Nearest, [7, 3]);
            ensure_eq!(got.dtype(), dtype, "the dtype");
            near(dtype.name(), &got, &dims, &want, 0.0).await?;
        }
    }
    Ok(())
}

async fn pooled(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(43);
    for device in devices(ctx).await? {
        for dtype in carried(&device, FLOATS) {
            for (dims, moves) in forms() {
                let x = Shown::new(&device, &mut random, dtype, (dims, &moves)).await?;
                let first = x.dims.len() - 2;
                for to in [[1, 1], [2, 2], [3, 2], [5, 9]] {
                    let dims = [&x.dims[..first], &to].concat();
                    let want: Vec<f64> = places(&dims)
                        .map(|place| {
                            let [rows, columns] = [0, 1].map(|i| {
                                let (from, at) = (x.dims[first + i], place[first + i]);
                                at * from / to[i]..((at + 1) * from).div_ceil(to[i])
                            });
                            let count = (rows.len() * columns.len()) as f64;
                            let cells = rows
                                .flat_map(|row| columns.clone().map(move |column| [row, column]));
                            let sum: f64 =
                                cells.map(|cell| x.at(&[&place[..first], &cell].concat())).sum();
                            sum / count
                        })
                        .collect();
                    let got = x.tensor.adaptive_avg_pool(to).map_err(show)?;
                    let name = format!("{dtype} {:?} to {to:?} for {:?}", x.dims, device.target());
                    near(&name, &got, &dims, &want, 2.0 * room(dtype)).await?;
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
