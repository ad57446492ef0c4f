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

use super::text::{REDUCE_COLUMNS, REDUCE_GROUP, REDUCE_ROWS};
use crate::count::{word, words};
use crate::error::Result;
use crate::wgsl::Entry;
use crate::wgsl::Target;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::grid::fold;

/// A dense space whose middle is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernel) struct Extent {
    pub(in crate::kernel) outer: usize,
    pub(in crate::kernel) length: usize,
    pub(in crate::kernel) inner: usize,
    /// Whether columns are reached one by one: their rows are not whole quads.
    pub(in crate::kernel) ragged: bool,
}

impl Extent {
    /// Whether it is one of columns that are reached one by one.
    pub(in crate::kernel) const fn by_element(self) -> bool {
        self.inner > 1 && self.ragged
    }
}

/// One dispatch of a reduction.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The kernel.
    pub(super) kernel: &'static Entry,
    /// Parts of the length, reduced apart from each other.
    pub(super) chunks: usize,
    pub(super) groups: [u32; 3],
    /// The kernel's parameters, but for the first index and the first output.
    job: [u32; 12],
    columns: bool,
}

/// Quads of a row, or rows of columns, that one invocation takes at most: for the roundings.
const QUADS_MAX: usize = 32_768;
const ROWS_MAX: usize = 2048;

/// Lanes that keep a target busy.
const fn lanes(target: Target) -> usize {
    match target {
        Target::Cpu | Target::Cpu64 => 1024,
        Target::Gpu => 65_536,
    }
}

/// The fewest chunks of which none is longer than `most`, and more of them while they are longer
/// than `least` and there are fewer than `wanted`.
fn chunked(length: usize, wanted: usize, least: usize, most: usize) -> (usize, usize) {
    let chunks = wanted.min(length / least.max(1)).max(length.div_ceil(most)).max(1);
    let each = length.div_ceil(chunks).max(1);
    (length.div_ceil(each).max(1), each)
}

impl Plan {
    /// The plan for an extent, all of it within 32 bits. `trips` are those of finding one quad, and
    /// `parts` says whether it is what chunks have left.
    pub(super) fn of(extent: Extent, target: Target, trips: u32, parts: bool) -> Result<Self> {
        if extent.inner == 1 {
            Self::rows(extent, target, trips as usize, parts)
        } else {
            Self::columns(extent, target, trips as usize, parts)
        }
    }

    fn rows(extent: Extent, target: Target, trips: usize, parts: bool) -> Result<Self> {
        let Extent { outer, length, .. } = extent;
        // A row that does not begin at a quad touches one more.
        let quads = length.div_ceil(4) + usize::from(!length.is_multiple_of(4));
        let group = target == Target::Gpu && quads > 64;
        let width = if group { 256 } else { 1 };
        let wanted = if parts { 1 } else { (lanes(target) / width).div_ceil(outer.max(1)) };
        let most = (CORE_TRIPS as usize - 600) * 8 / (8 * trips + 2) * width;
        let (chunks, each) = chunked(quads, wanted, 64 * width.min(16), most.min(QUADS_MAX));
        let count = outer * chunks;
        let groups = if group { count } else { count.div_ceil(target.workgroup() as usize) };
        let job = words([outer, 0, length, length, chunks, each])?;
        Ok(Self {
            kernel: if group { &REDUCE_GROUP } else { &REDUCE_ROWS },
            chunks,
            groups: fold(word(groups)?),
            job: padded(&job),
            columns: false,
        })
    }

    fn columns(extent: Extent, target: Target, trips: usize, parts: bool) -> Result<Self> {
        let Extent { outer, length, inner, .. } = extent;
        let units = if extent.by_element() { inner } else { inner / 4 };
        let per_row = units.div_ceil(4);
        let (lead, step) = if target == Target::Gpu { (1, per_row) } else { (4, 1) };
        let wanted = if parts { 1 } else { lanes(target).div_ceil(outer.max(1) * per_row) };
        let most = (CORE_TRIPS as usize - 600) / (4 * trips + 2);
        let (chunks, each) = chunked(length, wanted, 16, most.min(ROWS_MAX));
        let count = outer * chunks * per_row;
        let space = words([count, units, length, chunks, each, 0, 0, 0])?;
        let lanes = words([per_row, lead, step, 0])?;
        Ok(Self {
            kernel: &REDUCE_COLUMNS,
            chunks,
            groups: fold(word(count.div_ceil(target.workgroup() as usize))?),
            job: padded(&[&space[..], &lanes].concat()),
            columns: true,
        })
    }

    /// The kernel's parameters; elements are counted from `index` on along the length, results are
    /// stored from `first` on (elements, or quads where the kernel stores those).
    pub(super) fn job(&self, index: u32, first: u32) -> Vec<u32> {
        let mut job = self.job.to_vec();
        (job[6], job[7]) = (index, first);
        job.truncate(if self.columns { 12 } else { 8 });
        job
    }
}

fn padded(words: &[u32]) -> [u32; 12] {
    let mut all = [0; 12];
    all[..words.len()].copy_from_slice(words);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGETS: [Target; 3] = [Target::Cpu, Target::Cpu64, Target::Gpu];

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

    #[test]
    fn no_invocation_loops_too_often_and_no_term_is_rounded_too_often() {
        for extent in extents() {
            for target in TARGETS {
                for trips in [0, 1, 7, 56] {
                    let plan = Plan::of(extent, target, trips, false).expect("within 32 bits");
                    let job = plan.job(0, 0);
                    let each = if plan.columns { job[4] } else { job[5] };
                    let (looped, rounded) = match plan.kernel.name {
                        "reduce_rows" => {
                            (each / 8 + each / 256 + 8 + each * trips, each / 256 + 32 + 12)
                        }
                        "reduce_group" => (each / 256 * (1 + trips) + 16, each / 256 + 16),
                        _ => (each + each / 64 + 1 + 4 * each * trips, each / 64 + 64),
                    };
                    assert!(looped <= CORE_TRIPS, "{extent:?} {target:?} {trips}: {looped} trips");
                    assert!(rounded <= 180, "{extent:?} {target:?}: {rounded} roundings");
                }
            }
        }
    }

    #[test]
    fn chunks_cover_the_length_and_none_is_empty() {
        for extent in extents() {
            for target in TARGETS {
                for parts in [false, true] {
                    let plan = Plan::of(extent, target, 0, parts).expect("within 32 bits");
                    let job = plan.job(5, 6);
                    assert_eq!((job[6], job[7]), (5, 6), "{extent:?}");
                    let each = if plan.columns { job[4] } else { job[5] } as usize;
                    let whole = match plan.columns {
                        true => extent.length,
                        false => extent.length.div_ceil(4) + usize::from(extent.length % 4 != 0),
                    };
                    assert!(plan.chunks * each >= whole, "{extent:?} {target:?}");
                    assert!((plan.chunks - 1) * each < whole, "{extent:?} {target:?}");
                    assert!(plan.groups.iter().all(|&n| n <= 65_535), "{extent:?} {target:?}");
                }
            }
        }
    }
}
