//! Blocks of well-known networks.

use wharf::tensor::{Align, Blocks, Conv, Interpolation, Pooling};
use wharf::{DType, Device, Result, Tensor};

use super::support::{check, numbers};

/// A batch norm that was learned, by numbers from this seed on.
fn batch_norm(x: &Tensor, seed: usize) -> Result<Tensor> {
    let channel = |seed| numbers(x.device(), x.dim(1)?, seed);
    let var = (channel(seed + 1)?.abs()? + 0.5)?;
    let (weight, bias) = (channel(seed + 2)?, channel(seed + 3)?);
    x.batch_norm(&channel(seed)?, &var, Some(&weight), Some(&bias), 1e-3)
}

/// A weight whose sums are of about the size of what is summed.
fn weight(device: &Device, shape: [usize; 4], seed: usize) -> Result<Tensor> {
    let terms: usize = shape[1..].iter().product();
    numbers(device, shape, seed)? / (terms as f32).sqrt()
}

#[test]
fn long_short_memory() {
    check("long_short_memory", async |device| {
        let x = numbers(device, [5, 2, 3], 1)?; // [steps, batch, width]
        let (w, u) = (numbers(device, [16, 3], 2)?, numbers(device, [16, 4], 3)?);
        let bias = numbers(device, 16, 4)?;
        let (mut state, mut cell) =
            (device.zeros([2, 4], DType::F32)?, numbers(device, [2, 4], 5)?);
        let mut states = Vec::new();
        for step in 0..5 {
            let gates = (x.at(step)?.linear(&w, Some(&bias))? + state.linear(&u, None)?)?;
            let gates = gates.chunk(1, 4)?;
            let [keep, out] = [1, 3].map(|gate| gates[gate].sigmoid());
            cell = ((keep? * &cell)? + (gates[0].sigmoid()? * gates[2].tanh()?)?)?;
            state = (out? * cell.tanh()?)?;
            states.push(state.clone());
        }
        Tensor::stack(&states, 0)
    });
}

#[test]
fn both_ways() {
    check("both_ways", async |device| {
        let x = numbers(device, [4, 3], 6)?;
        let run = |x: &Tensor, seed: usize| -> Result<Tensor> {
            let (w, u) = (numbers(device, [2, 3], seed)?, numbers(device, [2, 2], seed + 1)?);
            let told = x.matmul(&w.t()?)?;
            let (mut state, mut states) = (device.zeros(2, DType::F32)?, Vec::new());
            for step in 0..x.dim(0)? {
                state = (told.at(step)? + u.matmul(&state)?)?.tanh()?;
                states.push(state.clone());
            }
            Tensor::stack(&states, 0)
        };
        Tensor::concat(&[run(&x, 7)?, run(&x.flip(0)?, 9)?.flip(0)?], 1)
    });
}

#[test]
fn mobile_block() {
    check("mobile_block", async |device| {
        let x = numbers(device, [1, 3, 5, 6], 11)?;
        let point = Conv::new();
        let y = x.conv2d(&weight(device, [6, 3, 1, 1], 12)?, None, &point)?;
        let y = batch_norm(&y, 13)?.hard_swish()?;
        let depth = Conv::new().groups(6).padding([1, 1]).stride([2, 2]);
        let y = y.conv2d(&weight(device, [6, 1, 3, 3], 17)?, None, &depth)?;
        let y = batch_norm(&y, 18)?.clamp(0.0, 6.0)?;
        batch_norm(&y.conv2d(&weight(device, [2, 6, 1, 1], 22)?, None, &point)?, 23)
    });
}

#[test]
fn squeeze_excite() {
    check("squeeze_excite", async |device| {
        let x = numbers(device, [2, 4, 3, 3], 27)?;
        let seen = x.mean([2, 3])?;
        let (narrow, wide) = (numbers(device, [2, 4], 28)?, numbers(device, [4, 2], 29)?);
        let gate = seen.linear(&narrow, Some(&numbers(device, 2, 30)?))?.relu()?;
        let gate = gate.linear(&wide, None)?.hard_sigmoid()?;
        x * gate.reshape([2, 4, 1, 1])?
    });
}

#[test]
fn bottleneck() {
    check("bottleneck", async |device| {
        let x = numbers(device, [1, 4, 5, 5], 31)?;
        let stride = Conv::new().stride([2, 2]);
        let y = x.conv2d(&weight(device, [2, 4, 1, 1], 32)?, None, &Conv::new())?;
        let y = batch_norm(&y, 33)?.relu()?;
        let y = y.conv2d(&weight(device, [2, 2, 3, 3], 37)?, None, &stride.padding([1, 1]))?;
        let y = batch_norm(&y, 38)?.relu()?;
        let y = batch_norm(&y.conv2d(&weight(device, [6, 2, 1, 1], 42)?, None, &Conv::new())?, 43)?;
        let short = batch_norm(&x.conv2d(&weight(device, [6, 4, 1, 1], 47)?, None, &stride)?, 48)?;
        (y + short)?.relu()
    });
}

#[test]
fn vgg_head() {
    check("vgg_head", async |device| {
        let mut x = numbers(device, [2, 3, 8, 8], 52)?;
        for (seed, [channels, out]) in [(53, [3, 4]), (55, [4, 5])] {
            let (w, bias) =
                (weight(device, [out, channels, 3, 3], seed)?, numbers(device, out, seed + 1)?);
            let y = x.conv2d(&w, Some(&bias), &Conv::new().padding([1, 1]))?;
            x = y.relu()?.max_pool(&Pooling::new([2, 2]))?;
        }
        let y = x.flatten(1..)?.linear(&numbers(device, [6, 20], 57)?, None)?.relu()?;
        y.linear(&numbers(device, [3, 6], 58)?, Some(&numbers(device, 3, 59)?))?.softmax(-1)
    });
}

#[test]
fn convnext_block() {
    check("convnext_block", async |device| {
        let x = numbers(device, [1, 4, 5, 4], 60)?;
        let how = Conv::new().groups(4).padding([3, 3]);
        let w = weight(device, [4, 1, 7, 7], 61)?;
        let y = x.conv2d(&w, Some(&numbers(device, 4, 62)?), &how)?.permute([0, 2, 3, 1])?;
        let (gain, shift) = (numbers(device, 4, 63)?, numbers(device, 4, 64)?);
        let y = y.layer_norm(-1, Some(&gain), Some(&shift), 1e-6)?;
        let y = y.linear(&numbers(device, [8, 4], 65)?, None)?.gelu()?;
        let y = (y.linear(&numbers(device, [4, 8], 66)?, None)? * numbers(device, 4, 67)?)?;
        x + y.permute([0, 3, 1, 2])?
    });
}

#[test]
fn patch_embedding() {
    check("patch_embedding", async |device| {
        let image = numbers(device, [2, 3, 4, 6], 68)?;
        let (w, bias) = (weight(device, [5, 3, 2, 2], 69)?, numbers(device, 5, 70)?);
        let patches = image.conv2d(&w, Some(&bias), &Conv::new().stride([2, 2]))?;
        let patches = patches.flatten(2..)?.swap_axes(1, 2)?;
        let class = numbers(device, [1, 1, 5], 71)?.broadcast_to([2, 1, 5])?;
        let tokens = (Tensor::concat(&[class, patches], 1)? + numbers(device, [7, 5], 72)?)?;
        tokens.layer_norm(-1, None, None, 1e-6)
    });
}

#[test]
fn mixer_block() {
    check("mixer_block", async |device| {
        let x = numbers(device, [2, 3, 4], 73)?; // [batch, places, channels]
        let mix = |x: &Tensor, width: usize, seed: usize| -> Result<Tensor> {
            let (up, down) =
                (numbers(device, [5, width], seed)?, numbers(device, [width, 5], seed + 1)?);
            x.linear(&up, None)?.gelu_tanh()?.linear(&down, None)
        };
        let x = (&x + mix(&x.layer_norm(-1, None, None, 1e-5)?.t()?, 3, 74)?.t()?)?;
        &x + mix(&x.layer_norm(-1, None, None, 1e-5)?, 4, 76)?
    });
}

#[test]
fn mixture_of_experts() {
    check("mixture_of_experts", async |device| {
        let x = numbers(device, [6, 3], 78)?;
        let scores = x.linear(&numbers(device, [4, 3], 79)?.square()?, None)?;
        let (best, expert) = scores.top_k(-1, 2)?;
        let gate = best.softmax(-1)?;
        let (up, down) = (numbers(device, [4, 5, 3], 80)?, numbers(device, [4, 3, 5], 81)?);
        let hidden = Tensor::einsum("nd,ehd->neh", &[&x, &up])?.silu()?;
        let told = Tensor::einsum("neh,edh->ned", &[&hidden, &down])?;
        let chosen = expert.one_hot(4, DType::F32)?;
        let load = chosen.sum([0, 1])?;
        let y = Tensor::einsum("nk,nke,ned->nd", &[&gate, &chosen, &told])?;
        Tensor::concat(&[y.flatten(..)?, load], 0)
    });
}

#[test]
fn low_rank_linear() {
    check("low_rank_linear", async |device| {
        let (x, w) = (numbers(device, [3, 6], 82)?, numbers(device, [4, 6], 83)?);
        let (down, up) = (numbers(device, [2, 6], 84)?, numbers(device, [4, 2], 85)?);
        let side = (x.linear(&down, None)?.linear(&up, None)? * (16.0 / 2.0))?;
        let beside = (x.linear(&w, None)? + side)?;
        let merged = x.linear(&(w + (up.matmul(&down)? * 8.0)?)?, None)?;
        Tensor::stack(&[beside, merged], 0)
    });
}

#[test]
fn time_embedding() {
    check("time_embedding", async |device| {
        let (step, _) = device.upload(&[0.0f32, 3.0, 20.0], 3)?;
        let speed = (device.arange(0, 4, 1, DType::F32)? * (-1000f32.ln() / 4.0))?.exp()?;
        let angle = step.outer(&speed)?;
        let wave = Tensor::concat(&[angle.cos()?, angle.sin()?], -1)?;
        let (w, bias) = (numbers(device, [6, 8], 86)?, numbers(device, 6, 87)?);
        let both = wave.linear(&w, Some(&bias))?.silu()?.chunk(-1, 2)?;
        let x = numbers(device, [3, 3, 2, 2], 88)?;
        let by_channel = |x: &Tensor| x.unsqueeze(-1)?.unsqueeze(-1);
        x.instance_norm(None, None, 1e-5)?
            .mul_add((by_channel(&both[0])? + 1.0)?, by_channel(&both[1])?)
    });
}

#[test]
fn diffusion_steps() {
    check("diffusion_steps", async |device| {
        let noise_share = device.linspace(0.02, 0.3, 8, DType::F32)?;
        let kept = (1.0f32 - noise_share)?.cumprod(0)?;
        let mut x = numbers(device, [2, 3, 3], 89)?;
        for step in (2..8).rev().step_by(2) {
            let (now, next) = (kept.at(step)?, kept.at(step - 2)?);
            let noise = ((&x * 0.5)?.tanh()? + (numbers(device, [3, 3], 90 + step)? * 0.1)?)?;
            let clean = (&x - (&noise * (1.0f32 - &now)?.sqrt()?)?)?;
            let clean = (clean / now.sqrt()?)?.clamp(-1.0, 1.0)?;
            x = ((clean * next.sqrt()?)? + (noise * (1.0f32 - &next)?.sqrt()?)?)?;
        }
        Ok(x)
    });
}

#[test]
fn causal_waves() {
    check("causal_waves", async |device| {
        let mut x = numbers(device, [1, 2, 9], 1)?;
        let mut sum = device.zeros([1, 2, 9], DType::F32)?;
        for (layer, reach) in [1, 2, 4].into_iter().enumerate() {
            let w = (numbers(device, [4, 2, 2], 2 + 2 * layer)? * 0.7)?;
            let past = x.pad(&[(0, 0), (0, 0), (reach, 0)], 0.0)?;
            let y = past.conv1d(&w, None, &Conv::new().dilation([reach]))?.chunk(1, 2)?;
            let y = (y[0].tanh()? * y[1].sigmoid()?)?;
            let y = y.conv1d(&numbers(device, [2, 2, 1], 3 + 2 * layer)?, None, &Conv::new())?;
            (sum, x) = ((sum + &y)?, (x + &y)?);
        }
        sum.relu()
    });
}

#[test]
fn pixel_shuffle() {
    check("pixel_shuffle", async |device| {
        let x = numbers(device, [1, 2, 3, 2], 8)?;
        let (w, bias) = (weight(device, [8, 2, 3, 3], 9)?, numbers(device, 8, 10)?);
        let y = x.conv2d(&w, Some(&bias), &Conv::new().padding([1, 1]))?;
        let y = y.reshape([1, 2, 2, 2, 3, 2])?.permute([0, 1, 4, 2, 5, 3])?;
        let y = y.reshape_copied([1, 2, 6, 4])?.prelu(&numbers(device, 2, 11)?)?;
        y + x.interpolate([6, 4], Interpolation::Linear(Align::Edges))?
    });
}

#[test]
fn gated_feed_forward() {
    check("gated_feed_forward", async |device| {
        let x = numbers(device, [2, 3, 4], 12)?;
        let y = x.rms_norm(-1, Some(&numbers(device, 4, 13)?), 1e-6)?;
        let [gate, up] = [14, 15].map(|seed| y.linear(&numbers(device, [6, 4], seed)?, None));
        let swish = (gate?.silu()? * up?)?.linear(&numbers(device, [4, 6], 16)?, None)?;
        let plain = y.linear(&numbers(device, [8, 4], 17)?, None)?.glu(-1)?;
        x + (swish + plain)?
    });
}

#[test]
fn pooled_pyramid() {
    check("pooled_pyramid", async |device| {
        let x = numbers(device, [1, 2, 6, 6], 18)?;
        let mut levels = vec![x.clone()];
        for side in [1, 2, 3] {
            let level = x.adaptive_avg_pool([side, side])?;
            let level =
                level.conv2d(&weight(device, [1, 2, 1, 1], 18 + side)?, None, &Conv::new())?;
            levels.push(level.interpolate([6, 6], Interpolation::Linear(Align::Corners))?);
        }
        let around = Pooling::new([3, 3]).stride([1, 1]).padding([1, 1]);
        levels.push(x.avg_pool(&around.padding_uncounted())?);
        let y = Tensor::concat(&levels, 1)?;
        y.conv2d(&weight(device, [2, 7, 1, 1], 22)?, None, &Conv::new())
    });
}

#[test]
fn volumes() {
    check("volumes", async |device| {
        let x = numbers(device, [1, 2, 4, 4, 4], 23)?;
        let w = (numbers(device, [4, 1, 3, 3, 3], 24)? * 0.3)?;
        let y = x.conv3d(
            &w,
            Some(&numbers(device, 4, 25)?),
            &Conv::new().groups(2).padding([1, 1, 1]),
        )?;
        let y = y.instance_norm(None, Some(&numbers(device, 4, 26)?), 1e-5)?.leaky_relu(0.1)?;
        let y = y.max_pool(&Pooling::new([2, 2, 2]))?;
        let up = (numbers(device, [4, 1, 2, 2, 2], 27)? * 0.5)?;
        y.conv_transpose3d(&up, None, &Conv::new().stride([2, 2, 2]))?.mish()
    });
}

#[test]
fn folded_batch_norm() {
    check("folded_batch_norm", async |device| {
        let x = numbers(device, [2, 3, 5, 5], 28)?;
        let (w, how) = (weight(device, [4, 3, 3, 3], 29)?, Conv::new().padding([1, 1]));
        // A batch tells mean and variance, and the layer takes them in.
        let y = x.conv2d(&w, None, &how)?;
        let (mean, var) = (y.mean([0, 2, 3])?, y.var([0, 2, 3], 0)?);
        let (gain, bias) = (numbers(device, 4, 30)?, numbers(device, 4, 31)?);
        let normed = y.batch_norm(&mean, &var, Some(&gain), Some(&bias), 1e-5)?;
        let scale = (&gain * (var + 1e-5)?.rsqrt()?)?;
        let folded = (&w * scale.reshape([4, 1, 1, 1])?)?;
        let shift = (&bias - (&mean * &scale)?)?;
        let at_once = x.conv2d(&folded, Some(&shift), &how)?;
        let off = (&at_once - &normed)?.abs()?.amax(..)?.lt(1e-5)?;
        let off = off.cast(DType::F32)?.unsqueeze(0)?;
        Tensor::concat(&[at_once.at((.., .., 2))?.flatten(..)?, scale, shift, off], 0)
    });
}

#[test]
fn quantized_network() {
    check("quantized_network", async |device| {
        let x = numbers(device, [4, 64], 32)?;
        let (w1, w2) = ((numbers(device, [9, 64], 33)? * 1.1)?, numbers(device, [9, 5], 34)?.t()?);
        let (bias, w2) = (numbers(device, 9, 35)?, (w2 * 1.3)?);
        let (first, lost) = w1.quantize(Blocks::Q8).await?;
        let (second, _) = w2.quantize(Blocks::Q8).await?;
        let run = |x: &Tensor| {
            let hidden = (x.linear(&first, Some(&bias))? / 8.0)?.gelu()?;
            hidden.linear(&second, None)
        };
        let y = run(&x)?;
        let plain = ((x.linear(&w1, Some(&bias))? / 8.0)?.gelu()?).linear(&w2, None)?;
        let off = (&y - plain)?.abs()?.amax(..)?;
        let (most, _) = device.upload(&[lost.abs_error_max as f32, lost.rms_error as f32], 2)?;
        let restored = first.dequantize(DType::F32)?.at((2, ..40))?;
        Tensor::concat(&[y.flatten(..)?, off.unsqueeze(0)?, most, restored], 0)
    });
}

#[test]
fn four_bit_vocabulary() {
    check("four_bit_vocabulary", async |device| {
        let table = (numbers(device, [12, 64], 36)? + 0.013)?;
        let (table, lost) = table.quantize(Blocks::Q4).await?;
        let (tokens, _) = device.tensor([[3, 0, 11, 7], [5, 5, 1, 9]])?;
        let seen = table.embedding(&tokens)?;
        let told = seen.mean(1)?.rms_norm(-1, None, 1e-6)?;
        let scores = (told.linear(&table, None)? / 8.0)?; // the same weights both ways
        let loss = scores.cross_entropy(-1, &tokens.at((.., -1))?)?;
        let (most, _) = device.upload(&[lost.abs_error_max as f32], 1)?;
        let whole = device.full(1, f32::from(lost.is_finite()), DType::F32)?;
        Tensor::concat(&[scores.softmax(-1)?.flatten(..)?, loss, most, whole], 0)
    });
}
