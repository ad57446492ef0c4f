//! What attention reads and how it is shared among invocations: pure arithmetic on views of
//! queries, keys, values and perhaps a mask, all of four axes.

use core::ops::Range;

use super::text::Block;
use crate::error::Result;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::wgsl::Target;
use crate::wgsl::entry::CORE_TRIPS;

/// The most quads of a query and a value that stay in registers.
pub(crate) const QUADS_MAX: usize = 64;

/// The most keys, if a key or a value has `width` elements. A loop takes four keys in a trip, and
/// the keys of one head lie in one segment of `segment` elements.
pub(crate) fn keys_max(width: usize, segment: usize) -> usize {
    (4 * CORE_TRIPS as usize).min(segment / width.max(1).next_multiple_of(4))
}

/// Whether every row of a view is dense, and consists of whole units of `unit` elements. The stride
/// of an axis of length 1 does not matter.
pub(super) fn in_units(view: &Layout, unit: usize) -> bool {
    let (dims, strides) = (view.shape().dims(), view.strides());
    let inner = dims.len() - 1;
    let whole = |n: usize| n.is_multiple_of(unit);
    let mut outer = dims.iter().zip(strides).take(inner);
    strides[inner] == 1
        && whole(view.offset())
        && whole(dims[inner])
        && outer.all(|(&dim, stride)| dim <= 1 || whole(stride.unsigned_abs()))
}

/// The view with every two elements taken as one.
pub(super) fn in_pairs(view: &Layout) -> Result<Layout> {
    let mut dims = view.shape().dims().to_vec();
    let mut strides: Vec<isize> = view.strides().iter().map(|stride| stride / 2).collect();
    if let (Some(dim), Some(stride)) = (dims.last_mut(), strides.last_mut()) {
        (*dim, *stride) = (*dim / 2, 1);
    }
    Layout::strided(Shape::new(dims)?, &strides, view.offset() / 2)
}

/// How invocations share queries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crew {
    pub(super) workgroup: u32,
    /// Workgroups of each head that has keys of its own.
    pub(super) per_head: usize,
    pub(super) groups: usize,
}

impl Crew {
    pub(super) fn of(target: Target, tile: &Block, views: &[Layout]) -> Self {
        let workgroup = match target {
            Target::Gpu => 64,
            _ if tile.shared => tile.block as u32,
            _ => target.workgroup(),
        };
        let [batch, heads, queries] = [0, 1, 2].map(|axis| views[0].shape().dims()[axis]);
        let shared = views[1].shape().dims()[1];
        let rows = queries * (heads / shared.max(1));
        let per_head = rows.div_ceil(workgroup as usize * tile.queries);
        Self { workgroup, per_head, groups: batch * shared * per_head }
    }
}

/// Attention in two halves, whose results follow each other along an axis.
#[derive(Debug)]
pub(crate) struct Halves {
    pub(crate) axis: usize,
    pub(crate) views: [Vec<Layout>; 2],
}

impl Halves {
    /// The halves, if a view or the result has more elements than a segment; `None` if none has, or
    /// if no cut makes the largest smaller.
    pub(crate) fn of(views: &[Layout], causal: bool, segment: usize) -> Result<Option<Self>> {
        let [batch, heads, queries] = [0, 1, 2].map(|axis| views[0].shape().dims()[axis]);
        let result = Shape::new([batch, heads, queries, views[2].shape().dims()[3]])?;
        let result = Layout::dense(result);
        // A broadcast axis takes no memory, so a cut along it makes nothing smaller.
        let own = |view: &&Layout| -> usize {
            let axes = view.shape().dims().iter().zip(view.strides());
            axes.filter(|(_, stride)| **stride != 0).map(|(&dim, _)| dim).product()
        };
        let dims = [batch, heads, queries];
        let cuts = |view: &Layout, axis: usize| {
            dims[axis] > 1 && view.shape().dims()[axis] > 1 && view.strides()[axis] != 0
        };
        let large = views.iter().chain([&result]).max_by_key(own);
        let large = large.filter(|view| own(view) > segment);
        let Some(axis) = large.and_then(|view| (0..3).find(|&axis| cuts(view, axis))) else {
            return Ok(None);
        };
        // Heads that share keys stay together, unless all heads share them.
        let shared = views[1].shape().dims()[1];
        let unit = if axis == 1 && shared > 1 { heads / shared } else { 1 };
        let middle = dims[axis] / unit / 2 * unit;
        let half = |range| half(views, causal, axis, range);
        Ok(Some(Self { axis, views: [half(0..middle)?, half(middle..dims[axis])?] }))
    }
}

/// The views of the batches, heads or queries in a range.
fn half(views: &[Layout], causal: bool, axis: usize, range: Range<usize>) -> Result<Vec<Layout>> {
    let (heads, shared) = (views[0].shape().dims()[1], views[1].shape().dims()[1]);
    let (queries, keys) = (views[0].shape().dims()[2], views[1].shape().dims()[2]);
    // The last query of a part stands at the part's last key, so that a causal half sees fewer
    // keys.
    let seen = if axis == 2 && causal { (keys + range.end).saturating_sub(queries) } else { keys };
    let sharing = heads / shared;
    let part = |(i, view): (usize, &Layout)| {
        let of_keys = i == 1 || i == 2;
        let view = match i {
            0 => *view,
            3 => view.slice(3, 0..seen, 1)?,
            _ => view.slice(2, 0..seen, 1)?,
        };
        match axis {
            0 => view.slice(0, range.clone(), 1),
            1 if of_keys && shared > 1 => {
                view.slice(1, range.start / sharing..range.end / sharing, 1)
            }
            _ if of_keys => Ok(view),
            _ => view.slice(axis, range.clone(), 1),
        }
    };
    views.iter().enumerate().map(part).collect()
}
