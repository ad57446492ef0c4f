//! The index space of a kernel: the output's shape, collapsed as far as every view of it allows, and the way in which
//! each view is best reached.

use super::assemble::Way;
use super::params::RANK_MAX;

/// A strided view of an index space, outermost dimension first, in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The first element, from the start of the bound range.
    pub offset: u32,
    /// One stride per dimension of the space; zero where the view is broadcast.
    pub strides: Vec<i64>,
}

impl View {
    pub(crate) fn stride_words(&self) -> Vec<u32> {
        // Two's complement wraps to the same address.
        self.strides.iter().map(|&s| s as u32).collect()
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
    /// The space of a shape and the views of it. `None` past eight dimensions after collapsing: copy a view to
    /// dense first.
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

    /// Appends dimension `d`, or merges it with the one before where every view steps over both alike.
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

    /// Elements in the space.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.shape.iter().product()
    }

    /// The rank for [`assemble::kernel`](super::assemble::kernel): 0 where no view is strided.
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
        let bound = self.views.iter().zip(&self.ways).filter(|(_, way)| !matches!(way, Way::Own(_)));
        bound.map(|(view, way)| if *way == Way::Dense { view.offset / 4 } else { view.offset })
    }
}
