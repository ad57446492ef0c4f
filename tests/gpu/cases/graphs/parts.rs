//! What random graphs take apart: views, and what of a tensor there is, whose number is only known
//! once it is found.

use core::cmp::Ordering;
use core::ops::Range;

use wharf::reference::{Number, places};
use wharf::shape::Cut;
use wharf::tensor::Unique;
use wharf::{DType, Result, Tensor, s};

use super::kinds::{Call, Kind};
use super::lists::{Seen, spread, spreads, with};
use super::numbers::{compare, is_zero};

pub(super) const PARTS: &[Kind] = &[
    Kind::of("windows", windows, windowed),
    Kind::of("split", split, shuffled),
    Kind::of("unstack", unstack, exchanged),
    Kind::of("split_evenly", split_evenly, reversed),
    Kind::of("swap_axes", |c, t| t[0].swap_axes(c.axis, other(c, t[0].shape().rank())), swapped),
    Kind::of("move_axis", |c, t| t[0].move_axis(c.axis, other(c, t[0].shape().rank())), moved),
    Kind::of("at, with steps", stepped, cut),
    Kind::of("at, with steps", stepped, cut),
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

/// Equal parts of an axis, the last first.
fn split_evenly(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let count = parts(call, of[0].shape().dims()[call.axis]).unwrap_or(1);
    let mut parts = of[0].split_evenly(call.axis, count)?;
    parts.reverse();
    Tensor::concat(&parts, call.axis)
}

/// More than one, as one leaves everything where it is.
fn parts(call: &Call, dim: usize) -> Option<usize> {
    let all: Vec<usize> = (2..=dim.min(9)).filter(|count| dim.is_multiple_of(*count)).collect();
    (!all.is_empty()).then(|| all[call.nth(0, all.len())])
}

fn reversed(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, axis) = (&of[0], call.axis);
    let count = parts(call, x.dims[axis])?;
    let length = x.dims[axis] / count;
    x.moved(x.dims.clone(), |place| {
        let (part, within) = (place[axis] / length, place[axis] % length);
        with(place, axis, (count - 1 - part) * length + within)
    })
}

/// Another axis, or the same, counted from the front or from the back.
fn other(call: &Call, rank: usize) -> isize {
    let axis = call.nth(0, rank) as isize;
    if call.nth(1, 2) == 0 { axis } else { axis - rank as isize }
}

fn swapped(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, one, other) = (&of[0], call.axis, call.nth(0, of[0].dims.len()));
    let swap = |dims: &[usize]| with(&with(dims, one, dims[other]), other, dims[one]);
    x.moved(swap(&x.dims), swap)
}

fn moved(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, from, to) = (&of[0], call.axis, call.nth(0, of[0].dims.len()));
    let put = |dims: &[usize], from: usize, to: usize| {
        let mut dims = dims.to_vec();
        let dim = dims.remove(from);
        dims.insert(to, dim);
        dims
    };
    x.moved(put(&x.dims, from, to), |place| put(place, to, from))
}

const STEPS: [isize; 6] = [1, 2, 3, -1, -2, -3];

/// Of the second axis a place or a range, of those around it every so many-th place of a range.
fn stepped(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let dims = of[0].shape().dims();
    let (range, step) = (|n: usize| within(call, n, dims[n]), |n: usize| STEPS[call.nth(n, 6)]);
    let second =
        || if placed(call, dims) { Cut::from(range(1).start) } else { Cut::from(range(1)) };
    of[0].at(match dims.len() {
        1 => s![range(0); step(0)],
        2 => s![range(0); step(0), second()],
        _ => s![range(0); step(0), second(), range(2); step(2)],
    })
}

/// A range of an axis that is not empty.
fn within(call: &Call, n: usize, dim: usize) -> Range<usize> {
    let start = call.nth(3 + n, dim);
    start..start + 1 + call.nth(6 + n, dim - start)
}

fn placed(call: &Call, dims: &[usize]) -> bool {
    dims.len() > 1 && call.nth(9, 3) == 0
}

fn cut(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = of.first().filter(|x| !x.values.is_empty())?;
    let taken = |(n, &dim): (usize, &usize)| -> Vec<usize> {
        let range = if n < 3 { within(call, n, dim) } else { 0..dim };
        let step = if n == 1 || n > 2 { 1 } else { STEPS[call.nth(n, 6)] };
        let far = step.unsigned_abs();
        if step < 0 { range.rev().step_by(far).collect() } else { range.step_by(far).collect() }
    };
    let taken: Vec<Vec<usize>> = x.dims.iter().enumerate().map(taken).collect();
    let mut dims: Vec<usize> = taken.iter().map(Vec::len).collect();
    let placed = placed(call, &x.dims);
    if placed {
        dims.remove(1);
    }
    x.moved(dims, |place| {
        let mut place = place.to_vec();
        if placed {
            place.insert(1, 0);
        }
        place.iter().zip(&taken).map(|(&at, taken)| taken[at]).collect()
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
