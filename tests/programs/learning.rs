//! Programs that learn, and what models are made of.

use wharf::{Axes, DType, Tensor};

use super::support::{check, numbers};

#[test]
fn k_means() {
    check("k_means", async |device| {
        let points = numbers(device, [40, 2], 1)?;
        let mut centres = points.slice(0, ..3)?;
        for _ in 0..5 {
            let apart = (points.unsqueeze(1)? - centres.unsqueeze(0)?)?;
            let nearest = apart.square()?.sum(-1)?.argmin(-1)?;
            let members = nearest.one_hot(3, DType::F32)?;
            centres = (members.t()?.matmul(&points)? / members.sum(0)?.unsqueeze(-1)?)?;
        }
        Ok(centres)
    });
}

#[test]
fn principal_component() {
    check("principal_component", async |device| {
        let (scale, _) = device.upload(&[3.0f32, 1.0, 0.5, 0.25], 4)?;
        let x = (numbers(device, [30, 4], 5)? * scale)?;
        let x = x.sub(x.mean(0)?)?;
        let covariance = (x.t()?.matmul(&x)? / 29.0)?;
        let mut direction = device.ones(4, DType::F32)?;
        for _ in 0..40 {
            direction = covariance.matmul(&direction)?;
            direction = direction.unit(..)?;
        }
        let variance = direction.matmul(&covariance.matmul(&direction)?)?;
        Tensor::concat(&[&direction, &variance.flatten(..)?], 0)
    });
}

#[test]
fn kalman_filter() {
    check("kalman_filter", async |device| {
        let measured = (numbers(device, 20, 6)? + device.arange(0, 10, 0.5, DType::F32)?)?;
        let (step, _) = device.upload(&[1.0f32, 1.0, 0.0, 1.0], [2, 2])?;
        let (seen, _) = device.upload(&[1.0f32, 0.0], [1, 2])?;
        let one = device.eye(2, 2, DType::F32)?;
        let (mut state, mut spread) = (device.zeros([2, 1], DType::F32)?, one.clone());
        let mut path = Vec::new();
        for i in 0..20 {
            state = step.matmul(&state)?;
            spread = (step.matmul(&spread)?.matmul(&step.t()?)? + (&one * 0.01)?)?;
            let certainty = (seen.matmul(&spread)?.matmul(&seen.t()?)? + 0.25)?;
            let gain = (spread.matmul(&seen.t()?)? / certainty)?;
            let off = (measured.at(i)? - seen.matmul(&state)?)?;
            state += (&gain * off)?;
            spread = (&one - gain.matmul(&seen)?)?.matmul(&spread)?;
            path.push(state.at((0, 0))?);
        }
        Tensor::stack(&path, 0)
    });
}

#[test]
fn attention() {
    check("attention", async |device| {
        let [q, k, v] = [7, 8, 9].map(|seed| numbers(device, [2, 4, 3], seed));
        let (q, k, v) = (q?, k?, v?);
        let scores = (q.matmul(&k.swap_axes(-2, -1)?)? / 3f32.sqrt())?;
        let causal = device.ones([4, 4], DType::Bool)?.tril(0)?;
        causal.choose(&scores, f32::NEG_INFINITY)?.softmax(-1)?.matmul(&v)
    });
}

#[test]
fn softmax_regression() {
    check("softmax_regression", async |device| {
        let x = numbers(device, [30, 4], 11)?;
        let classes = (device.arange(0, 30, 1, DType::I32)? % 3)?;
        let wanted = classes.one_hot(3, DType::F32)?;
        let mut weights = device.zeros([4, 3], DType::F32)?;
        let mut bias = device.zeros(3, DType::F32)?;
        for _ in 0..25 {
            let scores = (x.matmul(&weights)? + &bias)?;
            let off = ((scores.softmax(-1)? - &wanted)? / x.dim(0)?)?;
            weights.assign((&weights - (x.t()?.matmul(&off)? * 0.5)?)?)?;
            bias.assign((&bias - (off.sum(0)? * 0.5)?)?)?;
        }
        let scores = (x.matmul(&weights)? + &bias)?;
        let loss = scores.cross_entropy(-1, &classes)?.mean(..)?;
        Tensor::concat(&[&weights.flatten(..)?, &bias, &loss.unsqueeze(0)?], 0)
    });
}

#[test]
fn page_rank() {
    check("page_rank", async |device| {
        let itself = device.eye(6, 6, DType::Bool)?;
        let links = (numbers(device, [6, 6], 13)?.gt(0.3)? & (!itself)?)?.cast(DType::F32)?;
        let out = links.sum(Axes::keep(-1))?;
        let moves = out.gt(0.0)?.choose((links / out.maximum(1.0)?)?, 1.0 / 6.0)?;
        let mut rank = device.full(6, 1.0 / 6.0, DType::F32)?;
        for _ in 0..30 {
            rank = ((rank.matmul(&moves)? * 0.85)? + 0.15 / 6.0)?;
        }
        Ok(rank)
    });
}

#[test]
fn positions() {
    check("positions", async |device| {
        let [place, pair] = [5, 4].map(|count| device.arange(0, count, 1, DType::F32));
        let grid = Tensor::meshgrid(&[place?, pair?])?;
        let wave = (&grid[1] / 4)?.powers_of(100)?;
        let angle = (&grid[0] / wave)?;
        Tensor::stack(&[angle.sin()?, angle.cos()?], -1)?.flatten(1..)
    });
}

#[test]
fn self_organising_map() {
    check("self_organising_map", async |device| {
        let data = numbers(device, [10, 3], 21)?;
        let side = device.arange(0, 3, 1, DType::F32)?;
        let grid = Tensor::meshgrid(&[&side, &side])?;
        let place = Tensor::stack(&grid, -1)?.flatten(..2)?; // where each of 9 cells lies
        let mut cells = (numbers(device, [9, 3], 22)? * 0.5)?;
        for step in 0..20 {
            let x = data.at(step % 10)?;
            let far = (&cells - &x)?.square()?.sum(1)?;
            let best = place.embedding(&far.argmin(Axes::keep(0))?)?;
            let reach = 1.5 * 0.93f32.powi(step);
            let apart = (&place - best)?.square()?.sum(Axes::keep(1))?;
            let pull = ((apart / (-2.0 * reach * reach))?.exp()? * (0.5 * 0.95f32.powi(step)))?;
            cells = cells.lerp(&x, &pull)?;
        }
        let far = (data.unsqueeze(1)? - &cells)?.norm(-1)?;
        let missed = far.amin(1)?.mean(0)?;
        let own = far.argmin(1)?.cast(DType::F32)?;
        Tensor::concat(&[cells.flatten(..)?, own, missed.unsqueeze(0)?], 0)
    });
}

#[test]
fn perceptron() {
    check("perceptron", async |device| {
        let x = numbers(device, [14, 2], 23)?;
        let x = x.pad(&[(0, 0), (1, 0)], 1.0)?; // and what is always 1
        let (hidden, _) = device.upload(&[0.15f32, 1.0, -0.7], 3)?;
        let class = x.matmul(&hidden)?.ge(0.0)?.choose_as(1.0, -1.0, DType::F32)?;
        let mut w = device.zeros(3, DType::F32)?;
        let mut sum = w.clone();
        let mut wrong = Vec::new();
        for _ in 0..4 {
            let mut count = device.zeros((), DType::F32)?;
            for i in 0..14 {
                let (one, sign) = (x.at(i)?, class.at(i)?);
                let miss = (one.dot(&w)? * &sign)?.le(0.0)?.cast(DType::F32)?;
                w += (one * (&sign * &miss)?)?;
                sum += &w;
                count += miss;
            }
            wrong.push(count);
        }
        let mean = (sum / (4.0 * 14.0))?;
        let margin = ((x.matmul(&mean)? * class)? / mean.norm(..)?)?;
        Tensor::concat(&[w, mean, Tensor::stack(&wrong, 0)?, margin], 0)
    });
}

#[test]
fn consensus_line() {
    check("consensus_line", async |device| {
        let x = device.linspace(-2.0, 2.0, 20, DType::F32)?;
        let line = (((&x * 0.7)? - 0.4)? + (numbers(device, 20, 24)? * 0.05)?)?;
        let stray = (device.arange(0, 20, 1, DType::I32)? % 4)?.eq(1)?;
        let y = stray.choose((numbers(device, 20, 25)? * 4.0)?, line)?;
        // A line through each of 30 pairs, and how many points lie near it.
        let (one, by) =
            (device.arange(0, 30, 1, DType::U32)?, device.arange(3, 33, 1, DType::U32)?);
        let (one, other) = (((&one * 7)? % 20)?, ((one * 7)? + ((by * 3)? % 19)?)?);
        let other = ((other + 1)? % 20)?;
        let slope = (y.take(&other)? - y.take(&one)?)?;
        let slope = (slope / (x.take(&other)? - x.take(&one)?)?)?;
        let base = (y.take(&one)? - (&slope * x.take(&one)?)?)?;
        let off = ((slope.outer(&x)? + base.unsqueeze(1)?)? - &y)?.abs()?;
        let near = off.lt(0.2)?;
        let votes = near.count_nonzero(1)?;
        let best = near.index_select(0, &votes.argmax(Axes::keep(0))?)?.squeeze(0)?;
        // And a fit to all who agree.
        let (own, wanted) = (x.masked_select(&best).await?, y.masked_select(&best).await?);
        let basis = Tensor::stack(&[&own, &own.powers_of(1.0)?], 1)?;
        let square = basis.t()?.matmul(&basis)?;
        let fit = square.solve(&basis.t()?.matmul(&wanted)?)?;
        Tensor::concat(&[fit, best.cast(DType::F32)?, votes.cast(DType::F32)?], 0)
    });
}
