//! Sorting pairs (key, position) by key, equal keys in the order in which they came. In a short
//! list every pair counts those before it; a longer one goes through rounds of four bits, lowest
//! first.
//!
//! ```text
//! a round: count digits per block -> where each block's pairs of a digit begin (running sums)
//!          -> every pair to its place
//! ```
//!
//! Blocks are walked in order by one invocation each, so no atomics decide anything and the result
//! is the same everywhere.

use std::sync::Arc;

use super::iota::iota;
use super::limits::Ceiling;
use super::pick::{self, Course};
use super::{Operand, moves};
use crate::count::{index, word};
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::{Result, mistake};
use crate::exec::{Bound, Job, Value};
use crate::shape::Shape;
use crate::store::Pinned;
use crate::wgsl::Assembled;
use crate::wgsl::grid::groups_for;
use crate::wgsl::kept::plain;
use text::{DIGITS, PLACE, RANK, RANKED_MAX, RUNNING, RankJob, RoundJob, RunningJob, SUMS};

pub mod text;

/// Bytes of a pair.
pub(super) const PAIR_BYTES: u64 = 8;

/// What one invocation walks, as the shaders say.
const BLOCK: u32 = 256;
const DIGIT_BITS: u32 = 4;

/// The pairs that one sort takes: they have to lie in one segment.
pub(super) fn pairs_max(engine: &Engine) -> Result<usize> {
    index(engine.segment_bytes() / PAIR_BYTES)
}

/// Checks that one sort takes so many pairs.
pub(crate) fn check(engine: &Engine, count: usize) -> Result<()> {
    one_segment(engine.segment_bytes()).check(count as u128 * u128::from(PAIR_BYTES))
}

const fn one_segment(available: u64) -> Ceiling {
    Ceiling { what: "a list to be sorted", limit: "one segment", unit: "bytes", available }
}

/// A value that stays in its place: what lies apart from it remains so, whatever is compacted.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) value: Arc<Value>,
    _pinned: Pinned,
}

impl Kept {
    pub(super) fn new(value: &Arc<Value>) -> Result<Self> {
        Ok(Self { _pinned: value.pin()?, value: Arc::clone(value) })
    }
}

/// Kernels whose operands all lie in one piece.
#[derive(Clone, Copy)]
pub(super) struct Plain<'a> {
    pub(super) site: Site<'a>,
}

impl Plain<'_> {
    /// Memory in one piece, apart from these values.
    pub(super) fn memory(self, bytes: u64, apart: &[&Arc<Value>]) -> Result<Kept> {
        let mut avoid = Vec::new();
        for value in apart {
            avoid.extend(value.pin()?.pieces().iter().map(|piece| piece.buffer_id));
        }
        let kept = Kept::new(&Value::new(self.site.engine.allocate_whole(bytes, &avoid)?))?;
        self.bound(&kept.value)?;
        Ok(kept)
    }

    /// The only piece of a value.
    pub(super) fn bound(self, value: &Value) -> Result<Bound> {
        let pinned = value.pin()?;
        match &*pinned.pieces() {
            [piece] => Ok(Bound::from(piece)),
            _ => Err(one_segment(pinned.segment_bytes).passed(pinned.bytes.into())),
        }
    }

    /// Runs a kernel on these values, which are kept in place, the written ones last.
    pub(super) fn run(
        self,
        kernel: &Assembled,
        values: &[&Arc<Value>],
        params: Vec<u32>,
        invocations: u32,
    ) -> Result<()> {
        let bindings = values.iter().map(|value| self.bound(value)).collect::<Result<_>>()?;
        let groups = groups_for(invocations, self.site.target);
        let Some(written) = values.last() else {
            return Err(mistake(kernel.name, "nothing that it writes"));
        };
        let outputs = vec![Arc::downgrade(written)];
        self.site.dispatch(Job { kernel, bindings, params, groups, outputs })
    }
}

/// A list of keys, each with its position: what sorting takes.
pub(super) fn pairs(site: Site<'_>, keys: &Operand) -> Result<Arc<Value>> {
    let shape = *keys.layout.shape();
    let positions = iota(site, shape.elements())?;
    paired(site, keys, &Operand::dense(positions, shape, DType::U32))
}

/// Two lists side by side.
fn paired(site: Site<'_>, keys: &Operand, positions: &Operand) -> Result<Arc<Value>> {
    let columns = [keys, positions].map(|list| Ok(list.under(list.layout.unsqueeze(1)?)));
    let columns = columns.into_iter().collect::<Result<Vec<_>>>()?;
    pick::joined(site, Shape::new([keys.layout.shape().elements(), 2])?, 1, &columns)
}

/// The positions of a list in the order of its keys, equal ones as they came. A key is some words,
/// the lowest first, of so many bits each; the words of all keys are a dense list.
pub(crate) fn order(site: Site<'_>, keys: &[(Operand, u32)]) -> Result<Operand> {
    let Some((first, _)) = keys.first() else { return Err(mistake("sorting", "by nothing")) };
    let (list, count) = (*first.layout.shape(), first.layout.shape().elements());
    let of = |value| Operand::dense(value, list, DType::U32);
    let mut positions = of(iota(site, count)?);
    for (i, (words, bits)) in keys.iter().enumerate().filter(|_| count > 1) {
        let here = if i == 0 {
            words.clone()
        } else {
            // Positions need no check.
            let (course, stride) = Course::along(&words.layout, 0, 1);
            of(pick::picked(site, words, &course, &positions, (stride, count))?)
        };
        positions = ordered(site, &here, &positions, *bits)?;
    }
    Ok(positions)
}

/// The row that each element of a list of rows is in, as a word of a key.
pub(crate) fn rows(site: Site<'_>, count: usize, length: usize) -> Result<(Operand, u32)> {
    let each = Operand::dense(iota(site, count)?, Shape::new([count, 1])?, DType::U32);
    let each = each.under(each.layout.broadcast_to([count, length])?);
    let list = Shape::new([count * length])?;
    let bits = usize::BITS - count.saturating_sub(1).leading_zeros();
    Ok((Operand::dense(moves::contiguous(site, &each)?, list, DType::U32), bits))
}

/// Positions in the order of their keys.
fn ordered(site: Site<'_>, keys: &Operand, positions: &Operand, bits: u32) -> Result<Operand> {
    let pairs = paired(site, keys, positions)?;
    let count = keys.layout.shape().elements();
    let sorted = sort(site, &pairs, (word(count)?, bits), &[])?;
    sorted.inherit([&*pairs]);
    let sorted = Operand::dense(sorted, Shape::new([count, 2])?, DType::U32).slice(1, 1..2)?;
    Ok(sorted.under(sorted.layout.squeeze(1)?))
}

/// Sorts `count` pairs by the lowest `bits` bits of their keys, into memory apart from `apart`.
pub(super) fn sort(
    site: Site<'_>,
    pairs: &Arc<Value>,
    (count, bits): (u32, u32),
    apart: &[&Arc<Value>],
) -> Result<Arc<Value>> {
    let plainly = Plain { site };
    let _kept = apart.iter().map(|value| Kept::new(value)).collect::<Result<Vec<_>>>()?;
    let mut pairs = Kept::new(pairs)?;
    if count <= RANKED_MAX {
        let apart = [apart, &[&pairs.value]].concat();
        let sorted = plainly.memory(u64::from(count) * PAIR_BYTES, &apart)?;
        let mask = u32::MAX.checked_shr(u32::BITS - bits).unwrap_or(0);
        let values = [&pairs.value, &sorted.value];
        let params = RankJob { count, mask }.words();
        plainly.run(&plain(&RANK, site.target), &values, params, count.div_ceil(4))?;
        return Ok(sorted.value);
    }
    let (digits, place) = (plain(&DIGITS, site.target), plain(&PLACE, site.target));
    let blocks = count.div_ceil(BLOCK);
    for round in 0..bits.div_ceil(DIGIT_BITS) {
        let params = RoundJob { count, blocks, bit: round * DIGIT_BITS }.words();
        let counters = blocks << DIGIT_BITS;
        let counts = plainly.memory(u64::from(counters) * 4, &[&pairs.value])?;
        plainly.run(&digits, &[&pairs.value, &counts.value], params.clone(), blocks)?;
        let starts = running(plainly, &counts.value, counters)?;
        let apart = [apart, &[&pairs.value, &starts.value]].concat();
        let sorted = plainly.memory(u64::from(count) * PAIR_BYTES, &apart)?;
        plainly.run(&place, &[&pairs.value, &starts.value, &sorted.value], params, blocks)?;
        pairs = sorted;
    }
    Ok(pairs.value)
}

/// The sum of what comes before each of `count` numbers, which are kept in place.
fn running(plainly: Plain<'_>, numbers: &Arc<Value>, count: u32) -> Result<Kept> {
    let blocks = count.div_ceil(BLOCK);
    let params = RunningJob { count, blocks }.words();
    let sums = plainly.memory(u64::from(blocks) * 4, &[numbers])?;
    let bases = if blocks > 1 {
        let values = [numbers, &sums.value];
        plainly.run(&plain(&SUMS, plainly.site.target), &values, params.clone(), blocks)?;
        running(plainly, &sums.value, blocks)?
    } else {
        // Nothing comes before the first block.
        super::fill::into(plainly.site, &sums.value, [0; 2])?;
        sums
    };
    let before = plainly.memory(u64::from(count) * 4, &[numbers, &bases.value])?;
    let kernel = plain(&RUNNING, plainly.site.target);
    plainly.run(&kernel, &[numbers, &bases.value, &before.value], params, blocks)?;
    Ok(before)
}
