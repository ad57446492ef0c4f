//! Tensors put together and taken apart. Joining moves bits, from any views; taking apart costs
//! nothing.

use core::borrow::Borrow;
use core::ops::Range;

use super::Tensor;
use super::cause::TensorCause;
use super::number::Scalar;
use crate::engine::Site;
use crate::engine::site::asked;
use crate::error::{Error, Result, mistake};
use crate::kernel::cores::Task;
use crate::kernel::{Operand, fill, moves, pick};
use crate::proof::Oracle;
use crate::shape::{Axis, Shape};

/// What lies beside a tensor that is padded: see [`Tensor::pad`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pad {
    /// A number everywhere; it stands for itself where a `Pad` is taken.
    Constant(Scalar),
    /// The tensor mirrored at its first and last element, which are not repeated.
    Reflect,
    /// Its first or last element again and again.
    Replicate,
    /// What lies at its other end, as if it went round.
    #[doc(alias = "circular")]
    Wrap,
}

impl<S: Into<Scalar>> From<S> for Pad {
    fn from(number: S) -> Self {
        Self::Constant(number.into())
    }
}

impl Tensor {
    /// Several tensors, at least one, one after the other along an axis; borrowed or not. Dtypes
    /// and all other axes must agree. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::Tensor;
    ///
    /// let (a, _) = device.upload(&[1, 2, 3, 4], [2, 2])?;
    /// let (b, _) = device.upload(&[8, 9], [2, 1])?;
    /// assert_eq!(Tensor::concat(&[&a, &b], -1)?.read_now::<i32>()?, [1, 2, 8, 3, 4, 9]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("cat", "concatenate", "hstack", "vstack"))]
    #[track_caller]
    pub fn concat(tensors: &[impl Borrow<Self>], axis: impl Into<Axis>) -> Result<Self> {
        join("concat", &borrowed(tensors), axis.into())
    }

    /// Several tensors of one shape along a new axis, borrowed or not. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::Tensor;
    ///
    /// let (x, _) = device.upload(&[1, 2], [2])?;
    /// let (y, _) = device.upload(&[3, 4], [2])?;
    /// assert_eq!(Tensor::stack(&[&x, &y], 0)?.read_now::<i32>()?, [1, 2, 3, 4]);
    /// assert_eq!(Tensor::stack(&[&x, &y], -1)?.read_now::<i32>()?, [1, 3, 2, 4]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn stack(tensors: &[impl Borrow<Self>], axis: impl Into<Axis>) -> Result<Self> {
        let (axis, tensors) = (axis.into(), borrowed(tensors));
        let shape = |tensor: &&Self| *tensor.shape();
        let mut shapes = tensors.iter().map(shape);
        if let Some(left) = shapes.next()
            && let Some(right) = shapes.find(|right| *right != left)
        {
            return Err(TensorCause::Stack { left, right }.into());
        }
        let tensors = tensors.into_iter().map(|t| t.unsqueeze(axis));
        let tensors: Vec<Self> = tensors.collect::<Result<_>>()?;
        join("stack", &borrowed(&tensors), axis)
    }

    /// Consecutive parts of an axis, as views; the sizes must add up to it.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5], [5])?;
    /// let parts = x.split(0, &[1, 4])?;
    /// assert_eq!(parts[0].read_now::<i32>()?, [1]);
    /// assert_eq!(parts[1].read_now::<i32>()?, [2, 3, 4, 5]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn split(&self, axis: impl Into<Axis>, sizes: &[usize]) -> Result<Vec<Self>> {
        let axis = axis.into();
        let (_, dim) = self.shape().find(axis)?;
        let sum = sizes.iter().try_fold(0, |sum: usize, &size| sum.checked_add(size));
        if sum != Some(dim) {
            return Err(TensorCause::Sizes { axis, sizes: sizes.to_vec(), dim }.into());
        }
        let mut first = 0;
        let part = |&size: &usize| {
            first += size;
            self.slice(axis, first - size..first)
        };
        sizes.iter().map(part).collect()
    }

    /// An axis taken apart, which goes away: its parts as an array, of as many as it has, or it is
    /// an error. What [`Tensor::stack`] puts together; views.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (points, _) = device.upload(&[1, 2, 3, 4, 5, 6], [3, 2])?;
    /// let [x, y] = points.unstack(-1)?;
    /// assert_eq!((x * y)?.read_now::<i32>()?, [2, 12, 30]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "unbind")]
    #[track_caller]
    pub fn unstack<const N: usize>(&self, axis: impl Into<Axis>) -> Result<[Self; N]> {
        let (what, axis) = ("unstack", axis.into());
        let (place, dim) = self.shape().find(axis).map_err(|error| error.during(what))?;
        if dim != N {
            return Err(TensorCause::Unstack { axis, dim, parts: N }.into());
        }
        let parts = (0..N).map(|part| self.select(place, part)).collect::<Result<Vec<_>>>()?;
        parts.try_into().map_err(|_| mistake(what, "another number of parts"))
    }

    /// With elements added on each axis: `pads` has a pair `(before, after)` for every one. They
    /// are a number everywhere, or made of what is there: see [`Pad`]. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Pad;
    ///
    /// let (x, _) = device.upload(&[1, 2, 3], [3])?;
    /// assert_eq!(x.pad(&[(1, 2)], 0)?.read_now::<i32>()?, [0, 1, 2, 3, 0, 0]);
    /// assert_eq!(x.pad(&[(1, 2)], Pad::Wrap)?.read_now::<i32>()?, [3, 1, 2, 3, 1, 2]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn pad(&self, pads: &[(usize, usize)], with: impl Into<Pad>) -> Result<Self> {
        let with = with.into();
        asked(|| self.padded(pads, with))
    }

    fn padded(&self, pads: &[(usize, usize)], with: Pad) -> Result<Self> {
        if pads.len() != self.shape().rank() {
            return Err(TensorCause::Pads { pads: pads.len(), shape: *self.shape() }.into());
        }
        match with {
            Pad::Constant(number) => self.framed(pads, number),
            Pad::Reflect => self.extended(pads, Self::mirrored),
            Pad::Replicate => self.extended(pads, Self::repeated),
            Pad::Wrap => self.extended(pads, Self::wrapped),
        }
    }

    /// With more at both ends, one axis after the other: so many at the first end, or at the last.
    fn extended(
        &self,
        pads: &[(usize, usize)],
        beside: impl Fn(&Self, usize, usize, bool) -> Result<Self>,
    ) -> Result<Self> {
        let mut padded = self.clone();
        for (axis, &(before, after)) in pads.iter().enumerate() {
            let sides = [(before, true), (after, false)].map(|(pad, first)| match pad {
                0 => Ok(None),
                pad => beside(&padded, axis, pad, first).map(Some),
            });
            let [before, after] = sides;
            let parts: Vec<Self> = [before?, Some(padded), after?].into_iter().flatten().collect();
            padded = if parts.len() > 1 {
                join("pad", &borrowed(&parts), axis.into())?
            } else {
                parts[0].clone()
            };
        }
        Ok(padded)
    }

    fn mirrored(&self, axis: usize, pad: usize, first: bool) -> Result<Self> {
        let (_, dim) = self.shape().find(axis)?;
        if pad >= dim {
            return Err(TensorCause::Reflect { axis, pad, dim }.into());
        }
        let range = if first { 1..pad + 1 } else { dim - 1 - pad..dim - 1 };
        self.slice_step(axis, range, -1)
    }

    fn wrapped(&self, axis: usize, pad: usize, first: bool) -> Result<Self> {
        let (_, dim) = self.shape().find(axis)?;
        if pad > dim {
            return Err(TensorCause::Wrap { axis, pad, dim }.into());
        }
        if first { self.slice(axis, dim - pad..) } else { self.slice(axis, ..pad) }
    }

    fn repeated(&self, axis: usize, pad: usize, first: bool) -> Result<Self> {
        let (_, dim) = self.shape().find(axis)?;
        if dim == 0 {
            return Err(TensorCause::Replicate { axis, pad }.into());
        }
        let last = if first { 0 } else { dim - 1 };
        let mut dims = self.shape().dims().to_vec();
        dims[axis] = pad;
        self.slice(axis, last..last + 1)?.broadcast_to(&dims)
    }

    /// With a number around it, on all axes at once.
    fn framed(&self, pads: &[(usize, usize)], number: Scalar) -> Result<Self> {
        let named = |error: Error| error.during("pad");
        let ranges = self.shape().dims().iter().zip(pads);
        let ranges = ranges.map(|(&dim, &(before, _))| before..before.saturating_add(dim));
        let ranges: Vec<Range<usize>> = ranges.collect();
        // What is too much stays too much.
        let dims =
            ranges.iter().zip(pads).map(|(range, (_, after))| range.end.saturating_add(*after));
        let shape = Shape::new(dims.collect::<Vec<_>>()).map_err(named)?;
        let bytes = self.device.making("pad", self.dtype())?.number(number).map_err(named)?;
        if shape == *self.shape() {
            return Ok(self.clone());
        }
        let bits = fill::bits(&bytes[..self.dtype.width()]);
        let first = ranges.iter().map(|range| range.start).collect();
        let framed = move |site: Site<'_>, from: &[Operand]| {
            moves::assign::framed(site, &from[0], &shape, (&ranges, bits))
        };
        let named = Task::by("pad", Oracle::Framed { first, bits });
        Ok(self.alone(named, &[self], (shape, self.dtype), framed))
    }

    /// Shifted along an axis; what leaves at one end comes in at the other. A positive shift moves
    /// towards higher positions. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4], [4])?;
    /// assert_eq!(x.roll(0, 1)?.read_now::<i32>()?, [4, 1, 2, 3]);
    /// assert_eq!(x.roll(0, -1)?.read_now::<i32>()?, [2, 3, 4, 1]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn roll(&self, axis: impl Into<Axis>, shift: isize) -> Result<Self> {
        let axis = axis.into();
        let (_, dim) = self.shape().find(axis)?;
        let middle = match dim {
            0 => 0,
            _ => dim - shift.rem_euclid(isize::try_from(dim).unwrap_or(isize::MAX)).unsigned_abs(),
        };
        let [head, tail] = [0..middle, middle..dim].map(|range| self.slice(axis, range));
        join("roll", &[&tail?, &head?], axis)
    }

    /// The lower triangle of the last two axes, on and below diagonal `k`; zeros above it. The main
    /// diagonal is 0, the one above it 1. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3])?;
    /// assert_eq!(x.tril(0)?.read_now::<i32>()?, [1, 0, 0, 4, 5, 0, 7, 8, 9]);
    /// assert_eq!(x.tril(-1)?.read_now::<i32>()?, [0, 0, 0, 4, 0, 0, 7, 8, 0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn tril(&self, k: isize) -> Result<Self> {
        self.triangle("tril", isize::MIN..k.saturating_add(1))
    }

    /// The upper triangle of the last two axes, on and above diagonal `k`; zeros below it.
    /// Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3])?;
    /// assert_eq!(x.triu(0)?.read_now::<i32>()?, [1, 2, 3, 0, 5, 6, 0, 0, 9]);
    /// assert_eq!(x.triu(1)?.read_now::<i32>()?, [0, 2, 3, 0, 0, 6, 0, 0, 0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn triu(&self, k: isize) -> Result<Self> {
        self.triangle("triu", k..isize::MAX)
    }

    /// The elements whose column less row lies in a range; zeros elsewhere.
    #[track_caller]
    fn triangle(&self, what: &'static str, diagonals: Range<isize>) -> Result<Self> {
        // If there are no two axes, it is the error of `t`.
        self.layout.t().map_err(|error| error.during(what))?;
        let dims = self.shape().dims();
        let signed = |dim: usize| isize::try_from(dim).unwrap_or(isize::MAX);
        let [rows, columns] = [2, 1].map(|back| signed(dims[dims.len() - back]));
        let start = diagonals.start.max(1 - rows);
        let diagonals = start as i64..diagonals.end.min(columns).max(start) as i64;
        let named = Task::by(what, Oracle::Band { first: diagonals.start, end: diagonals.end });
        let band =
            move |site: Site<'_>, from: &[Operand]| pick::band(site, &from[0], diagonals.clone());
        Ok(self.alone(named, &[self], (*self.shape(), self.dtype), band))
    }

    /// The tensor as an operand of a kernel, computed now.
    pub(crate) fn operand(&self) -> Result<Operand> {
        Ok(Operand { value: self.realise()?, layout: self.layout, dtype: self.dtype() })
    }
}

fn borrowed(tensors: &[impl Borrow<Tensor>]) -> Vec<&Tensor> {
    tensors.iter().map(Borrow::borrow).collect()
}

#[track_caller]
fn join(what: &'static str, tensors: &[&Tensor], axis: Axis) -> Result<Tensor> {
    let first = tensors.first().ok_or(TensorCause::Nothing { what })?;
    let mut dims = first.shape().dims().to_vec();
    let (place, _) = first.shape().find(axis).map_err(|error| error.during(what))?;
    let mut total = 0usize;
    for tensor in tensors {
        first.device.engine.same_device(&tensor.device.engine).map_err(|e| e.during(what))?;
        let (left, right) = (first.dtype(), tensor.dtype());
        if left != right {
            return Err(TensorCause::Dtypes { what, left, right }.into());
        }
        first.beside_axis(what, axis, tensor)?;
        // What is too much stays too much.
        total = total.saturating_add(tensor.shape().dims()[place]);
    }
    dims[place] = total;
    let shape = Shape::new(&dims).map_err(|error| error.during(what))?;
    let joined =
        move |site: Site<'_>, sources: &[Operand]| pick::joined(site, shape, place, sources);
    let named = Task::by(what, Oracle::Joined { axis: place });
    Ok(first.alone(named, tensors, (shape, first.dtype), joined))
}
