//! Reductions: many elements as one, over any set of axes.
//!
//! Deferred like elementwise operations, and fused with them on both sides. What is not a kernel of
//! its own is said in terms of what is:
//!
//! ```text
//! mean      = sum(x) / n                  any, all     = max, min of x != 0
//! norm      = sqrt(sum(x^2))              count        = sum of x != 0
//! var       = sum((x - mean)^2) / (n - c) std          = sqrt(var)
//! logsumexp = ln(sum(exp(x - m))) + m     with m = max(x), or 0 where that is infinite
//! ```

use super::Tensor;
use crate::dtype::{Class, DType};
use crate::engine::site::asked;
use crate::error::{Result, causes};
use crate::fuse::What;
use crate::kernel::reduce::choice::SumSize;
use crate::kernel::reduce::text::{Fold, Reduce};
use crate::kernel::reduce::{ReduceCore, Traversal};
use crate::op::{Kind, Number, Reduction};
use crate::plan::Stored;
use crate::shape::{Axes, Shape};

macro_rules! methods {
    ($($(#[$alias:meta])* $name:ident $reduction:ident $doc:literal $(#[$example:meta])*;)*) => {
        impl Tensor {
            $(
                #[doc = $doc]
                ///
                /// `axes` is one axis, an array of them, `..` for all, or [`Axes::keep`] of these,
                /// which stay behind with length 1. Deferred.
                ///
                $(#[$example])*
                $(#[$alias])*
                #[track_caller]
                pub fn $name(&self, axes: impl Into<Axes>) -> Result<Self> {
                    self.reduce(Reduction::$reduction, axes)
                }
            )*
        }
    };
}

methods! {
    sum Sum "The sum. i8 to u16 become i32 or u32, bools are counted as u32; integers wrap."
        /// ```
        /// # wharf::testing::example(async |device| {
        /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
        /// assert_eq!(x.sum(1)?.read_now::<f32>()?, [6.0, 15.0]);
        /// assert_eq!(x.sum([0])?.read_now::<f32>()?, [5.0, 7.0, 9.0]);
        /// assert_eq!(x.sum(..)?.read_scalar_now::<f32>()?, 21.0);
        /// assert_eq!(x.sum(wharf::Axes::keep(1))?.shape().dims(), [2, 1]);
        /// # Ok(()) });
        /// ```
        ;
    #[doc(alias = "average")]
    mean Mean "The mean, of floats; NaN of no elements."
        /// ```
        /// # wharf::testing::example(async |device| {
        /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 6.0], [2, 2])?;
        /// assert_eq!(x.mean(1)?.read_now::<f32>()?, [1.5, 4.5]);
        /// assert_eq!(x.mean(..)?.read_scalar_now::<f32>()?, 3.0);
        /// # Ok(()) });
        /// ```
        ;
    #[doc(alias = "product")]
    prod Prod "The product. i8 to u16 become i32 or u32; integers wrap.";
    #[doc(alias("max", "max_keepdim"))]
    amax Max "The largest; NaN if one is. Of no elements it is an error.";
    #[doc(alias("min", "min_keepdim"))]
    amin Min "The smallest; NaN if one is. Of no elements it is an error.";
    argmax ArgMax "Where the largest is, as u32: the first of equals, the first NaN before all. \
        Counted row-major over the axes. Of no elements it is an error.";
    argmin ArgMin "Where the smallest is, as u32: the first of equals, the first NaN before all. \
        Counted row-major over the axes. Of no elements it is an error.";
    any Any "Whether one is not zero, as bool.";
    all All "Whether none is zero, as bool.";
    count_nonzero CountNonzero "How many are not zero, as u32.";
    #[doc(alias("l2_norm", "vector_norm"))]
    norm Norm "The Euclidean norm: the root of the sum of squares.";
    logsumexp LogSumExp "`ln(sum(exp(x)))`, without overflow on the way.";
}

impl Tensor {
    /// The variance about the mean, of floats, over [some axes](Axes). `correction` is taken off
    /// the count: 0 for a whole population, 1 for a sample of one. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 3.0, 5.0], [3])?;
    /// assert_eq!(x.var(0, 1)?.read_scalar_now::<f32>()?, 4.0); // of a sample: 8 / 2
    /// assert_eq!((x.var(0, 0)? * 3.0)?.round()?.read_scalar_now::<f32>()?, 8.0);
    /// assert_eq!(x.std(0, 1)?.round()?.read_scalar_now::<f32>()?, 2.0);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn var(&self, axes: impl Into<Axes>, correction: usize) -> Result<Self> {
        self.reduced(Reduction::Var, &axes.into(), correction)
    }

    /// The standard deviation, the root of the variance: see [`Tensor::var`]. Deferred.
    #[track_caller]
    pub fn std(&self, axes: impl Into<Axes>, correction: usize) -> Result<Self> {
        self.reduced(Reduction::Std, &axes.into(), correction)
    }

    /// Reduces over [some axes](Axes); every named method is this one. The variance is that of a
    /// whole population.
    ///
    /// The result is deferred: computed when it is needed, in one kernel with elementwise
    /// operations before and after it.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::op::Reduction;
    ///
    /// let (x, _) = device.upload(&[1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(x.reduce(Reduction::Max, 1)?.read_now::<i32>()?, [2, 4]); // x.amax(1)
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn reduce(&self, reduction: Reduction, axes: impl Into<Axes>) -> Result<Self> {
        self.reduced(reduction, &axes.into(), 0)
    }

    #[track_caller]
    fn reduced(&self, reduction: Reduction, axes: &Axes, correction: usize) -> Result<Self> {
        let name = reduction.name();
        let reduced = axes.of(self.shape()).map_err(|error| error.during(name))?;
        if !reduction.takes(self.dtype()) {
            return Err(ReduceCause::Kind { name, reduction, dtype: self.dtype() }.into());
        }
        let mut kept = self.shape().dims().to_vec();
        for (dim, _) in kept.iter_mut().zip(&reduced).filter(|(_, reduced)| **reduced) {
            *dim = 1;
        }
        let kept = Shape::new(kept)?;
        let all = if self.shape().is_empty() {
            self.of_nothing(reduction, kept)?
        } else {
            let over = Over { x: self, name, reduced: &reduced };
            asked(|| over.compute(reduction, correction)).map_err(|error| error.during(name))?
        };
        if axes.are_kept() {
            return Ok(all);
        }
        let gone = (0..reduced.len()).rev().filter(|&axis| reduced[axis]);
        gone.into_iter().try_fold(all, |result, axis| result.squeeze(axis))
    }

    /// The result of a shape where there is nothing to reduce.
    #[track_caller]
    fn of_nothing(&self, reduction: Reduction, kept: Shape) -> Result<Self> {
        let dtype = reduction.yields(self.dtype());
        match reduction.of_nothing(self.dtype()) {
            _ if kept.is_empty() => self.device.zeros(kept, dtype),
            Some(Number::Float(x)) => self.device.full(kept, x, dtype),
            Some(Number::Bool(x)) => self.device.full(kept, x, dtype),
            Some(Number::Int(0)) => self.device.zeros(kept, dtype),
            Some(Number::Int(_)) => self.device.ones(kept, dtype),
            None => Err(ReduceCause::Nothing { reduction, shape: *self.shape() }.into()),
        }?
        .on_behalf_of(&[self])
    }
}

/// What a dtype is computed as: the narrow ones as 32 bits, bool as a number.
pub(super) const fn computed(dtype: DType) -> DType {
    match dtype.class() {
        Class::Float if dtype.width() < 4 => DType::F32,
        Class::Signed if dtype.width() < 4 => DType::I32,
        Class::Unsigned if dtype.width() < 4 => DType::U32,
        Class::Bool => DType::U32,
        _ => dtype,
    }
}

/// What sums of a dtype are of, which every device stores where they are wider.
pub(super) fn summed(dtype: Stored) -> Stored {
    match computed(*dtype) {
        DType::F32 => Stored::F32,
        DType::I32 => Stored::I32,
        DType::U32 => Stored::U32,
        _ => dtype,
    }
}

/// What a dtype is computed as where its result is of that dtype again and integers wrap: they stay
/// as they are, because a cast from wider ones would take the nearest.
pub(super) fn computed_wrapping(dtype: DType) -> DType {
    if dtype.is_integer() { dtype } else { computed(dtype) }
}

/// A reduction of a tensor over a set of axes, which stay behind with length 1.
struct Over<'a> {
    x: &'a Tensor,
    name: &'static str,
    reduced: &'a [bool],
}

impl Over<'_> {
    fn compute(&self, reduction: Reduction, correction: usize) -> Result<Tensor> {
        let x = self.x;
        let counts = reduction == Reduction::CountNonzero
            || matches!(reduction, Reduction::ArgMax | Reduction::ArgMin);
        if counts && u32::try_from(self.count()).is_err() {
            return Err(ReduceCause::Many { count: self.count() }.into());
        }
        // A cast is cheaper to compute twice than to store.
        let wide = || x.cast(computed(x.dtype()));
        let truth = || match *x.dtype {
            DType::Bool => x.cast(DType::U32),
            _ => x.ne(0u8)?.cast(DType::U32),
        };
        let result = match reduction {
            Reduction::Sum => self.fold(&wide()?, Fold::Sum)?,
            Reduction::Prod => self.fold(&wide()?, Fold::Prod)?,
            Reduction::Max => self.fold(&wide()?, Fold::Max)?,
            Reduction::Min => self.fold(&wide()?, Fold::Min)?,
            Reduction::ArgMax => return self.choose(&wide()?, Fold::Max),
            Reduction::ArgMin => return self.choose(&wide()?, Fold::Min),
            Reduction::CountNonzero => self.fold(&truth()?, Fold::Sum)?,
            Reduction::Any => return self.fold(&truth()?, Fold::Max)?.ne(0u8),
            Reduction::All => return self.fold(&truth()?, Fold::Min)?.ne(0u8),
            Reduction::Mean => self.mean(&wide()?)?,
            Reduction::Norm => self.fold(&wide()?.square()?, Fold::Sum)?.sqrt()?,
            Reduction::Var => self.variance(correction)?,
            Reduction::Std => self.variance(correction)?.sqrt()?,
            Reduction::LogSumExp => {
                let most = self.fold(&wide()?, Fold::Max)?;
                let most = most.is_finite()?.choose(&most, 0.0)?;
                let sum = self.fold(&(wide()? - &most)?.exp()?, Fold::Sum)?;
                (sum.ln()? + &most)?
            }
        };
        result.cast(reduction.yields(x.dtype()))
    }

    fn count(&self) -> usize {
        let dims = self.x.shape().dims().iter().zip(self.reduced);
        dims.filter(|(_, reduced)| **reduced).map(|(&dim, _)| dim).product()
    }

    fn mean(&self, x: &Tensor) -> Result<Tensor> {
        self.fold(x, Fold::Sum)? / self.count() as f64
    }

    /// In two passes, about the mean: sums of squares would cancel.
    fn variance(&self, correction: usize) -> Result<Tensor> {
        let wide = || self.x.cast(computed(self.x.dtype()));
        let from_mean = (wide()? - &self.mean(&wide()?)?)?;
        let free = self.count().saturating_sub(correction) as f64;
        self.fold(&from_mean.square()?, Fold::Sum)? / free
    }

    fn fold(&self, x: &Tensor, fold: Fold) -> Result<Tensor> {
        self.core(x, Reduce { fold, kind: Kind::of(x.dtype()), index: false }, x.dtype)
    }

    fn choose(&self, x: &Tensor, fold: Fold) -> Result<Tensor> {
        self.core(x, Reduce { fold, kind: Kind::of(x.dtype()), index: true }, Stored::U32)
    }

    /// The kernel, over the axes of `x` as memory walks them.
    fn core(&self, x: &Tensor, how: Reduce, dtype: Stored) -> Result<Tensor> {
        let Traversal { order, reduced, gone, kept } =
            Traversal::of(&x.layout, self.reduced, how.index);
        let dims: Vec<usize> = kept.iter().map(|&axis| x.shape().dims()[axis]).collect();
        let x = x.permute(&order)?;
        let by = x.device.tuned(SumSize::of_shape(x.shape(), &reduced));
        let what = What::core(ReduceCore { name: self.name, how, reduced, by });
        let args = vec![x.arg()];
        let stored = Tensor::deferred(&x.device, what, args, Shape::new(dims)?, dtype);
        // The reduced axes have length 1, and stand in front.
        let result = gone.iter().try_fold(stored, |result, _| result.unsqueeze(0))?;
        result.unpermute(&[gone, kept].concat())
    }
}

causes! {
    /// Why a tensor cannot be reduced.
    pub(super) enum ReduceCause;

    Kind { name: &'static str, reduction: Reduction, dtype: DType }, DType:
        ("{name} does not exist for {dtype}")
        help ("{name} takes {}: cast to one of them", {
            let takes = DType::ALL.iter().copied().filter(|&d| reduction.takes(d));
            takes.map(DType::name).collect::<Vec<_>>().join(", ")
        });
    Nothing { reduction: Reduction, shape: Shape }, Shape:
        ("{reduction} of no elements: {shape} has 0 along the reduced axes")
        help ("there is no value to yield: check the length first");
    Many { count: usize }, Limit:
        ("{count} elements, above {} of u32", u32::MAX)
        help ("reduce parts, and put them together: `slice`");
}
