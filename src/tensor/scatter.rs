//! Values to places that an index names, out of place; the same bits in every run.

use std::sync::Arc;

use super::Tensor;
use super::cause::{TensorCause, computed_with};
use super::keys::Order;
use super::number::Scalar;
use crate::count::{product, word};
use crate::device::Device;
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::{Error, Result, mistake};
use crate::exec::Value;
use crate::kernel::cores::Task;
use crate::kernel::scatter::Merging;
use crate::kernel::{Operand, fill, index_space, scatter};
use crate::layout::Layout;
use crate::op::{Kind, Op, Reduction};
use crate::plan::Stored;
use crate::proof::Oracle;
use crate::shadow::witnessed;
use crate::shape::cause::ShapeCause;
use crate::shape::{Axis, Shape};
use crate::store::Segments;

impl Device {
    /// For each of so many destinations the last position in a list of keys that names it, and
    /// `u32::MAX`, no position at all, where none does.
    #[track_caller]
    pub(super) fn last_of(&self, keys: &Operand, destinations: usize) -> Result<Tensor> {
        let shape = Shape::new([destinations])?;
        let named = Task::by("scatter", Oracle::Last);
        let inputs = core::slice::from_ref(keys);
        let last = |site: Site<'_>, keys: &[Operand]| scatter::last(site, &keys[0], destinations);
        let last = witnessed(self.site(), named, inputs, (shape, DType::U32), last)?;
        let list = Layout::dense(shape);
        // Positions plus one, so that 0 wraps.
        (Tensor::of(self.clone(), last, list, Stored::U32) - 1u32)?.contiguous()
    }
}

impl Tensor {
    /// A copy in which, for every place of `source`, the element whose coordinate along `axis` is
    /// the index there is replaced. The index takes the shape of the source, by broadcasting; all
    /// other axes agree with this tensor. Of several values for one element the last in row-major
    /// order stays. Recorded at once; an index out of range is an error at the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3, 4], [2, 2])?;
    /// let (index, _) = device.upload(&[1, 0], [2, 1])?; // of each row one
    /// let (source, _) = device.upload(&[8, 9], [2, 1])?;
    /// assert_eq!(x.scatter(1, &index, &source)?.read_now::<i32>()?, [1, 8, 9, 4]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("index_copy", "index_fill", "put_along_axis"))]
    #[track_caller]
    pub fn scatter(&self, axis: impl Into<Axis>, index: &Self, source: &Self) -> Result<Self> {
        let keys =
            self.destinations("scatter", axis.into(), index, source, source.shape().rank())?;
        self.replaced(&keys, source)
    }

    /// A copy in which the elements that keys name are replaced by those of `source`.
    #[track_caller]
    pub(super) fn replaced(&self, keys: &Operand, source: &Self) -> Result<Self> {
        let winners = self.device.last_of(keys, self.shape().elements())?.operand()?;
        let inputs = [self.operand()?, source.contiguous()?.operand()?, winners];
        let replaced = |site: Site<'_>, inputs: &[Operand]| match inputs {
            [own, from, winners] => scatter::replaced(site, own, from, winners),
            _ => Err(mistake("scatter", "not three operands")),
        };
        let (named, of) = (Task::by("scatter", Oracle::Replaced), (*self.shape(), self.dtype()));
        let value = witnessed(self.device.site(), named, &inputs, of, replaced)?;
        Ok(Self::of(self.device.clone(), value, Layout::dense(*self.shape()), self.dtype))
    }

    /// A copy to which, for every place of `source`, its value is added at the element whose
    /// coordinate along `axis` is the index there. The index takes the shape of the source, by
    /// broadcasting; all other axes agree with this tensor.
    ///
    /// Values for one element are added up in row-major order, in blocks, f16 and bf16 in f32, and
    /// then added to it: the same bits in every run. By the contract of a [sum](crate::op) of it
    /// and all of them. Integers wrap. Recorded at once, but for the last addition; an index out
    /// of range is an error at the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let counts = device.zeros([3], wharf::DType::U32)?;
    /// let (classes, _) = device.upload(&[2, 0, 2], [3])?;
    /// let counts = counts.scatter_add(0, &classes, &device.ones([3], wharf::DType::U32)?)?;
    /// assert_eq!(counts.read_now::<u32>()?, [1, 0, 2]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "scatter_reduce")]
    #[track_caller]
    pub fn scatter_add(&self, axis: impl Into<Axis>, index: &Self, source: &Self) -> Result<Self> {
        self.merging("scatter_add", Merging::Sum, axis.into(), index, source)
    }

    /// A copy whose elements are multiplied by all values of `source` that the index brings there:
    /// otherwise as [`Tensor::scatter_add`], and by the contract of a [product](crate::op) of it
    /// and all of them. Recorded at once, but for the last product.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 3], [3])?;
    /// let (index, _) = device.upload(&[2, 0, 2], [3])?;
    /// let (source, _) = device.upload(&[5, 6, 7], [3])?;
    /// assert_eq!(x.scatter_mul(0, &index, &source)?.read_now::<i32>()?, [6, 2, 105]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "scatter_reduce")]
    #[track_caller]
    pub fn scatter_mul(&self, axis: impl Into<Axis>, index: &Self, source: &Self) -> Result<Self> {
        self.merging("scatter_mul", Merging::Product, axis.into(), index, source)
    }

    /// A copy whose elements are the largest of what they were and of all values of `source` that
    /// the index brings there, which takes the shape of the source, by broadcasting; all other axes
    /// agree with this tensor. NaN if one is; of any dtype but bool. Of values of a destination
    /// the last stays once they are sorted: this [sorts](Tensor::argsort) the source as one list of
    /// 8 bytes for each element, which has to lie in one segment. Recorded at once, but for the
    /// last comparison; an index out of range is an error at the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[5, 5, 5], [3])?;
    /// let (index, _) = device.upload(&[2, 0, 2], [3])?;
    /// let (source, _) = device.upload(&[9, 1, 7], [3])?;
    /// assert_eq!(x.scatter_max(0, &index, &source)?.read_now::<i32>()?, [5, 5, 9]);
    /// assert_eq!(x.scatter_min(0, &index, &source)?.read_now::<i32>()?, [1, 5, 5]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "scatter_reduce")]
    #[track_caller]
    pub fn scatter_max(&self, axis: impl Into<Axis>, index: &Self, source: &Self) -> Result<Self> {
        self.extremes("scatter_max", Op::Max, axis.into(), index, source)
    }

    /// [`Tensor::scatter_max`] of the smallest: see there. Recorded at once, but for the last
    /// comparison.
    #[doc(alias = "scatter_reduce")]
    #[track_caller]
    pub fn scatter_min(&self, axis: impl Into<Axis>, index: &Self, source: &Self) -> Result<Self> {
        self.extremes("scatter_min", Op::Min, axis.into(), index, source)
    }

    /// A copy to which parts of `source` along an axis are added, each to the part that a list of
    /// indices names: [`Tensor::scatter_add`], by its contract, with an index that is the same all
    /// along the other axes. Recorded at once, but for the last addition.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = device.zeros([3, 2], wharf::DType::I32)?;
    /// let (rows, _) = device.upload(&[1, 2, 3, 4], [2, 2])?;
    /// let (index, _) = device.upload(&[2, 2], [2])?;
    /// assert_eq!(x.index_add(0, &index, &rows)?.read_now::<i32>()?, [0, 0, 0, 0, 4, 6]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn index_add(&self, axis: impl Into<Axis>, index: &Self, source: &Self) -> Result<Self> {
        let (what, axis) = ("index_add", axis.into());
        let (place, _) = self.shape().find(axis).map_err(|error| error.during(what))?;
        let shape = *index.shape();
        if shape.rank() != 1 {
            return Err(Error::from(ShapeCause::Ranks { shape, takes: "1" }).during(what));
        }
        let (indices, given) = (shape.elements(), *source.shape());
        let parts = given.dims().get(place).copied().unwrap_or(1);
        if indices != 1 && indices != parts {
            return Err(TensorCause::IndexAdd { indices, parts, axis, source: given }.into());
        }
        let mut along = vec![1; self.shape().rank()];
        along[place] = indices;
        let index = index.reshape(along)?;
        self.merging(what, Merging::Sum, axis, &index, source)
    }

    #[track_caller]
    pub(super) fn merging(
        &self,
        what: &'static str,
        how: Merging,
        axis: Axis,
        index: &Self,
        source: &Self,
    ) -> Result<Self> {
        computed_with(what, self.dtype())?;
        let wide = match Kind::of(self.dtype()) {
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
        let rank = self.key_axes(place, index, source, wide);
        let keys = self.destinations(what, axis, index, source, rank)?;
        let columns: usize = source.shape().dims()[rank..].iter().product();
        let totals = self.totals((what, how), &keys, source, wide, columns)?;
        let totals = Self::of(self.device.clone(), totals, Layout::dense(*self.shape()), wide);
        let op = match how {
            Merging::Sum => Op::Add,
            Merging::Product => Op::Mul,
        };
        if wide == self.dtype {
            return self.apply(op, &[totals.into()]);
        }
        let result = self.cast_to(wide)?.apply(op, &[totals.into()])?;
        if wide == Stored::F32 {
            return result.cast_to(self.dtype);
        }
        // Integers wrap to their width.
        let shift = 32 - 8 * self.dtype.width() as u32;
        let result = if wide == Stored::I32 {
            ((result << shift.cast_signed())? >> shift.cast_signed())?
        } else {
            ((result << shift)? >> shift)?
        };
        result.cast_to(self.dtype)
    }

    /// The last of a list that is sorted stays, and NaN is last whichever way.
    #[track_caller]
    fn extremes(
        &self,
        what: &'static str,
        op: Op,
        axis: Axis,
        index: &Self,
        source: &Self,
    ) -> Result<Self> {
        computed_with(what, self.dtype())?;
        if self.dtype() == DType::Bool {
            let (dtype, only) = (self.dtype(), "numbers");
            return Err(TensorCause::Only { what, dtype, only }.into());
        }
        let keys = self.destinations(what, axis, index, source, source.shape().rank())?;
        if self.shape().is_empty() || source.shape().is_empty() {
            // Nothing to compare, but places that are out of range are told of.
            return self.replaced(&keys, source);
        }
        let (shape, count) = (Shape::new([source.shape().elements()])?, keys.layout);
        let keys = Self::of(self.device.clone(), keys.value, count, Stored::U32);
        let order = if op == Op::Max { Order::Ascending } else { Order::Descending };
        let list = source.reshape_copied(shape)?;
        let places = list.argsort(0, order).map_err(|error| error.during(what))?;
        let (list, keys) = (list.picked(what, &places, 0, 1)?, keys.picked(what, &places, 0, 1)?);
        let last = self.device.last_of(&keys.operand()?, self.shape().elements())?;
        let none = Scalar::from(u32::MAX);
        let best = list.picked(what, &last, 0, 1)?.reshape(*self.shape())?;
        let is_none = last.eq(none)?.reshape(*self.shape())?;
        is_none.choose(self, &self.apply(op, &[best.into()])?)
    }

    /// How many leading axes tell destinations apart: those after them, where the index repeats
    /// itself, are moved as rows if a row is small and never cut.
    fn key_axes(&self, axis: usize, index: &Self, source: &Self, wide: Stored) -> usize {
        let (shape, rank) = (*source.shape(), source.shape().rank());
        let Ok(view) = index.layout.broadcast_to(shape) else { return rank };
        let repeats = |d: &usize| *d > axis && (view.strides()[*d] == 0 || shape.dims()[*d] == 1);
        let tail = (0..rank).rev().take_while(repeats).count();
        let columns: usize = shape.dims()[rank - tail..].iter().product();
        let [row, all] = [columns, self.shape().elements()].map(|n| product([n, wide.width()]));
        let segments = Segments::new(self.device.caps());
        let whole = segments.hold_whole(row);
        let fits = scatter::fits(segments.bytes_max, whole, [row, all]);
        if fits { rank - tail } else { rank }
    }

    /// The destination of every place of the source's first `rank` axes: its position among the
    /// elements - or rows - of this tensor, `u32::MAX` where the index is out of range.
    #[track_caller]
    pub(super) fn destinations(
        &self,
        what: &'static str,
        axis: Axis,
        index: &Self,
        source: &Self,
        rank: usize,
    ) -> Result<Operand> {
        let named = |error: Error| error.during(what);
        let (place, bound) = self.shape().find(axis).map_err(named)?;
        self.beside_axis(what, axis, source)?;
        self.device.engine.same_device(&source.device.engine).map_err(named)?;
        let (left, right) = (self.dtype(), source.dtype());
        if left != right {
            return Err(TensorCause::Dtypes { what, left, right }.into());
        }
        let index = index.broadcast_to(source.shape());
        let mut index = index.map_err(|error| named(error.during("index")))?;
        for last in (rank..source.shape().rank()).rev() {
            // An empty row has no destination.
            let some = source.shape().dims()[last].min(1);
            index = index.slice(last, 0..some)?;
            index = if some == 1 { index.squeeze(last)? } else { index };
        }
        let places = self.places(what, axis, &index, bound)?;
        if places.shape().is_empty() {
            // Of no source, what lies along the other axes may be more than words count.
            return places.contiguous()?.reshape([0])?.operand();
        }
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

    /// Totals of nothing: in one piece wherever one segment holds them, since rows are never cut.
    #[track_caller]
    fn nothing(&self, wide: Stored, none: Scalar) -> Result<Operand> {
        let (shape, dtype, bytes) = (*self.shape(), *wide, none.encode(*wide)?);
        let bytes = &bytes[..dtype.width()];
        let named = Task::by("full", Oracle::Filled { bits: fill::bits(bytes) });
        let whole = |site: Site<'_>, _: &[Operand]| fill::whole(site, &shape, dtype, bytes);
        let value = witnessed(self.device.site(), named, &[], (shape, dtype), whole)?;
        Ok(Operand::dense(value, shape, dtype))
    }

    /// For every destination what the rows that go there come to; where there are none, what
    /// changes nothing.
    #[track_caller]
    fn totals(
        &self,
        (what, how): (&'static str, Merging),
        keys: &Operand,
        source: &Self,
        wide: Stored,
        columns: usize,
    ) -> Result<Arc<Value>> {
        let none = match how {
            Merging::Sum if wide.is_float() => Scalar::from(-0.0f32),
            Merging::Sum => Scalar::from(0u8),
            Merging::Product => Scalar::from(1u8),
        };
        let totals = self.nothing(wide, none)?;
        let count = keys.layout.shape().elements();
        let rows = source.cast_to(wide)?.contiguous()?.reshape([count, columns])?.operand()?;
        let reduction = match how {
            Merging::Sum => Reduction::Sum,
            Merging::Product => Reduction::Prod,
        };
        let merged = |site: Site<'_>, inputs: &[Operand]| match inputs {
            [keys, rows, totals] => {
                scatter::merged(site, how, keys, rows, totals)?;
                Ok(Arc::clone(&totals.value))
            }
            _ => Err(mistake("scatter", "not three operands")),
        };
        let named = Task::by(what, Oracle::Folded(reduction));
        let inputs = [keys.clone(), rows, totals];
        witnessed(self.device.site(), named, &inputs, (*self.shape(), *wide), merged)
    }
}
