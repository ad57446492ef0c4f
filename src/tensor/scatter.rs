//! Values to places that an index names, out of place; the same bits in every run.

use std::sync::Arc;

use super::Tensor;
use super::cause::TensorCause;
use super::number::Scalar;
use crate::count::word;
use crate::error::Result;
use crate::exec::Value;
use crate::kernel::{Operand, index_space, scatter};
use crate::layout::Layout;
use crate::op::Kind;
use crate::plan::Stored;
use crate::shape::{Axis, Shape};

impl Tensor {
    /// A copy in which, for every place of `source`, the element whose coordinate along `axis` is
    /// the index there is replaced. The index takes the shape of the source, by broadcasting; all
    /// other axes agree with this tensor. Of several values for one element the last in row-major
    /// order stays. Recorded at once; an index out of range is an error at the next read.
    #[track_caller]
    pub fn scatter(&self, axis: impl Into<Axis>, index: &Self, source: &Self) -> Result<Self> {
        let keys =
            self.destinations("scatter", axis.into(), index, source, source.shape().rank())?;
        let site = self.device.site();
        let elements = self.shape().elements();
        let winners = scatter::last(site, &keys, elements)?;
        // Positions plus one; 0 wraps to no position at all.
        let list = Shape::new([elements])?;
        let winners = Self::of(self.device.clone(), winners, Layout::dense(list), Stored::U32);
        let winners = (&winners - 1u32)?.contiguous()?.operand()?;
        let (own, from) = (self.operand()?, source.contiguous()?.operand()?);
        let value = scatter::replaced(site, &own, &from, &winners)?;
        Ok(Self::of(self.device.clone(), value, Layout::dense(*self.shape()), self.dtype))
    }

    /// A copy to which, for every place of `source`, its value is added at the element whose
    /// coordinate along `axis` is the index there. The index takes the shape of the source, by
    /// broadcasting; all other axes agree with this tensor.
    ///
    /// Values for one element are added up in row-major order, in blocks, f16 and bf16 in f32, and
    /// then added to it: the same bits in every run. Integers wrap. Recorded at once, but for the
    /// last addition; an index out of range is an error at the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let counts = device.zeros([3], wharf::DType::U32)?;
    /// let (classes, _) = device.upload(&[2, 0, 2], [3])?;
    /// let counts = counts.scatter_add(0, &classes, &device.ones([3], wharf::DType::U32)?)?;
    /// assert_eq!(counts.to_vec::<u32>()?, [1, 0, 2]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn scatter_add(&self, axis: impl Into<Axis>, index: &Self, source: &Self) -> Result<Self> {
        let (what, axis) = ("scatter_add", axis.into());
        let sum = match Kind::of(self.dtype()) {
            Kind::F32 => Stored::F32,
            Kind::I32 => Stored::I32,
            Kind::U32 => Stored::U32,
            Kind::Bool => {
                let (dtype, only) = (self.dtype(), "numbers");
                return Err(TensorCause::Only { what, dtype, only }.into());
            }
            _ => self.dtype,
        };
        let (place, _) = self.shape().find(axis).map_err(|error| error.during(what))?;
        let rank = self.key_axes(place, index, source, sum);
        let keys = self.destinations(what, axis, index, source, rank)?;
        let columns: usize = source.shape().dims()[rank..].iter().product();
        let totals = self.totals(&keys, source, sum, columns)?;
        let totals = Self::of(self.device.clone(), totals, Layout::dense(*self.shape()), sum);
        if sum == self.dtype {
            return self + &totals;
        }
        let wide = (self.cast_to(sum)? + &totals)?;
        if sum == Stored::F32 {
            return wide.cast_to(self.dtype);
        }
        // Integers wrap to their width.
        let shift = 32 - 8 * self.dtype.width() as u32;
        let wide = if sum == Stored::I32 {
            ((wide << shift.cast_signed())? >> shift.cast_signed())?
        } else {
            ((wide << shift)? >> shift)?
        };
        wide.cast_to(self.dtype)
    }

    /// How many leading axes tell destinations apart: those after them, where the index repeats
    /// itself, are moved as rows if a row is small and never cut.
    fn key_axes(&self, axis: usize, index: &Self, source: &Self, sum: Stored) -> usize {
        let (shape, rank) = (*source.shape(), source.shape().rank());
        let Ok(view) = index.layout.broadcast_to(shape) else { return rank };
        let repeats = |d: &usize| *d > axis && (view.strides()[*d] == 0 || shape.dims()[*d] == 1);
        let tail = (0..rank).rev().take_while(repeats).count();
        let columns: usize = shape.dims()[rank - tail..].iter().product();
        let (row, all) = (columns * sum.width(), self.shape().elements() * sum.width());
        let fits = scatter::fits(self.device.engine.segment_bytes(), row as u64, all as u64);
        if fits { rank - tail } else { rank }
    }

    /// The destination of every place of the source's first `rank` axes: its position among the
    /// elements - or rows - of this tensor, `u32::MAX` where the index is out of range.
    #[track_caller]
    fn destinations(
        &self,
        what: &'static str,
        axis: Axis,
        index: &Self,
        source: &Self,
        rank: usize,
    ) -> Result<Operand> {
        let named = |error: crate::Error| error.during(what);
        let (place, bound) = self.shape().find(axis).map_err(named)?;
        self.beside_axis(what, axis, source)?;
        self.device.engine.same_device(&source.device.engine).map_err(named)?;
        let (left, right) = (self.dtype(), source.dtype());
        if left != right {
            return Err(TensorCause::Dtypes { what, left, right }.into());
        }
        let mut index = index.broadcast_to(source.shape()).map_err(named)?;
        for last in (rank..source.shape().rank()).rev() {
            // An empty row has no destination.
            let some = source.shape().dims()[last].min(1);
            index = index.slice(last, 0..some)?;
            index = if some == 1 { index.squeeze(last)? } else { index };
        }
        let places = self.places(what, axis, &index, bound)?;
        let dims = &self.shape().dims()[..rank];
        // Every key is a word.
        index_space(dims.iter().product()).map_err(named)?;
        let mut keys: Option<Self> = None;
        let mut stride = 1;
        for (d, &dim) in dims.iter().enumerate().rev() {
            let coordinate = if d == place {
                Some(places.clone())
            } else if dim > 1 {
                let mut at = [1; crate::shape::RANK_MAX];
                at[d] = dim;
                Some(self.device.iota(dim)?.reshape(&at[..rank])?)
            } else {
                None
            };
            if let Some(coordinate) = coordinate {
                let term = (&coordinate * word(stride)?)?;
                keys = Some(match keys {
                    Some(keys) => (&term + &keys)?,
                    None => term,
                });
            }
            stride *= dim;
        }
        let keys = keys.unwrap_or_else(|| places.clone());
        let none = Scalar::from(u32::MAX);
        let keys = places.eq(none)?.choose(none, &keys)?;
        keys.contiguous()?.reshape([keys.shape().elements()])?.operand()
    }

    /// For every destination the sum of the rows that go there, minus zero where there are none.
    #[track_caller]
    fn totals(
        &self,
        keys: &Operand,
        source: &Self,
        sum: Stored,
        columns: usize,
    ) -> Result<Arc<Value>> {
        let none = if sum.is_float() { Scalar::from(-0.0f32) } else { Scalar::from(0u8) };
        let totals = self.device.full(*self.shape(), *sum, none)?.operand()?;
        let count = keys.layout.shape().elements();
        let rows = source.cast_to(sum)?.contiguous()?.reshape([count, columns])?.operand()?;
        scatter::add(self.device.site(), keys, &rows, &totals)?;
        Ok(totals.value)
    }
}
