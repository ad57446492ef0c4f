//! Where elements come from, on paper.

use core::ops::Range;

use super::text::Lookup;
use crate::layout::Layout;
use crate::wgsl::Space;

/// Where an element of a source lies for the coordinates of the output: a linear form, which may
/// begin outside the source.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub(crate) offset: i64,
    pub(crate) strides: Vec<i64>,
}

impl Course {
    /// The places of a view.
    pub(crate) fn of(layout: &Layout) -> Self {
        let strides = layout.strides().iter().map(|&s| s as i64).collect();
        Self { offset: layout.offset() as i64, strides }
    }

    /// The places where so many axes of an index stand for `axis`; and how far apart two indices
    /// lie.
    pub(crate) fn along(layout: &Layout, axis: usize, axes: usize) -> (Self, i64) {
        let mut course = Self::of(layout);
        let stride = course.strides[axis];
        course.strides.splice(axis..=axis, core::iter::repeat_n(0, axes));
        (course, stride)
    }
}

/// The segments that a span of elements touches.
pub(super) fn pieces(span: &Range<usize>, segment: usize) -> Range<usize> {
    span.start / segment..span.end.saturating_sub(1) / segment + 1
}

/// Whether the four elements of every quad come from a whole quad of the source, or none of them;
/// `edges` are where a range of places begins and how long it is, or the step of an index.
pub(super) fn is_whole(space: &Space, lookup: Lookup, edges: &[u32]) -> bool {
    let [source, view] = &*space.views else { return false };
    let Some((&inner, outer)) = source.strides.split_last() else { return false };
    let whole = |n: i64| n % 4 == 0;
    let rows = space.shape.last().is_some_and(|&n| n.is_multiple_of(4));
    let aligned = inner == 1 && outer.iter().all(|&s| whole(s)) && source.offset.is_multiple_of(4);
    let between = edges.iter().all(|edge| edge.is_multiple_of(4));
    let decides_for_all = view.strides.last() == Some(&0);
    rows && aligned
        && match lookup {
            // One place decides for all four, or the range begins and ends between quads.
            Lookup::Place => {
                let steps = view
                    .strides
                    .split_last()
                    .is_some_and(|(&last, outer)| last == 1 && outer.iter().all(|&s| whole(s)));
                decides_for_all || (steps && between)
            }
            Lookup::Index => decides_for_all && between,
        }
}
