//! Attention: scores, softmax and weighted values in one kernel, without a matrix of scores.

use std::sync::Arc;

use super::core::{Core, Head, Launch, Reach, Tail};
use super::{Held, Operand, moves};
use crate::count::{word, words};
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::{Error, Result, mistake};
use crate::exec::{Bound, Value};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::wgsl::Target;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::grid::fold;
use text::{Mask, Tile};

pub mod text;

/// The most quads of a query or a value that stay in registers.
pub(crate) const QUADS_MAX: usize = 64;
/// The most keys: four of them are one trip of a loop.
pub(crate) const KEYS_MAX: usize = 4 * CORE_TRIPS as usize;

/// Multiplications from which on it pays to compile four queries to a lane instead of two, and all
/// values of a block at once.
const WORK_LARGE: usize = 200_000_000;
/// Quads of queries and sums that a lane keeps: more leave the nearest cache.
const QUADS_KEPT: usize = 128;

/// Attention of `[batch, heads, queries, d]` to `[batch, shared heads, keys, d or e]`, all f32;
/// `d` and `e` are multiples of four. A fourth input is added to the scores.
#[derive(Debug)]
pub(crate) struct Attention {
    pub(crate) scale: f32,
    pub(crate) causal: bool,
}

impl Core for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let heads: Vec<Head> = (inputs.iter().enumerate())
            .map(|(i, head)| reachable(site, head, i == 3))
            .collect::<Result<_>>()?;
        let mask = match heads.get(3).and_then(Head::plain) {
            None => Mask::None,
            Some(operand) if in_units(&operand.layout, 4) => Mask::Quads,
            Some(_) => Mask::Each,
        };
        let tile = tile(site, &heads, mask);
        let mut loaded = heads.clone();
        if tile.wide {
            for head in &mut loaded[..3] {
                *head = in_pairs(head)?;
            }
        }
        let mut sources = Vec::new();
        for (i, head) in loaded.iter().enumerate() {
            let by_element = i == 3 && mask == Mask::Each;
            sources.push(Reach::raw(head, by_element)?.ok_or_else(astray)?);
        }
        let plain = Tail::identity(tail.shape, tail.given());
        // What is stored may be wider than what is computed.
        let one_segment = Engine::bytes_of(&tail.shape, tail.dtype)? <= site.engine.segment_bytes();
        let carried = match tail.reach(false)? {
            Some(_) if one_segment => tail,
            _ => &plain,
        };
        let reach = carried.reach(false)?.ok_or_else(astray)?;
        let avoid: Vec<u64> = sources.iter().flat_map(Reach::ids).chain(reach.ids()).collect();
        let bytes = Engine::bytes_of(&tail.shape, carried.dtype)?;
        let value = Value::new(site.engine.allocate(bytes, &avoid)?);
        let held = Held::new(&value, Layout::dense(tail.shape), carried.dtype)?;
        let [piece] = &*held.pieces else { return Err(astray()) };
        let workgroup = match site.target {
            Target::Gpu => 64,
            _ if tile.shared => word(tile.block)?,
            _ => site.target.workgroup(),
        };
        site.engine.remark(|| remark(&tile));
        let (job, groups) = self.job(&heads, workgroup * word(tile.queries)?, tile.wide)?;
        let regions = tile.regions();
        let regions: Vec<(&str, &str)> = regions.iter().map(|(n, text)| (*n, &**text)).collect();
        let launch = Launch {
            entry: &text::ATTENTION,
            heads: sources,
            tail: reach,
            output: (Bound::from(piece), 0),
            written: Arc::downgrade(&value),
            by_element: false,
            regions: &regions,
            workgroup: Some(workgroup),
            job,
            groups: fold(groups),
        };
        launch.record(site)?;
        if core::ptr::eq(carried, tail) {
            return Ok(value);
        }
        tail.apply(site, value)
    }
}

/// The tile for these inputs.
///
/// On a CPU a quad loaded in a loop costs as much as some 40 multiplications - llvmpipe goes
/// through the lanes, also where all want the same - so keys and values are handed around where
/// there are subgroups as wide as a vector, and one load serves all queries of a lane.
///
/// Measured with 8 heads of 64 and 512 tokens on llvmpipe (Mesa 22.3), by how often as fast as the
/// composed form, and by how long compiling takes beside the first:
///
/// | queries | keys of one trip, scores and values | times the composed | compiled in |
/// |---|---|---|---|
/// | 2 | 1, 2 | 1.9 | 1.0 |
/// | 2 | 1, 8 | 1.9 | 1.2 |
/// | 3 | 1, 2 | 2.1 | 1.5 |
/// | 3 | 1, 8 | 2.2 | 2.0 |
/// | 4 | 1, 2 | 2.1 | 1.8 |
/// | 4 | 1, 4 | 2.0 | 1.9 |
/// | 4 | 1, 8 | 2.4 | 2.3 |
/// | 5 | 1, 8 | 2.4 | 3.0 |
///
/// Tried and not faster: scores of 2, 4 and 8 keys at once; a register for a score instead of four;
/// `fma`, which the driver takes apart; loading half a key in each of two trips; taking the sums
/// down to a new highest score before the loop over the values instead of in it.
fn tile(site: Site<'_>, heads: &[Head], mask: Mask) -> Tile {
    let dims = |i: usize| heads[i].shape.dims();
    let (keys, values) = (dims(1)[3] / 4, dims(2)[3] / 4);
    let rows = dims(0)[2] * (dims(0)[1] / dims(1)[1].max(1));
    let lanes = match site.target {
        Target::Gpu => None,
        _ => site.engine.gpu.caps().subgroup_exact().filter(|lanes| [4, 8].contains(lanes)),
    };
    let shared = lanes.is_some();
    let block = lanes.unwrap_or(4) as usize;
    let work = dims(0)[..3].iter().product::<usize>() * dims(1)[2] * 4 * (keys + values);
    let is_large = shared && work >= WORK_LARGE;
    let unroll = match (site.target, shared) {
        (Target::Gpu, _) => [block; 2],
        (_, true) => [1, if is_large { block } else { 2 }],
        (_, false) => [1, 1],
    };
    let inner: usize = unroll.iter().filter(|&&n| n < block).map(|n| block / n).sum();
    let trips = dims(1)[2].div_ceil(block) * (1 + inner);
    let is_long = trips > CORE_TRIPS as usize;
    let unroll = if is_long { [block; 2] } else { unroll };
    let queries = match (site.target, shared) {
        (Target::Gpu, _) => 1,
        // Many masks are many loads, which take long to compile.
        (_, true) if !is_large || is_long || mask == Mask::Each => 2,
        _ => (QUADS_KEPT / (keys + values)).clamp(2, 4),
    };
    let queries = queries.min(rows.div_ceil(block)).max(1);
    let even = |x: &Head| x.plain().is_some_and(|operand| in_units(&operand.layout, 8));
    let wide = site.target == Target::Cpu64 && heads[..3].iter().all(even);
    Tile { keys, values, queries, block, unroll, shared, wide, mask }
}

/// The same elements, two of 32 bits at a time.
fn in_pairs(head: &Head) -> Result<Head> {
    let Some(operand) = head.plain() else { return Err(astray()) };
    let layout = &operand.layout;
    let mut dims = layout.shape().dims().to_vec();
    let mut strides: Vec<isize> = layout.strides().iter().map(|stride| stride / 2).collect();
    if let (Some(dim), Some(stride)) = (dims.last_mut(), strides.last_mut()) {
        (*dim, *stride) = (*dim / 2, 1);
    }
    let layout = Layout::strided(Shape::new(dims)?, &strides, layout.offset() / 2)?;
    Ok(Head::view(Operand { value: Arc::clone(&operand.value), layout, dtype: DType::U64 }))
}

impl Attention {
    /// The kernel's parameters, and how many groups there are.
    fn job(&self, heads: &[Head], at_once: u32, wide: bool) -> Result<(Vec<u32>, u32)> {
        let dims = |i: usize| heads[i].shape.dims();
        let strides = |i: usize, unit: isize| {
            let layout = heads[i].plain().map(|operand| operand.layout);
            let layout = layout.unwrap_or(Layout::dense(heads[i].shape));
            // Two's complement wraps to the same address.
            layout.strides().iter().map(|s| (s / unit) as u32).collect::<Vec<u32>>()
        };
        let [batch, count, queries] = words([0, 1, 2].map(|axis| dims(0)[axis]))?;
        let [shared, keys] = words([1, 2].map(|axis| dims(1)[axis]))?;
        let sharing = count / shared.max(1);
        let per_head = (queries * sharing).div_ceil(at_once);
        let mut job = vec![batch * shared, queries, keys, per_head];
        job.extend([shared, sharing, u32::from(self.causal), self.scale.to_bits()]);
        for i in 0..3 {
            job.extend(&strides(i, if wide { 8 } else { 4 })[..3]);
            job.push(0);
        }
        job.extend(if heads.len() > 3 { strides(3, 1) } else { vec![0; 4] });
        Ok((job, batch * shared * per_head))
    }
}

/// An input that the kernel can walk by its own strides - by quads, or the mask by elements - or a
/// copy that it can.
fn reachable(site: Site<'_>, head: &Head, by_element: bool) -> Result<Head> {
    let operand = head.realise(site)?;
    let held = Held::new(&operand.value, operand.layout, operand.dtype)?;
    let layout = &operand.layout;
    if held.is_in_one_segment() && (by_element || in_units(layout, 4)) {
        return Ok(Head::view(operand));
    }
    // What is broadcast is copied once.
    let mut own = *layout;
    for (axis, &stride) in layout.strides().iter().enumerate() {
        own = own.slice(axis, 0..if stride == 0 { 1 } else { layout.shape().dims()[axis] }, 1)?;
    }
    let value = moves::gather(site, &Operand { layout: own, ..operand.clone() })?;
    let layout = Layout::dense(*own.shape()).broadcast_to(layout.shape())?;
    Ok(Head::view(Operand { value, layout, dtype: operand.dtype }))
}

/// Whether every row of a view begins at a whole unit of so many elements, and is dense. An axis of
/// length 1 has no second place, whatever its stride.
fn in_units(layout: &Layout, unit: usize) -> bool {
    let (dims, strides) = (layout.shape().dims(), layout.strides());
    let inner = dims.len() - 1;
    let whole = |n: usize| n.is_multiple_of(unit);
    let mut outer = dims.iter().zip(strides).take(inner);
    strides[inner] == 1
        && whole(layout.offset())
        && whole(dims[inner])
        && outer.all(|(&dim, stride)| dim <= 1 || whole(stride.unsigned_abs()))
}

/// Why it is computed as it is.
fn remark(tile: &Tile) -> String {
    let Tile { queries, block, shared, .. } = tile;
    let each = if *shared { "one loaded by each lane of a subgroup" } else { "loaded by all" };
    format!("attention by {queries} queries a lane and {block} keys at once, {each}")
}

/// What was to lie in one segment does not.
fn astray() -> Error {
    mistake("attention", "an operand came in several segments")
}
