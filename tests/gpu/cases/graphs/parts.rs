//! What random graphs take apart: views, and what of a tensor there is, whose number is only known
//! once it is found.

use core::cmp::Ordering;

use wharf::reference::{Number, places};
use wharf::tensor::Unique;
use wharf::{DType, Result, Tensor};

use super::kinds::{Call, Kind};
use super::lists::{Seen, spread, spreads, with};
use super::numbers::{compare, is_zero};

pub(super) const PARTS: &[Kind] = &[
    Kind::of("windows", windows, windowed),
    Kind::of("split", split, shuffled),
    Kind::of("unstack", unstack, exchanged),
    Kind::found("nonzero", |_, t| Box::pin(t[0].nonzero()), places_of),
    Kind::found("masked_select", |_, t| Box::pin(t[0].masked_select(&t[1])), picked)
        .beside(|_, a, b| spreads(b, a))
        .masked(),
    Kind::found("unique", |c, t| Box::pin(unique(c, &t[0])), occurring).sorts(),
];

/// A window and its step along an axis that has one.
fn window(call: &Call, dims: &[usize]) -> (usize, usize) {
    (1 + call.nth(0, dims[call.axis].min(4)), 1 + call.nth(1, 3))
}

fn windows(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let (size, step) = window(call, of[0].shape().dims());
    of[0].windows(call.axis, size, step)
}

fn windowed(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, axis) = (&of[0], call.axis);
    if x.dims[axis] == 0 {
        return None;
    }
    let (size, step) = window(call, &x.dims);
    let count = (0..x.dims[axis]).step_by(step).filter(|n| n + size <= x.dims[axis]).count();
    x.moved([&with(&x.dims, axis, count)[..], &[size]].concat(), |place| {
        let (tap, rest) = (place[x.dims.len()], &place[..x.dims.len()]);
        with(rest, axis, rest[axis] * step + tap)
    })
}

/// Three parts, put together in another order.
fn split(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let dims = of[0].shape().dims();
    let middle = call.range(dims);
    let sizes = [middle.start, middle.len(), dims[call.axis] - middle.end];
    let parts = of[0].split(call.axis, &sizes)?;
    Tensor::concat(&[&parts[1], &parts[2], &parts[0]], call.axis)
}

fn shuffled(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = &of[0];
    let middle = call.range(&x.dims);
    x.lines(call.axis, x.dtype, |row| {
        let parts = [&row[middle.clone()], &row[middle.end..], &row[..middle.start]];
        Some(parts.concat())
    })
}

/// Two of an axis as a new first one, the second first.
fn unstack(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let [one, other] = of[0].slice(call.axis, ..2)?.unstack(call.axis)?;
    Tensor::stack(&[other, one], 0)
}

fn exchanged(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = &of[0];
    let mut rest = x.dims.clone();
    if rest.remove(call.axis) < 2 {
        return None;
    }
    x.moved([&[2], &rest[..]].concat(), |place| {
        let mut from = place[1..].to_vec();
        from.insert(call.axis, 1 - place[0]);
        from
    })
}

fn places_of(_: &Call, of: &[Seen]) -> Option<Seen> {
    let x = &of[0];
    let holds = places(&x.dims).zip(&x.values).filter(|(_, x)| !is_zero(**x));
    let found: Vec<Vec<usize>> = holds.map(|(place, _)| place).collect();
    let values = found.iter().flatten().map(|&i| Number::Int(i as i128)).collect();
    Some(Seen { dtype: DType::U32, dims: vec![found.len(), x.dims.len()], values })
}

fn picked(_: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, mask) = (&of[0], &of[1]);
    let holds = |place: &[usize]| !is_zero(mask.at(&spread(&mask.dims, place)));
    let all = places(&x.dims).zip(&x.values);
    let values: Vec<Number> = all.filter(|(place, _)| holds(place)).map(|(_, &x)| x).collect();
    Some(Seen { dtype: x.dtype, dims: vec![values.len()], values })
}

/// The values, or where each element is among them, or how often each is there.
async fn unique(call: &Call, x: &Tensor) -> Result<Tensor> {
    let Unique { values, inverse, counts, .. } = x.unique().await?;
    Ok(match call.nth(0, 3) {
        0 => values,
        1 => inverse,
        _ => counts,
    })
}

fn occurring(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = &of[0];
    let mut all = x.values.clone();
    all.sort_by(|&a, &b| compare(a, b));
    all.dedup_by(|a, b| compare(*a, *b) == Ordering::Equal);
    let is = |a: Number, b: Number| compare(a, b) == Ordering::Equal;
    let place = |x: Number| all.iter().position(|&y| is(x, y)).unwrap_or(all.len());
    let often = |y: Number| x.values.iter().filter(|&&x| is(x, y)).count();
    let (dtype, count) = (DType::U32, |n: usize| Number::Int(n as i128));
    Some(match call.nth(0, 3) {
        0 => Seen { dtype: x.dtype, dims: vec![all.len()], values: all },
        1 => {
            let values = x.values.iter().map(|&x| count(place(x))).collect();
            Seen { dtype, dims: x.dims.clone(), values }
        }
        _ => {
            let values = all.iter().map(|&y| count(often(y))).collect();
            Seen { dtype, dims: vec![all.len()], values }
        }
    })
}
