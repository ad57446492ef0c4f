//! The many ways to attend.

use wharf::tensor::Attention;
use wharf::{Axes, DType, Device, Result, Tensor};

use super::support::{check, numbers};

/// Queries, keys or values by heads: `[batch, heads, places, width]`.
fn by_heads(x: &Tensor, heads: usize) -> Result<Tensor> {
    let [batch, places] = [x.dim(0)?, x.dim(1)?];
    x.reshape_copied([batch, places, heads, x.dim(2)? / heads])?.swap_axes(1, 2)
}

/// The heads side by side again: `[batch, places, heads * width]`.
fn together(x: &Tensor) -> Result<Tensor> {
    x.swap_axes(1, 2)?.flatten(2..)
}

/// How far each of the last places lies behind each of the places, below 0 where it lies ahead.
fn behind(device: &Device, queries: usize, keys: usize) -> Result<Tensor> {
    let key = device.arange(0, keys, 1, DType::I32)?;
    key.slice(0, keys - queries..)?.unsqueeze(1)? - key
}

#[test]
fn multi_query() {
    check("multi_query", async |device| {
        let x = numbers(device, [2, 5, 6], 1)?;
        let [wq, wo] = [2, 3].map(|seed| numbers(device, [6, 6], seed));
        let shared = x.linear(&numbers(device, [6, 6], 4)?, Some(&numbers(device, 6, 5)?))?;
        let shared = shared.split(-1, &[3, 3])?; // one key and one value for both heads
        let q = by_heads(&x.linear(&wq?, None)?, 2)?;
        let (k, v) = (shared[0].unsqueeze(1)?, shared[1].unsqueeze(1)?);
        together(&q.attention(&k, &v, &Attention::new())?)?.linear(&wo?, None)
    });
}

#[test]
fn grouped_heads() {
    check("grouped_heads", async |device| {
        let q = numbers(device, [1, 4, 2, 4], 6)?; // the last two of six places
        let (k, v) = (numbers(device, [1, 2, 6, 4], 7)?, numbers(device, [1, 2, 6, 3], 8)?);
        let how = Attention::new().causal().scaled(0.7);
        let shared = q.attention(&k, &v, &how)?;
        let each = [&k, &v].map(|x| x.repeat_interleave(1, 2));
        let [k, v] = each;
        Tensor::concat(&[shared, q.attention(&k?, &v?, &how)?], 0)
    });
}

#[test]
fn relative_bias() {
    check("relative_bias", async |device| {
        let [q, k, v] = [9, 10, 11].map(|seed| numbers(device, [2, 6, 4], seed)); // by heads
        let table = numbers(device, [5, 2], 12)?; // a bias of each bucket for each head
        let far = behind(device, 6, 6)?;
        let bucket = (far.clamp(-2, 2)? + 2)?;
        let bias = table.embedding(&bucket)?.move_axis(-1, 0)?;
        q?.attention(&k?, &v?, &Attention::new().scaled(1.0).masked(&bias))
    });
}

#[test]
fn linear_bias() {
    check("linear_bias", async |device| {
        let [q, k, v] = [13, 14, 15].map(|seed| numbers(device, [1, 4, 5, 2], seed));
        let slope = device.arange(-2, -10, -2, DType::F32)?.exp2()?.reshape([4, 1, 1])?;
        let bias = (behind(device, 5, 5)?.cast(DType::F32)?.neg()? * slope)?;
        q?.attention(&k?, &v?, &Attention::new().masked(&bias).causal())
    });
}

#[test]
fn linear_attention() {
    check("linear_attention", async |device| {
        let [q, k, v] = [16, 17, 18].map(|seed| numbers(device, [2, 5, 3], seed));
        let (q, k, v) = ((q?.elu(1.0)? + 1.0)?, (k?.elu(1.0)? + 1.0)?, v?);
        let so_far = Tensor::einsum("bnd,bne->bnde", &[&k, &v])?.cumsum(1)?;
        let sums = Tensor::einsum("bnd,bnd->bn", &[&q, &k.cumsum(1)?])?;
        Tensor::einsum("bnd,bnde->bne", &[&q, &so_far])? / sums.unsqueeze(-1)?
    });
}

#[test]
fn cross_attention() {
    check("cross_attention", async |device| {
        let (asked, told) = (numbers(device, [2, 3, 4], 19)?, numbers(device, [2, 5, 6], 20)?);
        let (lengths, _) = device.upload(&[3, 5], 2)?;
        let (wq, bias) = (numbers(device, [4, 4], 21)?, numbers(device, 4, 22)?);
        let both = told.linear(&numbers(device, [8, 6], 23)?, None)?.chunk(-1, 2)?;
        let q = by_heads(&asked.linear(&wq, Some(&bias))?, 2)?;
        let (k, v) = (by_heads(&both[0], 2)?, by_heads(&both[1], 2)?);
        let seen = q.attention(&k, &v, &Attention::new().lengths(&lengths))?;
        (asked + together(&seen)?)?.layer_norm(-1, None, None, 1e-5)
    });
}

#[test]
fn shifted_windows() {
    check("shifted_windows", async |device| {
        let x = numbers(device, [4, 6, 3], 24)?; // an image, and windows of 2 by 3
        let moved = x.roll(0, -1)?.roll(1, -1)?;
        let windows = moved.reshape_copied([2, 2, 2, 3, 3])?.swap_axes(1, 2)?;
        let windows = windows.reshape_copied([4, 6, 3])?;
        let row = device.arange(0, 4, 1, DType::I32)?.ge(3)?.cast(DType::I32)?;
        let column = device.arange(0, 6, 1, DType::I32)?.ge(5)?.cast(DType::I32)?;
        let part = ((row.unsqueeze(1)? * 2)? + column)?; // what was beside each other stays so
        let part = part.reshape_copied([2, 2, 2, 3])?.swap_axes(1, 2)?.reshape_copied([4, 6])?;
        let same = part.unsqueeze(2)?.eq(part.unsqueeze(1)?)?;
        let how = Attention::new().masked(&same.unsqueeze(1)?);
        let w = windows.unsqueeze(1)?; // a batch of windows, of one head
        let seen = w.attention(&w, &w, &how)?.reshape([2, 2, 2, 3, 3])?;
        seen.swap_axes(1, 2)?.reshape_copied([4, 6, 3])?.roll(0, 1)?.roll(1, 1)
    });
}

#[test]
fn partial_rotary() {
    check("partial_rotary", async |device| {
        let [q, k, v] = [25, 26, 27].map(|seed| numbers(device, [1, 2, 5, 6], seed));
        let pair = device.arange(0, 2, 1, DType::F32)?;
        let speed = pair.powers_of(50f32.powf(-0.5))?;
        let angle = device.arange(3, 8, 1, DType::F32)?.outer(&speed)?;
        let (cos, sin) = (angle.cos()?, angle.sin()?);
        let turned = |x: &Tensor| -> Result<Tensor> {
            let parts = x.split(-1, &[4, 2])?;
            Tensor::concat(&[&parts[0].rope_interleaved(&cos, &sin)?, &parts[1]], -1)
        };
        turned(&q?)?.attention(&turned(&k?)?, &v?, &Attention::new().causal())
    });
}

#[test]
fn cached_decoding() {
    check("cached_decoding", async |device| {
        let mut token = numbers(device, [1, 4], 28)?;
        let [wq, wk, wv] = [29, 30, 31].map(|seed| numbers(device, [4, 4], seed));
        let (wq, wk, wv) = (wq?, wk?, wv?);
        let [mut keys, mut values] =
            [device.zeros([2, 5, 2], DType::F32)?, numbers(device, [2, 5, 2], 32)?];
        let mut all = Vec::new();
        for step in 0..5 {
            let heads = |w: &Tensor| token.linear(w, None)?.reshape([2, 1, 2]);
            let (q, k, v) = (heads(&wq)?, heads(&wk)?, heads(&wv)?);
            keys.assign_slice(1, step..=step, &k)?;
            values.assign_slice(1, step..=step, &v)?;
            let (seen, told) = (keys.slice(1, ..=step)?, values.slice(1, ..=step)?);
            let y = q.attention(&seen, &told, &Attention::new())?.reshape([1, 4])?;
            token = (y + &token)?.rms_norm(-1, None, 1e-6)?;
            all.push(token.clone());
        }
        Tensor::concat(&all, 0)
    });
}

#[test]
fn attention_pool() {
    check("attention_pool", async |device| {
        let tokens = numbers(device, [3, 4, 5], 33)?;
        let there = numbers(device, [3, 4], 34)?.gt(-0.45)?;
        let scores = tokens.linear(&numbers(device, [2, 5], 35)?, None)?.tanh()?;
        let scores = scores.matmul(&numbers(device, 2, 36)?)?;
        let weights = scores.masked_fill(&there.not()?, f32::NEG_INFINITY)?.softmax(-1)?;
        let pooled = Tensor::einsum("bn,bnd->bd", &[&weights, &tokens])?;
        let sharpest = weights.amax(Axes::keep(-1))?;
        Tensor::concat(&[pooled, sharpest], -1)
    });
}

#[test]
fn cosine_attention() {
    check("cosine_attention", async |device| {
        let [q, k, v] = [37, 38, 39].map(|seed| numbers(device, [2, 4, 3], seed));
        let (temperature, _) = device.upload(&[4.0f32, 9.0], [2, 1, 1])?;
        let scores = (q?.unit(-1)?.matmul(&k?.unit(-1)?.t()?)? * temperature)?;
        let near = behind(device, 4, 4)?.abs()?.le(1)?;
        let scores = near.choose(&scores, f32::NEG_INFINITY)?;
        scores.softmax(-1)?.matmul(&v?)
    });
}

#[test]
fn attention_rollout() {
    check("attention_rollout", async |device| {
        let mut x = numbers(device, [1, 5, 6], 40)?;
        let mut flow = device.eye(5, 5, DType::F32)?;
        let mut vague = Vec::new();
        for layer in 0..3 {
            let w = (numbers(device, [18, 6], 41 + layer)? * 0.5)?;
            let all = x.linear(&w, None)?.chunk(-1, 3)?;
            let [q, k, v] = [0, 1, 2].map(|part| by_heads(&all[part], 2));
            let how = Attention::new().causal();
            let (told, weights) = q?.attention_with_weights(&k?, &v?, &how)?;
            x += together(&told)?;
            // How much of each token is in each: through the heads' mean, or past the layer.
            let share = weights.squeeze(0)?.mean(0)?;
            let share = ((share + device.eye(5, 5, DType::F32)?)? / 2.0)?;
            flow = share.matmul(&flow)?;
            let nats = weights.gt(0.0)?.choose(weights.maximum(1e-30)?.ln()?, 0.0)?;
            vague.push((nats * &weights)?.sum(-1)?.neg()?.mean(..)?);
        }
        Tensor::concat(&[flow.flatten(..)?, Tensor::stack(&vague, 0)?, x.flatten(..)?], 0)
    });
}

#[test]
fn aligned_words() {
    check("aligned_words", async |device| {
        let (source, target) = (numbers(device, [2, 6, 4], 44)?, numbers(device, [2, 3, 4], 45)?);
        let (lengths, _) = device.upload(&[6, 4], 2)?;
        let heads = |x: &Tensor| by_heads(x, 1);
        let how = Attention::new().lengths(&lengths).scaled(2.0);
        let (q, kv) = (heads(&target)?, heads(&source)?);
        let (told, weights) = q.attention_with_weights(&kv, &kv, &how)?;
        let weights = weights.squeeze(1)?;
        let words = weights.argmax(-1)?;
        let covered = weights.sum(1)?;
        let penalty = covered.minimum(1.0)?.maximum(1e-6)?.ln()?;
        let place = device.arange(0, 6, 1, DType::I32)?;
        let there = place.lt(lengths.unsqueeze(1)?)?;
        let penalty = there.choose(&penalty, 0.0)?.sum(1)?;
        let told = together(&told)?.flatten(..)?;
        let words = words.flatten(..)?.cast(DType::F32)?;
        Tensor::concat(&[told, words, covered.flatten(..)?, penalty], 0)
    });
}
