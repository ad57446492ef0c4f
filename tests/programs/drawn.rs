//! What is drawn by chance, held to what is so whatever is drawn.

use wharf::tensor::{Key, Order};
use wharf::{Axes, DType, Result, Tensor};

use super::support::{check, numbers};

/// Whether each is as near to its share of `draws` as chance leaves it, to four deviations.
fn likely(counts: &Tensor, share: &Tensor, draws: f32) -> Result<Tensor> {
    let off = ((counts / draws)? - share)?.abs()?;
    let room = ((share * (1.0f32 - share)?)? / draws)?.sqrt()?;
    off.le(((room * 4.0)? + 1e-6)?)?.cast(DType::F32)
}

#[test]
fn sampled_tokens() {
    check("sampled_tokens", async |device| {
        let scores = (numbers(device, [3, 8], 1)? * 2.0)?;
        let (best, _) = scores.top_k(-1, 4)?;
        let kept = scores.ge(best.at((.., 3..))?)?;
        let share = kept.choose((&scores / 0.7)?, f32::NEG_INFINITY)?.softmax(-1)?;
        let drawn = share.multinomial(Key::new(7), 3000)?;
        let counts = drawn.one_hot(8, DType::F32)?.sum(1)?;
        let missed = kept.choose(0.0, &counts)?.sum(..)?;
        // The same key draws the same, another one something else.
        let again = share.multinomial(Key::new(7), 3000)?.eq(&drawn)?.all(..)?;
        let other = share.multinomial(Key::new(8), 3000)?.eq(&drawn)?.all(..)?;
        let ends = [missed, again.cast(DType::F32)?, other.cast(DType::F32)?];
        let near = likely(&counts, &share, 3000.0)?;
        Tensor::concat(&[share.flatten(..)?, near.flatten(..)?, Tensor::stack(&ends, 0)?], 0)
    });
}

#[test]
fn random_walk() {
    check("random_walk", async |device| {
        let near = numbers(device, [6, 6], 2)?;
        let ring = device.eye(6, 6, DType::Bool)?.roll(1, 1)?; // so that everyone can be reached
        let edges = near.gt(-0.35)?.or(&ring)?;
        let weights = edges.choose(near.exp()?, 0.0)?;
        let moves = (&weights / weights.sum(Axes::keep(1))?)?;
        let mut at = device.zeros(600, DType::U32)?;
        let mut legal = device.ones(600, DType::Bool)?;
        let mut visits = device.zeros(6, DType::U32)?;
        for step in 0..24 {
            let next = moves.embedding(&at)?.multinomial(Key::new(3).child(step), 1)?.squeeze(1)?;
            legal &= edges.take(&((&at * 6)? + &next)?)?;
            at = next;
            if step >= 12 {
                visits += at.bincount(6)?;
            }
        }
        let mut share = device.full(6, 1.0 / 6.0, DType::F32)?;
        for _ in 0..200 {
            share = share.matmul(&moves)?;
        }
        let off = ((visits.cast(DType::F32)? / (12.0 * 600.0))? - &share)?.abs()?.lt(0.03)?;
        Tensor::concat(
            &[
                share,
                off.cast(DType::F32)?,
                legal.count_nonzero(..)?.unsqueeze(0)?.cast(DType::F32)?,
            ],
            0,
        )
    });
}

#[test]
fn bootstrap() {
    check("bootstrap", async |device| {
        let x = (numbers(device, 40, 3)? * 2.0)?.exp()?;
        let alike = device.ones([500, 40], DType::F32)?;
        let drawn = x.take(&alike.multinomial(Key::new(11), 40)?)?;
        let means = drawn.mean(1)?;
        let (mean, spread) = (x.mean(0)?, (x.std(0, 0)? / 40f32.sqrt())?);
        let near = (means.mean(0)? - &mean)?.abs()?.lt((&spread * (4.0 / 500f32.sqrt()))?)?;
        let wide = ((means.std(0, 1)? / &spread)? - 1.0)?.abs()?.lt(0.15)?;
        let (low, high) = (means.quantile(0, 0.025)?, means.quantile(0, 0.975)?);
        let around = (low.lt(&mean)? & mean.lt(&high)?)?;
        let inside = (drawn.amin(..)?.ge(x.amin(..)?)? & drawn.amax(..)?.le(x.amax(..)?)?)?;
        let kept = [near, wide, around, inside].map(|each| each.cast(DType::F32));
        let [a, b, c, d] = kept;
        Tensor::stack(&[mean, spread, a?, b?, c?, d?], 0)
    });
}

#[test]
fn shuffled_epoch() {
    check("shuffled_epoch", async |device| {
        let (x, w) = (numbers(device, [12, 3], 4)?, numbers(device, 3, 5)?);
        let y = numbers(device, 12, 6)?;
        // Every example once, in whatever order: the slopes of all batches sum up to the same.
        let order = device.ones(12, DType::F32)?.multinomial_distinct(Key::new(5), 12)?;
        let mut slope = device.zeros(3, DType::F32)?;
        let mut loss = device.zeros((), DType::F32)?;
        for batch in order.split_evenly(0, 3)? {
            let (some, wanted) = (x.embedding(&batch)?, y.take(&batch)?);
            let off = (some.matmul(&w)? - wanted)?;
            slope += off.matmul(&some)?;
            loss += off.square()?.sum(..)?;
        }
        let sorted = order.sort(0, Order::Ascending)?.cast(DType::F32)?;
        // Of a few with a weight only those are drawn, before all others.
        let (rare, _) = device.upload(&[0.0f32, 2.0, 0.0, 0.5, 0.0, 1e-3], 6)?;
        let first = rare.multinomial_distinct(Key::new(6), 3)?.sort(0, Order::Ascending)?;
        Tensor::concat(&[slope, loss.unsqueeze(0)?, sorted, first.cast(DType::F32)?], 0)
    });
}
