//! The index space of a kernel: the output's shape, collapsed as far as every view of it allows,
//! and the way in which each view is best reached.

use super::slot::Way;
use crate::count::wrapped_i64;
use crate::layout::Layout;
use crate::shape::RANK_MAX;

/// A strided view of an index space, outermost dimension first, in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The first element, from the start of the bound range.
    pub offset: u32,
    /// One stride per dimension of the space; zero where the view is broadcast.
    pub strides: Vec<i64>,
}

impl View {
    /// A layout whose first element is this one of the bound range; indices are modulo 2^32.
    #[must_use]
    pub fn of(layout: &Layout, first: usize) -> Self {
        let strides = layout.strides().iter().map(|&stride| stride as i64).collect();
        Self { offset: first as u32, strides }
    }

    /// The strides as words.
    #[must_use]
    pub fn stride_words(&self) -> Vec<u32> {
        self.strides.iter().copied().map(wrapped_i64).collect()
    }
}

/// An index space of at least one element, collapsed, with its views and their ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Outermost first, no dimension of length 1.
    pub shape: Vec<u32>,
    /// The views, with strides for [`Space::shape`].
    pub views: Vec<View>,
    /// How a kernel reaches each view.
    pub ways: Vec<Way>,
}

impl Space {
    /// The space of a shape and the views of it. `None` past eight dimensions after collapsing:
    /// copy a view to dense first.
    #[must_use]
    pub fn of(shape: &[usize], views: &[View]) -> Option<Self> {
        let mut space = Self { shape: Vec::new(), views: Vec::new(), ways: Vec::new() };
        for view in views {
            space.views.push(View { offset: view.offset, strides: Vec::new() });
        }
        for (d, &n) in shape.iter().enumerate().filter(|&(_, &n)| n != 1) {
            space.push(n as u32, views, d);
        }
        if space.shape.len() > RANK_MAX {
            return None;
        }
        space.ways = space.views.iter().map(|view| space.way(view)).collect();
        Some(space)
    }

    /// Appends dimension `d`, or merges it with the one before where every view steps over both
    /// alike.
    fn push(&mut self, n: u32, views: &[View], d: usize) {
        let mut pairs = self.views.iter().zip(views);
        let outer = |view: &View| view.strides.last().copied();
        let merges = pairs.all(|(a, b)| outer(a) == Some(b.strides[d] * i64::from(n)));
        match self.shape.last_mut() {
            Some(last) if merges => {
                *last *= n;
                for (mine, view) in self.views.iter_mut().zip(views) {
                    mine.strides.pop();
                    mine.strides.push(view.strides[d]);
                }
            }
            _ => {
                self.shape.push(n);
                for (mine, view) in self.views.iter_mut().zip(views) {
                    mine.strides.push(view.strides[d]);
                }
            }
        }
    }

    fn way(&self, view: &View) -> Way {
        let Some(&inner) = view.strides.last() else {
            return Way::One;
        };
        let whole = |n: i64| n % 4 == 0;
        let aligned = whole(view.offset.into());
        if view.strides.iter().all(|&s| s == 0) {
            Way::One
        } else if aligned && self.is_dense(view) {
            Way::Dense
        } else if self.shape.last().is_some_and(|&n| !whole(n.into())) {
            Way::Any
        } else if inner == 0 {
            Way::Splat
        } else if inner == 1 && aligned && view.strides.iter().rev().skip(1).all(|&s| whole(s)) {
            Way::Row
        } else {
            Way::Step
        }
    }

    fn is_dense(&self, view: &View) -> bool {
        let mut expected = 1;
        self.shape.iter().zip(&view.strides).rev().all(|(&n, &s)| {
            let dense = s == expected;
            expected *= i64::from(n);
            dense
        })
    }

    /// Has every view reached element by element, for a kernel of one element to a lane.
    pub(crate) fn by_lanes(&mut self) {
        for (way, view) in self.ways.iter_mut().zip(&self.views) {
            *way = match way {
                Way::One | Way::Own(_) => *way,
                Way::Dense if view.offset == 0 => Way::Lane,
                _ => Way::EachStrided,
            };
        }
    }

    /// Elements in the space.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.shape.iter().product()
    }

    /// The rank that a text is written for: 0 where no view is strided.
    #[must_use]
    pub fn rank(&self) -> u32 {
        if self.strided().next().is_some() { self.shape.len() as u32 } else { 0 }
    }

    /// The views that are reached by strides.
    pub(crate) fn strided(&self) -> impl Iterator<Item = &View> {
        self.views.iter().zip(&self.ways).filter(|(_, way)| way.is_strided()).map(|(view, _)| view)
    }

    /// The offset of every view that has a binding of its own, in the unit of its way.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = u32> {
        let bound =
            self.views.iter().zip(&self.ways).filter(|(_, way)| !matches!(way, Way::Own(_)));
        bound.map(|(view, way)| if *way == Way::Dense { view.offset / 4 } else { view.offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(shape: &[usize], offset: u32, strides: &[i64]) -> (Way, Vec<u32>) {
        let view = View { offset, strides: strides.to_vec() };
        let space = Space::of(shape, &[view]).expect("few dimensions");
        (space.ways[0], space.shape)
    }

    #[test]
    fn dense_views_collapse_to_one_dimension() {
        assert_eq!(way(&[2, 3, 4], 0, &[12, 4, 1]), (Way::Dense, vec![24]));
        assert_eq!(way(&[2, 1, 12], 8, &[12, 77, 1]), (Way::Dense, vec![24]));
        assert_eq!(way(&[2, 3, 4], 2, &[12, 4, 1]), (Way::Step, vec![24]), "not at a whole quad");
        assert_eq!(way(&[5], 2, &[1]), (Way::Any, vec![5]));
    }

    #[test]
    fn every_view_is_reached_by_the_cheapest_way() {
        assert_eq!(way(&[], 3, &[]).0, Way::One);
        assert_eq!(way(&[7, 9], 3, &[0, 0]).0, Way::One);
        assert_eq!(way(&[6, 8], 4, &[16, 1]).0, Way::Row);
        assert_eq!(way(&[6, 8], 4, &[0, 1]).0, Way::Row, "a row, broadcast");
        assert_eq!(way(&[6, 8], 4, &[18, 1]).0, Way::Step, "rows begin anywhere");
        assert_eq!(way(&[6, 8], 1, &[1, 0]).0, Way::Splat, "a column, broadcast");
        assert_eq!(way(&[6, 8], 47, &[-8, -1]), (Way::Step, vec![48]), "flipped");
        assert_eq!(way(&[8, 6], 0, &[1, 8]).0, Way::Any, "rows end inside quads");
    }

    #[test]
    fn views_collapse_together_or_not_at_all() {
        let dense = View { offset: 0, strides: vec![8, 1] };
        let row = View { offset: 0, strides: vec![0, 1] };
        let space = Space::of(&[6, 8], &[dense, row]).expect("few dimensions");
        assert_eq!((space.shape.as_slice(), space.count(), space.rank()), (&[6, 8][..], 48, 2));
        assert_eq!(space.ways, [Way::Dense, Way::Row]);
    }

    #[test]
    fn nine_dimensions_that_do_not_collapse_are_too_many() {
        let strides: Vec<i64> = (0..9).map(|d| 5_i64.pow(8 - d)).collect();
        assert_eq!(Space::of(&[2; 9], &[View { offset: 0, strides }]), None);
    }
}
