//! Weights in blocks: what quantizing does to them, what its receipt says, and products with them
//! against the oracle over the dequantized values.

use wharf::reference::{Exact, Number, matmul_keeps};
use wharf::shadow::ShadowPolicy;
use wharf::tensor::{Blocks, Quantized};
use wharf::{Adapter, DType, Device, Target, Tensor, half};

use self::ggmls::{GOLDENS, PARTS, ggml};
use super::pair::{Pair, bits, bits_of, count, value};
use super::probe::Random;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, is_slow, matters, show,
};

mod ggmls;

/// The lowest power of two of a block's magnitude, and how many there are.
const WIDE: (i32, usize) = (-14, 24);
const NEAR: (i32, usize) = (-6, 7);

/// What weights are quantized to.
const FORMS: [Blocks; 2] = [Blocks::Q8, Blocks::Q4];

/// Forms whose texts are made as that of `q6_k` or of `q5_1`, which stand for them with other
/// dtypes and devices.
const ALIKE: [Blocks; 5] = [Blocks::Q5K, Blocks::Q3K, Blocks::Q2K, Blocks::Q4_1, Blocks::Q5];

const DTYPES: &[DType] = &[DType::F32, DType::F16, DType::Bf16];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for (form, &dtype) in
        Blocks::ALL.iter().copied().flat_map(|form| DTYPES.iter().map(move |d| (form, d)))
    {
        let place = format!("quantized::{}::{dtype}", form.name());
        if form.is_made() {
            cases.push(case!(format!("{place}::rounding"), |ctx| rounding(ctx, form, dtype)));
        }
        for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
            let counts = matches!(downgrade.name, "native" | "no_f16" | "small_bindings");
            let plain = (dtype == DType::F32, downgrade.name == "native");
            let other = plain != (true, true) && ALIKE.contains(&form);
            if !counts || other || plain == (false, false) {
                continue;
            }
            let name = format!("{place}::products::{}", downgrade.name);
            cases.push(case!(name, |ctx| products(ctx, form, dtype, downgrade)));
        }
    }
    for form in FORMS {
        let place = format!("quantized::{}", form.name());
        cases.push(case!(format!("{place}::not_finite"), |ctx| not_finite(ctx, form)));
        cases.push(case!(format!("{place}::embedding"), |ctx| embedding(ctx, form)));
        cases.push(case!(format!("{place}::deep_k"), |ctx| deep(ctx, form)));
    }
    for form in Blocks::ALL.iter().copied() {
        cases.push(case!(format!("quantized::{}::shadowed", form.name()), |ctx| shadowed(
            ctx, form
        )));
    }
    for golden in &GOLDENS {
        let name = format!("quantized::ggml::{}", golden.form.name());
        cases.push(case!(name, |ctx| ggml(ctx, golden)));
    }
    cases.push(case!("quantized::from_elsewhere", |ctx| from_elsewhere(ctx)));
    cases.push(case!("quantized::refuses", |ctx| refuses(ctx)));
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

/// The dequantized weights, `[out, in]`, computed from the values and scales on the device.
async fn numbers(weights: &Quantized) -> Result<Vec<f64>, String> {
    let all: Vec<f64> = match weights.form() {
        Blocks::Q8 => {
            let values = weights.values().read::<i8>().await.map_err(show)?;
            let scales = scales(weights).await?;
            values.iter().enumerate().map(|(i, &v)| f64::from(v) * scales[i / 32]).collect()
        }
        Blocks::Q4 => {
            let bytes = weights.values().read::<u8>().await.map_err(show)?;
            let places = bytes.chunks(16).flat_map(halves);
            let scales = scales(weights).await?;
            places.enumerate().map(|(i, v)| (f64::from(v) - 8.0) * scales[i / 32]).collect()
        }
        Blocks::Q4K => {
            let bytes = weights.values().read::<u8>().await.map_err(show)?;
            let heads = weights.scales().read::<u32>().await.map_err(show)?;
            bytes.chunks(128).zip(heads.chunks(4)).flat_map(|(b, h)| super_block(b, h)).collect()
        }
        // By the kernels of other operations, which `ggml` holds to ggml's own.
        _ => {
            let plain = weights.dequantize(DType::F32).map_err(show)?;
            let plain = plain.read::<f32>().await.map_err(show)?;
            return Ok(plain.into_iter().map(f64::from).collect());
        }
    };
    let k = weights.shape().dims()[1];
    let width = k.next_multiple_of(weights.form().weights());
    let whole = all.iter().enumerate().filter(|(i, _)| i % width.max(1) < k);
    Ok(whole.map(|(_, &number)| number).collect())
}

async fn scales(weights: &Quantized) -> Result<Vec<f64>, String> {
    let scales = weights.scales().read::<half::f16>().await.map_err(show)?;
    Ok(scales.into_iter().map(half::f16::to_f64).collect())
}

/// The low halves of bytes, then the high ones.
fn halves(bytes: &[u8]) -> Vec<u8> {
    let low: Vec<u8> = bytes.iter().map(|byte| byte & 15).collect();
    [low, bytes.iter().map(|byte| byte / 16).collect()].concat()
}

/// The 256 weights of a block of `Q4_K`, by the eight scales and minima that its words have.
fn super_block(bytes: &[u8], head: &[u32]) -> Vec<f64> {
    let factor = |bits: u32| half::f16::from_bits(bits as u16).to_f64();
    let (d, least) = (factor(head[0] & 0xffff), factor(head[0] >> 16));
    let q: Vec<u32> = (0..12).map(|i| head[1 + i / 4] >> (i % 4 * 8) & 255).collect();
    let places = bytes.chunks(32).flat_map(halves);
    let number = |(i, place): (usize, u8)| {
        let (scale, minimum) = match i / 32 {
            j @ 0..4 => (q[j] % 64, q[j + 4] % 64),
            j => (q[j + 4] % 16 + q[j - 4] / 64 * 16, q[j + 4] / 16 + q[j] / 64 * 16),
        };
        d * f64::from(scale) * f64::from(place) - least * f64::from(minimum)
    };
    places.enumerate().map(number).collect()
}

/// Whether the scale of a block fits its weights, and by how much one of them may be off.
fn fits(form: Blocks, scale: f64, block: &[f64]) -> Result<impl Fn(f64) -> f64, String> {
    let most = block.iter().map(|w| w.abs()).fold(0.0, f64::max);
    let (fits, slack) = match form {
        // Rounded up, by two units of f16 at most, or of its subnormals. A quotient may be off by 3
        // ulp, so it may fall on the other side of a half.
        Blocks::Q8 => {
            let highest = most / 127.0 * (1.0 + 2f64.powi(-9)) + 2f64.powi(-23);
            ((most / 127.0..=highest).contains(&scale), 127.0 * 2f64.powi(-21) * scale)
        }
        _ => {
            let first = block.iter().find(|w| w.abs() == most).unwrap_or(&0.0);
            let rounded = (most / 8.0 * 2f64.powi(-11)).max(2f64.powi(-25)) * 1.001;
            let near = (scale - first / -8.0).abs() <= rounded;
            // The scale was rounded after the values were.
            (near, 8.0 * rounded + 2f64.powi(-20) * most)
        }
    };
    ensure!(fits, "{form:?}: scale {scale} of a block up to {most}");
    let saturates = form != Blocks::Q8;
    Ok(move |w: f64| {
        let cut = saturates && w * scale > 0.0 && w / scale > 7.49;
        slack + scale.abs() * if cut { 1.0 } else { 0.5 }
    })
}

/// Every weight is off by what its form says at most, every scale fits its block, and the receipt
/// says what the host finds.
async fn rounding(ctx: &Ctx, form: Blocks, dtype: DType) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(31);
    for dims in [[5, 96], [7, 40], [64, 257]] {
        let (tensor, want) = weights(&device, dtype, dims, WIDE, &mut random).await?;
        let (weights, receipt) = tensor.quantize(form).await.map_err(show)?;
        ensure_eq!(weights.form(), form, "the form");
        let (got, scales) = (numbers(&weights).await?, scales(&weights).await?);
        let (mut worst, mut scaled, mut squares) = (0f64, 0f64, 0f64);
        let row = |row: usize| row * dims[1]..(row + 1) * dims[1];
        for begin in (0..dims[0]).flat_map(|at| row(at).step_by(32)) {
            let block = begin..(begin + 32).min(row(begin / dims[1]).end);
            let scale = scales[begin / dims[1] * dims[1].div_ceil(32) + begin % dims[1] / 32];
            let most = fits(form, scale, &want[block.clone()])?;
            for i in block {
                let error = (got[i] - want[i]).abs();
                ensure!(
                    error <= most(want[i]),
                    "{dtype} {dims:?} index {i}: {} from {}, scale {scale}",
                    got[i],
                    want[i]
                );
                worst = worst.max(error);
                scaled = if scale == 0.0 { scaled } else { scaled.max(error / scale.abs()) };
                squares += error * error;
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
        let near = (receipt.scaled_error_max - scaled).abs() <= 1e-4 * scaled.max(1.0);
        ensure!(near, "{receipt}, not {scaled}");
        ensure!((receipt.rms_error - rms).abs() <= 1e-4 * rms + unit, "{receipt}, not {rms}");
        ensure!(receipt.is_finite(), "{receipt}");
        let dequantized = weights.dequantize(DType::F32).map_err(show)?;
        let dequantized = dequantized.read::<f32>().await.map_err(show)?;
        let same = |(&a, &b): (&f32, &f64)| f64::from(a) == b;
        ensure!(dequantized.iter().zip(&got).all(same), "{dtype} {dims:?}: dequantized");
    }
    Ok(())
}

/// Random weights in blocks, quantized here if rows are not whole blocks.
async fn blocks(
    device: &Device,
    form: Blocks,
    [n, k]: [usize; 2],
    random: &mut Random,
) -> Result<Quantized, String> {
    if !form.is_made() {
        let parts = PARTS.iter().find(|parts| parts.form == form).ok_or("no parts")?;
        return parts.random(device, [n, k.div_ceil(form.weights())], random);
    }
    if k % 32 != 0 {
        let (tensor, _) = weights(device, DType::F32, [n, k], NEAR, random).await?;
        return Ok(tensor.quantize(form).await.map_err(show)?.0);
    }
    let mut bytes = |dims: [usize; 2]| {
        let bytes: Vec<u8> = (0..dims[0] * dims[1]).map(|_| random.below(256) as u8).collect();
        match form {
            Blocks::Q8 => device.upload(bytemuck::cast_slice::<u8, i8>(&bytes), dims),
            _ => device.upload(&bytes, dims),
        }
    };
    let (values, _) = bytes([n, if form == Blocks::Q8 { k } else { k / 2 }]).map_err(show)?;
    let scale = |_| half::f16::from_f64((random.below(1 << 10) as f64 + 1.0) / f64::from(1 << 16));
    let scales: Vec<half::f16> = (0..n * k / 32).map(scale).collect();
    let (scales, _) = device.upload(&scales, [n, k / 32]).map_err(show)?;
    Quantized::of(&values, &scales).map_err(show)
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
    [259, 34, 97],
    [1, 300, 1024],
    [2, 5, 8192],
    [0, 4, 32],
    [2, 0, 32],
    [2, 8, 0],
];

/// Products by every class of kernels, with X in several lies and a layer's tail.
async fn products(ctx: &Ctx, form: Blocks, dtype: DType, downgrade: Downgrade) -> Outcome {
    let native = ctx.device(downgrade).await?;
    // Every shape has several texts, of which some are long.
    let plain = dtype == DType::F32 && downgrade.name == "native" && !ALIKE.contains(&form);
    let some = is_slow(ctx.adapter.caps()) || !plain;
    for target in [native.target(), Target::Gpu] {
        let device = native.with_target(target);
        let mut random = Random::new(77);
        let step = if some { 3 } else { 1 };
        let mut shapes: Vec<_> = SHAPES.iter().copied().step_by(step).collect();
        if downgrade.name == "small_bindings" {
            // Weights, scales, rows and results of several segments.
            shapes.extend([[3, 300, 2048], [1900, 68, 64], [2, 4000, 64]]);
        }
        for (i, [m, n, k]) in shapes.into_iter().enumerate() {
            let place = format!("{dtype} {m} x {n} x {k} for {target:?}");
            let w = blocks(&device, form, [n, k], &mut random).await?;
            let k = w.shape().dims()[1];
            let numbers = numbers(&w).await?;
            let lie = i % 3;
            // Dense; with a gap after each row; every row one element late.
            let pitch = k + [0, 4, 1][lie];
            let (all, x) = weights(&device, dtype, [m, pitch], NEAR, &mut random).await?;
            let x_of = |row: usize, i: usize| x[row * pitch + pitch - k + i];
            let view = all.slice(1, pitch - k..pitch).map_err(show)?;
            let got = view.linear(&w, None).map_err(show)?;
            ensure_eq!(got.shape().dims(), [m, n], "{place}");
            ensure_eq!(got.dtype(), dtype, "{place}");
            let plain = bits_of(&got).await.map_err(|e| format!("{place}: {e}"))?;
            // A block takes 11 roundings to sum and one to scale, and blocks are added in turn:
            // the bound of a plain product of this many terms. Of many rows it is one.
            let by_numbers = target != Target::Gpu && dtype == DType::F32 && m >= 64;
            let terms = if by_numbers { k } else { k.div_ceil(32) + 10 };
            let exact = |i: usize| {
                let terms = (0..k).map(|j| x_of(i / n, j) * numbers[i % n * k + j]);
                terms.fold((0.0, 0.0), |(sum, scale), t| (sum + t, scale + f64::abs(t)))
            };
            let exact: Vec<(f64, f64)> = (0..m * n).map(exact).collect();
            for (i, (&got, &(sum, scale))) in plain.iter().zip(&exact).enumerate() {
                let want = Exact { value: Number::Float(sum), scale };
                let got = value(dtype, got);
                ensure!(matmul_keeps(dtype, terms, want, got), "{place}: {i}: {got:?}, {sum}");
            }
            count();
            let (bias, added) = weights(&device, dtype, [1, n], NEAR, &mut random).await?;
            let bias = bias.squeeze(0).map_err(show)?;
            let layer = view.linear(&w, Some(&bias)).and_then(|y| y.relu()).map_err(show)?;
            let apart = (&got + &bias).and_then(|t| t.relu()).map_err(show)?;
            let (layer, apart) = (bits_of(&layer).await?, bits_of(&apart).await?);
            // Rows of 16 bits that are no whole quads are rounded before the bias is added.
            let is_apart = dtype == DType::F32 || n % 4 > 0;
            ensure!(!is_apart || layer == apart, "{place}: a layer by parts");
            if is_apart {
                continue;
            }
            for (i, (&got, &(sum, scale))) in layer.iter().zip(&exact).enumerate() {
                let (bias, got) = (added[i % n], value(dtype, got));
                let value = Number::Float((sum + bias).max(0.0));
                let want = Exact { value, scale: scale + bias.abs() };
                ensure!(
                    matmul_keeps(dtype, terms + 1, want, got),
                    "{place}: {i}: {got:?}, {want:?}"
                );
            }
        }
    }
    Ok(())
}

/// NaN, infinity and values too large for any scale make their block NaN, and the receipt says so.
async fn not_finite(ctx: &Ctx, form: Blocks) -> Outcome {
    let device = ctx.native().await?;
    let mut data = vec![1.0f32; 6 * 64];
    data[3] = f32::NAN;
    data[64 + 40] = f32::NEG_INFINITY;
    data[2 * 64 + 7] = 1e9;
    data[3 * 64] = if form == Blocks::Q8 { 8e6 } else { 5e5 };
    let (w, _) = device.upload(&data, [6, 64]).map_err(show)?;
    let (weights, receipt) = w.quantize(form).await.map_err(show)?;
    ensure_eq!([receipt.nan, receipt.infinite, receipt.overflowed], [1, 1, 1], "{receipt}");
    ensure!(!receipt.is_finite(), "{receipt}");
    ensure!(receipt.abs_error_max < 33_000.0, "{receipt}");
    let (x, _) = device.upload(&[1.0f32; 64], [1, 64]).map_err(show)?;
    let got = x.linear(&weights, None).map_err(show)?.read::<f32>().await.map_err(show)?;
    let nan: Vec<bool> = got.iter().map(|y| y.is_nan()).collect();
    ensure_eq!(nan, [true, true, true, false, false, false], "{got:?}");
    let dequantized = weights.dequantize(DType::F32).map_err(show)?;
    let dequantized = dequantized.read::<f32>().await.map_err(show)?;
    for (i, got) in dequantized.iter().enumerate() {
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
    let weights = Quantized::of(&v, &s).map_err(show)?;
    let (x, _) = device.upload(&[1.0f32; 64], [64]).map_err(show)?;
    let y = x.linear(&weights, None).and_then(|y| y.relu()).map_err(show)?;
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
    let got = half.linear(&Quantized::of(&odd, &one).map_err(show)?, None).map_err(show)?;
    let want: f32 = values[8..40].iter().map(|&v| 2.0 * f32::from(v)).sum();
    ensure_eq!(got.read::<f32>().await.map_err(show)?, [want], "an odd view");
    Ok(())
}

/// The most blocks that are accepted: no invocation loops longer than every driver survives.
async fn deep(ctx: &Ctx, form: Blocks) -> Outcome {
    let native = ctx.native().await?;
    for target in [native.target(), Target::Gpu] {
        deep_by(&native.with_target(target), form).await?;
    }
    Ok(())
}

async fn deep_by(device: &Device, form: Blocks) -> Outcome {
    let k = 60_000 * 32;
    let weights = |k: usize| {
        let values = match form {
            Blocks::Q8 => device.full([1, k], 1i8, DType::I8),
            _ => device.full([1, k / 2], 0x99u8, DType::U8),
        };
        let values = values.map_err(show)?;
        let scales = device.full([1, k / 32], 0.5f32, DType::F16).map_err(show)?;
        Quantized::of(&values, &scales).map_err(|error| format!("{error:?}"))
    };
    let x = device.full([1, 1], 1.0f32, DType::F32).map_err(show)?;
    let x = x.broadcast_to([1, k]).map_err(show)?;
    let got = x.linear(&weights(k)?, None).map_err(show)?;
    ensure_eq!(got.read::<f32>().await.map_err(show)?, [k as f32 / 2.0], "of {k}");
    let want = "quantized rows of 1920032, above 1920000
  help: split the rows, and add the products of the parts";
    ensure_eq!(weights(k + 32).map(drop), Err(want.to_owned()), "one block more");
    Ok(())
}

/// What cannot be done is refused at the call.
async fn refuses(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let of = |dims: &[usize], dtype| device.zeros(dims, dtype).map_err(show);
    let text = |error: wharf::Error| format!("{error:?}");
    let quantized = of(&[3, 4, 5], DType::F32)?.quantize(Blocks::Q8).await.map(drop).map_err(text);
    let want = "quantize: weights [3, 4, 5] of rank 3, not [out, in]
  help: reshape to a matrix: `reshape([out, in])`";
    ensure_eq!(quantized, Err(want.to_owned()), "rank");
    let quantized = of(&[3, 4], DType::I32)?.quantize(Blocks::Q4).await.map(drop).map_err(text);
    let want = "quantize: weights of i32, not f32, f16 or bf16
  help: cast first: `cast(DType::F32)`";
    ensure_eq!(quantized, Err(want.to_owned()), "dtype");
    let parts = |v: &[usize], s: &[usize]| -> Result<Result<Quantized, String>, String> {
        Ok(Quantized::of(&of(v, DType::I8)?, &of(s, DType::F16)?).map_err(text))
    };
    let want = "rows of 40 values are no whole blocks of 32 (8 are left)
  help: fill rows up with zeros to whole blocks: `pad`";
    ensure_eq!(parts(&[3, 40], &[3, 1])?.map(drop), Err(want.to_owned()), "ragged");
    let want = "values [3, 64] with scales [3, 1], not [3, 2]
  help: each block of a row has its own";
    ensure_eq!(parts(&[3, 64], &[3, 1])?.map(drop), Err(want.to_owned()), "scales");
    let other = Quantized::of(&of(&[3, 64], DType::I8)?, &of(&[3, 2], DType::F32)?).map_err(text);
    let want = "quantized values of i8 with scales of f32, not i8 with f16 or u8 with f16 or \
        u8 with u16 or u8 with u32
  help: cast one of them: `cast(dtype)`";
    ensure_eq!(other.map(drop), Err(want.to_owned()), "parts");
    let weights = parts(&[3, 64], &[3, 2])??;
    let made = of(&[3, 256], DType::F32)?.quantize(Blocks::Q4K).await.map(drop).map_err(text);
    let want = "quantize: nothing is quantized to q4_k, which is only read
  help: quantize to `Blocks::Q4` or `Blocks::Q8`, or read a file of GGUF that has it";
    ensure_eq!(made, Err(want.to_owned()), "what is only read");
    let linear = of(&[2, 3], DType::F32)?.linear(&weights, None).map(drop).map_err(text);
    let want = "linear: inner dimensions differ: left [2, 3], weights [3, 64] (3 against 64)
  help: the last axis of the left side is as long as a row of the weights";
    ensure_eq!(linear, Err(want.to_owned()), "inner");
    let linear = of(&[2, 64], DType::I32)?.linear(&weights, None).map(drop).map_err(text);
    let want = "linear: i32 by quantized weights, not f32, f16 or bf16
  help: cast first: `cast(DType::F32)`";
    ensure_eq!(linear, Err(want.to_owned()), "activations");
    Ok(())
}

/// Rows of a table in blocks are the rows of its numbers, whatever the shape of the index.
async fn embedding(ctx: &Ctx, form: Blocks) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(77);
    for dims in [[9, 64], [50, 40]] {
        let (tensor, _) = weights(&device, DType::F32, dims, NEAR, &mut random).await?;
        let (table, _) = tensor.quantize(form).await.map_err(show)?;
        let tokens: Vec<i32> = (0..6).map(|_| random.below(dims[0]) as i32).collect();
        let (index, _) = device.upload(&tokens, [2, 3]).map_err(show)?;
        let got = table.embedding(&index).map_err(show)?;
        ensure_eq!(got.shape().dims(), [2, 3, dims[1]], "the shape");
        let whole = table.dequantize(DType::F32).and_then(|table| table.embedding(&index));
        let got = got.read::<f32>().await.map_err(show)?;
        let want = whole.map_err(show)?.read::<f32>().await.map_err(show)?;
        ensure!(got == want, "{dims:?} {tokens:?}: {got:?}, not {want:?}");
        let (beyond, _) = device.upload(&[dims[0] as i32], [1]).map_err(show)?;
        let outside = table.embedding(&beyond).map_err(show)?;
        ensure!(outside.read::<f32>().await.is_err(), "an index out of range is an error");
    }
    Ok(())
}

/// What computes a product once more, of every form, comes to the same.
async fn shadowed(ctx: &Ctx, form: Blocks) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let mut random = Random::new(9);
    let w = blocks(&device, form, [8, 512], &mut random).await?;
    let (x, _) = weights(&device, DType::F32, [3, 512], NEAR, &mut random).await?;
    let shadow = device.shadow(ShadowPolicy::all());
    x.linear(&w, None).map_err(show)?.read::<f32>().await.map_err(show)?;
    let report = shadow.report().await.map_err(show)?;
    ensure!(report.wrong.is_none() && report.left_out.is_empty(), "{report}");
    ensure_eq!((report.operations, report.judged), (1, 24), "{report}");
    count();
    Ok(())
}
