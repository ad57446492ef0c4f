//! Weights in blocks: what quantising does to them, what its receipt says, and products with them
//! against the oracle over the dequantised values.

use wharf::caps::Feature;
use wharf::op::Op;
use wharf::reference::{Exact, Number, matmul_keeps};
use wharf::tensor::Quantised;
use wharf::{Adapter, DType, Device, Target, Tensor, half};

use super::pair::{Pair, bits, bits_of, count, value};
use super::probe::Random;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show,
};

/// The lowest power of two of a block's magnitude, and how many there are.
const WIDE: (i32, usize) = (-14, 24);
const NEAR: (i32, usize) = (-6, 7);

const DTYPES: &[DType] = &[DType::F32, DType::F16, DType::Bf16];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &dtype in DTYPES {
        cases.push(case!(format!("quantised::{dtype}::rounding"), |ctx| rounding(ctx, dtype)));
        for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
            let counts = matches!(downgrade.name, "native" | "no_f16" | "small_bindings");
            if !counts || dtype != DType::F32 && downgrade.name != "native" {
                continue;
            }
            let name = format!("quantised::{dtype}::products::{}", downgrade.name);
            cases.push(case!(name, |ctx| products(ctx, dtype, downgrade)));
        }
    }
    cases.push(case!("quantised::not_finite", |ctx| not_finite(ctx)));
    cases.push(case!("quantised::from_elsewhere", |ctx| from_elsewhere(ctx)));
    cases.push(case!("quantised::embedding", |ctx| embedding(ctx)));
    cases.push(case!("quantised::deep_k", |ctx| deep(ctx)));
    cases.push(case!("quantised::refuses", |ctx| refuses(ctx)));
    cases
}

/// Random values of a dtype as a tensor and as numbers; each block of 32 has a magnitude of its
/// own, and some are nothing but zeros.
async fn weights(
    device: &Device,
    dtype: DType,
    dims: [usize; 2],
    (lowest, powers): (i32, usize),
    random: &mut Random,
) -> Result<(Tensor, Vec<f64>), String> {
    let mut elements = Vec::new();
    for _ in 0..dims[0] {
        let mut scale = 0.0;
        for i in 0..dims[1] {
            if i % 32 == 0 {
                let power = lowest + random.below(powers) as i32;
                scale = if random.below(8) == 0 { 0.0 } else { 2f64.powi(power) };
            }
            let x = scale * (random.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0);
            elements.push(bits(dtype, Number::Float(x)));
        }
    }
    let number = |&bits: &u64| match value(dtype, bits) {
        Number::Float(x) => x,
        _ => f64::NAN,
    };
    let numbers = elements.iter().map(number).collect();
    let pair = Pair::new(device, dtype, elements, &dims).await?;
    Ok((pair.tensor, numbers))
}

/// The dequantised weights, `[out, in]`, computed from the values and scales on the device.
async fn numbers(weights: &Quantised) -> Result<Vec<f64>, String> {
    let values = weights.values().read::<i8>().await.map_err(show)?;
    let scales = weights.scales().read::<half::f16>().await.map_err(show)?;
    let (k, width) = (weights.shape().dims()[1], weights.values().shape().dims()[1]);
    let whole = values.iter().enumerate().filter(|(i, _)| i % width.max(1) < k);
    Ok(whole.map(|(i, &v)| f64::from(v) * scales[i / 32].to_f64()).collect())
}

/// Every weight is off by half a scale at most, every scale fits its block, and the receipt says
/// what the host finds.
async fn rounding(ctx: &Ctx, dtype: DType) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(31);
    for dims in [[5, 96], [7, 40], [64, 257]] {
        let (tensor, want) = weights(&device, dtype, dims, WIDE, &mut random).await?;
        let (weights, receipt) = tensor.quantise().await.map_err(show)?;
        let got = numbers(&weights).await?;
        let scales = weights.scales().read::<half::f16>().await.map_err(show)?;
        let blocks = dims[1].div_ceil(32);
        let (mut worst, mut scaled, mut squares) = (0f64, 0f64, 0f64);
        for row in 0..dims[0] {
            for block in 0..blocks {
                let columns = 32 * block..(32 * block + 32).min(dims[1]);
                let all = columns.map(|c| row * dims[1] + c);
                let scale = scales[row * blocks + block].to_f64();
                let most = all.clone().map(|i| want[i].abs()).fold(0.0, f64::max);
                // A scale may be rounded up by two units of f16, or of its subnormals.
                let fits = most / 127.0 <= scale
                    && scale <= most / 127.0 * (1.0 + 2f64.powi(-9)) + 2f64.powi(-23);
                ensure!(fits, "{dtype} {dims:?}: scale {scale} of a block up to {most}");
                for i in all {
                    let error = (got[i] - want[i]).abs();
                    // A quotient may be off by 3 ulp, so it may fall on the other side of a half.
                    ensure!(
                        error <= scale * (0.5 + 127.0 * 2f64.powi(-21)),
                        "{dtype} {dims:?} index {i}: {} from {}, scale {scale}",
                        got[i],
                        want[i]
                    );
                    worst = worst.max(error);
                    scaled = scaled.max(error / scale);
                    squares += error * error;
                }
            }
        }
        count();
        let rms = (squares / want.len() as f64).sqrt();
        // In f32 each error carries the roundings of a product and of a difference of numbers of
        // this size.
        let unit = want.iter().fold(0.0, |a: f64, b| a.max(b.abs())) * 2f64.powi(-22);
        ensure!(
            (receipt.abs_error_max - worst).abs() <= unit,
            "{dtype} {dims:?}: {receipt}, {worst}"
        );
        ensure!((receipt.scaled_error_max - scaled).abs() <= 1e-4, "{receipt}, not {scaled}");
        ensure!((receipt.rms_error - rms).abs() <= 1e-4 * rms + unit, "{receipt}, not {rms}");
        ensure!(receipt.is_finite(), "{receipt}");
        let dequantised = weights.dequantise(DType::F32).map_err(show)?;
        let dequantised = dequantised.read::<f32>().await.map_err(show)?;
        let same = |(&a, &b): (&f32, &f64)| f64::from(a) == b;
        ensure!(dequantised.iter().zip(&got).all(same), "{dtype} {dims:?}: dequantised");
    }
    Ok(())
}

/// Random weights in blocks, quantised here if rows are not whole blocks.
async fn blocks(
    device: &Device,
    [n, k]: [usize; 2],
    random: &mut Random,
) -> Result<Quantised, String> {
    if k % 32 != 0 {
        let (tensor, _) = weights(device, DType::F32, [n, k], NEAR, random).await?;
        return Ok(tensor.quantise().await.map_err(show)?.0);
    }
    let values: Vec<i8> = (0..n * k).map(|_| random.below(256) as u8 as i8).collect();
    let scale = |_| half::f16::from_f64((random.below(1 << 10) as f64 + 1.0) / f64::from(1 << 16));
    let scales: Vec<half::f16> = (0..n * k / 32).map(scale).collect();
    let (values, _) = device.upload(&values, [n, k]).map_err(show)?;
    let (scales, _) = device.upload(&scales, [n, k / 32]).map_err(show)?;
    Quantised::of(&values, &scales).map_err(show)
}

/// Rows, columns, and what is summed over.
const SHAPES: &[[usize; 3]] = &[
    [1, 64, 128],
    [1, 33, 32],
    [2, 4, 64],
    [3, 36, 100],
    [4, 1, 96],
    [5, 130, 31],
    [9, 40, 160],
    [17, 68, 64],
    [70, 12, 33],
    [1, 300, 1024],
    [2, 5, 8192],
    [0, 4, 32],
    [2, 0, 32],
    [2, 8, 0],
];

/// Products by every class of kernels, with X in several lies and a layer's tail.
async fn products(ctx: &Ctx, dtype: DType, downgrade: Downgrade) -> Outcome {
    let native = ctx.device(downgrade).await?;
    let slow = !ctx.adapter.caps().has(Feature::ShaderF16);
    for target in [native.target(), Target::Gpu] {
        let device = native.with_target(target);
        let mut random = Random::new(77);
        let few = if slow || downgrade.name != "native" { 3 } else { 1 };
        let mut shapes: Vec<_> = SHAPES.iter().copied().step_by(few).collect();
        if downgrade.name == "small_bindings" {
            // Weights, scales, rows and results of several segments.
            shapes.extend([[3, 300, 2048], [900, 68, 64], [2, 4000, 64]]);
        }
        for (i, [m, n, k]) in shapes.into_iter().enumerate() {
            let place = format!("{dtype} {m} x {n} x {k} for {target:?}");
            let w = blocks(&device, [n, k], &mut random).await?;
            let numbers = numbers(&w).await?;
            let lie = i % 3;
            // Dense; with a gap after each row; every row one element late.
            let pitch = k + [0, 4, 1][lie];
            let (all, x) = weights(&device, dtype, [m, pitch], NEAR, &mut random).await?;
            let x_of = |row: usize, i: usize| x[row * pitch + pitch - k + i];
            let view = all.slice(1, pitch - k..pitch).map_err(show)?;
            let got = view.linear(&w, None, None).map_err(show)?;
            ensure_eq!(got.shape().dims(), [m, n], "{place}");
            ensure_eq!(got.dtype(), dtype, "{place}");
            let plain = bits_of(&got).await.map_err(|e| format!("{place}: {e}"))?;
            for (i, &got) in plain.iter().enumerate() {
                let terms = (0..k).map(|j| x_of(i / n, j) * numbers[i % n * k + j]);
                let (sum, scale) =
                    terms.fold((0.0, 0.0), |(sum, scale), t| (sum + t, scale + f64::abs(t)));
                let exact = Exact { value: Number::Float(sum), scale };
                // A block takes 11 roundings to sum and one to scale, and blocks are added in turn:
                // the bound of a plain product of this many terms.
                let terms = k.div_ceil(32) + 10;
                let got = value(dtype, got);
                ensure!(matmul_keeps(dtype, terms, exact, got), "{place}: {i}: {got:?}, {sum}");
            }
            count();
            let (bias, _) = weights(&device, dtype, [1, n], NEAR, &mut random).await?;
            let bias = bias.squeeze(0).map_err(show)?;
            let layer = view.linear(&w, Some(&bias), Some(Op::Relu)).map_err(show)?;
            let apart = (&got + &bias).and_then(|t| t.relu()).map_err(show)?;
            let (layer, apart) = (bits_of(&layer).await?, bits_of(&apart).await?);
            let near = |(&a, &b): (&u64, &u64)| match [value(dtype, a), value(dtype, b)] {
                // Computed apart, the product is rounded first.
                [Number::Float(a), Number::Float(b)] if dtype != DType::F32 => {
                    (a - b).abs() <= (a.abs() + b.abs()) / 64.0 + 4.0
                }
                [a, b] => a == b,
            };
            ensure!(layer.iter().zip(&apart).all(near), "{place}: a layer by parts");
        }
    }
    Ok(())
}

/// NaN, infinity and values too large for any scale make their block NaN, and the receipt says so.
async fn not_finite(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut data = vec![1.0f32; 6 * 64];
    data[3] = f32::NAN;
    data[64 + 40] = f32::NEG_INFINITY;
    data[2 * 64 + 7] = 1e9;
    data[3 * 64] = 8e6;
    let (w, _) = device.upload(&data, [6, 64]).map_err(show)?;
    let (weights, receipt) = w.quantise().await.map_err(show)?;
    ensure_eq!([receipt.nan, receipt.infinite, receipt.overflowed], [1, 1, 1], "{receipt}");
    ensure!(!receipt.is_finite(), "{receipt}");
    ensure!(receipt.abs_error_max < 32_000.0, "{receipt}");
    let (x, _) = device.upload(&[1.0f32; 64], [1, 64]).map_err(show)?;
    let got = x.linear(&weights, None, None).map_err(show)?.read::<f32>().await.map_err(show)?;
    let nan: Vec<bool> = got.iter().map(|y| y.is_nan()).collect();
    ensure_eq!(nan, [true, true, true, false, false, false], "{got:?}");
    let dequantised = weights.dequantise(DType::F32).map_err(show)?;
    let dequantised = dequantised.read::<f32>().await.map_err(show)?;
    for (i, got) in dequantised.iter().enumerate() {
        let block = [0, 3, 4].contains(&(i / 32));
        ensure!(got.is_nan() == block, "index {i}: {got}");
    }
    Ok(())
}

/// Values and scales from the host, and one kernel for product, bias and activation.
async fn from_elsewhere(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let values: Vec<i8> = (0..8 * 64).map(|i| (i % 255) as i8).collect();
    let scales: Vec<half::f16> = (1..=16u8).map(|i| half::f16::from_f32(i.into())).collect();
    let (v, _) = device.upload(&values, [8, 64]).map_err(show)?;
    let (s, _) = device.upload(&scales, [8, 2]).map_err(show)?;
    let weights = Quantised::of(&v, &s).map_err(show)?;
    let (x, _) = device.upload(&[1.0f32; 64], [64]).map_err(show)?;
    let y = x.linear(&weights, None, Some(Op::Relu)).map_err(show)?;
    let plan = y.explain();
    ensure_eq!(plan.dispatches(), 1, "{plan}");
    ensure!(plan.to_string().contains("q8 weights by a tile of"), "{plan}");
    let got = y.read::<f32>().await.map_err(show)?;
    for (row, got) in got.into_iter().enumerate() {
        let block = |b: usize| -> f32 {
            let at = row * 64 + 32 * b;
            let sum: i32 = values[at..at + 32].iter().map(|&v| i32::from(v)).sum();
            sum as f32 * scales[2 * row + b].to_f32()
        };
        ensure_eq!(got, (block(0) + block(1)).max(0.0), "row {row}");
    }
    // A view that does not begin at sixteen values, and one that is not dense.
    let odd = v.reshape([512]).and_then(|v| v.slice(0, 8..40)).map_err(show)?;
    let odd = odd.reshape([1, 32]).map_err(show)?;
    let one = s.slice(0, 0..1).and_then(|s| s.slice(1, 1..2)).map_err(show)?;
    let half = x.slice(0, 0..32).map_err(show)?;
    let got = half.linear(&Quantised::of(&odd, &one).map_err(show)?, None, None).map_err(show)?;
    let want: f32 = values[8..40].iter().map(|&v| 2.0 * f32::from(v)).sum();
    ensure_eq!(got.read::<f32>().await.map_err(show)?, [want], "an odd view");
    Ok(())
}

/// The most blocks that are accepted: no invocation loops longer than every driver survives.
async fn deep(ctx: &Ctx) -> Outcome {
    let native = ctx.native().await?;
    for target in [native.target(), Target::Gpu] {
        deep_by(&native.with_target(target)).await?;
    }
    Ok(())
}

async fn deep_by(device: &Device) -> Outcome {
    let k = 60_000 * 32;
    let weights = |k: usize| {
        let values = device.full([1, k], DType::I8, 1i8).map_err(show)?;
        let scales = device.full([1, k / 32], DType::F16, 0.5f32).map_err(show)?;
        Quantised::of(&values, &scales).map_err(|error| format!("{error:?}"))
    };
    let x = device.full([1, 1], DType::F32, 1.0f32).map_err(show)?;
    let x = x.broadcast_to([1, k]).map_err(show)?;
    let got = x.linear(&weights(k)?, None, None).map_err(show)?;
    ensure_eq!(got.read::<f32>().await.map_err(show)?, [k as f32 / 2.0], "of {k}");
    let want = "quantised rows of 1920032, above 1920000
  help: split the rows, and add the products of the parts";
    ensure_eq!(weights(k + 32).map(drop), Err(want.to_owned()), "one block more");
    Ok(())
}

/// What cannot be done is refused at the call.
async fn refuses(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let of = |dims: &[usize], dtype| device.zeros(dims, dtype).map_err(show);
    let text = |error: wharf::Error| format!("{error:?}");
    let quantised = of(&[3, 4, 5], DType::F32)?.quantise().await.map(drop).map_err(text);
    let want = "quantise: weights [3, 4, 5] of rank 3, not [out, in]
  help: reshape to a matrix: `reshape([out, in])`";
    ensure_eq!(quantised, Err(want.to_owned()), "rank");
    let quantised = of(&[3, 4], DType::I32)?.quantise().await.map(drop).map_err(text);
    let want = "quantise: weights of i32, not f32, f16 or bf16
  help: cast first: `cast(DType::F32)`";
    ensure_eq!(quantised, Err(want.to_owned()), "dtype");
    let parts = |v: &[usize], s: &[usize]| -> Result<Result<Quantised, String>, String> {
        Ok(Quantised::of(&of(v, DType::I8)?, &of(s, DType::F16)?).map_err(text))
    };
    let want = "rows of 40 values are no whole blocks of 32 (8 are left)
  help: fill rows up with zeros to whole blocks: `pad`";
    ensure_eq!(parts(&[3, 40], &[3, 1])?.map(drop), Err(want.to_owned()), "ragged");
    let want = "values [3, 64] with scales [3, 1], not [3, 2]
  help: a scale belongs to 32 neighbours of a row";
    ensure_eq!(parts(&[3, 64], &[3, 1])?.map(drop), Err(want.to_owned()), "scales");
    let weights = parts(&[3, 64], &[3, 2])??;
    let linear = of(&[2, 3], DType::F32)?.linear(&weights, None, None).map(drop).map_err(text);
    let want = "linear: inner dimensions differ: left [2, 3], weights [3, 64] (3 against 64)
  help: weights are [out, in]; take `weight.t()` of an [in, out]";
    ensure_eq!(linear, Err(want.to_owned()), "inner");
    let linear = of(&[2, 64], DType::I32)?.linear(&weights, None, None).map(drop).map_err(text);
    let want = "linear: i32 by quantised weights, not f32, f16 or bf16
  help: cast first: `cast(DType::F32)`";
    ensure_eq!(linear, Err(want.to_owned()), "activations");
    Ok(())
}

/// Rows of a table in blocks are the rows of its numbers, whatever the shape of the index.
async fn embedding(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(77);
    for dims in [[9, 64], [50, 40]] {
        let (tensor, _) = weights(&device, DType::F32, dims, NEAR, &mut random).await?;
        let (table, _) = tensor.quantise().await.map_err(show)?;
        let tokens: Vec<i32> = (0..6).map(|_| random.below(dims[0]) as i32).collect();
        let (index, _) = device.upload(&tokens, [2, 3]).map_err(show)?;
        let got = table.embedding(&index).map_err(show)?;
        ensure_eq!(got.shape().dims(), [2, 3, dims[1]], "the shape");
        let whole = table.dequantise(DType::F32).and_then(|table| table.embedding(&index));
        let got = got.read::<f32>().await.map_err(show)?;
        let want = whole.map_err(show)?.read::<f32>().await.map_err(show)?;
        ensure!(got == want, "{dims:?} {tokens:?}: {got:?}, not {want:?}");
        let (beyond, _) = device.upload(&[dims[0] as i32], [1]).map_err(show)?;
        let outside = table.embedding(&beyond).map_err(show)?;
        ensure!(outside.read::<f32>().await.is_err(), "an index out of range is an error");
    }
    Ok(())
}
