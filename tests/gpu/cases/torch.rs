//! Kernels against `PyTorch`'s answers, which `tests/goldens/torch/generate.py` wrote.

mod converted;
mod images;
mod near;
mod operations;
mod units;

use std::collections::BTreeMap;

use wharf::plan::{How, Plan};
use wharf::reference::{Exact, Number, keeps};
use wharf::tensor::{Attention, Pad};
use wharf::{Adapter, DType, Device, Scalar, Tensor};

use super::pair::{Pair, bits, bits_of, carries, count, value};
use crate::ctx::{Case, DOWNGRADES, LOWEST, Outcome, Size, case, ensure, ensure_eq, is_slow, show};
use crate::torch_goldens::{casts, elementwise};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    use DType::{Bf16, Bool, F16, F32, F64, I8, I16, I32, I64, U8};
    let mut cases = Vec::new();
    // Drivers that compile slowly run the narrow dtypes on demand, as elsewhere.
    let quick = !is_slow(adapter.caps());
    for dtype in [F32, F16, Bf16, F64, I8, U8, I16, I32, I64, Bool] {
        let usual = quick || dtype.width() >= 4 || dtype == Bool;
        let size = if usual { Size::Usual } else { Size::Large };
        let case = case!(format!("torch::elementwise::{dtype}"), |ctx| async move {
            all_of(&ctx.native().await?, dtype).await
        })
        .needs(adapter, DOWNGRADES[0], dtype);
        cases.push(Case { size, ..case });
    }
    cases.push(case!("torch::casts", |ctx| async move { all_casts(&ctx.native().await?).await }));
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in include_str!("../../goldens/torch/shapes.txt").lines() {
        groups.entry(line.split(" | ").next().unwrap_or_default()).or_default().push(line);
    }
    let mut some: Vec<&'static str> = Vec::new();
    for (op, lines) in groups {
        let name = format!("torch::shapes::{op}");
        let lines: &'static [&'static str] = lines.leak();
        cases.push(case!(name, |ctx| async move { shapes(&ctx.native().await?, lines).await }));
        some.extend(lines.iter().step_by(8));
    }
    let some: &'static [&'static str] = some.leak();
    let lowest = case!("torch::shapes::lowest", |ctx| async move {
        shapes(&ctx.device(LOWEST).await?, some).await
    });
    cases.push(lowest.on_demand(adapter));
    cases.extend(images::cases(adapter));
    cases.extend(operations::cases(adapter));
    cases.extend(converted::cases(adapter));
    cases
}

async fn all_of(device: &Device, dtype: DType) -> Outcome {
    let mut wrong = Vec::new();
    for case in elementwise().into_iter().filter(|case| case.dtype == dtype) {
        count();
        let n = case.results.len();
        let mut tensors = Vec::new();
        for list in &case.operands {
            tensors.push(uploaded(device, dtype, list, &[n]).await?);
        }
        let others: Vec<_> = tensors[1..].iter().map(|t| t.clone().into()).collect();
        let got = bits_of(&tensors[0].apply(case.op, &others).map_err(show)?).await?;
        for (i, &got) in got.iter().enumerate() {
            let got = value(case.yields(), got);
            let values = case.values(i);
            // Where PyTorch says something else, the contract says what.
            let agrees = match case.differs(i) {
                Some(_) => keeps(case.op, dtype, &values, got),
                None => case.agrees(i, got),
            };
            if case.op.covers(&values) && !agrees {
                let want = case.results[i];
                wrong.push(format!("{} {values:?}: {got:?}, not {want:?}", case.op));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
    Ok(())
}

async fn all_casts(device: &Device) -> Outcome {
    let nan = |v| matches!(v, Number::Float(x) if x.is_nan());
    for (from, to, operands, results) in casts() {
        if !carries(device, from) || !carries(device, to) {
            continue;
        }
        count();
        let n = operands.len();
        let x = uploaded(device, from, &operands, &[n]).await?;
        let got = bits_of(&x.cast(to).map_err(show)?).await?;
        for i in 0..n {
            let (x, got, want) =
                (value(from, operands[i]), value(to, got[i]), value(to, results[i]));
            ensure!(got == want || nan(got) && nan(want), "{x:?} to {to}: {got:?}, not {want:?}");
        }
    }
    Ok(())
}

/// The dtype that this one is asked for by: one of 64 bits that the plan converts to it, if any.
fn asked(plan: &Plan, of: DType) -> DType {
    let becomes = |dtype: &DType| {
        let to = plan.carriage(*dtype).how;
        matches!(to, How::Converted { to, .. } if to == of)
    };
    DType::ALL.iter().copied().find(becomes).unwrap_or(of)
}

/// Numbers of a dtype, given as bits: uploaded in the one that the device makes it of.
async fn uploaded(
    device: &Device,
    dtype: DType,
    words: &[u64],
    dims: &[usize],
) -> Result<Tensor, String> {
    let up = asked(device.plan(), dtype);
    let words = words.iter().map(|&word| bits(up, value(dtype, word))).collect();
    let tensor = Pair::new(device, up, words, dims).await?.tensor;
    ensure_eq!(tensor.dtype(), dtype, "what {up} is stored as");
    Ok(tensor)
}

/// What a field of a line holds.
enum Field {
    Tensor(Tensor),
    Numbers(Vec<f64>),
}

async fn field(device: &Device, text: &str) -> Result<Field, String> {
    let Some((head, list)) = text.split_once('=') else {
        let numbers = text.split(',').filter_map(|n| n.trim().parse().ok());
        return Ok(Field::Numbers(numbers.collect()));
    };
    let (name, dims) = head.split_once('[').unwrap_or_default();
    let mut dtype = name.parse().unwrap_or(DType::F32);
    let dims: Vec<usize> = dims.split([',', ']']).filter_map(|d| d.parse().ok()).collect();
    let words = list.split(',').filter(|w| !w.is_empty());
    let mut bits: Vec<u64> =
        words.map(|w| u64::from_str_radix(w, 16).unwrap_or_default()).collect();
    if dtype == DType::I64 {
        // Torch has only 64-bit indices, and the adapter may have no 64-bit integers.
        dtype = DType::I32;
        bits.iter_mut().for_each(|b| *b &= 0xffff_ffff);
    }
    Ok(Field::Tensor(uploaded(device, dtype, &bits, &dims).await?))
}

async fn shapes(device: &Device, lines: &[&str]) -> Outcome {
    for line in lines {
        count();
        let mut parts = line.split(" | ");
        let op = parts.next().unwrap_or_default();
        let (mut tensors, mut numbers) = (Vec::new(), Vec::new());
        for part in parts {
            match field(device, part).await? {
                Field::Tensor(tensor) => tensors.push(tensor),
                Field::Numbers(list) => numbers.push(list),
            }
        }
        let want = tensors.pop().ok_or("a line without a result")?;
        let got = run(device, op, &tensors, &numbers).map_err(|e| format!("{line}: {e:?}"))?;
        let units = units::of(op, &tensors, &numbers).await?;
        same(op, &got, &want, &units).await.map_err(|text| format!("{line}: {text}"))?;
    }
    Ok(())
}

fn axes(numbers: &[f64]) -> Vec<usize> {
    numbers.iter().map(|&n| n as usize).collect()
}

fn run(device: &Device, op: &str, t: &[Tensor], numbers: &[Vec<f64>]) -> wharf::Result<Tensor> {
    let first = |i: usize| numbers.get(i).and_then(|list| list.first()).copied().unwrap_or(0.0);
    let axis = first(0) as usize;
    let pads = |with| {
        let list = axes(&numbers[0]);
        let pairs: Vec<(usize, usize)> = list.chunks_exact(2).map(|p| (p[0], p[1])).collect();
        t[0].pad(&pairs, with)
    };
    match op {
        "concat" => Tensor::concat(t, axis),
        "stack" => Tensor::stack(t, axis),
        "roll" => t[0].roll(axis, first(1) as isize),
        "tril" => t[0].tril(first(0) as isize),
        "triu" => t[0].triu(first(0) as isize),
        "pad_constant" => pads(Pad::Constant(Scalar::from(7u8))),
        "pad_reflect" => pads(Pad::Reflect),
        "pad_replicate" => pads(Pad::Replicate),
        "pad_wrap" => pads(Pad::Wrap),
        "gather" => t[0].gather(axis, &t[1]),
        "index_select" => t[0].index_select(axis, &t[1]),
        "embedding" => t[0].embedding(&t[1]),
        "take" => t[0].take(&t[1]),
        "scatter" => t[0].scatter(axis, &t[1], &t[2]),
        "scatter_add" => t[0].scatter_add(axis, &t[1], &t[2]),
        "one_hot" => t[0].one_hot(axis, DType::F32),
        "eye" => device.eye(axis, first(1) as usize, DType::F32),
        "arange" if numbers.iter().flatten().all(|n| n.fract() == 0.0) => {
            let [start, end, step] = [0, 1, 2].map(|i| first(i) as i64);
            device.arange(start, end, step, DType::I32)
        }
        "arange" => device.arange(first(0), first(1), first(2), DType::F32),
        "linspace" => device.linspace(first(0), first(1), first(2) as usize, DType::F32),
        "full" => device.full(&*axes(&numbers[0]), first(1), DType::F32),
        "split" => {
            let mut parts = t[0].split(axis, &axes(&numbers[1]))?;
            Ok(parts.swap_remove(first(2) as usize))
        }
        "where" => t[0].choose(&t[1], &t[2]),
        "linear" => t[0].linear(&t[1], Some(&t[2])),
        "linear_relu" => t[0].linear(&t[1], Some(&t[2])).and_then(|y| y.relu()),
        "attention" => {
            let how = Attention::new().scaled(first(1) as f32);
            let how = if first(0) == 1.0 { how.causal() } else { how };
            let how = t.get(3).map_or(how.clone(), |mask| how.masked(mask));
            t[0].attention(&t[1], &t[2], &how)
        }
        "cross_entropy" => t[0].cross_entropy(axis, &t[1]),
        "matmul" => t[0].matmul(&t[1]),
        "softmax" => t[0].softmax(axis),
        "log_softmax" => t[0].log_softmax(axis),
        "layer_norm" => t[0].layer_norm(axis, None, None, first(1) as f32),
        "rms_norm" => t[0].rms_norm(axis, None, first(1) as f32),
        "cumsum" => t[0].cumsum(axis),
        "cumprod" => t[0].cumprod(axis),
        "cummax" => t[0].cummax(axis),
        "cummin" => t[0].cummin(axis),
        "var" => t[0].var(&*axes(&numbers[0]), 1),
        "std" => t[0].std(&*axes(&numbers[0]), 1),
        name => {
            let reduction = wharf::op::Reduction::ALL.iter().find(|r| r.name() == name);
            let Some(reduction) = reduction else { return Ok(t[0].clone()) };
            t[0].reduce(*reduction, &*axes(&numbers[0]))
        }
    }
}

/// A number of any kind.
fn float(number: Number) -> f64 {
    match number {
        Number::Float(x) => x,
        Number::Int(n) => n as f64,
        Number::Bool(b) => f64::from(u8::from(b)),
    }
}

/// Equal shapes, and numbers as near as the contract has them: in these units, the last of which is
/// that of all others.
async fn same(op: &str, got: &Tensor, want: &Tensor, units: &[f64]) -> Outcome {
    ensure_eq!(got.shape().dims(), want.shape().dims(), "the shape");
    let bound = near::shaped(op, got.dtype());
    let (a, b) = (bits_of(got).await?, bits_of(want).await?);
    for (i, (a, b)) in a.into_iter().zip(b).enumerate() {
        let (number, want) = (value(got.dtype(), a), value(want.dtype(), b));
        let scale = units.get(i).or(units.last()).copied().unwrap_or(0.0);
        let exact = Exact { value: want, scale };
        // Differs on purpose: squares overflow when computed in f32.
        let most = Number::Float(f64::INFINITY);
        let overflows = op == "std" && number == most && float(want) > 1.8e19;
        let same = overflows || near::is_near(bound, got.dtype(), exact, a);
        ensure!(same, "element {i} is {number:?}, not {want:?}, in units of {scale}");
    }
    Ok(())
}
