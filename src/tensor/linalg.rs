//! Linear algebra: matrices by their factors, in f32.
//!
//! A matrix is halved until a block is small. What is between the halves are products, which is
//! where nearly all of the work is:
//!
//! ```text
//! [L11    ] [X1]   [B1]      X1 = L11^-1 B1,   X2 = L22^-1 (B2 - L21 X1)
//! [L21 L22] [X2] = [B2]
//! ```
//!
//! Whether a matrix has what is asked for only its numbers know, so that the first read says it.

use super::Tensor;
use super::cause::TensorCause;
use super::halves::{halves, in_two};
use crate::dtype::DType;
use crate::engine::Site;
use crate::engine::site::asked;
use crate::error::{Result, causes};
use crate::fuse::What;
use crate::kernel::Operand;
use crate::kernel::cause::FaultCause;
use crate::kernel::cores::Task;
use crate::kernel::elementwise::checked;
use crate::kernel::factor::{BLOCK, FactorCore};
use crate::plan::Stored;
use crate::shape::Shape;
use crate::shape::cause::ShapeCause;
use crate::wgsl::Expr;

mod lu;

pub use lu::Lu;

/// Which triangle of a matrix is meant, and how.
///
/// ```
/// # wharf::testing::example(async |device| {
/// use wharf::tensor::Triangle;
///
/// let (a, _) = device.upload(&[2.0f32, 6.0, 3.0, 4.0], [2, 2])?;
/// let (b, _) = device.upload(&[8.0f32, 4.0], [2])?;
/// let x = |how: Triangle| a.solve_triangular(&b, &how)?.read_now::<f32>();
/// assert_eq!(x(Triangle::upper())?, [1.0, 1.0]); // 2 x + 6 y = 8, 4 y = 4
/// assert_eq!(x(Triangle::upper().unit())?, [-16.0, 4.0]); // x + 6 y = 8, y = 4
/// assert_eq!(x(Triangle::lower().transposed())?, [2.5, 1.0]); // 2 x + 3 y = 8, 4 y = 4
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    upper: bool,
    transposed: bool,
    unit: bool,
}

impl Triangle {
    /// The diagonal and what is below it; what is above is not read.
    #[must_use]
    pub const fn lower() -> Self {
        Self { upper: false, transposed: false, unit: false }
    }

    /// The diagonal and what is above it; what is below is not read.
    #[must_use]
    pub const fn upper() -> Self {
        Self { upper: true, ..Self::lower() }
    }

    /// That triangle, transposed.
    #[must_use]
    pub const fn transposed(self) -> Self {
        Self { transposed: true, ..self }
    }

    /// The diagonal counts as ones, and is not read.
    #[must_use]
    pub const fn unit(self) -> Self {
        Self { unit: true, ..self }
    }
}

impl Tensor {
    /// The factor `L` of symmetric positive definite matrices over the last two axes: a lower
    /// triangle with `L L^T` the matrix, of which the lower triangle is read. Of f32; axes before
    /// the last two are batches. By the contract of [matrices](crate::op): every element of `L L^T`
    /// is as near as a sum of so many products in f32. That a matrix is not positive definite, or
    /// not finite, is an error of kind [`Singular`](crate::ErrorKind::Singular) at the first read,
    /// which names the matrix and the pivot. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (a, _) = device.upload(&[4.0f32, 2.0, 2.0, 5.0], [2, 2])?;
    /// assert_eq!(a.cholesky()?.read_now::<f32>()?, [2.0, 0.0, 1.0, 2.0]);
    /// let error = (-&a)?.cholesky()?.read_now::<f32>().unwrap_err();
    /// assert_eq!(error.kind(), wharf::ErrorKind::Singular);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn cholesky(&self) -> Result<Self> {
        let factored = || {
            let (x, n) = self.matrices()?;
            if x.shape().is_empty() {
                return self.device.zeros(*self.shape(), DType::F32)?.on_behalf_of(&[self]);
            }
            let factor = x.factored()?;
            let holds = factor.diagonals()?.gt(0.0)?;
            let lacks = "is not positive definite";
            factor
                .unless_lacking("cholesky", *self.shape(), (lacks, n), &holds)?
                .reshape(*self.shape())
        };
        asked(factored).map_err(|error| error.during("cholesky"))
    }

    /// What a triangle has to be multiplied by to give `right`: `X` with `T X = B`, where `T` is
    /// one triangle of `[.., n, n]` and `B` is `[.., n, m]`, or one vector for each matrix, as
    /// [`Tensor::solve`] takes them. Of f32; by the contract of [matrices](crate::op): every
    /// element of `T X` is as near to `B` as a sum of so many products in f32. A zero on the
    /// diagonal is an error of kind [`Singular`](crate::ErrorKind::Singular) at the first read.
    /// Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Triangle;
    ///
    /// let (l, _) = device.upload(&[2.0f32, 0.0, 1.0, 4.0], [2, 2])?;
    /// let (b, _) = device.upload(&[2.0f32, 9.0], [2])?;
    /// let x = l.solve_triangular(&b, &Triangle::lower())?;
    /// assert_eq!(x.read_now::<f32>()?, [1.0, 2.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "triangular_solve")]
    #[track_caller]
    pub fn solve_triangular(&self, right: &Self, how: &Triangle) -> Result<Self> {
        let solved = || {
            let sides = Sides::of(self, right)?;
            let Some((x, b)) = &sides.flat else {
                return self.device.zeros(sides.shape, DType::F32)?.on_behalf_of(&[self, right]);
            };
            let solved = x.behind(b, how)?;
            let solved = if how.unit {
                solved
            } else {
                let (holds, n) = (x.diagonals()?.ne(0.0)?, sides.n);
                let lacks = ("is singular", n);
                solved.unless_lacking("solve_triangular", sides.of, lacks, &holds)?
            };
            sides.shaped(&solved)
        };
        asked(solved).map_err(|error| error.during("solve_triangular"))
    }

    /// Square matrices of f32 as a list of them, and their size.
    fn matrices(&self) -> Result<(Self, usize)> {
        let (shape, dtype) = (*self.shape(), self.dtype());
        let [lead @ .., rows, columns] = shape.dims() else {
            return Err(ShapeCause::Ranks { shape, takes: "2 or more" }.into());
        };
        if dtype != DType::F32 {
            return Err(TensorCause::Only { what: "matrices", dtype, only: "f32" }.into());
        }
        if rows != columns {
            return Err(LinalgCause::Square { shape, rows: *rows, columns: *columns }.into());
        }
        let count: usize = lead.iter().product();
        Ok((self.reshape_copied([count, *rows, *columns])?, *rows))
    }

    /// The diagonals of `[matrices, n, n]`, as `[matrices, n]`.
    fn diagonals(&self) -> Result<Self> {
        let [matrices, n, _] = self.shape().array()?;
        let list = self.reshape_copied([matrices, n * n])?;
        list.slice_step(1, .., n.cast_signed() + 1)
    }

    /// It, if all of `[matrices, pivots]` holds; otherwise the first read says which does not.
    fn unless_lacking(
        &self,
        what: &'static str,
        of: Shape,
        (lacks, pivots): (&'static str, usize),
        holds: &Self,
    ) -> Result<Self> {
        let bad = holds.apply(crate::op::Op::Not, &[])?.cast(DType::U32)?;
        let explain = move |hit| FaultCause::Pivot { what, of, lacks, pivots, hit }.into();
        let expr = Expr::checked_index(DType::U32, 1);
        let named = Task::of(what, expr.clone());
        let check =
            move |site: Site<'_>, from: &[Operand]| checked::record(site, &from[0], &expr, explain);
        let shape = *bad.shape();
        let noted = bad.alone(named, &[&bad], (shape, Stored::U32), check);
        // Whatever takes one of them carries what was noted.
        let one = noted.slice(0, ..1)?.slice(1, ..1)?.unsqueeze(-1)?;
        one.eq(0u32)?.choose(self, 0.0)
    }

    /// The factors of `[matrices, n, n]`. The first pivot that is no positive number is 0 in its
    /// diagonal; what comes after it is anything.
    fn factored(&self) -> Result<Self> {
        let n = self.shape().dims()[1];
        if n <= BLOCK {
            return self.blocks(FactorCore::Cholesky, None, *self.shape());
        }
        let half = half_of(n, BLOCK);
        let part = |rows, columns| self.slice(1, rows)?.slice(2, columns);
        let first = part(0..half, 0..half)?.factored()?;
        // Rows of L21 are columns of what stands behind L11.
        let below = first.behind(&part(half..n, 0..half)?.t()?, &Triangle::lower())?.t()?;
        let rest = (part(half..n, half..n)? - below.matmul_plain(&below.t()?)?)?.factored()?;
        let zero = self.device.constant(Shape::new([1; 3])?, Stored::F32, 0u8)?;
        let zeros = zero.broadcast_to([self.shape().dims()[0], half, n - half])?;
        let top = Self::concat(&[&first, &zeros], 2)?;
        Self::concat(&[&top, &Self::concat(&[&below, &rest], 2)?], 1)
    }

    /// `[matrices, n, m]` by a triangle of each of `[matrices, n, n]`.
    fn behind(&self, right: &Self, how: &Triangle) -> Result<Self> {
        let turned = if how.transposed { self.t()? } else { self.clone() };
        if how.upper == how.transposed {
            return turned.below(right, how.unit);
        }
        // From below an upper triangle is a lower one.
        let turned = turned.flip(1)?.flip(2)?;
        turned.below(&right.flip(1)?, how.unit)?.flip(1)
    }

    /// Like `behind`, for triangles that are lower ones as they are.
    fn below(&self, right: &Self, unit: bool) -> Result<Self> {
        let n = self.shape().dims()[1];
        if n <= BLOCK {
            return self.blocks(FactorCore::Triangle { unit }, Some(right), *right.shape());
        }
        let half = half_of(n, BLOCK);
        let part = |rows, columns| self.slice(1, rows)?.slice(2, columns);
        let first = part(0..half, 0..half)?.below(&right.slice(1, ..half)?, unit)?;
        let taken = part(half..n, 0..half)?.matmul_plain(&first)?;
        let rest = (right.slice(1, half..)? - taken)?;
        let rest = part(half..n, half..n)?.below(&rest, unit)?;
        Self::concat(&[&first, &rest], 1)
    }

    /// Defers the kernel of a block; of more than a segment holds, one half after the other.
    fn blocks(&self, core: FactorCore, right: Option<&Self>, to: Shape) -> Result<Self> {
        let segment = self.device.engine.segment_elements(DType::F32);
        let most = to.elements().max(self.shape().elements());
        let count = to.dims()[0];
        if most <= segment || count == 1 && to.dims()[2] < 2 {
            let args = [Some(self), right].into_iter().flatten().map(Self::arg).collect();
            return Ok(Self::deferred(&self.device, What::core(core), args, to, Stored::F32));
        }
        let axis = if count > 1 { 0 } else { 2 };
        in_two(axis, halves(to.dims()[axis]), |part| {
            let mut dims = to.dims().to_vec();
            dims[axis] = part.len();
            let own = if axis == 0 { self.slice(0, part.clone())? } else { self.clone() };
            let right = right.map(|right| right.slice(axis, part)).transpose()?;
            own.blocks(core, right.as_ref(), Shape::new(dims)?)
        })
    }
}

/// About a half, in whole blocks.
const fn half_of(n: usize, block: usize) -> usize {
    n.div_ceil(2 * block) * block
}

/// Matrices and right sides, as lists of both.
struct Sides {
    /// None where one of them is empty.
    flat: Option<(Tensor, Tensor)>,
    n: usize,
    /// Of the matrices, as they are solved.
    of: Shape,
    /// Right sides of one matrix, which are columns beside each other while they are solved.
    gathered: usize,
    /// Of the result.
    shape: Shape,
}

impl Sides {
    fn of(left: &Tensor, right: &Tensor) -> Result<Self> {
        left.device.engine.same_device(&right.device.engine)?;
        let (of, given) = (*left.shape(), *right.shape());
        let (_, n) = left.matrices()?;
        if right.dtype() != DType::F32 {
            let (what, dtype) = ("the right side", right.dtype());
            return Err(TensorCause::Only { what, dtype, only: "f32" }.into());
        }
        // A rank tells vectors from matrices, so that no length does.
        let lists = given.rank() == 1 || given.rank() + 1 == of.rank();
        let right = if lists { right.unsqueeze(-1)? } else { right.clone() };
        let [lead @ .., rows, columns] = right.shape().dims() else {
            return Err(LinalgCause::Right { of, given, n }.into());
        };
        let apart = lists && given.rank() > 1 && *lead != of.dims()[..of.rank() - 2];
        if *rows != n || apart {
            return Err(LinalgCause::Right { of, given, n }.into());
        }
        let batch = Shape::new(&of.dims()[..of.rank() - 2])?.broadcast(&Shape::new(lead)?);
        let batch = batch.map_err(|error| error.during("batches"))?;
        let whole = |columns: usize| Shape::new([batch.dims(), &[n, columns]].concat());
        let shape = whole(*columns)?;
        let flat = |x: &Tensor, columns: usize| {
            x.broadcast_to(whole(columns)?)?.reshape_copied([batch.elements(), n, columns])
        };
        let lone = of.elements() == n * n;
        let gathered = if lone { batch.elements() } else { 1 };
        let flat = match (shape.is_empty() || of.is_empty(), lone) {
            (true, _) => None,
            // One matrix is factored once.
            (false, true) => {
                let sides = flat(&right, *columns)?.swap_axes(0, 1)?;
                let sides = sides.reshape_copied([1, n, gathered * columns])?;
                Some((left.reshape_copied([1, n, n])?, sides))
            }
            (false, false) => Some((flat(left, n)?, flat(&right, *columns)?)),
        };
        let of = if lone { of } else { whole(n)? };
        let result = if lists { Shape::new(&shape.dims()[..shape.rank() - 1])? } else { shape };
        Ok(Self { flat, n, of, gathered, shape: result })
    }

    /// What was solved, as it was asked for.
    fn shaped(&self, solved: &Tensor) -> Result<Tensor> {
        let [_, n, columns] = solved.shape().array()?;
        if self.gathered == 1 {
            return solved.reshape_copied(self.shape);
        }
        let apart = solved.reshape_copied([n, self.gathered, columns / self.gathered])?;
        apart.swap_axes(0, 1)?.reshape_copied(self.shape)
    }
}

causes! {
    /// What can be wrong with matrices.
    enum LinalgCause;

    Square { shape: Shape, rows: usize, columns: usize }, Shape:
        ("{shape} are matrices of {rows} rows and {columns} columns, not square")
        help ("the last two axes are equally long");
    Right { of: Shape, given: Shape, n: usize }, Shape:
        ("a right side of {given} for matrices of {of}, not [.., {n}, m] or {}", vectors(of))
        help ("{}", match given.rank() + 1 == of.rank() && given.rank() > 1 {
            true => "of one axis less than the matrices it is a vector for each; \
                     `unsqueeze(0)` makes it a matrix that all of them take",
            false => "it has a row for each row of a matrix; of one axis less than the matrices it \
                      is a vector for each",
        });
    Rows { rows: usize, most: usize }, Limit:
        ("matrices of {rows} rows, above {most}")
        help ("pivots are looked for in one column at a time; `cholesky` takes larger ones");
}

/// The shape of one vector for each of these matrices.
fn vectors(of: &Shape) -> String {
    format!("{:?}", &of.dims()[..of.rank() - 1])
}
