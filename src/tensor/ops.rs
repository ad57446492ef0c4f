//! Elementwise operations: checked at the call, computed when they are needed, fused.

use std::sync::Arc;

use super::Tensor;
use super::made::Making;
use super::number::Scalar;
use super::reduce::computed;
use crate::caps::Feature;
use crate::dtype::{Class, DType};
use crate::engine::Site;
use crate::engine::site::asked;
use crate::error::{Cause, Error, ErrorKind, Result};
use crate::formula::Operator;
use crate::fuse::{Arg, What};
use crate::kernel::Operand;
use crate::kernel::cause::FaultCause;
use crate::kernel::cores::Task;
use crate::kernel::elementwise::checked::{self, Checked};
use crate::op::{Op, Refusal, largest};
use crate::plan::Stored;
use crate::shape::Shape;
use crate::wgsl::Expr;

const INT64: Feature = Feature::ShaderInt64;

/// The other side of an operation: a tensor, borrowed or not, or a number of Rust's.
///
/// A tensor has the dtype of the first, and broadcasts: shapes are aligned at the last axis, and an
/// axis of length 1 is repeated. A number takes the dtype, if it fits: see [`Scalar`].
///
/// ```
/// # wharf::testing::example(async |device| {
/// let (x, _) = device.upload(&[1.0f32, 4.0, 2.0, 3.0], [2, 2])?;
/// let (row, _) = device.upload(&[2.0f32, 3.0], [2])?;
/// assert_eq!(x.maximum(&row)?.read_now::<f32>()?, [2.0, 4.0, 2.0, 3.0]);
/// assert_eq!(x.maximum(3.0)?.read_now::<f32>()?, [3.0, 4.0, 3.0, 3.0]);
/// # Ok(()) });
/// ```
#[derive(Clone, Debug)]
pub enum Other {
    /// A tensor.
    Tensor(Tensor),
    /// A number, which takes the tensor's dtype.
    Scalar(Scalar),
}

impl From<Tensor> for Other {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl From<&Tensor> for Other {
    fn from(tensor: &Tensor) -> Self {
        Self::Tensor(tensor.clone())
    }
}

impl<S: Into<Scalar>> From<S> for Other {
    fn from(scalar: S) -> Self {
        Self::Scalar(scalar.into())
    }
}

impl Cause for Refusal {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Arity { .. } => ErrorKind::Argument,
            _ => ErrorKind::DType,
        }
    }

    fn help(&self) -> Option<String> {
        Self::help(self)
    }
}

/// An operand, as long as the operation is being made: a chain of small operations is slower by
/// every handle that it copies.
#[derive(Clone, Copy)]
pub(super) enum Borrowed<'a> {
    Tensor(&'a Tensor),
    Scalar(Scalar),
}

impl<'a> From<&'a Tensor> for Borrowed<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl<'a> From<&'a Other> for Borrowed<'a> {
    fn from(other: &'a Other) -> Self {
        match other {
            Other::Tensor(tensor) => Self::Tensor(tensor),
            Other::Scalar(scalar) => Self::Scalar(*scalar),
        }
    }
}

/// The order of axes in which a result is stored: that of the first operand that has an element of
/// its own for each of the result's, so that `x.t() + 1` walks memory as `x` does. `None` where
/// they are in that order, and where a batch may not matter: of one alone another operand may be
/// the first.
fn stored_order(shape: Shape, operands: &[Borrowed<'_>]) -> Result<Option<Vec<usize>>> {
    for operand in operands {
        let Borrowed::Tensor(tensor) = operand else { continue };
        if tensor.device.is_batch_invariant() {
            return Ok(None);
        }
        let layout = tensor.layout.broadcast_to(shape)?;
        let strides = shape.dims().iter().zip(layout.strides());
        if strides.into_iter().all(|(&dim, &stride)| dim <= 1 || stride != 0) {
            return Ok((!layout.is_dense()).then(|| layout.memory_order()));
        }
    }
    Ok(None)
}

impl Tensor {
    /// Applies an operation - of wharf's, or [of your own](crate::custom::Formula) - to this and as
    /// many others as it takes; every named method is this one.
    ///
    /// Shapes, dtypes and devices are checked now; numbers take the dtype of this tensor. The
    /// result is deferred: computed when it is needed, in one kernel with what it is computed from.
    /// Which dtypes an operation takes, and how exact it is, is in the [contract](crate::op).
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::op::Op;
    ///
    /// let (x, _) = device.upload(&[4.0f32, 9.0], [2])?;
    /// assert_eq!(x.apply(Op::Sqrt, &[])?.read_now::<f32>()?, [2.0, 3.0]); // x.sqrt()
    /// assert_eq!(x.apply(Op::Sub, &[1.0.into()])?.read_now::<f32>()?, [3.0, 8.0]); // x - 1.0
    /// # Ok(()) });
    /// ```
    #[doc(alias = "mapv")]
    #[track_caller]
    pub fn apply(&self, op: impl Into<Operator>, others: &[Other]) -> Result<Self> {
        let mut operands = vec![self.into()];
        operands.extend(others.iter().map(Borrowed::from));
        let op = op.into();
        let what = match &op {
            Operator::Op(op) => op.method(),
            Operator::Formula(formula) => formula.name(),
        };
        applied(what, &self.device, &op, &operands, Stored::F32)
    }

    /// [`Tensor::choose`] between two numbers of a dtype that is named, which they must fit: see
    /// [`Scalar`]. Deferred, and fused.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[-1.0f32, 2.0, -3.0], [3])?;
    /// let class = x.gt(0.0)?.choose_as(1, 0, wharf::DType::U8)?;
    /// assert_eq!(class.read_now::<u8>()?, [0, 1, 0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn choose_as(
        &self,
        yes: impl Into<Scalar>,
        no: impl Into<Scalar>,
        dtype: DType,
    ) -> Result<Self> {
        let what = "choose_as";
        let made = self.device.making(what, dtype)?;
        let number = |number: Scalar| {
            let bytes = made.number(number).map_err(|error| error.during(what))?;
            Ok::<_, Error>(Scalar::decode(*made.stored, &bytes))
        };
        let [yes, no] = [number(yes.into())?, number(no.into())?];
        let operands = [self.into(), Borrowed::Scalar(yes), Borrowed::Scalar(no)];
        applied(what, &self.device, &Op::Where.into(), &operands, made.stored)
    }

    /// A number - or elements of another tensor - to the powers that stand here: [`Tensor::pow`]
    /// from the other side. Deferred, and fused.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[0.0f32, 1.0, 2.0, 3.0], [4])?;
    /// assert_eq!(x.powers_of(10)?.round()?.read_now::<f32>()?, [1.0, 10.0, 100.0, 1000.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "rpow")]
    #[track_caller]
    pub fn powers_of(&self, base: impl Into<Other>) -> Result<Self> {
        let (base, what) = (base.into(), "powers_of");
        applied(what, &self.device, &Op::Pow.into(), &[(&base).into(), self.into()], Stored::F32)
    }

    /// As another dtype: an integer takes the nearest number that it has, from floats - cut towards
    /// zero, NaN as 0 - and from integers, where Rust's `as` would wrap; a float is rounded to
    /// nearest, ties to even, and beyond the range becomes infinite, or NaN in f8e4m3, which has no
    /// infinity ([`Tensor::cast_saturating`] has the largest number there); a bool is whether it is
    /// not 0. Deferred. A dtype that the plan rejects is an error.
    ///
    /// Where the plan converts the dtype, so are the values, as those of an upload are; one that is
    /// refused is an error at the next read.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.6f32, -1.6, 300.0], [3])?;
    /// assert_eq!(x.cast(wharf::DType::U8)?.read_now::<u8>()?, [1, 0, 255]);
    /// assert_eq!(x.cast(wharf::DType::I32)?.read_now::<i32>()?, [1, -1, 300]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("astype", "to_dtype"))]
    #[track_caller]
    pub fn cast(&self, to: DType) -> Result<Self> {
        let made = self.device.making("cast", to)?;
        if made.stored == to {
            return self.cast_to(made.stored);
        }
        let x = self.as_numbers_of(to).map_err(|error| error.during("cast"))?;
        let (from, stored) = (x.dtype(), made.stored.dtype());
        if !made.refuses() || from.fits_in(stored) {
            return x.cast_to(made.stored);
        }
        let bounded = !made.rules.lossless && stored.is_float();
        let expr = if bounded { Expr::bounded_cast } else { Expr::checked_cast };
        x.checked("cast", &made, self.dtype(), &expr(from, stored))
    }

    /// As another dtype, where no number becomes infinite or NaN: one beyond the range, infinities
    /// too, becomes the largest on its side. NaN stays NaN. What [`Tensor::cast`] makes of integers
    /// and bools is so already. Deferred, and fused as that is.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    ///
    /// let (x, _) = device.upload(&[1.06f32, -1e3, f32::INFINITY], [3])?;
    /// let narrow = x.cast_saturating(DType::F8E4M3)?;
    /// assert_eq!(narrow.read_as_now::<f32>()?.0, [1.0, -448.0, 448.0]);
    /// let (plain, _) = x.cast(DType::F8E4M3)?.read_as_now::<f32>()?;
    /// assert!(plain[0] == 1.0 && plain[1].is_nan() && plain[2].is_nan(), "it has no infinity");
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn cast_saturating(&self, to: DType) -> Result<Self> {
        let what = "cast_saturating";
        let stored = self.device.making(what, to)?.stored;
        let cast = || {
            if !stored.is_float() || self.dtype == DType::Bool {
                return self.cast(to);
            }
            let widens = self.dtype.fits_in(*stored) && stored.computes();
            let wide = if widens { *stored } else { computed(self.dtype()) };
            let (x, most) = (self.cast(wide)?, largest(*stored));
            let x = match (wide.class(), stored.width()) {
                (Class::Float, _) => x.clamp(-most, most)?,
                // Every integer is within the range of the floats that are wider.
                (_, 4..) => x,
                (_, _) if *stored == DType::Bf16 => x,
                (Class::Unsigned, _) => x.minimum(most as u32)?,
                (_, _) => x.clamp(-most as i32, most as i32)?,
            };
            x.cast(to)
        };
        asked(cast).map_err(|error: Error| error.during(what))
    }

    /// As a dtype that the device stores. Deferred.
    #[track_caller]
    pub(super) fn cast_to(&self, to: Stored) -> Result<Self> {
        if to == *self.dtype {
            return Ok(self.clone());
        }
        deferred(&self.device, What::Cast(*to), *self.shape(), to, &[self.into()], *to)
    }

    /// The numbers that these become in a wide dtype that the device lacks, in one that it has.
    #[track_caller]
    fn as_numbers_of(&self, to: DType) -> Result<Self> {
        let signed = to.class() == Class::Signed;
        if self.dtype.is_float() && to.is_integer() {
            let x = self.cast(computed(self.dtype()))?;
            let end = 2f64.powi(8 * to.width() as i32 - i32::from(signed));
            let whole = x.is_nan()?.choose(0.0, &x.trunc()?)?;
            return whole.clamp(if signed { -end } else { 0.0 }, end);
        }
        match (self.dtype.class(), to.class()) {
            (Class::Signed, Class::Unsigned) => self.maximum(0u8),
            _ => Ok(self.clone()),
        }
    }

    /// As another dtype, where no value may change: one that would - not representable, out of
    /// range, or rounded - is an error at the next read of anything computed from the result, with
    /// how many there are and where the first is. NaN stays NaN between floats, and `-0.0` is `0`.
    ///
    /// Deferred, row-major. Nothing waits: the count comes along with the read. Where the
    /// plan converts the dtype, no value may differ from what is stored.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1, 2, 300], [3])?;
    /// let narrow = x.cast_checked(wharf::DType::U8)?;
    /// let error = narrow.read_now::<u8>().unwrap_err();
    /// assert!(error.to_string().ends_with("1 of 3 values would change, the first at [2]"));
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn cast_checked(&self, to: DType) -> Result<Self> {
        let made = self.device.making("cast_checked", to)?;
        if made.stored == self.dtype {
            return Ok(self.clone());
        }
        let expr = Expr::checked_cast(self.dtype(), *made.stored);
        self.checked("cast_checked", &made, self.dtype(), &expr)
    }

    /// Cast by an expression that notes what is refused, for a cast from `from`.
    #[track_caller]
    fn checked(
        &self,
        what: &'static str,
        made: &Making,
        from: DType,
        expr: &Checked,
    ) -> Result<Self> {
        let (shape, to, stored) = (*self.shape(), made.asked, made.stored);
        if shape.is_empty() {
            return self.cast_to(stored);
        }
        let explain =
            move |hit| FaultCause::Cast { what, from, to, stored: *stored, shape, hit }.into();
        let (named, expr) = (Task::of(what, expr.clone()), expr.clone());
        let record =
            move |site: Site<'_>, from: &[Operand]| checked::record(site, &from[0], &expr, explain);
        Ok(self.alone(named, &[self], (shape, stored), record))
    }
}

#[track_caller]
pub(super) fn apply(device: &crate::Device, op: Op, operands: &[Borrowed<'_>]) -> Result<Tensor> {
    applied(op.method(), device, &op.into(), operands, Stored::F32)
}

/// Applies an operation for a method, where numbers alone have this dtype.
#[track_caller]
fn applied(
    what: &str,
    device: &crate::Device,
    operator: &Operator,
    operands: &[Borrowed<'_>],
    alone: Stored,
) -> Result<Tensor> {
    let named = |error: Error| error.during(what);
    // Numbers take the dtype of the values: in `where`, of the two to choose from.
    let values = if *operator == Op::Where.into() { &operands[1..] } else { operands };
    let of = |operand: &Borrowed<'_>| match operand {
        Borrowed::Tensor(tensor) => Some(tensor.dtype),
        Borrowed::Scalar(_) => None,
    };
    let common = values.iter().find_map(of).unwrap_or(alone);
    let dtypes: Vec<DType> =
        operands.iter().map(|operand| *of(operand).unwrap_or(common)).collect();
    let (how, result) = match operator {
        Operator::Op(op) => {
            let result = op.result(&dtypes).map_err(Error::from);
            // It names the operation already.
            let result = if what == op.method() { result } else { result.map_err(named) };
            (What::Apply(*op), result?)
        }
        Operator::Formula(own) => (What::Call(Arc::clone(&own.text)), own.result(&dtypes)?),
    };
    let dtype = if result == *common { common } else { Stored::BOOL };
    let mut shape = Shape::SCALAR;
    for operand in operands {
        if let Borrowed::Tensor(t) = operand {
            device.engine.same_device(&t.device.engine).map_err(named)?;
            shape = shape.broadcast(t.shape()).map_err(named)?;
        }
    }
    deferred(device, how, shape, dtype, operands, *common).map_err(named)
}

/// The node for an operation, stored in the memory order of its leading operand, and the view that
/// undoes it.
#[track_caller]
fn deferred(
    device: &crate::Device,
    what: What,
    shape: Shape,
    dtype: Stored,
    operands: &[Borrowed<'_>],
    scalars: DType,
) -> Result<Tensor> {
    let order = stored_order(shape, operands)?;
    let read = |tensor: &Tensor| -> Result<Arg> {
        let view = tensor.layout.broadcast_to(shape)?;
        let view = order.as_ref().map_or(Ok(view), |order| view.permute(order))?;
        Ok(Arg::View(Arc::clone(&tensor.node), view))
    };
    let mut args = Vec::with_capacity(operands.len());
    for operand in operands {
        args.push(match operand {
            // The bits of an f64 are put together as an integer, which not every adapter has.
            Borrowed::Scalar(scalar) if scalars == DType::F64 && !device.caps().has(INT64) => {
                scalar.encode(scalars)?;
                read(&device.full(Shape::SCALAR, *scalar, scalars)?)?
            }
            Borrowed::Scalar(scalar) => Arg::Scalar(scalars, scalar.encode(scalars)?),
            Borrowed::Tensor(tensor) => read(tensor)?,
        });
    }
    let Some(order) = &order else {
        return Ok(Tensor::deferred(device, what, args, shape, dtype));
    };
    let dims: Vec<usize> = order.iter().map(|&axis| shape.dims()[axis]).collect();
    Tensor::deferred(device, what, args, Shape::new(dims)?, dtype).unpermute(order)
}

macro_rules! methods {
    ($(
        $(#[$alias:meta])*
        $name:ident($($other:ident)*) $op:ident $doc:literal $(#[$example:meta])*;
    )*) => {
        impl Tensor {
            $(
                #[doc = $doc]
                ///
                /// Elementwise and deferred: see [`Tensor::apply`]. Dtypes and accuracy are in the
                /// [contract](crate::op).
                ///
                $(#[$example])*
                $(#[$alias])*
                #[track_caller]
                pub fn $name(&self $(, $other: impl Into<Other>)*) -> Result<Self> {
                    $(let $other: Other = $other.into();)*
                    let op = Op::$op.meant(self.dtype());
                    apply(&self.device, op, &[self.into() $(, (&$other).into())*])
                }
            )*
        }
    };
}

methods! {
    #[doc(alias = "absolute")]
    abs() Abs "The magnitude.";
    #[doc(alias = "signum")]
    sign() Sign "-1, 0 or 1; zeros and NaN stay.";
    floor() Floor "Rounded down.";
    ceil() Ceil "Rounded up.";
    round() Round "Rounded to the nearest integer, ties to even.";
    trunc() Trunc "Rounded towards zero.";
    fract() Fract "What `floor` takes away.";
    sqrt() Sqrt "The square root.";
    cbrt() Cbrt "The cube root.";
    rsqrt() Rsqrt "One over the square root.";
    #[doc(alias = "reciprocal")]
    recip() Recip "One over it.";
    #[doc(alias = "sqr")]
    square() Square "Times itself.";
    exp() Exp "e to the power of it."
        /// ```
        /// # wharf::testing::example(async |device| {
        /// let (x, _) = device.upload(&[0.0f32, f32::NEG_INFINITY], [2])?;
        /// assert_eq!(x.exp()?.read_now::<f32>()?, [1.0, 0.0]);
        /// # Ok(()) });
        /// ```
        ;
    exp2() Exp2 "2 to the power of it.";
    expm1() Expm1 "`exp - 1`, without cancelling near 0.";
    #[doc(alias = "log")]
    ln() Ln "The natural logarithm.";
    log2() Log2 "The logarithm to base 2.";
    log10() Log10 "The logarithm to base 10.";
    #[doc(alias = "ln_1p")]
    log1p() Log1p "`ln(1 + x)`, without cancelling near 0.";
    sin() Sin "The sine.";
    cos() Cos "The cosine.";
    tan() Tan "The tangent.";
    #[doc(alias = "arcsin")]
    asin() Asin "The inverse sine.";
    #[doc(alias = "arccos")]
    acos() Acos "The inverse cosine.";
    #[doc(alias = "arctan")]
    atan() Atan "The inverse tangent.";
    sinh() Sinh "The hyperbolic sine.";
    cosh() Cosh "The hyperbolic cosine.";
    tanh() Tanh "The hyperbolic tangent.";
    #[doc(alias = "arcsinh")]
    asinh() Asinh "The inverse hyperbolic sine.";
    #[doc(alias = "arccosh")]
    acosh() Acosh "The inverse hyperbolic cosine.";
    #[doc(alias = "arctanh")]
    atanh() Atanh "The inverse hyperbolic tangent.";
    erf() Erf "The error function.";
    #[doc(alias = "expit")]
    sigmoid() Sigmoid "`1 / (1 + exp(-x))`.";
    relu() Relu "`max(x, 0)`.";
    #[doc(alias = "gelu_erf")]
    gelu() Gelu "The exact Gaussian error linear unit.";
    gelu_tanh() GeluTanh "[`Tensor::gelu`], approximated by `tanh`.";
    #[doc(alias = "swish")]
    silu() Silu "`x * sigmoid(x)`.";
    softplus() Softplus "`ln(1 + exp(x))`.";
    hard_swish() HardSwish "`x * clamp(x + 3, 0, 6) / 6`.";
    mish() Mish "`x * tanh(softplus(x))`.";
    #[doc(alias = "negative")]
    neg() Neg "The negative: `-x`.";
    #[doc(alias = "logical_not")]
    not() Not "Whether it does not hold: `!x`. Of integers it is `bit_not`.";
    #[doc(alias = "bitwise_not")]
    bit_not() BitNot "Every bit flipped.";
    is_nan() IsNan "Whether it is NaN.";
    is_inf() IsInf "Whether it is infinite.";
    is_finite() IsFinite "Whether it is neither infinite nor NaN.";
    #[doc(alias = "broadcast_add")]
    add(other) Add "The sum: `x + y`."
        /// ```
        /// # wharf::testing::example(async |device| {
        /// let (x, _) = device.upload(&[-1.0f32, 2.0], [2])?;
        /// let y = x.abs()?.mul(2.0)?.add(&x)?.neg()?; // as `-((x.abs()? * 2.0)? + &x)?`
        /// assert_eq!(y.read_now::<f32>()?, [-1.0, -6.0]);
        /// # Ok(()) });
        /// ```
        ;
    #[doc(alias("broadcast_sub", "subtract"))]
    sub(other) Sub "The difference: `x - y`.";
    #[doc(alias("broadcast_mul", "multiply"))]
    mul(other) Mul "The product: `x * y`.";
    #[doc(alias("broadcast_div", "true_divide"))]
    div(other) Div "The quotient: `x / y`.";
    #[doc(alias = "fmod")]
    rem(other) RemTrunc "The remainder with the sign of the dividend, as Rust's: `x % y`. In the \
        contract it is `rem_trunc`.";
    #[doc(alias("mod", "remainder"))]
    rem_floor(other) RemFloor "The remainder with the sign of the divisor, as Python's `%`.";
    #[doc(alias("powf", "powi"))]
    pow(other) Pow "To the power of the other.";
    #[doc(alias("clamp_max", "min"))]
    minimum(other) Min "The smaller; NaN if one is. In the contract it is `min`.";
    #[doc(alias("clamp_min", "max"))]
    maximum(other) Max "The larger; NaN if one is. In the contract it is `max`.";
    #[doc(alias = "arctan2")]
    atan2(other) Atan2 "The angle of the point (other, this).";
    hypot(other) Hypot "The length of the vector (this, other).";
    leaky_relu(slope) LeakyRelu "`x` where positive, else `slope * x`.";
    elu(alpha) Elu "`x` where positive, else `alpha * expm1(x)`.";
    #[doc(alias = "equal")]
    eq(other) Eq "Whether they are equal, as bool.";
    #[doc(alias = "not_equal")]
    ne(other) Ne "Whether they differ.";
    #[doc(alias = "less")]
    lt(other) Lt "Whether it is less.";
    #[doc(alias = "less_equal")]
    le(other) Le "Whether it is less or equal.";
    #[doc(alias = "greater")]
    gt(other) Gt "Whether it is greater.";
    #[doc(alias = "greater_equal")]
    ge(other) Ge "Whether it is greater or equal.";
    #[doc(alias = "logical_and")]
    and(other) And "Whether both hold: `x & y`. Of integers it is `bit_and`.";
    #[doc(alias = "logical_or")]
    or(other) Or "Whether one holds: `x | y`. Of integers it is `bit_or`.";
    #[doc(alias = "logical_xor")]
    xor(other) Xor "Whether just one holds: `x ^ y`. Of integers it is `bit_xor`.";
    #[doc(alias = "bitwise_and")]
    bit_and(other) BitAnd "Bits that both have.";
    #[doc(alias = "bitwise_or")]
    bit_or(other) BitOr "Bits that one has.";
    #[doc(alias = "bitwise_xor")]
    bit_xor(other) BitXor "Bits that just one has.";
    #[doc(alias = "bitwise_left_shift")]
    shl(other) Shl "The bits shifted up: `x << y`.";
    #[doc(alias = "bitwise_right_shift")]
    shr(other) Shr "The bits shifted down, the sign kept: `x >> y`.";
    #[doc(alias("clip", "hardtanh", "relu6"))]
    clamp(low high) Clamp "Between two bounds.";
    #[doc(alias("addcmul", "affine", "fma"))]
    mul_add(factor term) MulAdd "`x * factor + term`.";
    lerp(end weight) Lerp "From this to `end` by `weight`.";
    #[doc(alias("where", "where_cond"))]
    choose(yes no) Where "Where this (a bool tensor) holds, `yes`, else `no`. Two numbers are f32: \
        [`Tensor::choose_as`] names another dtype. In the contract it is `where`."
        /// ```
        /// # wharf::testing::example(async |device| {
        /// let (x, _) = device.upload(&[-1.0f32, 2.0, -3.0], [3])?;
        /// let positive = x.gt(0.0)?;
        /// assert_eq!(positive.read_now::<bool>()?, [false, true, false]);
        /// assert_eq!(positive.choose(&x, 0.5)?.read_now::<f32>()?, [0.5, 2.0, 0.5]);
        /// # Ok(()) });
        /// ```
        ;
}
