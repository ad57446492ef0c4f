//! The same of reductions, of rows, of attention and of normal numbers.

use wharf::op::{Joint, Reduction};
use wharf::reference::random::normal;
use wharf::reference::{Exact, Number, attention, log_softmax, norm, reduce, scan, softmax};
use wharf::tensor::{Attention, Key};
use wharf::{DType, Device, Target, Tensor};

use super::super::random::Random;
use super::super::show;
use super::worst::Worst;

const EPS: f32 = 1e-5;

/// How many rows of which length.
const ROWS: [(usize, usize); 6] =
    [(1000, 3), (300, 64), (20, 1000), (4, 8191), (4, 32_768), (1, 65_537)];

/// What a row is made of.
#[derive(Clone, Copy)]
struct Values {
    middle: f32,
    spread: f32,
    /// Whether they are alike in a row, but for the first: then every rounding goes the same way.
    alike: bool,
}

impl Values {
    const fn about(middle: f32, spread: f32) -> Self {
        Self { middle, spread, alike: false }
    }
}

const KINDS: [Values; 5] = [
    Values::about(0.0, 1.0),
    Values::about(0.0, 10.0),
    Values::about(0.0, 80.0),
    Values::about(100.0, 1.0),
    Values { alike: true, ..Values::about(0.0, 2.0) },
];

impl core::fmt::Display for Values {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { middle, spread, alike } = self;
        let alike = if *alike { ", alike" } else { "" };
        write!(f, "{middle} +- {spread}{alike}")
    }
}

fn rows_of(random: &mut Random, rows: usize, length: usize, values: Values) -> Vec<f32> {
    let Values { middle, spread, alike } = values;
    let mut draw = || middle + spread * (random.below(1 << 24) as f32 / 8_388_608.0 - 1.0);
    let mut row = |_| {
        let other = alike.then(&mut draw);
        (0..length).map(|i| other.filter(|_| i > 0).unwrap_or_else(&mut draw)).collect::<Vec<_>>()
    };
    (0..rows).flat_map(&mut row).collect()
}

fn numbers(row: &[f64]) -> Vec<Number> {
    row.iter().map(|&x| Number::Float(x)).collect()
}

/// What is done along the second axis.
#[derive(Clone, Copy)]
enum Along {
    Joint(Joint),
    Reduction(Reduction),
}

impl Along {
    fn apply(self, x: &Tensor, classes: &Tensor) -> wharf::Result<Tensor> {
        match self {
            Self::Reduction(reduction) => x.reduce(reduction, 1),
            Self::Joint(Joint::Softmax) => x.softmax(1),
            Self::Joint(Joint::LogSoftmax) => x.log_softmax(1),
            Self::Joint(Joint::CrossEntropy) => x.cross_entropy(1, classes),
            Self::Joint(Joint::LayerNorm) => x.layer_norm(1, None, None, EPS),
            Self::Joint(Joint::CumSum) => x.cumsum(1),
            Self::Joint(Joint::CumProd) => x.cumprod(1),
            Self::Joint(_) => x.rms_norm(1, None, EPS),
        }
    }

    /// Of a row whose class is 0.
    fn exact(self, row: &[f64]) -> Vec<Exact> {
        match self {
            Self::Reduction(reduction) => {
                reduce(reduction, DType::F32, &numbers(row), 0).into_iter().collect()
            }
            Self::Joint(Joint::Softmax) => softmax(row),
            Self::Joint(Joint::LogSoftmax) => log_softmax(row),
            Self::Joint(Joint::CrossEntropy) => {
                let mut first = log_softmax(row)[0];
                if let Number::Float(x) = first.value {
                    first.value = Number::Float(-x);
                }
                vec![first]
            }
            Self::Joint(Joint::LayerNorm) => norm(row, EPS.into(), true),
            Self::Joint(Joint::CumSum) => scan(Reduction::Sum, DType::F32, &numbers(row)),
            Self::Joint(Joint::CumProd) => scan(Reduction::Prod, DType::F32, &numbers(row)),
            Self::Joint(_) => norm(row, EPS.into(), false),
        }
    }

    /// Products are of numbers around 1, so that they stay in range.
    fn values(self, values: Values) -> Values {
        match self {
            Self::Joint(Joint::CumProd) | Self::Reduction(Reduction::Prod) => {
                Values { middle: 1.0, spread: 1e-3, ..values }
            }
            _ => values,
        }
    }
}

pub(super) async fn joint(device: &Device, joint: Joint) -> Result<Worst, String> {
    let mut worst = Worst::new(joint.bound());
    match joint {
        Joint::Normal => normals(device, &mut worst).await?,
        Joint::Attention => attended(device, &mut worst).await?,
        _ => along(device, Along::Joint(joint), &mut worst).await?,
    }
    Ok(worst)
}

pub(super) async fn reduction(device: &Device, reduction: Reduction) -> Result<Worst, String> {
    let mut worst = Worst::new(reduction.bound(DType::F32));
    along(device, Along::Reduction(reduction), &mut worst).await?;
    Ok(worst)
}

async fn along(device: &Device, what: Along, worst: &mut Worst) -> Result<(), String> {
    let mut random = Random::new(77);
    for (rows, length) in ROWS {
        let kinds = KINDS.map(|kind| what.values(kind));
        let data = kinds.map(|kind| rows_of(&mut random, rows, length, kind)).concat();
        let exact = data
            .chunks(length)
            .flat_map(|row| what.exact(&row.iter().map(|&x| x.into()).collect::<Vec<f64>>()));
        let exact: Vec<Exact> = exact.collect();
        for target in [Target::Cpu64, Target::Gpu] {
            let device = device.with_target(target);
            let all = rows * KINDS.len();
            let (x, _) = device.upload(&data, [all, length]).map_err(show)?;
            let classes = device.zeros([all], DType::U32).map_err(show)?;
            let result = what.apply(&x, &classes).map_err(show)?;
            let got = result.read::<f32>().await.map_err(show)?;
            let results = got.len();
            if exact.len() != results {
                return Err(format!("{results} results, not {}", exact.len()));
            }
            for (i, (exact, &got)) in exact.iter().zip(&got).enumerate() {
                let kind = kinds[i * KINDS.len() / results];
                worst.meet(*exact, got.into(), || format!("{length} of {kind}"))?;
            }
        }
    }
    Ok(())
}

async fn normals(device: &Device, worst: &mut Worst) -> Result<(), String> {
    let (key, n) = (Key::new(29), 1 << 18);
    let drawn = device.normal(key, [n], DType::F32).map_err(show)?;
    for (i, got) in (0..).zip(drawn.read::<f32>().await.map_err(show)?) {
        let exact = Number::Float(normal(key.words(), i)).into();
        worst.meet(exact, got.into(), || format!("number {i}"))?;
    }
    Ok(())
}

/// Queries to keys to values: how many of which length.
const FORMS: [(usize, usize, usize, usize); 3] =
    [(9, 33, 16, 8), (40, 500, 64, 64), (3, 4000, 32, 4)];

async fn attended(device: &Device, worst: &mut Worst) -> Result<(), String> {
    let mut random = Random::new(78);
    for (queries, keys, d, e) in FORMS {
        for spread in [1.0, 4.0] {
            let values = Values::about(0.0, spread);
            let q = rows_of(&mut random, queries, d, values);
            let k = rows_of(&mut random, keys, d, values);
            let v = rows_of(&mut random, keys, e, values);
            for target in [Target::Cpu64, Target::Gpu] {
                let device = device.with_target(target);
                let [q, k, v] = [(&q, queries, d), (&k, keys, d), (&v, keys, e)]
                    .map(|(data, rows, length)| device.upload(data, [rows, length]));
                let [q, k, v] = [q.map_err(show)?.0, k.map_err(show)?.0, v.map_err(show)?.0];
                let result = q.attention(&k, &v, &Attention::new()).map_err(show)?;
                let got = result.read::<f32>().await.map_err(show)?;
                met(worst, (&q, &k, &v), &got, 1.0 / (d as f32).sqrt()).await?;
            }
        }
    }
    Ok(())
}

async fn met(
    worst: &mut Worst,
    (q, k, v): (&Tensor, &Tensor, &Tensor),
    got: &[f32],
    scale: f32,
) -> Result<(), String> {
    let mut lists = Vec::new();
    for tensor in [q, k, v] {
        let data = tensor.read::<f32>().await.map_err(show)?;
        lists.push(data.into_iter().map(f64::from).collect::<Vec<f64>>());
    }
    let (d, e) = (q.shape().dims()[1], v.shape().dims()[1]);
    let values: Vec<&[f64]> = lists[2].chunks(e).collect();
    for (query, got) in lists[0].chunks(d).zip(got.chunks(e)) {
        let score =
            |key: &[f64]| query.iter().zip(key).map(|(a, b)| a * b).sum::<f64>() * f64::from(scale);
        let scores: Vec<f64> = lists[1].chunks(d).map(score).collect();
        for (exact, &got) in attention(&scores, &values).iter().zip(got) {
            worst.meet(*exact, got.into(), || format!("{} keys of {d}", values.len()))?;
        }
    }
    Ok(())
}
