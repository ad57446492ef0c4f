//! Products of matrices: checked at the call, computed when they are needed, fused with what
//! follows.

use super::cause::TensorCause;
use super::reduce::summed;
use super::{Factor, Tensor, Weight};
use crate::dtype::{Class, DType};
use crate::error::{Error, Result, causes};
use crate::fuse::What;
use crate::kernel::matmul::Matmul;
#[cfg(feature = "testing")]
use crate::kernel::matmul::choice::scheme::{Because, Choice};
use crate::kernel::matmul::choice::tuned::ProductSize;
use crate::kernel::matmul::choice::{Chooser, Question};
use crate::op::{Kind, Op};
use crate::plan::Stored;
use crate::shape::Shape;

impl Tensor {
    /// The product of the two last axes, `[.., m, k]` by `[.., k, n]`; the axes before them
    /// broadcast. A left side of rank 1 is a row, a right side of rank 1 a column, and the result
    /// lacks that axis.
    ///
    /// Any strides are read in place: `x.matmul(&w.t()?)` copies nothing. Both sides have one
    /// dtype, which is the result's; integers narrower than 32 bits are summed in 32, wrapping, and
    /// the result is `i32` or `u32`. f16 and bf16 are summed in f32 and rounded once. A float
    /// result is off by at most its [room](crate::op::product_room) times the sum of the terms'
    /// magnitudes, and by its own rounding; NaN and infinity propagate. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// assert_eq!(x.matmul(&x)?.read_now::<f32>()?, [7.0, 10.0, 15.0, 22.0]);
    /// let (column, _) = device.upload(&[10.0f32, 1.0], [2])?;
    /// assert_eq!(x.matmul(&column)?.read_now::<f32>()?, [12.0, 34.0]);
    /// # Ok(()) });
    /// ```
    ///
    /// By [`Quantized::t`](super::Quantized::t) it is a [`Tensor::linear`] with those weights.
    #[doc(alias("bmm", "mm", "broadcast_matmul"))]
    #[track_caller]
    pub fn matmul<'a>(&self, right: impl Into<Factor<'a>>) -> Result<Self> {
        let product = match right.into() {
            Factor::Tensor(right) => self.matmul_plain(right),
            Factor::Transposed(weights) => weights.product("matmul", self),
        };
        product.map_err(|error| error.during("matmul"))
    }

    /// A layer: `x . weight^T + bias` in one kernel, with an activation that follows, for `x` of
    /// shape `[.., in]` and a weight stored as `[out, in]`, which is how checkpoints have it. A
    /// weight stored as `[in, out]` is given as `weight.t()`; neither is copied. Where rows of 8 or
    /// 16 bits are no multiple of four, the product is stored, and rounded, before the bias is
    /// added. A weight or bias of a float narrower than `x` is widened, exactly, on its way.
    ///
    /// A [`Quantized`](super::Quantized) weight becomes numbers in registers, and `x` is f32, f16
    /// or bf16, which is the result's dtype. Sums are f32: for `u` half a unit in the last place, a
    /// result is off by at most `(in / 32 + 12) u` times the sum of the terms' magnitudes, and by
    /// its own rounding, from the product with the dequantized weight. On software drivers many
    /// rows of f32 are multiplied by weights that become numbers in memory first - in 64 MiB, or as
    /// much as `x` and the result take -, and the bound is that of [`Tensor::matmul`]. Blocks pay
    /// in memory, and in time at few rows; at many they take about as long as numbers. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0], [1, 2])?;
    /// let (weight, _) = device.upload(&[1.0f32, 1.0, -1.0, -1.0], [2, 2])?;
    /// let (bias, _) = device.upload(&[0.5f32, 0.5], [2])?;
    /// let y = x.linear(&weight, Some(&bias))?.relu()?; // one kernel
    /// assert_eq!(y.read_now::<f32>()?, [3.5, 0.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("addmm", "dense"))]
    #[track_caller]
    pub fn linear<'a>(&self, weight: impl Into<Weight<'a>>, bias: Option<&Self>) -> Result<Self> {
        let named = |error: Error| error.during("linear");
        let mut out = weight.into().product(self).map_err(named)?;
        if let Some(bias) = bias {
            // Never more of a result than there is of the product.
            let rows = bias.broadcast_to(*out.shape());
            let rows = rows.map_err(|error| named(error.during("bias")))?;
            let rows = rows.widened(out.dtype).map_err(named)?;
            if rows.dtype != out.dtype {
                let (what, left, right) = ("result and bias", out.dtype(), rows.dtype());
                return Err(named(TensorCause::Dtypes { what, left, right }.into()));
            }
            out = out.apply(Op::Add, &[rows.into()]).map_err(named)?;
        }
        Ok(out)
    }

    /// The product by a kernel and passes as a table of tuned choices names them, whether or not a
    /// table could: `tile sums 4x8 lanes 8 passes 2`.
    #[cfg(feature = "testing")]
    #[track_caller]
    pub(crate) fn matmul_by(&self, right: &Self, kernel: &str) -> Result<Self> {
        let choice = Choice::named(kernel, Because::Forced);
        let choice = choice.ok_or_else(|| crate::error::mistake("matmul", kernel))?;
        self.product_widening(right, Chooser::Asker(choice))
    }

    /// Whether `to` is a float, and this a narrower one, all of whose values it has.
    fn widens(&self, to: Stored) -> bool {
        self.dtype.is_float() && to.is_float() && self.dtype.fits_in(*to)
    }

    /// As `to`, if that is wider.
    #[track_caller]
    pub(super) fn widened(&self, to: Stored) -> Result<Self> {
        if self.widens(to) { self.cast_to(to) } else { Ok(self.clone()) }
    }

    /// The product with a right side that may be of a narrower float. Where both are summed alike
    /// that is read as it lies.
    #[track_caller]
    pub(super) fn matmul_widening(&self, right: &Self) -> Result<Self> {
        self.product_widening(right, self.device.chooser())
    }

    #[track_caller]
    fn product_widening(&self, right: &Self, by: Chooser) -> Result<Self> {
        let alike = Kind::of(*self.dtype) == Kind::of(*right.dtype);
        if alike && right.dtype != self.dtype && right.widens(self.dtype) {
            self.device.engine.same_device(&right.device.engine)?;
            return self.product_of(right, ProductOf { dtype: self.dtype, by, under: None });
        }
        self.product(&right.widened(self.dtype)?, by)
    }

    #[track_caller]
    pub(super) fn matmul_plain(&self, right: &Self) -> Result<Self> {
        self.product(right, self.device.chooser())
    }

    /// The product with its elements, in this order, under another shape: what follows is fused.
    #[track_caller]
    pub(super) fn matmul_as(&self, right: &Self, to: Shape) -> Result<Self> {
        let (dtype, by) = (self.summed(right)?, self.device.chooser());
        let product = self.product_of(right, ProductOf { dtype, by, under: Some(to) })?;
        if *product.shape() == to { Ok(product) } else { product.reshape_copied(to) }
    }

    /// The product by whoever chooses its kernel.
    #[track_caller]
    fn product(&self, right: &Self, by: Chooser) -> Result<Self> {
        self.product_of(right, ProductOf { dtype: self.summed(right)?, by, under: None })
    }

    /// The dtype of a product with another tensor of this dtype.
    fn summed(&self, right: &Self) -> Result<Stored> {
        self.device.engine.same_device(&right.device.engine)?;
        result(self.dtype, right.dtype)
    }

    #[track_caller]
    fn product_of(&self, right: &Self, of: ProductOf) -> Result<Self> {
        let (left, ProductOf { dtype, by, under }) = (self, of);
        let shapes = (*left.shape(), *right.shape());
        let (row, column) = (left.shape().rank() == 1, right.shape().rank() == 1);
        let a = if row { left.unsqueeze(0)? } else { left.clone() };
        let b = if column { right.unsqueeze(1)? } else { right.clone() };
        let ([.., m, k], [.., inner, n]) = (a.shape().dims(), b.shape().dims()) else {
            return Err(MatmulCause::Scalar { left: shapes.0, right: shapes.1 }.into());
        };
        let (m, k, inner, n) = (*m, *k, *inner, *n);
        if k != inner {
            return Err(MatmulCause::Inner { left: shapes.0, right: shapes.1, k, inner }.into());
        }
        let of = |t: &Self| Shape::new(&t.shape().dims()[..t.shape().rank() - 2]);
        let batch = of(&a)?.broadcast(&of(&b)?);
        let batch = batch.map_err(|error| error.during("batches"))?;
        let to = |t: &Self, rows: usize, columns: usize| {
            t.broadcast_to(Shape::new([batch.dims(), &[rows, columns]].concat())?)
        };
        let (a, b) = (to(&a, m, k)?, to(&b, k, n)?);
        let ends = [(m, !row), (n, !column)];
        let ends = ends.iter().filter(|(_, kept)| *kept).map(|(dim, _)| *dim);
        let shape = Shape::new([batch.dims(), &ends.collect::<Vec<_>>()].concat())?;
        let device = &left.device;
        let (on, sides) = (device.rig(), [a.layout, b.layout]);
        let dtypes = [left.dtype(), right.dtype()];
        let tuned = || device.tuned(ProductSize::of_sides(&sides, left.dtype()));
        let by = if let Chooser::Tables = by { tuned().map_or(by, Chooser::Asker) } else { by };
        let question = Question { on, sides, dtypes, result: *dtype, by };
        let decision = question.decide()?;
        let is_swapped = decision.is_swapped;
        let core = What::core(Matmul(decision));
        if !is_swapped {
            let (args, shape) = (vec![a.arg(), b.arg()], under.unwrap_or(shape));
            return Ok(Self::deferred(device, core, args, shape, dtype));
        }
        let sides = vec![b.t()?.arg(), a.t()?.arg()];
        if m == 1 || n == 1 {
            return Ok(Self::deferred(device, core, sides, shape, dtype));
        }
        let shape = Shape::new([batch.dims(), &[n, m]].concat())?;
        let product = Self::deferred(device, core, sides, shape, dtype).t()?;
        // One row lies as rows do, so many do not lie in columns where none may be told from one.
        if device.is_batch_invariant() { product.contiguous() } else { Ok(product) }
    }
}

/// What a product becomes, and who chooses its kernel.
struct ProductOf {
    dtype: Stored,
    by: Chooser,
    /// A shape of as many elements, which it has if it is not stored transposed.
    under: Option<Shape>,
}

/// The dtype of a product.
fn result(left: Stored, right: Stored) -> Result<Stored> {
    if left != right {
        return Err(MatmulCause::Mixed { left: *left, right: *right }.into());
    }
    match (left.class(), left.width()) {
        (Class::Bool, _) => Err(MatmulCause::Bool.into()),
        (Class::Float, 1) => Err(MatmulCause::Stored { dtype: *left }.into()),
        (Class::Float, _) => Ok(left),
        _ => Ok(summed(left)),
    }
}

causes! {
    /// What can be wrong with the sides of a product.
    enum MatmulCause;

    Scalar { left: Shape, right: Shape }, Shape:
        ("a scalar has neither rows nor columns: left {left}, right {right}")
        help ("multiply by a scalar element by element: `mul`");
    Inner { left: Shape, right: Shape, k: usize, inner: usize }, Shape:
        ("inner dimensions differ: left {left}, right {right} ({k} against {inner})")
        help ("{}", match (left.dims(), right.dims()) {
            (_, [_, .., last]) if last == k => "transpose the right side: `right.t()`",
            ([.., rows, _], _) if rows == inner => "transpose the left side: `left.t()`",
            _ => "the last axis of the left side and the last but one of the right are summed \
                  over, and must be equally long",
        });
    Mixed { left: DType, right: DType }, DType:
        ("dtypes differ: left {left}, right {right}")
        help ("{}", match (wider(*left), wider(*right)) {
            ((false, ..), (false, ..)) => "cast both: `cast(DType::F32)`".into(),
            (l, r) if l >= r => format!("cast one side, such as the right one to {left}: `cast`"),
            _ => format!("cast one side, such as the left one to {right}: `cast`"),
        });
    Stored { dtype: DType }, DType:
        ("{dtype} is stored and cast, not multiplied")
        help ("cast both sides, such as by `cast(DType::F32)`; beside an `x` of a wider float \
               `linear` takes such weights as they are");
    Bool, DType:
        ("bool has no product of matrices")
        help ("cast to an integer to count, or to a float: `cast`");
}

/// What says which of two dtypes the other is cast to: first whether there is a product of it.
fn wider(dtype: DType) -> (bool, bool, usize) {
    (dtype.computes() && dtype != DType::Bool, dtype.is_float(), dtype.width())
}
