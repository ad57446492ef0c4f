//! What attention reads and how it is shared among invocations: pure arithmetic on views of
//! queries, keys, values and perhaps a mask, all of four axes.

use core::ops::Range;

use super::text::Block;
use super::text::staged::{ROWS, Staged};
use crate::count::product;
use crate::error::Result;
use crate::layout::Layout;
use crate::reference::Sight;
use crate::shape::Shape;
use crate::wgsl::Target;
use crate::wgsl::entry::CORE_TRIPS;

/// The most quads of a query and a value.
pub(crate) const QUADS_MAX: usize = 128;

/// Keys that a workgroup of any tile can take of a row.
pub(super) const CHUNK_LEAST: usize = 6144;
/// Workgroups that keep a GPU of the usual breadth busy: fewer are taken apart, if that is worth a
/// second pass.
pub(super) const BUSY: usize = 128;
/// The keys from which on a second pass is worth its while.
pub(super) const KEYS_SHARED: usize = 256;
/// Blocks of keys that are worth a workgroup of their own.
const BLOCKS_WORTH: usize = 4;

/// The most keys, if a key or a value has `width` elements. A loop takes four keys in a trip, and
/// the keys of one head lie in one segment of `segment` elements.
pub(super) fn keys_max(width: usize, segment: usize) -> usize {
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

/// How invocations share queries, where each takes its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crew {
    pub(super) workgroup: u32,
    /// Workgroups of each head that has keys of its own.
    pub(super) per_head: usize,
    pub(super) groups: usize,
}

impl Crew {
    pub(super) fn of(target: Target, tile: &Block, views: &[Layout]) -> Self {
        let workgroup = if tile.shared { tile.block as u32 } else { target.workgroup() };
        let Crowd { heads, rows, .. } = Crowd::of(views);
        let per_head = rows.div_ceil(workgroup as usize * tile.queries);
        Self { workgroup, per_head, groups: heads * per_head }
    }
}

/// What attention counts: all of these heads share no keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd {
    /// Heads of keys, of all batches.
    pub(super) heads: usize,
    /// Rows of a head of keys: the queries of every head that shares it.
    pub(super) rows: usize,
    pub(super) keys: usize,
}

impl Crowd {
    pub(super) fn of(views: &[Layout]) -> Self {
        let [batch, heads, queries] = [0, 1, 2].map(|axis| views[0].shape().dims()[axis]);
        let [shared, keys] = [1, 2].map(|axis| views[1].shape().dims()[axis]);
        Self { heads: batch * shared, rows: queries * (heads / shared.max(1)), keys }
    }

    /// Workgroups of so many row groups, if each takes all keys.
    pub(super) const fn workgroups(&self, groups: usize) -> usize {
        self.heads * self.rows.div_ceil(ROWS * groups)
    }

    /// The splits of the keys that a tile cannot do without: loops have so many trips at most.
    pub(super) const fn splits_least(&self, tile: &Staged) -> usize {
        self.keys.div_ceil(chunk_max(tile))
    }

    /// How many states of every row are fewer than `room` elements.
    pub(super) fn states_most(&self, width: usize, room: usize) -> usize {
        room / (self.heads * self.rows * 4 * (width + 1)).max(1)
    }
}

/// The most keys of a workgroup.
pub(super) const fn chunk_max(tile: &Staged) -> usize {
    CORE_TRIPS as usize / tile.trips() * tile.block()
}

/// How the keys of a row are shared among workgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Splits {
    pub(super) count: usize,
    /// Keys of each, whole blocks.
    pub(super) chunk: usize,
}

impl Splits {
    /// As many as make `busy` workgroups, or were asked for, and as leave no more states than
    /// `room` elements.
    pub(super) fn of(
        tile: &Staged,
        crowd: Crowd,
        [busy, room]: [usize; 2],
        asked: Option<usize>,
    ) -> Self {
        let (block, keys) = (tile.block(), crowd.keys);
        let worth = if keys < KEYS_SHARED { 1 } else { keys.div_ceil(BLOCKS_WORTH * block) };
        let fitting = crowd.states_most(tile.width, room) / tile.parts;
        let workgroups = crowd.workgroups(tile.groups).max(1);
        let wish = if workgroups < busy { 2 * busy / workgroups } else { 1 };
        let wish = asked.unwrap_or(wish);
        let count = wish.min(worth).min(fitting).max(crowd.splits_least(tile)).max(1);
        let chunk = keys.div_ceil(count).next_multiple_of(block);
        Self { count: keys.div_ceil(chunk), chunk }
    }
}

/// Attention in two halves, whose results follow each other along an axis.
#[derive(Debug)]
pub(crate) struct Halves {
    pub(crate) axis: usize,
    pub(crate) each: [(Vec<Layout>, Sight); 2],
}

impl Halves {
    /// The halves, if a view or the result - or the states that workgroups leave of it, so many to
    /// a row - has more elements than a segment; `None` if none has, or if no cut makes the largest
    /// smaller.
    pub(crate) fn of(
        views: &[Layout],
        sight: Sight,
        states: usize,
        segment: usize,
    ) -> Result<Option<Self>> {
        let [batch, heads, queries] = [0, 1, 2].map(|axis| views[0].shape().dims()[axis]);
        let length = views[2].shape().dims()[3];
        let each = if states > 1 { [length + 4, states] } else { [length, 1] };
        let dims = [batch, heads, queries];
        let result = product(dims).saturating_mul(product(each));
        let own = |view: &Option<&Layout>| view.map_or(result, |view| view.own() as u64);
        // A broadcast axis takes no memory, so a cut along it makes nothing smaller.
        let cuts = |view: Option<&Layout>, axis: usize| {
            let walked = |view: &Layout| view.shape().dims()[axis] > 1 && view.strides()[axis] != 0;
            dims[axis] > 1 && view.is_none_or(walked)
        };
        let large = views.iter().map(Some).chain([None]).max_by_key(own);
        let large = large.filter(|view| own(view) > segment as u64);
        let Some(axis) = large.and_then(|view| (0..3).find(|&axis| cuts(view, axis))) else {
            return Ok(None);
        };
        // Heads that share keys stay together, unless all heads share them.
        let shared = views[1].shape().dims()[1];
        let unit = if axis == 1 && shared > 1 { heads / shared } else { 1 };
        let middle = dims[axis] / unit / 2 * unit;
        let half = |range| half(views, sight, axis, range);
        Ok(Some(Self { axis, each: [half(0..middle)?, half(middle..dims[axis])?] }))
    }
}

/// The views of the batches, heads or queries in a range, and of the keys that these see.
fn half(
    views: &[Layout],
    sight: Sight,
    axis: usize,
    range: Range<usize>,
) -> Result<(Vec<Layout>, Sight)> {
    let (heads, shared) = (views[0].shape().dims()[1], views[1].shape().dims()[1]);
    let (queries, keys) = (views[0].shape().dims()[2], views[1].shape().dims()[2]);
    let of = if axis == 2 { range.clone() } else { 0..queries };
    let seen = sight.from(of.start, 0).reached(of.len(), keys);
    let sharing = heads / shared;
    let part = |(i, view): (usize, &Layout)| {
        let of_keys = i == 1 || i == 2;
        let view = match i {
            0 => *view,
            3 => view.slice(3, seen.clone())?,
            _ => view.slice(2, seen.clone())?,
        };
        match axis {
            0 => view.slice(0, range.clone()),
            1 if of_keys && shared > 1 => view.slice(1, range.start / sharing..range.end / sharing),
            _ if of_keys => Ok(view),
            _ => view.slice(axis, range.clone()),
        }
    };
    let views = views.iter().enumerate().map(part).collect::<Result<_>>()?;
    Ok((views, sight.from(of.start, seen.start)))
}

#[cfg(test)]
mod tests {
    use super::super::choice::tile;
    use super::*;
    use crate::caps::fixtures;

    /// Dense queries, keys and values, of so many batches, heads, heads of keys, queries and keys.
    fn views([batch, heads, shared, queries, keys]: [usize; 5]) -> Vec<Layout> {
        let dense = |[heads, rows]: [usize; 2]| {
            Layout::dense(Shape::new([batch, heads, rows, 8]).expect("a shape"))
        };
        [[heads, queries], [shared, keys], [shared, keys]].map(dense).to_vec()
    }

    #[test]
    fn a_head_of_keys_lies_in_one_segment() {
        assert_eq!([keys_max(64, 1000), keys_max(3, 1000), keys_max(0, 1000)], [15, 250, 250]);
        assert_eq!(keys_max(4, usize::MAX), 4 * CORE_TRIPS as usize);
    }

    #[test]
    fn pairs_are_half_as_many_at_half_the_steps() {
        let shape = Shape::new([2, 3, 5, 8]).expect("a shape");
        let view = Layout::strided(shape, &[240, 8, 24, 1], 16).expect("a view");
        let pairs = in_pairs(&view).expect("a view");
        assert_eq!(pairs.shape().dims(), [2, 3, 5, 4]);
        assert_eq!((pairs.strides(), pairs.offset()), (&[120, 4, 12, 1][..], 8));
    }

    #[test]
    fn lanes_take_the_queries_of_all_heads_that_share_keys() {
        let views = views([3, 8, 2, 100, 10]);
        let tile = tile(Target::Cpu, &fixtures::lavapipe(), &views, None, None);
        let Crew { workgroup, per_head, groups } = Crew::of(Target::Cpu, &tile, &views);
        assert_eq!(per_head, 400_usize.div_ceil(workgroup as usize * tile.queries));
        assert_eq!(groups, 3 * 2 * per_head);
    }

    #[test]
    fn cuts_make_the_largest_smaller_and_keep_heads_together_that_share_keys() {
        let cut = |of: [usize; 5], segment| {
            let halves = Halves::of(&views(of), Sight::FULL, 1, segment).expect("views");
            halves.map(|halves| (halves.axis, halves.each[0].0[0].shape().dims()[halves.axis]))
        };
        assert_eq!(cut([2, 4, 4, 10, 10], 100_000), None, "all of it fits");
        assert_eq!(cut([2, 4, 4, 10, 10], 600), Some((0, 1)));
        assert_eq!(cut([1, 12, 3, 10, 10], 900), Some((1, 4)), "four heads share keys");
        assert_eq!(cut([1, 12, 1, 100, 10], 900), Some((1, 6)), "all share them");
        assert_eq!(cut([1, 1, 1, 1, 500], 900), None, "there is nothing to cut");
        // States of rows by workgroups count too.
        let many = Halves::of(&views([1, 1, 1, 3000, 7000]), Sight::FULL, 2, 60_000);
        let many = many.expect("views");
        assert_eq!(many.map(|halves| halves.axis), Some(2));
        // Of a mask that all heads share a cut along heads leaves all.
        let shape = Shape::new([1, 2, 20, 60]).expect("a shape");
        let mask = Layout::strided(shape, &[0, 0, 60, 1], 0).expect("a view");
        let masked = [views([1, 2, 2, 20, 60]), vec![mask]].concat();
        let halves = Halves::of(&masked, Sight::FULL, 1, 1100).expect("views");
        assert_eq!(halves.map(|halves| halves.axis), Some(2));
    }
}
