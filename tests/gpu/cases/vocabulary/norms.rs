//! Norms over groups of channels, over several axes, and by statistics that were learned.

use wharf::op::Exact;
use wharf::reference::places;
use wharf::{DType, Tensor};

use super::{FLOATS, Random, Shown, carried, devices, exact, flat, kept, near, room, show, tried};
use crate::cases::views::Move::{self, Flip, Permute, Slice};
use crate::ctx::{Case, Ctx, Outcome, case, ensure_eq};

const EPS: f64 = 1e-3;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("vocabulary::norms::groups", |ctx| groups(ctx)),
        case!("vocabulary::norms::axes", |ctx| axes(ctx)),
        case!("vocabulary::norms::one_kernel", |ctx| fused(ctx)),
    ]
}

fn forms() -> Vec<(&'static [usize], Vec<Move>)> {
    vec![
        (&[2, 6, 3, 5], vec![]),
        (&[2, 6, 4], vec![Flip(1)]),
        (&[3, 6], vec![]),
        (&[2, 3, 4, 8], vec![Permute(vec![0, 3, 1, 2]), Slice(1, 1..7, 1)]),
        (&[0, 6, 3], vec![]),
    ]
}

/// The mean of what a function makes of all elements that have the same name, by their names.
fn means(x: &Shown, name: &dyn Fn(&[usize]) -> usize, of: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); x.values.len()];
    for (place, &x) in places(&x.dims).zip(&x.values) {
        let name = name(&place);
        sums[name].0 += of(name, x);
        sums[name].1 += 1.0;
    }
    sums.into_iter().map(|(sum, count)| sum / count).collect()
}

/// `(x - mean) / sqrt(var + eps)` of all elements that have the same name, times a number of theirs
/// and plus another, in the units of the contract.
fn normed(
    x: &Shown,
    name: &dyn Fn(&[usize]) -> usize,
    ends: impl Fn(&[usize]) -> [f64; 2],
) -> Vec<Exact> {
    let mean = means(x, name, |_, x| x);
    let var = means(x, name, |name, x| (x - mean[name]).powi(2));
    let mut most = vec![0.0f64; x.values.len()];
    for (place, x) in places(&x.dims).zip(&x.values) {
        most[name(&place)] = most[name(&place)].max(x.abs());
    }
    let one = |(place, x): (Vec<usize>, &f64)| {
        let ([weight, bias], name) = (ends(&place), name(&place));
        let s = (var[name] + EPS).sqrt();
        let (y, far) = ((x - mean[name]) / s, most[name] / s);
        let unit = (1.0 + y.abs() * far / f64::from(1 << 20)) * far;
        exact(y * weight + bias, weight.abs() * unit + bias.abs() / 64.0)
    };
    places(&x.dims).zip(&x.values).map(one).collect()
}

async fn groups(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(7);
    for device in devices(ctx).await? {
        for dtype in carried(&device, FLOATS) {
            for (dims, moves) in tried(ctx, &device, forms(), dtype) {
                let x = Shown::new(&device, &mut random, dtype, (dims, &moves)).await?;
                let mut list = async || Shown::new(&device, &mut random, dtype, (&[6], &[])).await;
                let (weight, bias, mean, var) =
                    (list().await?, list().await?, list().await?, list().await?);
                let var = Shown {
                    tensor: var.tensor.square().map_err(show)?,
                    values: var.values.iter().map(|x| x * x).collect(),
                    ..var
                };
                let name = format!("{dtype} {dims:?} for {:?}", device.target());
                let (w, b) = (Some(&weight.tensor), Some(&bias.tensor));
                let both = |place: &[usize]| [weight.values[place[1]], bias.values[place[1]]];
                for count in [1, 2, 6] {
                    let group = |place: &[usize]| place[0] * count + place[1] / (6 / count);
                    let got = x.tensor.group_norm(count, w, b, EPS).map_err(show)?;
                    ensure_eq!(got.dtype(), dtype, "{name}: the dtype");
                    let want = normed(&x, &group, both);
                    ensure_eq!(got.shape().dims(), x.dims, "{name}: the shape");
                    kept(("group_norm", 1), &format!("{count} of {name}"), &got, &want).await?;
                }
                let got = x.tensor.instance_norm(None, b, EPS).map_err(show)?;
                let want =
                    normed(&x, &|place| place[0] * 6 + place[1], |place| [1.0, both(place)[1]]);
                kept(("instance_norm", 1), &name, &got, &want).await?;
                let got =
                    x.tensor.batch_norm(&mean.tensor, &var.tensor, w, None, EPS).map_err(show)?;
                let want: Vec<Exact> = places(&x.dims)
                    .map(|place| {
                        let about = (var.values[place[1]] + EPS).sqrt();
                        let y = (x.at(&place) - mean.values[place[1]]) / about;
                        exact(y * both(&place)[0], 0.0)
                    })
                    .collect();
                kept(("batch_norm", 1), &name, &got, &want).await?;
            }
        }
    }
    Ok(())
}

async fn axes(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(8);
    for device in devices(ctx).await? {
        for dtype in carried(&device, FLOATS) {
            for (dims, moves) in forms().into_iter().filter(|(dims, _)| dims.len() == 4) {
                let x = Shown::new(&device, &mut random, dtype, (dims, &moves)).await?;
                let sets = [vec![2, 3], vec![1, 2, 3], vec![0, 2], vec![3, 0], vec![0, 1, 2, 3]];
                for among in tried(ctx, &device, sets.to_vec(), dtype) {
                    let name = format!("{dtype} {dims:?} over {among:?} for {:?}", device.target());
                    let rest = |place: &[usize]| {
                        let kept = (0..4).map(|i| if among.contains(&i) { 0 } else { place[i] });
                        flat(&x.dims, &kept.collect::<Vec<_>>())
                    };
                    let got = x.tensor.layer_norm(&among, None, None, EPS).map_err(show)?;
                    let want = normed(&x, &rest, |_| [1.0, 0.0]);
                    ensure_eq!(got.shape().dims(), x.dims, "{name}: the shape");
                    kept(("group_norm", 1), &name, &got, &want).await?; // which is its own
                    let got = x.tensor.rms_norm(&among, None, EPS).map_err(show)?;
                    let squares = means(&x, &rest, |_, x| x * x);
                    let one =
                        |(place, x): (Vec<usize>, &f64)| x / (squares[rest(&place)] + EPS).sqrt();
                    let want: Vec<f64> = places(&x.dims).zip(&x.values).map(one).collect();
                    near(&format!("rms {name}"), &got, &x.dims, &want, 4.0 * room(dtype)).await?;
                    with_stats(&name, &x, &among, &rest).await?;
                }
            }
        }
    }
    Ok(())
}

/// What norms over these axes return beside their results: what each row was normed by, once.
async fn with_stats(
    name: &str,
    x: &Shown,
    among: &[usize],
    rest: &dyn Fn(&[usize]) -> usize,
) -> Outcome {
    let dtype = x.tensor.dtype();
    let bound = 4.0 * if dtype == DType::F64 { room(dtype) } else { room(DType::F32) };
    let kept: Vec<usize> = (0..4).map(|i| if among.contains(&i) { 1 } else { x.dims[i] }).collect();
    let all = means(x, rest, |_, x| x);
    let about = means(x, rest, |name, x| (x - all[name]).powi(2));
    let scale = |of: &[f64]| -> Vec<f64> {
        places(&kept).map(|place| (of[rest(&place)] + EPS).sqrt().recip()).collect()
    };
    let (y, mean, by) = x.tensor.layer_norm_with_stats(among, None, None, EPS).map_err(show)?;
    let wide = if dtype == DType::F64 { dtype } else { DType::F32 };
    ensure_eq!([mean.dtype(), by.dtype(), y.dtype()], [wide, wide, dtype], "{name}: the dtypes");
    let want: Vec<f64> = places(&kept).map(|place| all[rest(&place)]).collect();
    near(&format!("the mean of {name}"), &mean, &kept, &want, bound).await?;
    near(&format!("the scale of {name}"), &by, &kept, &scale(&about), bound).await?;
    let again =
        ((&x.tensor.cast(wide).map_err(show)? - &mean).map_err(show)? * &by).map_err(show)?;
    let plain: Vec<f64> =
        x.tensor.layer_norm(among, None, None, EPS).map_err(show)?.read_as().await.map_err(show)?.0;
    near(&format!("{name} by its own"), &again, &x.dims, &plain, 4.0 * room(dtype)).await?;
    near(&format!("{name} with it"), &y, &x.dims, &plain, 0.0).await?;
    let (y, by) = x.tensor.rms_norm_with_stats(among, None, EPS).map_err(show)?;
    let plain: Vec<f64> =
        x.tensor.rms_norm(among, None, EPS).map_err(show)?.read_as().await.map_err(show)?.0;
    near(&format!("rms {name} with it"), &y, &x.dims, &plain, 0.0).await?;
    near(
        &format!("the scale of rms {name}"),
        &by,
        &kept,
        &scale(&means(x, rest, |_, x| x * x)),
        bound,
    )
    .await
}

/// What is fused: the input, the norm, the weight, the bias and what follows are one kernel.
async fn fused(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let x = device.ones([2, 8, 16], DType::F32).map_err(show)?;
    let list = device.ones(8, DType::F32).map_err(show)?;
    let w = Some(&list);
    let dispatches =
        |y: wharf::Result<Tensor>| Ok::<_, String>(y.map_err(show)?.explain().dispatches());
    let silu = |y: wharf::Result<Tensor>| y?.silu();
    let doubled = (&x * 2.0).map_err(show)?;
    // One for the channels, and one for all elements.
    ensure_eq!(dispatches(silu(doubled.batch_norm(&list, &list, w, w, EPS)))?, 2, "batch_norm");
    let kernels = dispatches(silu(x.group_norm(4, w, w, EPS)))?;
    let rows = x.reshape([2, 4, 32]).map_err(show)?;
    let alone = dispatches(rows.layer_norm(2, None, None, EPS))?;
    let long = device.ones(32, DType::F32).map_err(show)?;
    let scaled = dispatches(silu(rows.layer_norm(2, Some(&long), Some(&long), EPS)))?;
    ensure_eq!(scaled, alone, "a weight, a bias and an activation beside a norm alone");
    ensure_eq!(kernels, alone, "group_norm beside a norm alone");
    Ok(())
}
