//! Layouts: where each element of a view lies.
//!
//! `element(i0, i1, ..) = offset + i0 * stride0 + i1 * stride1 + ..`, counted in elements. A view -
//! slice, permutation, flip, broadcast - is another layout over the same data; nothing here touches
//! data. Every layout is checked when it is made: its lowest and highest element fit in an `isize`,
//! so arithmetic inside cannot overflow.

use core::cmp::Reverse;
use core::ops::Range;

use crate::error::Result;
use crate::shape::cause::{ShapeCause, paced};
use crate::shape::{Axis, Cut, Cuts, Integer, Interval, IntoShape, RANK_MAX, Reshape, Shape};

/// A shape with a stride per axis and the offset of its first element, all in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    shape: Shape,
    strides: [isize; RANK_MAX],
    offset: usize,
}

/// Row-major strides; axes past the rank have stride 0.
fn row_major(shape: &Shape) -> [isize; RANK_MAX] {
    let mut strides = [0; RANK_MAX];
    let mut next = 1;
    for axis in (0..shape.rank()).rev() {
        strides[axis] = next;
        next *= shape.dims()[axis].max(1).cast_signed();
    }
    strides
}

impl Layout {
    /// Row-major without gaps, the last axis fastest: C order.
    #[must_use]
    pub fn dense(shape: Shape) -> Self {
        Self { shape, strides: row_major(&shape), offset: 0 }
    }

    /// Column-major without gaps, the first axis fastest: Fortran order.
    #[must_use]
    pub fn column_major(shape: Shape) -> Self {
        let mut strides = [0; RANK_MAX];
        let mut next = 1;
        for (stride, &dim) in strides.iter_mut().zip(shape.dims()) {
            *stride = next;
            next *= dim.max(1).cast_signed();
        }
        Self { shape, strides, offset: 0 }
    }

    /// Any strides (negative and zero too) from any offset, as long as every element lies at or
    /// after 0.
    pub fn strided(shape: impl IntoShape, strides: &[isize], offset: usize) -> Result<Self> {
        let shape = shape.into_shape()?;
        if strides.len() != shape.rank() {
            let rank = shape.rank();
            return Err(ShapeCause::Strides { strides: strides.len(), rank }.into());
        }
        let mut all = [0; RANK_MAX];
        all[..strides.len()].copy_from_slice(strides);
        let (lowest, highest) = reach(&shape, &all, offset);
        if !shape.is_empty() && (lowest < 0 || highest >= isize::MAX as i128) {
            let elements = isize::MAX.cast_unsigned();
            return Err(ShapeCause::Outside { lowest, highest, elements }.into());
        }
        if shape.is_empty() {
            // Strides of an empty shape mean nothing; dropping them keeps later arithmetic from
            // overflowing.
            return Ok(Self::dense(shape));
        }
        Ok(Self { shape, strides: all, offset })
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// One stride per axis, in elements.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        &self.strides[..self.shape.rank()]
    }

    /// Where the element at index 0 lies, in elements.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Whether it is row-major without gaps (from any offset): the elements in order are one run of
    /// memory.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        let want = row_major(&self.shape);
        let axes = self.shape.dims().iter().zip(self.strides().iter().zip(&want));
        self.shape.is_empty()
            || axes.into_iter().all(|(&dim, (have, want))| dim == 1 || have == want)
    }

    /// Whether it is all of a dense tensor of this shape, in order. Strides of axes of length 1 do
    /// not matter.
    #[must_use]
    pub(crate) fn is_all_of(&self, shape: &Shape) -> bool {
        self.offset == 0 && self.shape == *shape && self.is_dense()
    }

    /// The elements it touches, as a range of memory; empty for an empty shape.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        if self.shape.is_empty() {
            return self.offset..self.offset;
        }
        let (lowest, highest) = reach(&self.shape, &self.strides, self.offset);
        // Checked when the layout was made: 0 <= lowest <= highest < isize::MAX.
        usize::try_from(lowest).unwrap_or(0)..usize::try_from(highest).unwrap_or(0) + 1
    }

    /// Checks that it stays inside `elements` elements.
    pub fn check_within(&self, elements: usize) -> Result<()> {
        let span = self.span();
        if span.end <= elements || span.is_empty() {
            return Ok(());
        }
        let (lowest, highest) = (span.start as i128, span.end as i128 - 1);
        Err(ShapeCause::Outside { lowest, highest, elements }.into())
    }

    /// Checks that it has so many elements.
    pub(crate) fn check_whole(&self, elements: usize) -> Result<()> {
        if self.shape.elements() == elements {
            return Ok(());
        }
        Err(ShapeCause::Count { elements, shape: self.shape }.into())
    }

    /// Whether two indices share a place. Such a layout can be read but not written through.
    ///
    /// Exact for every layout that slicing, permuting, flipping and broadcasting can make. Any
    /// other counts as overlapping if its axes, sorted by stride, are not nested one inside the
    /// other.
    #[must_use]
    pub fn overlaps(&self) -> bool {
        if self.shape.is_empty() {
            return false;
        }
        let mut axes: Vec<(usize, usize)> = self.axes().filter(|&(dim, _)| dim > 1).collect();
        axes.sort_unstable_by_key(|&(_, stride)| stride);
        let mut reached = 0;
        axes.into_iter().any(|(dim, stride)| {
            let inside = stride <= reached;
            reached += (dim - 1) * stride;
            inside
        })
    }

    /// The elements that it has in memory: what is broadcast counts once.
    pub(crate) fn own(&self) -> usize {
        self.axes().filter(|&(_, stride)| stride != 0).map(|(dim, _)| dim).product()
    }

    /// Dimension and absolute stride, per axis.
    fn axes(&self) -> impl Iterator<Item = (usize, usize)> {
        self.shape.dims().iter().zip(self.strides()).map(|(&d, s)| (d, s.unsigned_abs()))
    }

    fn with(&self, dims: &[usize], strides: &[isize], offset: usize) -> Result<Self> {
        Self::strided(Shape::new(dims)?, strides, offset)
    }

    /// The elements `range` of one axis.
    pub fn slice(&self, axis: impl Into<Axis>, range: impl Into<Interval>) -> Result<Self> {
        self.slice_step(axis, range, 1)
    }

    /// The elements `range` of one axis, every `step`th of them.
    ///
    /// A negative step walks the range backwards from its last element.
    pub fn slice_step(
        &self,
        axis: impl Into<Axis>,
        range: impl Into<Interval>,
        step: isize,
    ) -> Result<Self> {
        let named = axis.into();
        let (axis, Range { start, end }) = self.shape.range(named, range)?;
        if step == 0 {
            return Err(ShapeCause::Step { axis: named }.into());
        }
        let count = (end - start).div_ceil(step.unsigned_abs());
        let (mut dims, mut strides) = (self.dims_array(), self.strides);
        dims[axis] = count;
        let first = if step > 0 { start } else { end.saturating_sub(1) };
        let offset = if count == 0 { self.offset } else { self.begin(axis, first) };
        // With at most one element left the stride is never used, and the product might overflow.
        strides[axis] = if count > 1 { strides[axis] * step } else { 1 };
        let rank = self.shape.rank();
        self.with(&dims[..rank], &strides[..rank], offset)
    }

    /// Where index `i` of an axis begins; `i` is inside the axis.
    fn begin(&self, axis: usize, i: usize) -> usize {
        self.offset.wrapping_add_signed(self.strides[axis] * i.cast_signed())
    }

    fn dims_array(&self) -> [usize; RANK_MAX] {
        let mut dims = [0; RANK_MAX];
        dims[..self.shape.rank()].copy_from_slice(self.shape.dims());
        dims
    }

    /// One place of an axis, which goes away.
    pub fn select(&self, axis: impl Into<Axis>, place: impl Integer) -> Result<Self> {
        let (named, place) = (axis.into(), place.wide());
        let (axis, length) = self.shape.find(named)?;
        let one = Axis::from(place).among(length);
        let one = one.ok_or(ShapeCause::Place { place, axis: named, length })?;
        self.slice(axis, one..one + 1)?.squeeze(axis)
    }

    /// A place or a range of each of the first axes, and the whole of the others.
    pub fn at(&self, cuts: impl Into<Cuts>) -> Result<Self> {
        let cuts = cuts.into();
        let (cuts, shape) = (cuts.all(), self.shape);
        if cuts.len() > shape.rank() {
            return Err(ShapeCause::Cuts { cuts: cuts.len(), shape }.into());
        }
        // From the last one on, so that axes keep their places until it is their turn.
        let mut axes = cuts.iter().enumerate().rev();
        axes.try_fold(*self, |layout, (axis, cut)| match *cut {
            Cut::Place(place) => layout.select(axis, place),
            Cut::Interval(interval) => layout.slice(axis, interval),
            Cut::Stepped(interval, step) => layout.slice_step(axis, interval, step),
        })
    }

    /// A range of each of the first axes, and the whole of the others.
    pub(crate) fn part(&self, ranges: &[Range<usize>]) -> Result<Self> {
        let mut axes = ranges.iter().enumerate();
        axes.try_fold(*self, |layout, (axis, range)| layout.slice(axis, range.clone()))
    }

    /// One axis backwards.
    pub fn flip(&self, axis: impl Into<Axis>) -> Result<Self> {
        self.slice_step(axis, .., -1)
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this.
    pub fn permute(&self, axes: impl IntoIterator<Item: Into<Axis>>) -> Result<Self> {
        self.permuted(axes.into_iter().map(Into::into).collect())
    }

    fn permuted(&self, axes: Vec<Axis>) -> Result<Self> {
        let rank = self.shape.rank();
        let order: Option<Vec<usize>> = axes.iter().map(|axis| axis.among(rank)).collect();
        let is_whole = |order: &Vec<usize>| {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted.into_iter().eq(0..rank)
        };
        let order = order.filter(is_whole).ok_or(ShapeCause::Permutation { axes, rank })?;
        let dims: Vec<usize> = order.iter().map(|&a| self.shape.dims()[a]).collect();
        let strides: Vec<isize> = order.iter().map(|&a| self.strides[a]).collect();
        self.with(&dims, &strides, self.offset)
    }

    /// The axes as they were before [`Layout::permute`] put them in this order.
    pub(crate) fn unpermute(&self, axes: &[usize]) -> Result<Self> {
        let mut inverse: Vec<usize> = (0..axes.len()).collect();
        inverse.sort_by_key(|&i| axes[i]);
        self.permute(&inverse)
    }

    /// The axes from the largest stride to the smallest: the order in which memory is walked. One
    /// of stride zero lies nowhere, and follows the axis before it: as it would if each of a batch,
    /// for which something is the same, had its own.
    pub(crate) fn memory_order(&self) -> Vec<usize> {
        let is_placed = |axis: &usize| self.strides[*axis] != 0;
        let (mut order, others): (Vec<_>, Vec<_>) = (0..self.shape.rank()).partition(is_placed);
        order.sort_by_key(|&axis| Reverse(self.strides[axis].unsigned_abs()));
        for axis in others {
            let before = axis.checked_sub(1).and_then(|b| order.iter().position(|&a| a == b));
            order.insert(before.map_or(0, |at| at + 1), axis);
        }
        order
    }

    /// [`Layout::memory_order`], with one axis moved to the end so that it is walked fastest.
    pub(crate) fn order_along(&self, axis: usize) -> Vec<usize> {
        let mut order = self.memory_order();
        order.retain(|&other| other != axis);
        order.push(axis);
        order
    }

    /// The last two axes exchanged.
    pub fn t(&self) -> Result<Self> {
        let rank = self.shape.rank();
        if rank < 2 {
            return Err(ShapeCause::Ranks { shape: self.shape, takes: "2 or more" }.into());
        }
        let mut axes: Vec<usize> = (0..rank).collect();
        axes.swap(rank - 2, rank - 1);
        self.permute(&axes)
    }

    /// Diagonal `k` of a matrix.
    pub(crate) fn diagonal(&self, k: isize) -> Result<Self> {
        let axis = usize::from(k >= 0);
        let first = k.unsigned_abs().min(self.shape.dims()[axis]);
        let part = self.slice(axis, first..)?;
        let length = part.shape.dims().iter().copied().min().unwrap_or(0);
        // A single element never steps, and its stride might overflow.
        let stride = if length > 1 { part.strides().iter().sum() } else { 1 };
        self.with(&[length], &[stride], part.offset)
    }

    /// Repeats axes of length 1, and new ones in front, with stride 0.
    pub fn broadcast_to(&self, shape: impl IntoShape) -> Result<Self> {
        let to = shape.into_shape()?;
        if to == self.shape {
            return Ok(*self);
        }
        let refused = || ShapeCause::BroadcastTo { from: self.shape, to };
        let added = to.rank().checked_sub(self.shape.rank()).ok_or_else(refused)?;
        let mut strides = [0; RANK_MAX];
        for (axis, (&dim, &stride)) in self.shape.dims().iter().zip(self.strides()).enumerate() {
            strides[added + axis] = match (dim, to.dims()[added + axis]) {
                (a, b) if a == b => stride,
                (1, _) => 0,
                _ => return Err(refused().into()),
            };
        }
        self.with(to.dims(), &strides[..to.rank()], self.offset)
    }

    /// Without an axis of length 1.
    pub fn squeeze(&self, axis: impl Into<Axis>) -> Result<Self> {
        let named = axis.into();
        let (axis, dim) = self.shape.find(named)?;
        if dim != 1 {
            return Err(ShapeCause::Squeeze { axis: named, dim }.into());
        }
        let (mut dims, mut strides) = (self.shape.dims().to_vec(), self.strides().to_vec());
        dims.remove(axis);
        strides.remove(axis);
        self.with(&dims, &strides, self.offset)
    }

    /// With a new axis of length 1, which is `axis` of the result.
    pub fn unsqueeze(&self, axis: impl Into<Axis>) -> Result<Self> {
        let axis = self.shape.gap(axis)?;
        let (mut dims, mut strides) = (self.shape.dims().to_vec(), self.strides().to_vec());
        dims.insert(axis, 1);
        strides.insert(axis, 1);
        self.with(&dims, &strides, self.offset)
    }

    /// Overlapping windows of `size` along one axis, `step` apart: a new last axis of length
    /// `size`.
    pub fn windows(&self, axis: impl Into<Axis>, size: usize, step: usize) -> Result<Self> {
        let named = axis.into();
        let (axis, dim) = self.shape.find(named)?;
        paced(named, [size, step, 1])?;
        if size > dim {
            return Err(ShapeCause::Window { axis: named, size, step, dim }.into());
        }
        let (mut dims, mut strides) = (self.shape.dims().to_vec(), self.strides().to_vec());
        dims[axis] = (dim - size) / step + 1;
        dims.push(size);
        strides.push(strides[axis]);
        // A single window never steps, and its stride might overflow.
        strides[axis] = if dims[axis] > 1 { strides[axis] * step.cast_signed() } else { 1 };
        self.with(&dims, &strides, self.offset)
    }

    /// Another shape for the same elements in the same order, where strides can express it.
    pub fn reshape(&self, shape: impl Into<Reshape>) -> Result<Self> {
        let to = shape.into().of(&self.shape)?;
        if to.elements() != self.shape.elements() {
            return Err(ShapeCause::Reshape { from: self.shape, to }.into());
        }
        if to.is_empty() {
            return Ok(Self::dense(to));
        }
        self.restride(&to).map_or_else(
            || {
                let (shape, strides) = (self.shape, self.strides().to_vec());
                Err(ShapeCause::NotAView { shape, strides, to }.into())
            },
            |strides| self.with(to.dims(), &strides[..to.rank()], self.offset),
        )
    }

    /// Splits each merged run of axes into the new dimensions; `None` where a new axis would
    /// straddle two runs.
    fn restride(&self, to: &Shape) -> Option<[isize; RANK_MAX]> {
        let merged = self.collapse();
        let mut runs = merged.shape.dims().iter().zip(merged.strides()).rev();
        let (mut left, mut next) = (1, 1);
        let mut strides = [1; RANK_MAX];
        for axis in (0..to.rank()).rev() {
            let dim = to.dims()[axis];
            if dim == 1 {
                continue;
            }
            if left == 1 {
                let (&run, &stride) = runs.next()?;
                (left, next) = (run, stride);
            }
            if left % dim != 0 {
                return None;
            }
            strides[axis] = next;
            left /= dim;
            next *= if left > 1 { dim.cast_signed() } else { 1 };
        }
        Some(strides)
    }

    /// An equal layout with the fewest axes, same elements in the same order: axes of length 1
    /// vanish, and neighbours that step through memory as one are merged.
    #[must_use]
    pub fn collapse(&self) -> Self {
        if self.shape.is_empty() {
            return *self;
        }
        let mut axes: Vec<(usize, isize)> = Vec::with_capacity(RANK_MAX);
        for (&dim, &stride) in self.shape.dims().iter().zip(self.strides()) {
            match axes.last_mut() {
                _ if dim == 1 => {}
                Some((d, s)) if stride.checked_mul(dim.cast_signed()) == Some(*s) => {
                    (*d, *s) = (*d * dim, stride);
                }
                _ => axes.push((dim, stride)),
            }
        }
        let mut collapsed =
            Self { shape: Shape::SCALAR, strides: [0; RANK_MAX], offset: self.offset };
        let dims: Vec<usize> = axes.iter().map(|a| a.0).collect();
        // The element count is the same and the axes are fewer, so the shape exists.
        collapsed.shape = Shape::new(dims).unwrap_or(self.shape);
        for (to, (_, stride)) in collapsed.strides.iter_mut().zip(axes) {
            *to = stride;
        }
        collapsed
    }

    /// Where the `n`th element lies, counting in row-major order.
    #[must_use]
    pub fn place(&self, n: usize) -> usize {
        let mut rest = n;
        let mut place = self.offset;
        for (&dim, &stride) in self.shape.dims().iter().zip(self.strides()).rev() {
            let dim = dim.max(1);
            place = place.wrapping_add_signed((rest % dim).cast_signed() * stride);
            rest /= dim;
        }
        place
    }

    /// The place of every element, in row-major order.
    pub fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let layout = *self;
        (0..self.shape.elements()).map(move |n| layout.place(n))
    }
}

/// The lowest and the highest element of a layout that is not empty, in arithmetic that cannot
/// overflow.
fn reach(shape: &Shape, strides: &[isize; RANK_MAX], offset: usize) -> (i128, i128) {
    let (mut lowest, mut highest) = (offset as i128, offset as i128);
    for (&dim, &stride) in shape.dims().iter().zip(strides) {
        let far = (dim as i128 - 1).max(0) * stride as i128;
        lowest += far.min(0);
        highest += far.max(0);
    }
    (lowest, highest)
}

impl core::fmt::Display for Layout {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if *self == Self::dense(self.shape) {
            write!(f, "{} row-major", self.shape)
        } else if *self == Self::column_major(self.shape) {
            write!(f, "{} column-major", self.shape)
        } else {
            write!(f, "{} strides {:?} offset {}", self.shape, self.strides(), self.offset)
        }
    }
}

impl core::fmt::Debug for Layout {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(self, f)
    }
}
