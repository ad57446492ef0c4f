//! The dispatches of a sort by one word of a key.

use std::sync::Arc;

use super::plain::{Kept, PAIR_BYTES, Plain, WORD_BYTES};
use super::plan::{SortRounds, SortedRows};
use super::text::{
    FOURS_MAX, Incoming, Outgoing, RUNNING, RUNNING_GROUP, RankJob, Ranking, RoundJob, RunningJob,
    SUMS, SUMS_GROUP, SortStep,
};
use crate::count::{product, word, words};
use crate::dtype::DType;
use crate::error::Result;
use crate::exec::Value;
use crate::kernel::cores::Stint;
use crate::wgsl::grid::groups_for;
use crate::wgsl::kept::plain;
use crate::wgsl::{Entry, Target};

/// How running sums are made: the kernels of both steps, the fours of a block, and the invocations
/// that add up one block.
struct Adding {
    sums: &'static Entry,
    running: &'static Entry,
    each: u32,
    lanes: u32,
}

/// Additions that take as long as comparing two items and counting the one that comes first.
const RANK_EFFORT: u64 = 8;

/// Fours of a block, where there are many.
const FOURS_EACH: u32 = 64;

impl Adding {
    /// Of so many numbers. A CPU adapter adds up few by one invocation, sooner than it begins two
    /// dispatches more.
    const fn of(count: u32, target: Target) -> Self {
        match target {
            Target::Cpu | Target::Cpu64 | Target::CpuByLane => {
                let fours = count.div_ceil(4);
                let each = if fours <= FOURS_MAX { fours } else { FOURS_EACH };
                Self { sums: &SUMS, running: &RUNNING, each, lanes: 1 }
            }
            Target::Gpu => {
                let lanes = target.workgroup();
                Self { sums: &SUMS_GROUP, running: &RUNNING_GROUP, each: lanes, lanes }
            }
        }
    }
}

/// The items that are sorted: words of keys, each with what goes along.
#[derive(Clone, Copy)]
pub(super) enum Feeding<'a> {
    /// Words with their positions in their rows.
    Positions(&'a Arc<Value>),
    /// Words that are sorted by their own value.
    Words(&'a Arc<Value>, Ranking),
    /// Pairs of a word and what goes along with it.
    Pairs(&'a Arc<Value>),
}

impl<'a> Feeding<'a> {
    fn load(self) -> (Incoming, Vec<&'a Arc<Value>>) {
        match self {
            Self::Positions(words) => (Incoming::Positions, vec![words]),
            Self::Words(words, by) => (Incoming::Words(by), vec![words]),
            Self::Pairs(pairs) => (Incoming::Pairs, vec![pairs]),
        }
    }

    /// What a round leaves for the next.
    const fn between(self) -> Outlet<'static> {
        match self {
            Self::Words(..) => Outlet::Second,
            _ => Outlet::Pairs,
        }
    }

    /// The items in the order in which the round before left them.
    fn after(self, left: Option<&'a Kept>) -> Self {
        match (self, left) {
            (_, None) => self,
            (Self::Words(_, by), Some(left)) => Self::Words(&left.value, by),
            (_, Some(left)) => Self::Pairs(&left.value),
        }
    }
}

/// What a sort leaves.
#[derive(Clone, Copy)]
pub(super) enum Outlet<'a> {
    /// Pairs of a word and what went along with it.
    Pairs,
    /// Only what went along.
    Second,
    /// Pairs for the next word of the keys: what this list has at a position, and the position.
    Led(&'a Arc<Value>),
}

impl<'a> Outlet<'a> {
    fn store(self) -> (Outgoing, Option<&'a Arc<Value>>) {
        match self {
            Self::Pairs => (Outgoing::Pairs, None),
            Self::Second => (Outgoing::Second, None),
            Self::Led(by) => (Outgoing::Led, Some(by)),
        }
    }
}

impl Plain<'_> {
    /// Sorts by the lowest `bits` bits of the words, which are kept in place, into memory apart
    /// from `apart`.
    pub(super) fn sorted(
        self,
        rows: SortedRows,
        (from, bits): (Feeding<'_>, u32),
        to: Outlet<'_>,
        apart: &[&Arc<Value>],
    ) -> Result<Kept> {
        if rows.are_ranked() {
            return self.ranked(rows, (from, bits), to, apart);
        }
        let rounds = SortRounds::of(rows, bits, self.site.target);
        if let Some(by) = rows.by {
            self.site.engine.remark(|| format!("{}: tuned", by.text()));
        }
        let mut left: Option<Kept> = None;
        for round in 1..rounds.count {
            let (bit, here) = ((round - 1) * rounds.bits, from.after(left.as_ref()));
            left = Some(self.round((rows, rounds), bit, here, from.between(), apart)?);
        }
        let (bit, here) = ((rounds.count - 1) * rounds.bits, from.after(left.as_ref()));
        self.round((rows, rounds), bit, here, to, apart)
    }

    fn ranked(
        self,
        rows: SortedRows,
        (from, bits): (Feeding<'_>, u32),
        to: Outlet<'_>,
        apart: &[&Arc<Value>],
    ) -> Result<Kept> {
        let mask = u32::MAX.checked_shr(u32::BITS - bits).unwrap_or(0);
        let fours = rows.length.div_ceil(4);
        let invocations = word(rows.count * fours)?;
        let [count, length, fours] = words([rows.count, rows.length, fours])?;
        let job = RankJob { rows: count, length, fours, mask, first_group: 0 };
        let groups = invocations.div_ceil(self.site.target.workgroup());
        let work = product([rows.items(), rows.length]).saturating_mul(RANK_EFFORT);
        let stints = Stint::all(groups, work, self.site.watched(DType::U32));
        let parts = stints.map(|part| (RankJob { first_group: part.first, ..job }.words(), part));
        self.placed(rows, (from, to), (0, None), apart, parts)
    }

    /// A round: how often each digit occurs, where its items begin, every item to its place.
    fn round(
        self,
        (rows, rounds): (SortedRows, SortRounds),
        bit: u32,
        from: Feeding<'_>,
        to: Outlet<'_>,
        apart: &[&Arc<Value>],
    ) -> Result<Kept> {
        let target = self.site.target;
        let chunks = rows.count * rounds.chunks;
        let lanes = if target == Target::Gpu { target.workgroup() as usize } else { 1 };
        let invocations = word(chunks * lanes)?;
        let counters = word(chunks << rounds.bits)?;
        let [count, length, chunks, each] =
            words([rows.count, rows.length, rounds.chunks, rounds.each])?;
        let job = RoundJob { rows: count, length, chunks, each, bit }.words();
        let (load, values) = from.load();
        let counts = self.memory(u64::from(counters) * WORD_BYTES, &values)?;
        let digits = SortStep { load, store: None, bits: rounds.bits }.text(target);
        self.run(&digits, &[values[0], &counts.value], job.clone(), invocations)?;
        let starts = self.running(&counts.value, counters)?;
        let parts = [(job, Stint::whole(groups_for(invocations, target)))];
        self.placed(rows, (from, to), (rounds.bits, Some(&starts.value)), apart, parts)
    }

    /// Every item to its place.
    fn placed(
        self,
        rows: SortedRows,
        (from, to): (Feeding<'_>, Outlet<'_>),
        (bits, starts): (u32, Option<&Arc<Value>>),
        apart: &[&Arc<Value>],
        parts: impl IntoIterator<Item = (Vec<u32>, Stint)>,
    ) -> Result<Kept> {
        let ((load, mut values), (store, leads)) = (from.load(), to.store());
        values.extend(starts.into_iter().chain(leads));
        let width = if store == Outgoing::Second { WORD_BYTES } else { PAIR_BYTES };
        // Items are read by fours, the last ones too.
        let bytes = rows.items().next_multiple_of(4) as u64 * width;
        let sorted = self.memory(bytes, &[apart, &values].concat())?;
        values.push(&sorted.value);
        let kernel = SortStep { load, store: Some(store), bits }.text(self.site.target);
        parts.into_iter().try_for_each(|part| self.by(&kernel, &values, part))?;
        Ok(sorted)
    }

    /// The sum of what comes before each of `count` numbers, which are kept in place.
    fn running(self, numbers: &Arc<Value>, count: u32) -> Result<Kept> {
        let target = self.site.target;
        let Adding { sums: adds, running, each, lanes } = Adding::of(count, target);
        let blocks = count.div_ceil(4 * each);
        let (params, invocations) = (RunningJob { count, blocks, each }.words(), blocks * lanes);
        let fours = |count: u32| u64::from(count.next_multiple_of(4)) * WORD_BYTES;
        let bases = if blocks > 1 {
            let sums = self.memory(fours(blocks), &[numbers])?;
            let values = [numbers, &sums.value];
            self.run(&plain(adds, target), &values, params.clone(), invocations)?;
            Some(self.running(&sums.value, blocks)?)
        } else {
            None
        };
        // Nothing comes before the only block, and its base is not read.
        let bases = bases.as_ref().map_or(numbers, |bases| &bases.value);
        let before = self.memory(fours(count), &[numbers, bases])?;
        let values = [numbers, bases, &before.value];
        self.run(&plain(running, target), &values, params, invocations)?;
        Ok(before)
    }
}
