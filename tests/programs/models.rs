//! Forward passes of small models, and what is done with their answers.

use wharf::tensor::{Align, Attention, Conv, Insert, Interpolation, Pooling};
use wharf::{DType, Result, Tensor};

use super::support::{check, numbers};

#[test]
fn u_net() {
    check("u_net", async |device| {
        let block = |x: &Tensor, out: usize, seed: usize| -> Result<Tensor> {
            let w = (numbers(device, [out, x.dim(1)?, 3, 3], seed)? * 0.3)?;
            let (scale, bias) = (numbers(device, out, seed + 1)?, numbers(device, out, seed + 2)?);
            let y = x.conv2d(&w, None, &Conv::new().padding([1, 1]))?;
            y.group_norm(2, Some(&scale), Some(&bias), 1e-5)?.silu()
        };
        let x = numbers(device, [1, 2, 6, 6], 20)?;
        let fine = block(&x, 4, 21)?;
        let coarse = block(&fine.max_pool(&Pooling::new([2, 2]))?, 6, 24)?;
        let up = (numbers(device, [6, 4, 2, 2], 27)? * 0.5)?;
        let up = coarse.conv_transpose2d(&up, None, &Conv::new().stride([2, 2]))?;
        block(&Tensor::concat(&[up, fine], 1)?, 2, 28)
    });
}

#[test]
fn residual_classifier() {
    check("residual_classifier", async |device| {
        let x = numbers(device, [2, 3, 7, 5], 31)?;
        let w = (numbers(device, [3, 3, 3, 3], 32)? * 0.2)?;
        let [mean, scale, bias] = [33, 34, 35].map(|seed| numbers(device, 3, seed));
        let (mean, scale, bias) = (mean?, scale?, bias?);
        let var = numbers(device, 3, 36)?.square()?;
        let y = x.conv2d(&w, None, &Conv::new().padding([1, 1]))?;
        let y = y.batch_norm(&mean, &var, Some(&scale), Some(&bias), 1e-3)?;
        let seen = (y + &x)?.relu()?.adaptive_avg_pool([3, 2])?.flatten(1..)?;
        seen.linear(&numbers(device, [4, 18], 37)?, None)?.log_softmax(-1)
    });
}

#[test]
fn decoder_block() {
    check("decoder_block", async |device| {
        let x = numbers(device, [1, 5, 8], 41)?; // [batch, places, width]
        let heads = |x: &Tensor, count: usize, seed: usize| -> Result<Tensor> {
            let y = x.linear(&numbers(device, [count * 4, 8], seed)?, None)?;
            y.reshape([1, 5, count, 4])?.swap_axes(1, 2)
        };
        let normed = x.rms_norm(-1, Some(&numbers(device, 8, 42)?), 1e-5)?;
        let place = device.arange(0, 5, 1, DType::F32)?;
        let speed = device.arange(0, -1, -0.5, DType::F32)?.powers_of(100)?;
        let angle = place.outer(&speed)?;
        let (cos, sin) = (angle.cos()?, angle.sin()?);
        let (q, k) = (heads(&normed, 2, 43)?, heads(&normed, 1, 44)?);
        let (q, k, v) = (q.rope(&cos, &sin)?, k.rope(&cos, &sin)?, heads(&normed, 1, 45)?);
        let y = q.attention(&k, &v, &Attention::new().causal())?;
        let y = y.swap_axes(1, 2)?.flatten(2..)?;
        x + y.linear(&numbers(device, [8, 8], 46)?, None)?
    });
}

#[test]
fn sliding_window() {
    check("sliding_window", async |device| {
        let [q, k, v] = [51, 52, 53].map(|seed| numbers(device, [2, 1, 7, 4], seed));
        let (lengths, _) = device.upload(&[7, 4], 2)?;
        let how = Attention::new().causal().window(2, 0).softcap(2.0).lengths(&lengths);
        q?.attention(&k?, &v?, &how)
    });
}

#[test]
fn gated_unit() {
    check("gated_unit", async |device| {
        let (x, mut state) = (numbers(device, [6, 2, 3], 54)?, device.zeros([2, 4], DType::F32)?);
        let (w, u) = (numbers(device, [12, 3], 55)?, numbers(device, [12, 4], 56)?);
        for step in 0..6 {
            let gates = x.at(step)?.linear(&w, None)?.split_evenly(1, 3)?;
            let own = state.linear(&u, None)?.split_evenly(1, 3)?;
            let reset = (&gates[0] + &own[0])?.sigmoid()?;
            let keep = (&gates[1] + &own[1])?.sigmoid()?;
            let new = (&gates[2] + (reset * &own[2])?)?.tanh()?;
            state = new.lerp(&state, &keep)?;
        }
        Ok(state)
    });
}

#[test]
fn beam_search() {
    check("beam_search", async |device| {
        let scores = (numbers(device, [5, 5], 57)? * 3.0)?.log_softmax(-1)?; // from token to token
        let (mut total, mut last) = scores.at(0)?.top_k(0, 3)?;
        let mut paths = last.unsqueeze(1)?;
        for step in 1..5 {
            let more = (scores.embedding(&last)? * (1.0 + step as f32 / 8.0))?;
            let next = (total.unsqueeze(1)? + more)?;
            let (best, place) = next.flatten(..)?.top_k(0, 3)?;
            (total, last) = (best, (&place % 5)?);
            paths = paths.embedding(&(place / 5)?)?;
            paths = Tensor::concat(&[&paths, &last.unsqueeze(1)?], 1)?;
        }
        Tensor::concat(&[total, paths.flatten(..)?.cast(DType::F32)?], 0)
    });
}

#[test]
fn hidden_states() {
    check("hidden_states", async |device| {
        let moves = (numbers(device, [3, 3], 58)? * 2.0)?.log_softmax(-1)?;
        let shows = (numbers(device, [3, 4], 59)? * 2.0)?.log_softmax(-1)?;
        let seen = [0usize, 2, 1, 3, 3, 0, 1];
        let (mut best, mut from) = (shows.at((.., seen[0]))?, Vec::new());
        for &symbol in &seen[1..] {
            let paths = (best.unsqueeze(1)? + &moves)?;
            from.push(paths.argmax(0)?);
            best = (paths.amax(0)? + shows.at((.., symbol))?)?;
        }
        let mut path = vec![best.argmax(0)?];
        for from in from.iter().rev() {
            path.push(from.take(&path[path.len() - 1])?);
        }
        Tensor::stack(&path, 0)
    });
}

#[test]
fn nearest_neighbours() {
    check("nearest_neighbours", async |device| {
        let (known, asked) = (numbers(device, [30, 3], 60)?, numbers(device, [6, 3], 61)?);
        let classes = (device.arange(0, 30, 1, DType::I32)? % 4)?;
        let products = Tensor::einsum("ic,jc->ij", &[&asked, &known])?;
        let lengths = (asked.square()?.sum(1)?.unsqueeze(1)? + known.square()?.sum(1)?)?;
        let (far, near) = (lengths - (products * 2.0)?)?.neg()?.top_k(1, 5)?;
        let votes = classes.take(&near)?.one_hot(4, DType::F32)?;
        let weights = (1.0 / (far.neg()?.maximum(0.0)? + 0.1)?)?;
        Tensor::einsum("ik,ikc->ic", &[&weights, &votes])
    });
}

#[test]
fn image_pyramid() {
    check("image_pyramid", async |device| {
        let image = numbers(device, [1, 1, 8, 12], 62)?;
        let (row, _) = device.upload(&[0.25f32, 0.5, 0.25], 3)?;
        let blur = row.outer(&row)?.reshape([1, 1, 3, 3])?;
        let mut levels = Vec::new();
        let mut level = image;
        for _ in 0..2 {
            let (rows, columns) = (level.dim(2)?, level.dim(3)?);
            let soft = level.conv2d(&blur, None, &Conv::new().padding([1, 1]))?;
            let small = soft.interpolate([rows / 2, columns / 2], Interpolation::Nearest)?;
            let back = small.interpolate([rows, columns], Interpolation::Cubic(Align::Edges))?;
            levels.push((&level - back)?.flatten(..)?);
            level = small;
        }
        let wide = level.interpolate([5, 5], Interpolation::Linear(Align::Corners))?;
        levels.push(wide.flatten(..)?);
        Tensor::concat(&levels, 0)
    });
}

#[test]
fn interpolated_curve() {
    check("interpolated_curve", async |device| {
        let knots = numbers(device, 9, 63)?.abs()?.cumsum(0)?;
        let heights = numbers(device, 9, 64)?;
        let x = device.linspace(0.0, 4.0, 15, DType::F32)?.clamp(knots.at(0)?, knots.at(-1)?)?;
        let right = knots.searchsorted(&x, Insert::Left)?.clamp(1, 8)?;
        let left = (&right - 1)?;
        let part = (&x - knots.take(&left)?)?;
        let part = (part / (knots.take(&right)? - knots.take(&left)?)?)?;
        heights.take(&left)?.lerp(heights.take(&right)?, part)
    });
}
