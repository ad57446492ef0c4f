//! Elements by what a mask says, and by several coordinates at once.

use super::{Other, Tensor};
use crate::count::word;
use crate::engine::site::asked;
use crate::error::{Error, Result, causes};
use crate::shape::Shape;
use crate::shape::cause::ShapeCause;

impl Tensor {
    /// A number - or elements of another tensor - where a mask holds, and its own elements
    /// elsewhere; shapes broadcast. Deferred, and fused: it is `mask.choose(value, self)`.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0], [3])?;
    /// let filled = x.masked_fill(&x.gt(1.5)?, 0.0)?;
    /// assert_eq!(filled.read_now::<f32>()?, [1.0, 0.0, 0.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn masked_fill(&self, mask: &Self, value: impl Into<Other>) -> Result<Self> {
        let filled = mask.choose(value, self).map_err(|error| error.during("masked_fill"));
        filled.map(|filled| filled.by(&self.device))
    }

    /// The parts that coordinates name: an index `[.., k]` has a place of each of the first `k`
    /// axes, and the result is `[..]` and what axes are left. Deferred; an index out of range is an
    /// error at the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// let (index, _) = device.upload(&[1, 0, 0, 2], [2, 2])?;
    /// assert_eq!(x.gather_nd(&index)?.read_now::<i32>()?, [4, 3]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn gather_nd(&self, index: &Self) -> Result<Self> {
        let what = "gather_nd";
        let at = Coordinates::of(self, index).map_err(|error| error.during(what))?;
        asked(|| {
            let places = at.places(what, index)?;
            let inner = vec![1; at.part.rank()];
            let places = places.reshape([places.shape().dims(), &*inner].concat())?;
            let shape = Shape::new([&at.outer[..], at.part.dims()].concat())?;
            let rows = self.reshape_copied([&[at.rows], at.part.dims()].concat())?;
            rows.picked(what, &places.broadcast_to(shape)?, 0, at.outer.len())
        })
    }

    /// A copy in which the parts that coordinates name are replaced: an index `[.., k]` has a place
    /// of each of the first `k` axes, and `source` is `[..]` and what axes are left. Of several
    /// parts for one place the last stays. What [`Tensor::nonzero`] finds is such an index: of all
    /// places where a mask holds. Recorded at once; an index out of range is an error at the next
    /// read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = device.zeros([2, 3], wharf::DType::I32)?;
    /// let (index, _) = device.upload(&[1, 0, 0, 2], [2, 2])?;
    /// let (source, _) = device.upload(&[7, 8], [2])?;
    /// assert_eq!(x.scatter_nd(&index, &source)?.read_now::<i32>()?, [0, 0, 8, 7, 0, 0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("index_put", "masked_scatter"))]
    #[track_caller]
    pub fn scatter_nd(&self, index: &Self, source: &Self) -> Result<Self> {
        let what = "scatter_nd";
        let named = |error: Error| error.during(what);
        let at = Coordinates::of(self, index).map_err(named)?;
        let wanted = Shape::new([&at.outer[..], at.part.dims()].concat()).map_err(named)?;
        if *source.shape() != wanted {
            let (source, part) = (*source.shape(), at.part);
            return Err(named(SelectCause::Source { source, wanted, part }.into()));
        }
        asked(|| {
            let count: usize = at.outer.iter().product();
            let places = at.places(what, index)?.reshape_copied([count])?;
            let part = at.part.elements();
            let rows = self.reshape_copied([at.rows, part])?;
            let source = source.reshape_copied([count, part])?;
            let keys = rows.destinations(what, 0.into(), &places.unsqueeze(1)?, &source, 2)?;
            rows.replaced(&keys, &source)?.reshape(*self.shape())
        })
    }
}

/// Coordinates on the first axes of a tensor.
struct Coordinates<'a> {
    tensor: &'a Tensor,
    /// How many axes have one.
    axes: usize,
    /// All that they can name.
    rows: usize,
    /// The axes of the index but for the last.
    outer: Vec<usize>,
    /// What each of them names.
    part: Shape,
}

impl<'a> Coordinates<'a> {
    fn of(tensor: &'a Tensor, index: &Tensor) -> Result<Self> {
        let Some((&axes, outer)) = index.shape().dims().split_last() else {
            return Err(ShapeCause::Ranks { shape: *index.shape(), takes: "1 or more" }.into());
        };
        let dims = tensor.shape().dims();
        if axes == 0 || axes > dims.len() {
            return Err(SelectCause::Axes { axes, shape: *tensor.shape() }.into());
        }
        let (named, part) = dims.split_at(axes);
        let (rows, outer) = (named.iter().product(), outer.to_vec());
        Ok(Self { tensor, axes, rows, outer, part: Shape::new(part)? })
    }

    /// Which of all rows each of them names: the first where one is out of range, which is noted.
    fn places(&self, what: &'static str, index: &Tensor) -> Result<Tensor> {
        let dims = &self.tensor.shape().dims()[..self.axes];
        let place = |axis: usize| {
            self.tensor.places(what, axis.into(), &index.select(-1, axis)?, dims[axis])
        };
        let first = place(0)?;
        let (mut sum, mut outside) = (first.clone(), first.eq(u32::MAX)?);
        for (axis, &dim) in dims.iter().enumerate().skip(1) {
            let next = place(axis)?;
            sum = sum.mul_add(word(dim)?, &next)?;
            outside = outside.or(next.eq(u32::MAX)?)?;
        }
        outside.choose(0u32, &sum)?.contiguous()
    }
}

causes! {
    /// What can be wrong with coordinates.
    enum SelectCause;

    Axes { axes: usize, shape: Shape }, Shape:
        ("coordinates of {axes} axes for {shape} of rank {}", shape.rank())
        help ("the last axis of the index has a place of each of the first axes: 1 to {}",
              shape.rank());
    Source { source: Shape, wanted: Shape, part: Shape }, Shape:
        ("a source of {source}, not {wanted}")
        help ("it is the index without its last axis, and then {part}, what each place names");
}
