//! Which way of attention is taken, and how much of it an invocation keeps.
//!
//! On llvmpipe a quad loaded in a loop costs as much as some 40 multiplications, because it loads
//! for one lane after the other, even where all lanes need the same quad. So where subgroups are as
//! wide as a vector, each lane loads one key and broadcasts it, and one load serves all queries of
//! a lane. What was tried and rejected stands in `docs/measured/attention.md`.

use super::plan::in_units;
use super::text::{Block, Mask};
use crate::layout::Layout;
use crate::wgsl::Target;
use crate::wgsl::entry::CORE_TRIPS;

/// From so many multiplications on, four queries to a lane instead of two, and all values of a
/// block at once, save more than their compiling costs.
const WORK_LARGE: usize = 200_000_000;
/// The most quads of queries and sums that a lane keeps: more do not fit into the nearest cache.
const QUADS_KEPT: usize = 128;

/// Whether products of matrices are faster, on a CPU adapter: where a head has one query that sees
/// every key, most lanes of the attention kernel would have no query.
pub(crate) fn is_products(queries: usize, is_masked: bool, target: Target) -> bool {
    queries == 1 && !is_masked && target != Target::Gpu
}

/// The tile for these inputs. `lanes` is the size of every subgroup, if all have the same.
pub(super) fn tile(target: Target, lanes: Option<u64>, views: &[Layout]) -> Block {
    let mask = match views.get(3) {
        None => Mask::None,
        Some(view) if in_units(view, 4) => Mask::Quads,
        Some(_) => Mask::Each,
    };
    let dims = |i: usize| views[i].shape().dims();
    let (keys, values) = (dims(1)[3] / 4, dims(2)[3] / 4);
    let rows = dims(0)[2] * (dims(0)[1] / dims(1)[1].max(1));
    let lanes = lanes.filter(|lanes| target != Target::Gpu && [4, 8].contains(lanes));
    let shared = lanes.is_some();
    let block = lanes.unwrap_or(4) as usize;
    let work = dims(0)[..3].iter().product::<usize>() * dims(1)[2] * 4 * (keys + values);
    let is_large = shared && work >= WORK_LARGE;
    let unroll = match (target, shared) {
        (Target::Gpu, _) => [block; 2],
        (_, true) => [1, if is_large { block } else { 2 }],
        (_, false) => [1, 1],
    };
    let inner: usize = unroll.iter().filter(|&&n| n < block).map(|n| block / n).sum();
    let trips = dims(1)[2].div_ceil(block) * (1 + inner);
    let is_long = trips > CORE_TRIPS as usize;
    let unroll = if is_long { [block; 2] } else { unroll };
    let queries = match (target, shared) {
        (Target::Gpu, _) => 1,
        // Every query loads a mask of its own, element by element, and loads take long to compile.
        (_, true) if !is_large || is_long || mask == Mask::Each => 2,
        _ => (QUADS_KEPT / (keys + values)).clamp(2, 4),
    };
    let queries = queries.min(rows.div_ceil(block)).max(1);
    let wide = target == Target::Cpu64 && views[..3].iter().all(|view| in_units(view, 8));
    Block { keys, values, queries, block, unroll, shared, wide, mask }
}

/// Why it is computed as it is.
pub(super) fn remark(tile: &Block) -> String {
    let Block { queries, block, shared, .. } = tile;
    let each = if *shared { "one loaded by each lane of a subgroup" } else { "loaded by all" };
    format!("attention by {queries} queries a lane and {block} keys at once, {each}")
}
