//! Which way of attention is taken, and how much of it an invocation keeps.
//!
//! ```text
//! a GPU, or queries and values too long for registers      by workgroups, in stages
//! otherwise                                                by lanes, a query or more to each
//! ```
//!
//! On llvmpipe a quad loaded in a loop costs as much as some 40 multiplications, because it loads
//! for one lane after the other, even where all lanes need the same quad. So where subgroups are as
//! wide as a vector, each lane loads one key and broadcasts it, and one load serves all queries of
//! a lane. What was tried and rejected stands in `docs/measured/attention.md`.

use super::plan::{BUSY, CHUNK_LEAST, Crowd, KEYS_SHARED, Splits, in_units};
use super::text::staged::{ROWS, Staged};
use super::text::{Block, Mask, Unit};
use crate::caps::Caps;
use crate::caps::breadth::Breadth;
use crate::count::product;
use crate::error::Result;
use crate::kernel::choice::size::distinct;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::rig::Rig;
use crate::wgsl::{Form, Target};

pub(crate) mod tuned;
pub(crate) mod way;

use tuned::{AttentionChoice, AttentionSize, GROUPS, QUERIES};

#[cfg(test)]
mod tests;

/// From so many multiplications on, more queries to a lane than two, and all values of a block at
/// once, save more than their compiling costs.
const WORK_LARGE: u64 = 200_000_000;
/// The most quads of queries and sums that a lane keeps, and the most queries.
const KEPT: [usize; 2] = [128, 4];
/// Where lanes share loads; but for compilers that know `fma`: there six queries are no faster than
/// four, and take twice as long to compile.
const KEPT_SHARING: [usize; 2] = [192, 6];
/// The most quads of a query and a value that a lane of a CPU keeps, if it keeps one of each.
const QUADS_ALONE: usize = 64;
/// Keys are split among up to `2^(SPLIT_BITS - 1)` workgroups, when that is tuned.
const SPLIT_BITS: usize = 7;
/// The fewest and the most lanes of a workgroup, and the most quads of each kind that it stages.
const LANES: [usize; 2] = [64, 256];
const STAGE: usize = 256;

/// Whether products of matrices are faster, on a CPU adapter: where a head has one query that sees
/// every key, most lanes of the attention kernel would have no query.
fn is_products(queries: usize, is_masked: bool, target: Target) -> bool {
    queries == 1 && !is_masked && target != Target::Gpu
}

/// Whether workgroups take the rows of a head together, for queries of `d` elements and values of
/// `e`.
fn is_staged(d: usize, e: usize, target: Target) -> bool {
    target == Target::Gpu || d.div_ceil(4).max(1) + e.div_ceil(4) > QUADS_ALONE
}

/// How many lanes load together: a subgroup. llvmpipe has eight, but for another vector width; with
/// four or sixteen, keys that all lanes load are up to three times as fast.
pub(super) fn sharers(caps: &Caps) -> Option<u64> {
    let sizes: &[u64] = if caps.identity.is_llvmpipe() { &[8] } else { &[4, 8] };
    caps.subgroup_exact().filter(|size| sizes.contains(size))
}

/// The tile for these inputs, by lanes.
pub(super) fn tile(
    target: Target,
    caps: &Caps,
    views: &[Layout],
    packed: Option<Form>,
    by: Option<AttentionChoice>,
) -> Block {
    let mask = match views.get(3) {
        None => Mask::None,
        // Its places are divided, so none may be below zero on the way to it.
        Some(view) if in_units(view, 4) && view.strides().iter().all(|&s| s >= 0) => Mask::Quads,
        Some(_) => Mask::Each,
    };
    let dims = |i: usize| views[i].shape().dims();
    let (keys, values) = (dims(1)[3] / 4, dims(2)[3] / 4);
    let rows = dims(0)[2] * (dims(0)[1] / dims(1)[1].max(1));
    let lanes = sharers(caps);
    let shared = lanes.is_some();
    let fused = caps.identity.fuses();
    let listed = caps.identity.is_later_llvmpipe() && !fused;
    let block = lanes.unwrap_or(4) as usize;
    let all = dims(0)[..3].iter().product();
    let work = product([all, dims(1)[2], 4 * (keys + values)]);
    let is_large = shared && work >= WORK_LARGE;
    let unroll = if shared { [1, if is_large { block } else { 2 }] } else { [1, 1] };
    let inner: usize = unroll.iter().filter(|&&n| n < block).map(|n| block / n).sum();
    let trips = dims(1)[2].div_ceil(block) * (1 + inner);
    let is_long = trips > CORE_TRIPS as usize;
    let wished = match by {
        Some(AttentionChoice::Lanes { queries, unrolled }) => Some((queries, unrolled)),
        _ => None,
    };
    let unroll = match wished {
        _ if is_long => [block; 2],
        Some((_, unrolled)) if shared && block.is_multiple_of(unrolled) => [1, unrolled],
        _ => unroll,
    };
    // Every query loads a mask of its own, element by element, and loads take long to compile.
    let queries = match shared && (!is_large || is_long || mask == Mask::Each) {
        true => 2,
        false => {
            let [quads, most] = if shared && !fused { KEPT_SHARING } else { KEPT };
            let most = (quads / (keys + values)).clamp(2, most);
            // More queries to a load, unless more lanes have rows past the last. The loads of a
            // block take as long as five quarters of a query.
            let cost = |queries: &usize| rows.div_ceil(block * queries) * (4 * queries + 5);
            if shared { (2..=most).rev().min_by_key(cost).unwrap_or(most) } else { most }
        }
    };
    let queries = wished.map_or(queries, |(queries, _)| queries);
    let queries = queries.min(rows.div_ceil(block)).max(1);
    let by_eight = || views[..3].iter().all(|view| in_units(view, 8));
    let unit = match packed {
        Some(form) => Unit::Packed(form),
        None if target == Target::Cpu64 && by_eight() => Unit::Wide,
        None => Unit::Quad,
    };
    Block { keys, values, queries, block, unroll, shared, fused, listed, unit, mask }
}

/// The tile for these inputs, by workgroups, and how they share keys. `room` is how many elements a
/// segment holds of the states that they may leave.
pub(super) fn staged(
    views: &[Layout],
    packed: Option<Form>,
    room: usize,
    breadth: Breadth,
    batch_invariant: bool,
    by: Option<AttentionChoice>,
) -> (Staged, Splits) {
    let busy = breadth.share(BUSY);
    // As if each of a batch were alone: where there is no room for all, there are halves.
    let batches = if batch_invariant { views[0].shape().dims()[0].max(1) } else { 1 };
    let crowd = Crowd::of(views);
    let crowd = Crowd { heads: crowd.heads / batches, ..crowd };
    let [length, width] = [1, 2].map(|i: usize| views[i].shape().dims()[3] / 4);
    let shaped =
        |groups| Staged { packed, masked: views.len() > 3, ..shape(groups, length, width) };
    let filled = crowd.rows.div_ceil(ROWS).next_power_of_two();
    let fits = |groups: &usize| *groups <= filled && shaped(*groups).lanes() <= LANES[1];
    let is_busy = |groups: &usize| *groups <= 4 || crowd.workgroups(*groups) >= busy;
    let wished = match by {
        Some(AttentionChoice::Workgroups { groups, splits }) => Some((groups, splits)),
        _ => None,
    };
    let fitting = || GROUPS.into_iter().filter(fits);
    let groups = wished.map_or_else(
        || fitting().find(is_busy).unwrap_or(1),
        |(wished, _)| fitting().find(|&groups| groups <= wished).unwrap_or(1),
    );
    let tile = shaped(groups);
    // Parts of a row leave states. Where that is not worth a second pass, or there is no room, the
    // spare lanes get more row groups, which do no work.
    let states = tile.parts * crowd.splits_least(&tile);
    let is_shared = crowd.keys >= KEYS_SHARED && crowd.states_most(width, room) >= states;
    let tile = if is_shared { tile } else { shaped(groups.max(LANES[0] / tile.columns)) };
    let splits = Splits::of(&tile, crowd, [busy, room], wished.map(|(_, splits)| splits));
    (Staged { states: tile.parts * splits.count > 1, ..tile }, splits)
}

/// How many states of every row workgroups leave at most, where some need not be left for want of
/// room: as many as loops are too short without. Of a batch that may not matter each member leaves
/// what it does alone.
pub(super) fn states(views: &[Layout], room: usize, breadth: Breadth, invariant: bool) -> usize {
    if !invariant {
        return Crowd::of(views).keys.div_ceil(CHUNK_LEAST);
    }
    let (tile, splits) = staged(views, None, room, breadth, true, None);
    tile.parts * splits.count
}

impl AttentionSize {
    /// What is worth timing: of those that come to the same one.
    pub(crate) fn candidates(&self, on: Rig<'_>) -> Vec<AttentionChoice> {
        let target = on.target.of_tiles(on.caps);
        if is_products(self.queries, false, target) {
            return Vec::new();
        }
        self.views().map_or_else(|_| Vec::new(), |views| candidates(&views, target, on))
    }

    /// The views of dense inputs.
    fn views(&self) -> Result<Vec<Layout>> {
        let view = |[batch, heads, rows, length]: [usize; 4]| {
            let length = length.next_multiple_of(4);
            Ok(Layout::dense(Shape::new([batch, heads, rows, length])?))
        };
        self.shapes().into_iter().map(view).collect()
    }
}

fn candidates(views: &[Layout], target: Target, on: Rig<'_>) -> Vec<AttentionChoice> {
    let [length, width] = [1, 2].map(|i: usize| views[i].shape().dims()[3]);
    if is_staged(length, width, target) {
        let room = on.segment as usize / size_of::<f32>();
        let splits = |groups| {
            (0..SPLIT_BITS)
                .map(move |bits| AttentionChoice::Workgroups { groups, splits: 1 << bits })
        };
        return distinct(GROUPS.into_iter().flat_map(splits), |choice| {
            Some(staged(views, None, room, on.breadth, false, Some(choice)))
        });
    }
    let Some(lanes) = sharers(on.caps) else { return Vec::new() };
    let unrolled =
        |queries| [2, lanes as usize].map(|unrolled| AttentionChoice::Lanes { queries, unrolled });
    distinct(QUERIES.into_iter().flat_map(unrolled), |choice| {
        Some(tile(target, on.caps, views, None, Some(choice)))
    })
}

/// The tile of so many row groups. With few of them there are lanes enough for every quad of a
/// value, and few rows make use of a key that was brought.
fn shape(groups: usize, length: usize, width: usize) -> Staged {
    let wished = if groups > 4 { 2 } else { 1 };
    let columns = width.div_ceil(wished).next_power_of_two().clamp(8, 64);
    let quads = width.div_ceil(columns);
    let parts = (LANES[0] / (groups * columns)).max(1);
    let across = columns * parts;
    let each = groups.min(4).min(64 / across);
    let whole = |depth: &usize| length.is_multiple_of(*depth);
    let depth = [4, 2].into_iter().find(whole).unwrap_or(1);
    let run = (STAGE / (across * quads)).min(8);
    let (packed, masked, states) = (None, false, false);
    Staged {
        length,
        width,
        groups,
        parts,
        columns,
        each,
        quads,
        depth,
        run,
        packed,
        masked,
        states,
    }
}

/// Why it is computed as it is, by workgroups.
pub(super) fn staged_remark(tile: &Staged, splits: Splits, tuned: bool) -> String {
    let (rows, block, states) = (ROWS * tile.groups, tile.block(), tile.parts * splits.count);
    let left = if tile.states { format!(", {states} states of each") } else { String::new() };
    let why = if tuned { ": tuned" } else { "" };
    format!("attention by workgroups of {rows} rows and {block} keys at once{left}{why}")
}

/// Why it is computed as it is, by lanes.
pub(super) fn remark(tile: &Block, tuned: bool) -> String {
    let Block { queries, block, shared, .. } = tile;
    let each = if *shared { "one loaded by each lane of a subgroup" } else { "loaded by all" };
    let why = if tuned { ": tuned" } else { "" };
    format!("attention by {queries} queries a lane and {block} keys at once, {each}{why}")
}
