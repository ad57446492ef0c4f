//! What statisticians and data scientists make of tables.

use wharf::tensor::{Insert, Order};
use wharf::{Axes, DType, Result, Tensor};

use super::support::{check, numbers};

/// Ranks from 1 on along the last axis, of equal values the mean.
fn ranks(x: &Tensor) -> Result<Tensor> {
    let sorted = x.sort(-1, Order::Ascending)?;
    let below = sorted.searchsorted(x, Insert::Left)?.cast(DType::F32)?;
    ((below + sorted.searchsorted(x, Insert::Right)?.cast(DType::F32)?)? + 1.0)? / 2.0
}

#[test]
fn gaussian_mixture() {
    check("gaussian_mixture", async |device| {
        let x = numbers(device, [40, 2], 1)?;
        let mut means = x.slice(0, ..3)?;
        let mut vars = device.full([3, 2], 0.3, DType::F32)?;
        let mut share = device.full(3, 1.0 / 3.0, DType::F32)?;
        let mut fit = Vec::new();
        for _ in 0..6 {
            let off = ((x.unsqueeze(1)? - &means)?.square()? / &vars)?;
            let nats = (off + (&vars * core::f32::consts::TAU)?.ln()?)?.sum(-1)?;
            let joint = (share.ln()? - (nats / 2.0)?)?; // [points, clusters]
            let all = joint.logsumexp(Axes::keep(1))?;
            fit.push(all.mean(..)?);
            let belongs = (joint - all)?.exp()?;
            let counts = belongs.sum(0)?.unsqueeze(1)?;
            means = (belongs.t()?.matmul(&x)? / &counts)?;
            let squares = (belongs.t()?.matmul(&x.square()?)? / &counts)?;
            vars = ((squares - means.square()?)? + 1e-3)?;
            share = belongs.mean(0)?;
        }
        let parts = [means.flatten(..)?, vars.flatten(..)?, share, Tensor::stack(&fit, 0)?];
        Tensor::concat(&parts, 0)
    });
}

#[test]
fn naive_bayes() {
    check("naive_bayes", async |device| {
        let words = ((numbers(device, [12, 5], 2)? + 1.0)? * 1.7)?.cast(DType::U32)?; // counts
        let class = (device.arange(0, 12, 1, DType::U32)? % 5)?.minimum(2)?;
        let members = class.one_hot(3, DType::U32)?;
        let counts = (members.t()?.matmul(&words)? + 1)?.cast(DType::F32)?; // smoothed
        let nats = (&counts / counts.sum(Axes::keep(1))?)?.ln()?;
        let prior = (members.sum(0)?.cast(DType::F32)? / 12.0)?.ln()?;
        let scores = (words.cast(DType::F32)?.matmul(&nats.t()?)? + prior)?;
        scores.log_softmax(-1)
    });
}

#[test]
fn whitening() {
    check("whitening", async |device| {
        let x = numbers(device, [20, 3], 3)?;
        let x = x.matmul(&numbers(device, [3, 3], 4)?)?;
        let x = x.sub(x.mean(0)?)?;
        let spread = ((x.t()?.matmul(&x)? / 19.0)? + (device.eye(3, 3, DType::F32)? * 0.05)?)?;
        // Both roots at once, by Newton and Schulz.
        let size = spread.norm(..)?;
        let (mut root, mut inverse) = ((&spread / &size)?, device.eye(3, 3, DType::F32)?);
        for _ in 0..18 {
            let step = (((device.eye(3, 3, DType::F32)? * 3.0)? - inverse.matmul(&root)?)? / 2.0)?;
            (root, inverse) = (root.matmul(&step)?, step.matmul(&inverse)?);
        }
        let white = x.matmul(&(inverse / size.sqrt()?)?)?;
        Tensor::concat(&[white.t()?.matmul(&white)?.flatten(..)?, white.at(..4)?.flatten(..)?], 0)
    });
}

#[test]
fn word_weights() {
    check("word_weights", async |device| {
        let document = (device.arange(0, 40, 1, DType::I32)? / 8)?; // five of eight words each
        let word = ((numbers(device, 40, 5)? + 1.0)? * 3.4)?.cast(DType::I32)?;
        let counts = ((document * 7)? + word)?.bincount(35)?.reshape([5, 7])?.cast(DType::F32)?;
        let among = counts.gt(0.0)?.count_nonzero(0)?.cast(DType::F32)?;
        let rare = (((6.0f32 / (among + 1.0)?)?).ln()? + 1.0)?;
        let weights = ((&counts / counts.sum(Axes::keep(1))?)? * rare)?;
        let alike = weights.unsqueeze(1)?.cosine_similarity(-1, &weights)?;
        let others = device.eye(5, 5, DType::Bool)?.choose(f32::NEG_INFINITY, &alike)?;
        let nearest = others.argmax(-1)?.cast(DType::F32)?;
        Tensor::concat(&[weights.flatten(..)?, alike.flatten(..)?, nearest], 0)
    });
}

#[test]
fn pivot_table() {
    check("pivot_table", async |device| {
        let store = (device.arange(0, 48, 1, DType::I32)? % 4)?;
        let month = ((numbers(device, 48, 6)? + 1.0)? * 1.45)?.cast(DType::I32)?;
        let sales = (numbers(device, 48, 7)? + 2.0)?;
        let cell = ((store * 3)? + month)?;
        let start = |number: f32| device.full(12, number, DType::F32);
        let sums = start(0.0)?.scatter_add(0, &cell, &sales)?;
        let counts = cell.bincount(12)?.cast(DType::F32)?;
        let most = start(f32::NEG_INFINITY)?.scatter_max(0, &cell, &sales)?;
        let table = Tensor::stack(&[&sums, &(&sums / &counts)?, &most], 0)?.reshape([3, 4, 3])?;
        let margin = (table.at(0)?.sum(1)? / sums.sum(..)?)?;
        Tensor::concat(&[table.flatten(..)?, margin], 0)
    });
}

#[test]
fn rank_correlation() {
    check("rank_correlation", async |device| {
        let ties = (numbers(device, [2, 20], 8)? * 3.3)?.round()?;
        let places = ranks(&ties)?;
        let off = places.sub(places.mean(Axes::keep(-1))?)?;
        let spearman = off.at(0)?.cosine_similarity(0, &off.at(1)?)?;
        let [x, y] = [0, 1].map(|row| {
            let x = ties.at(row)?;
            (x.unsqueeze(1)? - x)?.sign()
        });
        let (x, y) = (x?, y?); // the order of every pair
        let size = x.abs()?.sum(..)?.mul(y.abs()?.sum(..)?)?.sqrt()?;
        let kendall = ((x * y)?.sum(..)? / size)?;
        Tensor::concat(&[places.flatten(..)?, Tensor::stack(&[spearman, kendall], 0)?], 0)
    });
}

#[test]
fn quantile_normalisation() {
    check("quantile_normalisation", async |device| {
        let x =
            (numbers(device, [4, 9], 9)? * (device.arange(1, 5, 1, DType::F32)?.unsqueeze(1)?))?;
        let typical = x.sort(1, Order::Ascending)?.mean(0)?;
        let place = x.argsort(1, Order::Ascending)?.argsort(1, Order::Ascending)?;
        typical.take(&place)
    });
}

#[test]
fn cross_validation() {
    check("cross_validation", async |device| {
        let x = numbers(device, [30, 3], 10)?;
        let noise = (numbers(device, 30, 11)? * 0.3)?;
        let y = (x.matmul(&numbers(device, 3, 12)?)? + noise)?;
        let fold = (device.arange(0, 30, 1, DType::I32)? % 5)?;
        let mut errors = Vec::new();
        for held in 0..5 {
            let held = fold.eq(held)?;
            let kept = held.choose(0.0, 1.0)?;
            let gram = Tensor::einsum("n,ni,nj->ij", &[&kept, &x, &x])?;
            let gram = (gram + (device.eye(3, 3, DType::F32)? * 0.5)?)?;
            let aim = x.t()?.matmul(&(&kept * &y)?)?;
            // A few steps of conjugate gradients are exact in three dimensions.
            let mut w = device.zeros(3, DType::F32)?;
            let (mut off, mut way) = (aim.clone(), aim);
            for _ in 0..3 {
                let bent = gram.matmul(&way)?;
                let square = off.dot(&off)?;
                let length = (&square / way.dot(&bent)?)?;
                w += (&way * &length)?;
                off -= (bent * length)?;
                way = (&off + (way * (off.dot(&off)? / square)?)?)?;
            }
            let miss = (x.matmul(&w)? - &y)?.square()?;
            errors.push((miss.masked_fill(&held.not()?, 0.0)?.sum(..)? / 6.0)?);
        }
        let errors = Tensor::stack(&errors, 0)?;
        let ends = Tensor::stack(&[errors.mean(..)?, errors.std(.., 1)?], 0)?;
        Tensor::concat(&[errors, ends], 0)
    });
}

#[test]
fn time_series() {
    check("time_series", async |device| {
        let x = numbers(device, 40, 13)?;
        let x = (&x + x.roll(0, 3)?)?;
        let off = x.sub(x.mean(..)?)?;
        let square = off.dot(&off)?;
        let lags =
            (0..6).map(|lag| off.slice(0, lag..)?.dot(&off.slice(0, ..40 - lag)?)? / &square);
        let lags = lags.collect::<Result<Vec<_>>>()?;
        let age = device.arange(0, 40, 1, DType::F32)?;
        let age = (age.unsqueeze(1)? - age)?; // of what was, at each time
        let weights = age.maximum(0.0)?.powers_of(0.7)?.tril(0)?;
        let smooth = (weights.matmul(&x)? / weights.sum(1)?)?;
        let season = off.reshape([8, 5])?.mean(0)?;
        let rest = (off.reshape([8, 5])? - &season)?.std(0, 1)?;
        Tensor::concat(&[Tensor::stack(&lags, 0)?, smooth, season, rest], 0)
    });
}

#[test]
fn table_join() {
    check("table_join", async |device| {
        let (keys, _) = device.upload(&[50, 20, 40, 10, 30], 5)?;
        let prices = numbers(device, [5, 2], 14)?;
        let (asked, _) = device.upload(&[10, 30, 35, 50, 20, 60, 10], 7)?;
        let order = keys.argsort(0, Order::Ascending)?;
        let sorted = keys.take(&order)?;
        let place = sorted.searchsorted(&asked, Insert::Left)?.minimum(4)?;
        let found = sorted.take(&place)?.eq(&asked)?;
        let row = order.take(&place)?;
        let joined =
            prices.index_select(0, &row)?.masked_fill(&found.not()?.unsqueeze(1)?, -9.0)?;
        let inner = row.masked_select(&found).await?.cast(DType::F32)?;
        Tensor::concat(&[joined.flatten(..)?, inner], 0)
    });
}

#[test]
fn decision_stump() {
    check("decision_stump", async |device| {
        let x = numbers(device, [24, 3], 15)?;
        let class = (x.at((.., 1))? + (x.at((.., 0))? * 0.3)?)?.gt(0.11)?.cast(DType::F32)?;
        let order = x.argsort(0, Order::Ascending)?;
        let sorted = x.gather(0, &order)?;
        let left = class.take(&order)?.cumsum(0)?.slice(0, ..-1)?; // of each cut, for each column
        let count = device.arange(1, 24, 1, DType::F32)?.unsqueeze(1)?;
        let (right, rest) = ((class.sum(..)? - &left)?, (24.0f32 - &count)?);
        let gini = |hits: &Tensor, of: &Tensor| (hits * (1.0f32 - (hits / of)?)?)? * 2.0;
        let impure = ((gini(&left, &count)? + gini(&right, &rest)?)? / 24.0)?;
        let cut = impure.argmin(..)?;
        let (place, column) = ((&cut / 3)?, (&cut % 3)?);
        let both = Tensor::stack(&[&place, &(&place + 1)?], 0)?;
        let at = ((both * 3)? + &column)?;
        let threshold = sorted.take(&at)?.mean(0)?;
        let parts = [cut.cast(DType::F32)?, threshold, impure.amin(..)?];
        Tensor::concat(&[Tensor::stack(&parts, 0)?, impure.flatten(..)?], 0)
    });
}

#[test]
fn mean_shift() {
    check("mean_shift", async |device| {
        let x = (numbers(device, [24, 2], 16)? * 0.4)?;
        let far = ((device.arange(0, 24, 1, DType::I32)? % 3)?.cast(DType::F32)? * 2.0)?;
        let x = (x + far.unsqueeze(1)?)?;
        let mut at = x.clone();
        for _ in 0..12 {
            let square = (at.unsqueeze(1)? - &x)?.square()?.sum(-1)?;
            let weights = (square / (-2.0 * 0.5 * 0.5))?.exp()?;
            at = (weights.matmul(&x)? / weights.sum(Axes::keep(1))?)?;
        }
        // Whoever came to the same place is of one cluster, named by its first.
        let near = (at.unsqueeze(1)? - &at)?.norm(-1)?.lt(0.3)?;
        let cluster = near.cast(DType::U8)?.argmax(1)?;
        let found = cluster.unique().await?;
        let peaks = at.embedding(&found.values)?;
        let density = (peaks.unsqueeze(1)? - &x)?.square()?.sum(-1)?;
        let density = (density * -2.0)?.exp()?.mean(1)?;
        let parts = [cluster.cast(DType::F32)?, found.counts.cast(DType::F32)?, density];
        Tensor::concat(&[Tensor::concat(&parts, 0)?, peaks.flatten(..)?], 0)
    });
}
