//! How a reduction is shared among invocations: pure arithmetic.
//!
//! ```text
//! [outer, length, 1]      rows: a lane (or, on a GPU, a group) takes a row or a chunk of it
//! [outer, length, inner]  columns: a lane takes up to four units of columns and a chunk of length
//! ```
//!
//! Few long rows are cut into chunks until every core has work; the results of the chunks are
//! reduced again. A chunk is never so long that an invocation would loop more than
//! [`CORE_TRIPS`] times, nor that one term would go through more than some hundred roundings.

use super::choice::{SumChoice, SumSize};
use super::text::{Fold, REDUCE_COLUMNS, REDUCE_GROUP, REDUCE_ROWS};
use super::text::{Reduce, ReduceColumnsJob, ReduceRowsJob};
use crate::caps::Identity;
use crate::caps::breadth::Breadth;
use crate::count::words;
use crate::error::Result;
use crate::kernel::choice::size::distinct;
use crate::layout::Layout;
use crate::op::Kind;
use crate::shape::Shape;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::grid::LANES_BUSY;
use crate::wgsl::rig::Rig;
use crate::wgsl::{Entry, Target};

/// The order of axes in which a view is reduced, and in which results are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Traversal {
    /// The axes as memory walks them.
    pub(crate) order: Vec<usize>,
    /// Whether each of those is reduced.
    pub(crate) reduced: Vec<bool>,
    /// Those that are reduced, in this order.
    pub(crate) gone: Vec<usize>,
    /// Those that stay, in the order in which the result is stored.
    pub(crate) kept: Vec<usize>,
}

impl Traversal {
    /// Of the axes of a view that are `reduced`. Where places are asked for, reduced axes are
    /// walked in their own order, whatever memory does, because places are counted row-major.
    pub(crate) fn of(view: &Layout, reduced: &[bool], places: bool) -> Self {
        let mut order = view.memory_order();
        if places {
            let mut axes = (0..order.len()).filter(|&axis| reduced[axis]);
            for axis in order.iter_mut().filter(|axis| reduced[**axis]) {
                *axis = axes.next().unwrap_or(*axis);
            }
        }
        let (gone, kept) = order.iter().partition(|&&axis| reduced[axis]);
        let reduced = order.iter().map(|&axis| reduced[axis]).collect();
        Self { order, reduced, gone, kept }
    }
}

/// The order of axes in which a kernel walks its input: outer, reduced, inner.
pub(super) fn order(reduced: &[bool]) -> Vec<usize> {
    let inner = reduced.iter().rposition(|&r| r).map_or(0, |last| last + 1);
    let axes = || 0..inner;
    let outer = axes().filter(|&axis| !reduced[axis]);
    let middle = axes().filter(|&axis| reduced[axis]);
    outer.chain(middle).chain(inner..reduced.len()).collect()
}

/// A dense space whose middle is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) outer: usize,
    pub(super) length: usize,
    pub(super) inner: usize,
    /// Whether elements are reached one by one: columns whose rows are not whole quads; and rows
    /// that are not, where it must not matter which of a quad's places they begin at.
    pub(super) ragged: bool,
}

impl Extent {
    /// Of a shape, some of whose axes are reduced.
    pub(super) fn of(shape: &Shape, reduced: &[bool], batch_invariant: bool) -> Self {
        let last = reduced.iter().rposition(|&r| r);
        let mut extent = Self { outer: 1, length: 1, inner: 1, ragged: false };
        for (axis, (&dim, &reduced)) in shape.dims().iter().zip(reduced).enumerate() {
            let part = match (reduced, last.is_some_and(|last| axis < last)) {
                (true, _) => &mut extent.length,
                (false, true) => &mut extent.outer,
                (false, false) => &mut extent.inner,
            };
            *part *= dim;
        }
        extent.long(extent.length, batch_invariant)
    }

    /// With another length.
    pub(super) const fn long(self, length: usize, batch_invariant: bool) -> Self {
        let ragged = match self.inner {
            1 => batch_invariant && !length.is_multiple_of(4),
            inner => !inner.is_multiple_of(4),
        };
        Self { length, ragged, ..self }
    }

    /// Whether what is reduced is reached one by one.
    pub(super) const fn reads_elements(self) -> bool {
        self.ragged
    }

    /// Whether results, or states, are stored one by one.
    pub(super) const fn stores_elements(self) -> bool {
        self.inner == 1 || self.ragged
    }
}

/// One dispatch of a reduction.
#[derive(Clone, Debug)]
pub(super) struct ReducePlan {
    /// The kernel.
    pub(super) kernel: &'static Entry,
    pub(super) groups: usize,
    /// Parts of the length, reduced apart from each other.
    pub(super) chunks: usize,
    /// Quads of a chunk, or its rows of columns.
    each: usize,
    extent: Extent,
    columns: Option<Columns>,
}

/// How invocations share columns.
#[derive(Clone, Copy, Debug)]
struct Columns {
    /// Invocations, and those of a row.
    count: usize,
    per_row: usize,
    /// Quads of a row, or columns.
    units: usize,
    /// From one unit of an invocation to its next: so many invocations take turns.
    step: usize,
    /// Of an invocation's number in its row: which turn it has.
    mask: u32,
}

/// Quads of a row, or rows of columns, that one invocation takes at most: for the roundings.
const QUADS_MAX: usize = 8192;
/// Of a group's lanes together.
const GROUP_QUADS_MAX: usize = 32_768;
const ROWS_MAX: usize = 2048;
/// Parts that a lane of a GPU puts together; more of them are put together by so many first.
const PARTS_MAX: usize = 32;
const PARTS_EACH: usize = 16;

/// What reduces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reducer<'a> {
    pub(super) target: Target,
    pub(super) breadth: Breadth,
    pub(super) identity: &'a Identity,
    /// Whether chunks may not depend on how many rows or columns there are.
    pub(super) batch_invariant: bool,
    /// What was tuned, for what is not parts.
    pub(super) by: Option<SumChoice>,
}

/// Chunks of a row or column, where it must not matter how many of those there are.
const CHUNKS_OF_ANY: usize = 8;

impl Reducer<'_> {
    /// Rows of columns in a chunk. llvmpipe before Mesa 24 waits for memory at every row of more
    /// than some twenty; small spaces are not worth a second pass.
    fn rows_max(&self, extent: Extent) -> usize {
        let large = extent.length * extent.inner >= 1 << 18 && !self.batch_invariant;
        let waits = self.target == Target::Cpu64 && !self.identity.is_later_llvmpipe();
        if large && waits { 24 } else { ROWS_MAX }
    }

    /// The chunks of each row or column that keep it busy, if one of `width` lanes takes each.
    fn chunks_wanted(&self, rows: usize, width: usize) -> usize {
        match self.batch_invariant {
            true => CHUNKS_OF_ANY,
            false => (self.lanes() / width).div_ceil(rows.max(1)),
        }
    }

    /// Lanes that keep it busy.
    const fn lanes(&self) -> usize {
        match self.target {
            Target::Cpu | Target::Cpu64 | Target::CpuByLane => 1024,
            Target::Gpu => self.breadth.share(LANES_BUSY),
        }
    }
}

/// Invocations that take turns at the units of a row, and the mask of their turns: all of a row on
/// a GPU; on a processor those of a workgroup where loads are wide and rows are made of whole
/// workgroups' units.
fn turns(target: Target, units: usize, each: usize) -> (usize, u32) {
    let lanes = target.workgroup();
    match target {
        Target::Gpu => (units.div_ceil(each), u32::MAX),
        wide if wide.is_wide() && units.is_multiple_of(lanes as usize * each) => {
            (lanes as usize, lanes - 1)
        }
        Target::Cpu | Target::Cpu64 | Target::CpuByLane => (1, 0),
    }
}

/// The fewest chunks of which none is longer than `most`, and more of them while they are longer
/// than `least` and there are fewer than `wanted`.
fn chunked(length: usize, wanted: usize, least: usize, most: usize) -> (usize, usize) {
    let chunks = wanted.min(length / least.max(1)).max(length.div_ceil(most)).max(1);
    let each = length.div_ceil(chunks).max(1);
    (length.div_ceil(each).max(1), each)
}

/// So many trips to a quad make no chunk shorter than another.
pub(super) const TRIPS_FREE: usize = 6;

impl ReducePlan {
    /// The plan for an extent, all of it within 32 bits, of which an invocation takes so many units
    /// of columns. `trips` is what finding one quad takes; `parts` says whether it reads what
    /// chunks have left.
    pub(super) fn of(
        extent: Extent,
        machine: Reducer<'_>,
        trips: usize,
        parts: bool,
        units: u32,
    ) -> Self {
        if extent.inner == 1 && !extent.ragged {
            Self::rows(extent, machine, trips, parts)
        } else {
            let most = match parts {
                true => ROWS_MAX,
                false => machine.rows_max(extent),
            };
            let looped = (CORE_TRIPS as usize - 600) / (4 * trips + 2);
            Self::columns(extent, machine, most.min(looped), parts, units as usize)
        }
    }

    fn rows(extent: Extent, machine: Reducer<'_>, trips: usize, parts: bool) -> Self {
        let (Extent { outer, length, .. }, target) = (extent, machine.target);
        // A row that does not begin at a quad touches one more.
        let quads = length.div_ceil(4) + usize::from(!length.is_multiple_of(4));
        let by = machine.by.filter(|_| !parts);
        let group = target == Target::Gpu && by.map_or(quads > 64, |by| by.grouped);
        let width = if group { 256 } else { 1 };
        let wanted = if parts { 1 } else { machine.chunks_wanted(outer, width) };
        let (wanted, least) = by.map_or((wanted, 64 * width.min(16)), |by| (by.chunks, 1));
        let most = (CORE_TRIPS as usize - 600) * 8 / (8 * trips + 5) * width;
        let most = most.min(if group { GROUP_QUADS_MAX } else { QUADS_MAX });
        let (chunks, each) = chunked(quads, wanted, least, most);
        let count = outer * chunks;
        let groups = if group { count } else { count.div_ceil(target.workgroup() as usize) };
        let kernel = if group { &REDUCE_GROUP } else { &REDUCE_ROWS };
        Self { kernel, groups, chunks, each, extent, columns: None }
    }

    fn columns(
        extent: Extent,
        machine: Reducer<'_>,
        most: usize,
        parts: bool,
        each: usize,
    ) -> Self {
        let (Extent { outer, length, inner, .. }, target) = (extent, machine.target);
        let units = if extent.reads_elements() { inner } else { inner / 4 };
        let per_row = units.div_ceil(each);
        let (step, mask) = turns(target, units, each);
        let wanted = match parts {
            false => machine.chunks_wanted(outer * per_row, 1),
            // One load after the other is what a GPU waits for longest.
            true if target == Target::Gpu && length > PARTS_MAX => length / PARTS_EACH,
            true => 1,
        };
        let by = machine.by.filter(|_| !parts);
        let (wanted, least) = by.map_or((wanted, 16), |by| (by.chunks, 1));
        let (chunks, each) = chunked(length, wanted, least, most);
        let count = outer * chunks * per_row;
        let groups = count.div_ceil(target.workgroup() as usize);
        let columns = Some(Columns { count, per_row, units, step, mask });
        Self { kernel: &REDUCE_COLUMNS, groups, chunks, each, extent, columns }
    }

    /// The kernel's parameters; elements are counted from `place` on along the length, results are
    /// stored from `first` on (elements, or quads where the kernel stores those).
    pub(super) fn job(&self, place: usize, first: usize) -> Result<Vec<u32>> {
        let Extent { outer, length, .. } = self.extent;
        let [rows, length, chunks, each] = words([outer, length, self.chunks, self.each])?;
        let [place, first] = words([place, first])?;
        let Some(Columns { count, per_row, units, step, mask }) = self.columns else {
            return Ok(ReduceRowsJob { rows, length, chunks, each, place, first }.words());
        };
        let [count, per_row, units, step] = words([count, per_row, units, step])?;
        let job = ReduceColumnsJob {
            count,
            length,
            chunks,
            each,
            place,
            first,
            units,
            per_row,
            step,
            mask,
        };
        Ok(job.words())
    }
}

/// Rows of a chunk, or quads, that are worth an invocation when that is tuned; and the most chunks.
const WORTH: usize = 8;
const CHUNK_BITS: usize = 13;

impl SumSize {
    /// What is worth timing.
    pub(crate) fn candidates(&self, on: Rig<'_>) -> Vec<SumChoice> {
        let Self { outer, length, inner } = *self;
        let extent = Extent { outer, length, inner, ragged: false }.long(length, false);
        let Rig { target, breadth, .. } = on;
        let identity = &on.caps.identity;
        let is_row = extent.inner == 1;
        let each = if is_row { length.div_ceil(4) } else { length };
        let ways = if is_row && target == Target::Gpu { &[true, false][..] } else { &[false] };
        let chunks =
            (0..CHUNK_BITS).map(|bit| 1 << bit).take_while(|n| n * WORTH <= each.max(WORTH));
        let choice = |chunks| ways.iter().map(move |&grouped| SumChoice { grouped, chunks });
        distinct(chunks.flat_map(choice), |choice| {
            let (batch_invariant, by) = (false, Some(choice));
            let machine = Reducer { target, breadth, identity, batch_invariant, by };
            let plan = ReducePlan::of(extent, machine, 0, false, MEASURED.units());
            let few = outer.saturating_mul(plan.chunks) <= STATES_MAX;
            few.then_some((plan.kernel.name, plan.chunks))
        })
    }
}

/// The most states of all rows that are tried, for each of the inner elements.
const STATES_MAX: usize = 1 << 20;
/// What is measured.
const MEASURED: Reduce = Reduce { fold: Fold::Sum, kind: Kind::F32, index: false };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;
    use crate::wgsl::grid::fold;

    const TARGETS: [Target; 4] = [Target::Cpu, Target::Cpu64, Target::CpuByLane, Target::Gpu];

    /// Extents of every kind: rows and columns, few and long, many and short.
    fn extents() -> impl Iterator<Item = Extent> {
        let sizes = [1_usize, 2, 3, 63, 64, 1000, 4096, 65_535, 1 << 20, 1 << 24, (1 << 29) - 3];
        let inners = [1, 2, 3, 4, 4096, 1 << 20];
        sizes.into_iter().flat_map(move |outer| {
            sizes.into_iter().flat_map(move |length| {
                inners.into_iter().filter_map(move |inner| {
                    let fits = outer.saturating_mul(length).saturating_mul(inner) < 1 << 30;
                    let ragged = inner % 4 != 0;
                    fits.then_some(Extent { outer, length, inner, ragged })
                })
            })
        })
    }

    fn machine(target: Target, identity: &Identity) -> Reducer<'_> {
        Reducer { target, breadth: Breadth::USUAL, identity, batch_invariant: false, by: None }
    }

    /// Of a llvmpipe before Mesa 24.
    fn early() -> Identity {
        fixtures::lavapipe().identity
    }

    /// A second pass is worth its while where much is read.
    #[test]
    fn columns_of_an_early_llvmpipe_are_cut_where_they_are_large() {
        let early = early();
        let later = Identity { driver_info: "Mesa 25.0.7 (LLVM 19.1.7)".into(), ..early.clone() };
        let most = |[length, inner]: [usize; 2], machine: Reducer<'_>| {
            machine.rows_max(Extent { outer: 1, length, inner, ragged: false })
        };
        let (large, small, waits) = ([512, 512], [511, 512], machine(Target::Cpu64, &early));
        assert_eq!([most(large, waits), most(small, waits)], [24, ROWS_MAX]);
        assert_eq!(most(large, machine(Target::Cpu64, &later)), ROWS_MAX);
        assert_eq!(most(large, machine(Target::Gpu, &early)), ROWS_MAX);
        assert_eq!(most(large, Reducer { batch_invariant: true, ..waits }), ROWS_MAX);
    }

    #[test]
    fn no_invocation_loops_too_often_and_no_term_is_rounded_too_often() {
        let early = early();
        for extent in extents() {
            for target in TARGETS {
                for trips in [0, 1, 7, 56] {
                    let plan = ReducePlan::of(extent, machine(target, &early), trips, false, 4);
                    let each = plan.each;
                    let (looped, rounded) = match plan.kernel.name {
                        "reduce_rows" => {
                            (each / 2 + each / 128 + 8 + each * trips, each / 128 + 64 + 12)
                        }
                        "reduce_group" => (each / 256 * (1 + trips) + 16, each / 256 + 16),
                        _ => (each + each / 64 + 1 + 4 * each * trips, each / 64 + 64),
                    };
                    assert!(
                        looped <= CORE_TRIPS as usize,
                        "{extent:?} {target:?} {trips}: {looped} trips"
                    );
                    assert!(rounded <= 180, "{extent:?} {target:?}: {rounded} roundings");
                }
            }
        }
    }

    #[test]
    fn chunks_cover_the_length_and_none_is_empty() {
        let early = early();
        for extent in extents() {
            for target in TARGETS {
                for parts in [false, true] {
                    let plan = ReducePlan::of(extent, machine(target, &early), 0, parts, 4);
                    let job = plan.job(5, 6).expect("words");
                    assert_eq!((job[4], job[5]), (5, 6), "{extent:?}");
                    let each = plan.each;
                    let whole = match plan.columns.is_some() {
                        true => extent.length,
                        false => extent.length.div_ceil(4) + usize::from(extent.length % 4 != 0),
                    };
                    assert!(plan.chunks * each >= whole, "{extent:?} {target:?}");
                    assert!((plan.chunks - 1) * each < whole, "{extent:?} {target:?}");
                    let groups = fold(u32::try_from(plan.groups).expect("in 32 bits"));
                    assert!(groups.iter().all(|&n| n <= 65_535), "{extent:?} {target:?}");
                }
            }
        }
    }

    /// What is cut into more parts than there are cores for takes a second pass for nothing.
    #[test]
    fn a_gpu_of_few_cores_is_given_fewer_and_longer_chunks() {
        let early = early();
        let few = Breadth::of(&fixtures::apple_m2());
        let chunks = |breadth, target, [outer, length, inner]: [usize; 3]| {
            let extent = Extent { outer, length, inner, ragged: false };
            let machine = Reducer { breadth, ..machine(target, &early) };
            ReducePlan::of(extent, machine, 0, false, 4).chunks
        };
        for (dims, want) in [([1, 1 << 20, 1], [256, 32]), ([1, 4096, 64], [256; 2])] {
            let got = [Breadth::USUAL, few].map(|breadth| chunks(breadth, Target::Gpu, dims));
            assert_eq!(got, want, "{dims:?}");
            let [usual, other] = [Breadth::USUAL, few].map(|b| chunks(b, Target::Cpu, dims));
            assert_eq!(usual, other, "{dims:?}: a processor");
        }
    }

    #[test]
    fn only_an_early_llvmpipe_waits_for_rows_and_only_whole_workgroups_take_turns() {
        let later = Identity { driver_info: "Mesa 25.0.7 (LLVM 19.1.7)".into(), ..early() };
        let plan = |identity: &Identity, target, inner| {
            let extent = Extent { outer: 1, length: 4096, inner, ragged: false };
            let plan = ReducePlan::of(extent, machine(target, identity), 0, false, 4);
            let columns = plan.columns.expect("columns");
            (plan.each, columns.step, columns.mask)
        };
        assert_eq!(plan(&early(), Target::Cpu64, 4096), (24, 8, 7));
        assert_eq!(plan(&later, Target::Cpu64, 4096), (1024, 8, 7));
        assert_eq!(plan(&later, Target::Cpu64, 4096 + 4), (1024, 1, 0));
        assert_eq!(plan(&later, Target::Cpu, 4096), (1024, 1, 0));
        assert_eq!(plan(&later, Target::Gpu, 4096), (16, 256, u32::MAX));
    }
}
