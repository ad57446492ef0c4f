//! Sorting rows of items - a word of a key, and what goes along with it - by their keys, equal keys
//! in the order in which they came. Words that are sorted by their own value are stored alone: a
//! key is computed wherever a word is read. In short rows every item counts those before it; longer
//! ones go through rounds of some bits of the key, the lowest first.
//!
//! ```text
//! a round: count digits per chunk -> where each chunk's items of a digit begin (running sums)
//!          -> every item to its place
//! ```
//!
//! The counts of a row stand before those of the next, so all rows are sorted at once. Chunks are
//! walked in order, so no atomics decide anything and the result is the same everywhere. A CPU
//! adapter walks a chunk with one invocation, by digits of four or eight bits whose counters are
//! its own; a GPU with a workgroup, by digits of four bits. What was tried is in
//! `docs/measured/order.md`.

use std::sync::Arc;

use super::Operand;
use crate::engine::Site;
use crate::error::{Result, mistake};
use crate::exec::Value;
use plain::whole;
pub(super) use plain::{Kept, Plain, pairs_max};
pub(crate) use plain::{PAIR_BYTES, WORD_BYTES, check};
pub(crate) use plan::SortedRows;
use rounds::{Feeding, Outlet};
use text::Ranking;

pub(crate) mod choice;
mod plain;
mod plan;
mod rounds;
pub(crate) mod select;
pub mod text;

/// The positions of items in their rows, in the order of their keys, equal ones as they came. A key
/// has one or more words. `keys` has a list for each, the lowest first: that word of every item,
/// and how many of its bits count.
pub(crate) fn positions(
    site: Site<'_>,
    keys: &[(Operand, u32)],
    rows: SortedRows,
) -> Result<Arc<Value>> {
    let plainly = Plain { site };
    let words = keys.iter().map(|(word, _)| whole(site, word)).collect::<Result<Vec<_>>>()?;
    let words = words.iter().map(Kept::new).collect::<Result<Vec<_>>>()?;
    let mut pairs: Option<Kept> = None;
    for (i, (_, bits)) in keys.iter().enumerate() {
        let to = words.get(i + 1).map_or(Outlet::Second, |next| Outlet::Led(&next.value));
        let from = match &pairs {
            None => Feeding::Positions(&words[i].value),
            Some(pairs) => Feeding::Pairs(&pairs.value),
        };
        pairs = Some(plainly.sorted(rows, (from, *bits), to, &[])?);
    }
    let Some(sorted) = pairs else { return Err(mistake("sorting", "by nothing")) };
    sorted.value.inherit(words.iter().map(|words| &*words.value));
    Ok(sorted.value)
}

/// Words in order, equal ones as they came.
pub(crate) fn sorted(
    site: Site<'_>,
    list: &Operand,
    by: Ranking,
    rows: SortedRows,
) -> Result<Arc<Value>> {
    let words = Kept::new(&whole(site, list)?)?;
    let from = Feeding::Words(&words.value, by);
    let sorted = Plain { site }.sorted(rows, (from, u32::BITS), Outlet::Second, &[])?;
    sorted.value.inherit([&*words.value]);
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
    let rows = SortedRows::new(1, count);
    Ok(Plain { site }
        .sorted(rows, (Feeding::Positions(&keys.value), bits), Outlet::Pairs, &[apart])?
        .value)
}
