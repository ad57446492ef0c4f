//! Sorting rows of items - a word of a key, and what goes along with it - by their keys, equal keys
//! in the order in which they came. In short rows every item counts those before it; longer ones go
//! through rounds of some bits of the key, the lowest first.
//!
//! ```text
//! a round: count digits per chunk -> where each chunk's items of a digit begin (running sums)
//!          -> every item to its place
//! ```
//!
//! The counts of a row stand before those of the next, so all rows are sorted at once. Chunks are
//! walked in order, so no atomics decide anything and the result is the same everywhere. A CPU
//! adapter walks a chunk with one invocation, by digits of four or eight bits whose counters are its
//! own; a GPU with a workgroup, by digits of four bits. What was tried is in
//! `docs/measured/order.md`.

use std::sync::Arc;

use super::limits::Ceiling;
use super::{Operand, moves};
use crate::count::index;
use crate::engine::{Engine, Site};
use crate::error::{Result, mistake};
use crate::exec::{Bound, Job, Value};
use crate::store::Pinned;
use crate::wgsl::Assembled;
use crate::wgsl::grid::groups_for;
pub(crate) use plan::Rows;
use rounds::{From, To};

mod plan;
mod rounds;
pub(crate) mod select;
pub mod text;

/// Bytes of a pair.
pub(super) const PAIR_BYTES: u64 = 8;

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

/// The positions of items in their rows, in the order of their keys, equal ones as they came. A key
/// is some words, the lowest first, of so many bits each; the words of all keys are a list.
pub(crate) fn order(site: Site<'_>, keys: &[(Operand, u32)], rows: Rows) -> Result<Arc<Value>> {
    let plainly = Plain { site };
    let words = keys.iter().map(|(word, _)| whole(site, word)).collect::<Result<Vec<_>>>()?;
    let words = words.iter().map(Kept::new).collect::<Result<Vec<_>>>()?;
    let mut pairs: Option<Kept> = None;
    for (i, (_, bits)) in keys.iter().enumerate() {
        let to = words.get(i + 1).map_or(To::Second, |next| To::Led(&next.value));
        let from = match &pairs {
            None => From::Positions(&words[i].value),
            Some(pairs) => From::Pairs(&pairs.value),
        };
        pairs = Some(plainly.sorted(rows, (from, *bits), to, &[])?);
    }
    let Some(sorted) = pairs else { return Err(mistake("sorting", "by nothing")) };
    sorted.value.inherit(words.iter().map(|words| &*words.value));
    Ok(sorted.value)
}

/// Words in the order of their keys, equal ones as they came.
pub(crate) fn carried(
    site: Site<'_>,
    (keys, bits): (&Operand, u32),
    words: &Operand,
    rows: Rows,
) -> Result<Arc<Value>> {
    let (keys, words) = (whole(site, keys)?, whole(site, words)?);
    let (keys, words) = (Kept::new(&keys)?, Kept::new(&words)?);
    let from = From::Beside(&keys.value, &words.value);
    let sorted = Plain { site }.sorted(rows, (from, bits), To::Second, &[])?;
    sorted.value.inherit([&*keys.value, &*words.value]);
    Ok(sorted.value)
}

/// A list of keys, each with its position, in the order of the lowest `bits` bits, in memory apart
/// from `apart`.
pub(super) fn pairs(
    site: Site<'_>,
    (keys, bits): (&Operand, u32),
    apart: &Arc<Value>,
) -> Result<Arc<Value>> {
    let count = keys.layout.shape().elements();
    let _kept = Kept::new(apart)?;
    let keys = Kept::new(&whole(site, keys)?)?;
    let rows = Rows { count: 1, length: count };
    Ok(Plain { site }
        .sorted(rows, (From::Positions(&keys.value), bits), To::Pairs, &[apart])?
        .value)
}

/// A dense list in one piece that begins where its value does.
fn whole(site: Site<'_>, list: &Operand) -> Result<Arc<Value>> {
    let is_first = list.layout.is_dense() && list.layout.offset() == 0;
    match is_first && list.value.pin()?.pieces().len() == 1 {
        true => Ok(Arc::clone(&list.value)),
        false => moves::contiguous(site, list),
    }
}
