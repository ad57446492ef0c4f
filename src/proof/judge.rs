//! Judging: a result against what it claims to be, element by element, or a seeded sample of them.

use super::cells::Desk;
use super::{Claim, Estimate};
use crate::dtype::DType;
use crate::op::Number;
use crate::reference::keeps;

/// How much an oracle may do for one result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Steps, of which a multiplication is one.
    pub(crate) steps: u64,
    pub(crate) seed: u64,
}

/// What became of a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Judgement {
    /// Elements that it has.
    pub(crate) elements: u64,
    /// Those that were held to their contract.
    pub(crate) judged: u64,
    /// Those of which the contract says nothing.
    pub(crate) open: u64,
    pub(crate) wrong: u64,
    /// The wrong one that is furthest out.
    pub(crate) worst: Option<Outlier>,
}

/// A wrong element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outlier {
    pub(crate) element: usize,
    pub(crate) got: Number,
    pub(crate) want: Number,
    /// How far from that it may lie.
    pub(crate) room: f64,
    /// What it is computed from, in words.
    pub(crate) from: String,
}

/// Holds a dense result of a claim to it; `None` if it cannot be computed.
pub(crate) fn judge(
    claim: &Claim,
    inputs: &[&[u8]],
    result: &[u8],
    budget: Budget,
) -> Option<Judgement> {
    let desk = Desk::of(claim, inputs)?;
    let elements = claim.tail.shape.elements();
    let mut judgement = Judgement { elements: elements as u64, ..Judgement::default() };
    let (size, effort) = (desk.group().max(1), desk.effort().max(1));
    // The elements of a group are computed at once.
    if effort > budget.steps.max(1 << 16) {
        return None;
    }
    let mut furthest = -1.0;
    for group in chosen(elements / size, effort, budget) {
        let first = group * size;
        let lone = if size == 1 { desk.lone(first) } else { None };
        for (n, estimate) in (first..).zip(desk.estimate(group)) {
            let got = stored(claim.tail.dtype, result, n)?;
            let right = match &lone {
                Some((op, dtype, values)) if op.covers(values) => {
                    Some(keeps(*op, *dtype, values, got))
                }
                Some(_) => None,
                None => estimate.admits(claim.tail.dtype, got),
            };
            match right {
                None => judgement.open += 1,
                Some(true) => judgement.judged += 1,
                Some(false) => {
                    judgement.judged += 1;
                    judgement.wrong += 1;
                    let out = excess(estimate, got);
                    if out > furthest {
                        furthest = out;
                        let want = estimate.middle().unwrap_or(got);
                        let (room, from) = (estimate.room(), desk.words(n));
                        let worst = Outlier { element: n, got, want, room, from };
                        judgement.worst = Some(worst);
                    }
                }
            }
        }
    }
    Some(judgement)
}

fn stored(dtype: DType, result: &[u8], n: usize) -> Option<Number> {
    let width = dtype.width();
    Some(Number::decode(dtype, result.get(n * width..)?.get(..width)?))
}

/// How far out, in units of what is allowed; what is no number is furthest.
fn excess(estimate: Estimate, got: Number) -> f64 {
    match (estimate.middle(), got) {
        (Some(Number::Float(want)), Number::Float(got)) => {
            let out = (got - want).abs() / estimate.room().max(f64::MIN_POSITIVE);
            if out.is_nan() { f64::INFINITY } else { out }
        }
        _ => 0.0,
    }
}

/// Which groups: all that the budget has steps for, or else both ends and a sample, spread over
/// all.
fn chosen(groups: usize, effort: u64, budget: Budget) -> Vec<usize> {
    let most = usize::try_from(budget.steps / effort).unwrap_or(usize::MAX).max(4);
    if groups <= most {
        return (0..groups).collect();
    }
    let mut state = budget.seed;
    let mut chosen = vec![0, groups - 1];
    let parts = most - 2;
    for i in 0..parts {
        let (from, to) = (part(groups, i, parts), part(groups, i + 1, parts));
        state = mixed(state);
        chosen.push(from + (state % (to - from).max(1) as u64) as usize);
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// Where a part of several begins.
fn part(all: usize, i: usize, parts: usize) -> usize {
    (all as u128 * i as u128 / parts as u128) as usize
}

/// The next of a sequence of numbers (splitmix64).
pub(crate) const fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
