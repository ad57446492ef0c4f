//! What is counted, sorted, joined and gathered: tables, graphs and signals.

use wharf::{DType, Tensor};

use super::support::{check, numbers};

#[test]
fn word_counts() {
    check("word_counts", async |device| {
        let words = ((numbers(device, 60, 70)? + 1.0)? * 5.0)?.cast(DType::I32)?;
        let found = words.unique().await?;
        let often = found.counts.cast(DType::I32)?;
        let (most, place) = often.top_k(0, 3)?;
        let share = often.take(&found.inverse.slice(0, ..10)?)?;
        Tensor::concat(&[found.values.clone(), often, most, found.values.take(&place)?, share], 0)
    });
}

#[test]
fn run_lengths() {
    check("run_lengths", async |device| {
        let signal = (numbers(device, 50, 71)?.gt(-0.2)? & numbers(device, 50, 72)?.gt(-0.4)?)?;
        let turns = (signal.slice(0, 1..)? ^ signal.slice(0, ..-1)?)?;
        let begins = (turns.nonzero().await?.flatten(..)? + 1)?;
        let zero = device.zeros(1, DType::U32)?;
        let end = device.full(1, 50, DType::U32)?;
        let ends = Tensor::concat(&[&begins, &end], 0)?;
        ends - Tensor::concat(&[&zero, &begins], 0)?
    });
}

#[test]
fn outliers() {
    check("outliers", async |device| {
        let x = (numbers(device, 80, 73)? * numbers(device, 80, 74)?)?;
        let middle = x.median(..)?;
        let spread = (&x - &middle)?.abs()?.median(..)?;
        let far = (((&x - &middle)? / (&spread * 1.4826)?)?.abs()?).gt(1.5)?;
        let kept = x.masked_select(&far.not()?).await?;
        let ends = [x.quantile(.., 0.1)?, x.quantile(.., 0.9)?, kept.mean(..)?];
        Tensor::concat(&[Tensor::stack(&ends, 0)?, x.masked_fill(&far, 0.0)?], 0)
    });
}

#[test]
fn equalised_image() {
    check("equalised_image", async |device| {
        let image = numbers(device, [6, 9], 75)?.square()?;
        let counts = image.histogram(8, 0.0..=1.0)?;
        let below = (counts.cumsum(0)?.cast(DType::F32)? / 54.0)?;
        let bin = (&image * 8.0)?.floor()?.clamp(0.0, 7.0)?.cast(DType::U32)?;
        below.take(&bin)
    });
}

#[test]
fn message_passing() {
    check("message_passing", async |device| {
        let edges = [[0, 1], [1, 2], [2, 0], [3, 1], [4, 3], [1, 4], [0, 4]];
        let (edges, _) = device.tensor(edges)?;
        let [from, to] = edges.unstack(1)?;
        let mut x = numbers(device, [5, 3], 76)?;
        let into = to.bincount(5)?.cast(DType::F32)?.maximum(1.0)?.unsqueeze(1)?;
        for layer in 0..2 {
            let sent = x.index_select(0, &from)?;
            let mean = (device.zeros([5, 3], DType::F32)?.index_add(0, &to, &sent)? / &into)?;
            let column = to.unsqueeze(1)?;
            let most = x.scatter_max(0, &column, &sent)?;
            let both = Tensor::concat(&[mean, most], 1)?;
            x = both.linear(&numbers(device, [3, 6], 77 + layer)?, None)?.tanh()?;
        }
        Ok(x)
    });
}

#[test]
fn sparse_product() {
    check("sparse_product", async |device| {
        let dense = numbers(device, [7, 5], 79)?;
        let dense = dense.masked_fill(&dense.lt(0.3)?, 0.0)?;
        let places = dense.nonzero().await?;
        let [row, column] = places.unstack(1)?;
        let values = dense.gather_nd(&places)?;
        let x = numbers(device, 5, 80)?;
        let products = (values * x.take(&column)?)?;
        device.zeros(7, DType::F32)?.index_add(0, &row, &products)
    });
}

#[test]
fn group_by() {
    check("group_by", async |device| {
        let key = ((numbers(device, 40, 81)? + 1.0)? * 2.0)?.cast(DType::I32)?;
        let value = numbers(device, 40, 82)?;
        let groups = key.unique().await?;
        let count = groups.values.dim(0)?;
        let start = |number: f32| device.full(count, number, DType::F32);
        let sum = start(0.0)?.scatter_add(0, &groups.inverse, &value)?;
        let least = start(f32::INFINITY)?.scatter_min(0, &groups.inverse, &value)?;
        let grown = start(1.0)?.scatter_mul(0, &groups.inverse, &((value * 0.1)? + 1.0)?)?;
        Tensor::stack(&[(sum / groups.counts.cast(DType::F32)?)?, least, grown], 1)
    });
}

#[test]
fn moving_statistics() {
    check("moving_statistics", async |device| {
        let x = numbers(device, 30, 83)?.cumsum(0)?;
        let windows = x.windows(0, 7, 1)?;
        let all = [windows.mean(-1)?, windows.std(-1, 1)?, windows.median(-1)?, windows.amax(-1)?];
        Tensor::stack(&all, 1)
    });
}

#[test]
fn correlations() {
    check("correlations", async |device| {
        let x = numbers(device, [25, 4], 84)?;
        let x = x.sub(x.mean(0)?)?;
        let x = (&x / x.std(0, 1)?)?;
        let together = (Tensor::einsum("ni,nj->ij", &[&x, &x])? / 24.0)?;
        let triples = Tensor::einsum("ni,nj,nk->ijk", &[&x, &x, &x])?;
        Tensor::concat(&[together.flatten(..)?, triples.flatten(..)?], 0)
    });
}

#[test]
fn scattered_field() {
    check("scattered_field", async |device| {
        let place = ((numbers(device, [12, 2], 85)? + 1.0)? * 2.4)?.cast(DType::I32)?;
        let mass = numbers(device, 12, 86)?;
        let flat = ((place.at((.., 0))? * 5)? + place.at((.., 1))?)?;
        let field = device.zeros(25, DType::F32)?.scatter_add(0, &flat, &mass)?.reshape([5, 5])?;
        let marks = field.scatter_nd(&place.slice(0, ..1)?, &device.full(1, 9.0, DType::F32)?)?;
        Tensor::concat(&[field.flatten(..)?, marks.flatten(..)?, field.gather_nd(&place)?], 0)
    });
}

#[test]
fn record_days() {
    check("record_days", async |device| {
        let sales = (numbers(device, [6, 20], 90)? * 4.0)?.floor()?;
        let (best, first) = sales.max_with_index(1)?;
        let (worst, low) = sales.min_with_index(1)?;
        let [last, since] = [sales.argmax_last(1)?, sales.argmin_last(1)?];
        let held = (last.cast(DType::F32)? - first.cast(DType::F32)?)?;
        let whole = sales.argmax_last(..)?.unsqueeze(0)?;
        let (by_day, shop) = sales.max_with_index(0)?;
        let places = Tensor::concat(&[first, low, last, since, whole, shop], 0)?;
        let numbers = Tensor::concat(&[best, worst, held, by_day], 0)?;
        Tensor::concat(&[numbers, places.cast(DType::F32)?], 0)
    });
}
