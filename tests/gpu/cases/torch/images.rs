//! What `tests/goldens/torch/images.py` wrote.

use std::collections::BTreeMap;

use wharf::tensor::{Align, Attention, Interpolation, Pad, Pooling};
use wharf::{Adapter, Device, Tensor};

use super::{Field, axes, field, same, units};
use crate::cases::pair::count;
use crate::ctx::{Case, Ctx, DOWNGRADES, Downgrade, LOWEST, Outcome, case};

/// What the norms add to the variance.
const EPS: f64 = 1e-3;

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in include_str!("../../../goldens/torch/images.txt").lines() {
        groups.entry(line.split(" | ").next().unwrap_or_default()).or_default().push(line);
    }
    let cases = |(op, lines): (&str, Vec<&'static str>)| {
        let (name, again) = (format!("torch::images::{op}"), lines.clone());
        let native = case!(name.clone(), |ctx| on(ctx, DOWNGRADES[0], lines.clone()));
        let name = format!("{name}::{}", LOWEST.name);
        let lowest = case!(name, |ctx| on(ctx, LOWEST, again.clone()));
        [native, lowest.on_demand(adapter)]
    };
    groups.into_iter().flat_map(cases).collect()
}

async fn on(ctx: &Ctx, downgrade: Downgrade, lines: Vec<&'static str>) -> Outcome {
    judged(&ctx.device(downgrade).await?, lines).await
}

pub(super) async fn judged(
    device: &Device,
    lines: impl IntoIterator<Item = &'static str>,
) -> Outcome {
    for line in lines {
        count();
        let (mut parts, mut tensors, mut numbers) = (line.split(" | "), Vec::new(), Vec::new());
        let op = parts.next().unwrap_or_default();
        for part in parts {
            match field(device, part).await? {
                Field::Tensor(tensor) => tensors.push(tensor),
                Field::Numbers(list) => numbers.push(list),
            }
        }
        let want = tensors.pop().ok_or("a line without a result")?;
        let got = run(op, &tensors, &numbers).map_err(|error| format!("{line}: {error:?}"))?;
        let like = like(op, &numbers);
        let settings = [&numbers[..numbers.len().min(1)], &[vec![EPS]]].concat();
        let units = units::of(like, &tensors, &settings).await?;
        same(like, &got, &want, &units).await.map_err(|text| format!("{line}: {text}"))?;
    }
    Ok(())
}

/// The operation whose contract a result keeps.
fn like(op: &'static str, numbers: &[Vec<f64>]) -> &'static str {
    let which = numbers.last().and_then(|list| list.first()).copied().unwrap_or(0.0);
    match (op, which) {
        ("layer_norm_with_stats", 0.0) => "layer_norm",
        ("layer_norm_with_stats", 1.0) => "mean",
        // What all are divided by is as near as what comes of it.
        ("layer_norm_with_stats" | "rms_norm_with_stats", _) => "rms_norm",
        ("attention_first_aligned", _) => "attention",
        ("max_pool_with_indices", _) => "max_pool",
        (op, _) => op,
    }
}

fn run(op: &str, t: &[Tensor], numbers: &[Vec<f64>]) -> wharf::Result<Tensor> {
    match op {
        "grid_sample" => {
            let align = if numbers[0][1] == 1.0 { Align::Corners } else { Align::Edges };
            let around = [Pad::Constant(0.into()), Pad::Replicate, Pad::Reflect];
            let around = around[numbers[0][2] as usize];
            match numbers[0][0] {
                0.0 => t[0].grid_sample(&t[1], align, around),
                _ => t[0].grid_sample_nearest(&t[1], align, around),
            }
        }
        "max_pool_with_indices" => match numbers[0].len() {
            1 => pooled::<1>(&t[0], numbers),
            2 => pooled::<2>(&t[0], numbers),
            _ => pooled::<3>(&t[0], numbers),
        },
        "interpolate_antialiased" => {
            let how = [Interpolation::LinearAntialiased, Interpolation::CubicAntialiased];
            let size = [0, 1].map(|axis| numbers[1][axis] as usize);
            t[0].interpolate(size, how[numbers[0][0] as usize])
        }
        "layer_norm_with_stats" => {
            let (y, mean, scale) =
                t[0].layer_norm_with_stats(axes(&numbers[0]), None, None, EPS)?;
            Ok([y, mean, scale][numbers[1][0] as usize].clone())
        }
        "rms_norm_with_stats" => {
            let (y, scale) = t[0].rms_norm_with_stats(axes(&numbers[0]), None, EPS)?;
            Ok([y, scale][numbers[1][0] as usize].clone())
        }
        "attention_first_aligned" => {
            t[0].attention(&t[1], &t[2], &Attention::new().causal().first_aligned())
        }
        _ => Ok(t[0].clone()),
    }
}

fn pooled<const D: usize>(x: &Tensor, numbers: &[Vec<f64>]) -> wharf::Result<Tensor> {
    let [size, stride, padding, dilation] = [0, 1, 2, 3]
        .map(|i| -> [usize; D] { std::array::from_fn(|axis| numbers[i][axis] as usize) });
    let how = Pooling::new(size).stride(stride).padding(padding).dilation(dilation);
    let (most, places) = x.max_pool_with_indices(&how)?;
    Ok(if numbers[4][0] == 0.0 { most } else { places })
}
