//! Factors of any square matrix, and what is made of them.

use super::{LinalgCause, Sides, Triangle, half_of};
use crate::dtype::DType;
use crate::engine::Site;
use crate::engine::site::asked;
use crate::error::{Error, Result};
use crate::kernel::Operand;
use crate::kernel::factor::{self, PANEL, ROWS_MAX};
use crate::op::Op;
use crate::plan::Stored;
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor::halves::halves;

/// Square matrices as a product of triangles, once their rows are in another order: see
/// [`Tensor::lu`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Lu {
    /// `[.., n, n]`: below the diagonal `L`, whose own diagonal is ones; from it on `U`.
    pub factors: Tensor,
    /// `[.., n]`, u32: row `i` of `L U` is row `order[i]` of the matrix.
    pub order: Tensor,
}

impl Lu {
    /// What [`Tensor::solve`] makes of the matrix that has these factors, to the bit: the matrix is
    /// factored once, and solves as often as it is asked. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (a, _) = device.upload(&[1.0f32, 2.0, 4.0, 4.0], [2, 2])?;
    /// let lu = a.lu()?;
    /// let mut x = device.ones(2, wharf::DType::F32)?;
    /// for _ in 0..2 {
    ///     x = lu.solve(&x)?; // inverse iteration: what has the smallest eigenvalue stays
    /// }
    /// assert_eq!(x.read_now::<f32>()?, [0.875, -0.6875]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn solve(&self, right: &Tensor) -> Result<Tensor> {
        asked(|| self.solved("solve", right)).map_err(|error| error.during("solve"))
    }

    fn solved(&self, what: &'static str, right: &Tensor) -> Result<Tensor> {
        let sides = Sides::of(&self.factors, right)?;
        let Some((factors, b)) = &sides.flat else {
            return right
                .device
                .zeros(sides.shape, DType::F32)?
                .on_behalf_of(&[&self.factors, right]);
        };
        let n = sides.n;
        let all = Shape::new(&sides.of.dims()[..sides.of.rank() - 1])?;
        let order = self.order.broadcast_to(all)?.reshape_copied([all.elements() / n, n])?;
        let half = factors.behind(&b.in_order(&order)?, &Triangle::lower().unit())?;
        let solved = factors.behind(&half, &Triangle::upper())?;
        let holds = factors.diagonals()?.ne(0.0)?;
        let lacks = ("is singular", n);
        sides.shaped(&solved.unless_lacking(what, sides.of, lacks, &holds)?)
    }

    /// The pivots of each matrix, `[.., n]`, and whether its rows are in an odd order.
    fn pivots(&self) -> Result<(Tensor, Tensor)> {
        let (order, n) = (&self.order, self.factors.matrices()?.1);
        let pivots = self.factors.matrices()?.0.diagonals()?.reshape_copied(*order.shape())?;
        // Every pair of rows that changed places turns the sign.
        let turned = order.unsqueeze(-1)?.gt(&order.unsqueeze(-2)?)?;
        let index = order.device.iota(n)?;
        let before = index.unsqueeze(1)?.lt(&index)?;
        let turned = turned.apply(Op::And, &[before.into()])?.cast(DType::U32)?.sum([-1, -2])?;
        Ok((pivots, turned.rem(2u32)?.eq(1u32)?))
    }
}

impl Tensor {
    /// The factors of square matrices over the last two axes, by swaps of rows that make every
    /// pivot the largest its column has left, the first of equals: of f32, of at most 65536 rows;
    /// axes before the last two are batches. By the contract of [matrices](crate::op): every
    /// element of `L U` is as near to its matrix as a sum of so many products in f32. Every matrix
    /// has them: of a singular one a pivot is 0. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (a, _) = device.upload(&[1.0f32, 2.0, 4.0, 4.0], [2, 2])?;
    /// let lu = a.lu()?;
    /// assert_eq!(lu.factors.read_now::<f32>()?, [4.0, 4.0, 0.25, 1.0]);
    /// assert_eq!(lu.order.read_now::<u32>()?, [1, 0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "lu_factor")]
    #[track_caller]
    pub fn lu(&self) -> Result<Lu> {
        asked(|| self.by_pivots()).map_err(|error: Error| error.during("lu"))
    }

    /// The determinants of square matrices over the last two axes: the product of the pivots of
    /// their [factors](Tensor::lu), by the contract of a [product](crate::op). It may leave the
    /// range of f32, where [`Tensor::slogdet`] does not. The factors are exact of a matrix that is
    /// as near as their contract says: of a singular one it is 0, or as near as they are; of one
    /// without rows 1. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (a, _) = device.upload(&[1.0f32, 2.0, 4.0, 4.0], [2, 2])?;
    /// assert_eq!(a.det()?.read_scalar_now::<f32>()?, -4.0);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "determinant")]
    #[track_caller]
    pub fn det(&self) -> Result<Self> {
        let determined = || {
            let (pivots, odd) = self.by_pivots()?.pivots()?;
            let product = pivots.prod(-1)?;
            // A product of the others may be infinite, and no zero brings that back.
            let zero = pivots.eq(0.0)?.any(-1)?;
            let told = zero.apply(Op::And, &[pivots.is_finite()?.all(-1)?.into()])?;
            let product = told.choose(0.0, &product)?;
            odd.choose(&(-&product)?, &product)
        };
        asked(determined).map_err(|error| error.during("det"))
    }

    /// The sign of each [determinant](Tensor::det) - 1, -1, or 0 of a singular matrix - and the
    /// logarithm of its magnitude, which is in the range of f32 whatever the size; minus infinity
    /// of a singular one. Of the [factors](Tensor::lu): the sign is exact, the logarithm off by at
    /// most 130 ulp of the sum of `|ln p|` over the pivots `p` ([contract](crate::op)). Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let a = (device.eye(200, 200, wharf::DType::F32)? * -4.0)?;
    /// let (sign, size) = a.slogdet()?;
    /// assert!(a.det()?.read_scalar_now::<f32>()?.is_infinite());
    /// assert_eq!(sign.read_scalar_now::<f32>()?, 1.0);
    /// assert!((size.read_scalar_now::<f32>()? - 200.0 * 4.0f32.ln()).abs() < 1e-3);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "logdet")]
    #[track_caller]
    pub fn slogdet(&self) -> Result<(Self, Self)> {
        let determined = || {
            let (pivots, odd) = self.by_pivots()?.pivots()?;
            let sign = pivots.sign()?.prod(-1)?;
            let sign = odd.choose(&(-&sign)?, &sign)?;
            Ok((sign, pivots.abs()?.ln()?.sum(-1)?))
        };
        asked(determined).map_err(|error: Error| error.during("slogdet"))
    }

    /// What square matrices have to be multiplied by to give `right`: `X` with `A X = B`, for `A`
    /// of `[.., n, n]` and `B` of `[.., n, m]`, whose axes before the last two broadcast. `B` may
    /// also be one vector for each matrix, `[.., n]` of all axes of `A` but its last, or one for
    /// all of them, `[n]`; `X` then is vectors as well. A `B` of one axis less than `A` is vectors,
    /// whatever its lengths: a matrix that all of them take is `b.unsqueeze(0)`.
    ///
    /// Of f32; by [factors](Tensor::lu), by their contract. A matrix one of
    /// whose pivots is 0 is an error of kind [`Singular`](crate::ErrorKind::Singular) at the first
    /// read; one that is nearly singular has a result that is far off. Deferred. What solves
    /// several times is factored once: [`Lu::solve`].
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (a, _) = device.upload(&[1.0f32, 2.0, 4.0, 4.0], [2, 2])?;
    /// let (b, _) = device.upload(&[5.0f32, 12.0], [2])?;
    /// assert_eq!(a.solve(&b)?.read_now::<f32>()?, [1.0, 2.0]);
    ///
    /// // Two systems, with a vector each.
    /// let two = wharf::Tensor::stack(&[&a, &(&a * 2.0)?], 0)?;
    /// let x = two.solve(&b.broadcast_to([2, 2])?)?;
    /// assert_eq!(x.read_now::<f32>()?, [1.0, 2.0, 0.5, 1.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn solve(&self, right: &Self) -> Result<Self> {
        asked(|| self.by_pivots()?.solved("solve", right)).map_err(|error| error.during("solve"))
    }

    /// The inverses of square matrices over the last two axes: what [`Tensor::solve`] makes of
    /// ones on a diagonal, which is also what to call for a product with an inverse. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (a, _) = device.upload(&[1.0f32, 2.0, 4.0, 4.0], [2, 2])?;
    /// assert_eq!(a.inv()?.read_now::<f32>()?, [-1.0, 0.5, 1.0, -0.25]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "inverse")]
    #[track_caller]
    pub fn inv(&self) -> Result<Self> {
        let inverted = || {
            let (_, n) = self.matrices()?;
            let ones = self.device.eye(n, n, DType::F32)?.broadcast_to(*self.shape())?;
            self.by_pivots()?.solved("inv", &ones)
        };
        asked(inverted).map_err(|error| error.during("inv"))
    }

    /// The factors of square matrices.
    fn by_pivots(&self) -> Result<Lu> {
        let (x, n) = self.matrices()?;
        let shape = *self.shape();
        let list = Shape::new(&shape.dims()[..shape.rank() - 1])?;
        if shape.is_empty() {
            let zeros = |shape, dtype| self.device.zeros(shape, dtype)?.on_behalf_of(&[self]);
            return Ok(Lu { factors: zeros(shape, DType::F32)?, order: zeros(list, DType::U32)? });
        }
        if n > ROWS_MAX {
            return Err(LinalgCause::Rows { rows: n, most: ROWS_MAX }.into());
        }
        let (factors, order) = x.pivoted()?;
        Ok(Lu { factors: factors.reshape_copied(shape)?, order: order.reshape_copied(list)? })
    }

    /// The factors of `[matrices, m, n]`, where `m` is not less than `n`, and the order of rows.
    fn pivoted(&self) -> Result<(Self, Self)> {
        let [matrices, m, n] = self.shape().array()?;
        // A panel, with the numbers of its rows, is in one segment.
        let segment = self.device.engine.segment_elements(DType::F32);
        if matrices > 1 && matrices * m * (n + 1) > segment {
            let [before, after] = halves(matrices).map(|part| self.slice(0, part)?.pivoted());
            let ((before, first), (after, last)) = (before?, after?);
            return Ok((Self::concat(&[before, after], 0)?, Self::concat(&[first, last], 0)?));
        }
        if n <= PANEL {
            let index = self.device.iota(m)?.cast(DType::F32)?.unsqueeze(1)?;
            let both = Self::concat(&[self, &index.broadcast_to([matrices, m, 1])?], 2)?;
            let shape = *both.shape();
            let panels = |site: Site<'_>, from: &[Operand]| factor::panels(site, &from[0]);
            let both = both.alone("lu_panel", &[&both], (shape, Stored::F32), panels);
            let order = both.slice(2, n..)?.squeeze(2)?.cast(DType::U32)?;
            return Ok((both.slice(2, ..n)?, order));
        }
        let half = half_of(n, PANEL);
        let (left, order) = self.slice(2, ..half)?.pivoted()?;
        let right = self.slice(2, half..)?.in_order(&order)?;
        let unit = Triangle::lower().unit();
        let top = left.slice(1, ..half)?.behind(&right.slice(1, ..half)?, &unit)?;
        let below = left.slice(1, half..)?;
        let rest = (right.slice(1, half..)? - below.matmul_plain(&top)?)?;
        let (rest, later) = rest.pivoted()?;
        let below = below.in_order(&later)?;
        let factors = [
            Self::concat(&[&left.slice(1, ..half)?, &top], 2)?,
            Self::concat(&[&below, &rest], 2)?,
        ];
        let behind = order.slice(1, half..)?.unsqueeze(2)?.in_order(&later)?.squeeze(2)?;
        let order = Self::concat(&[&order.slice(1, ..half)?, &behind], 1)?;
        Ok((Self::concat(&factors, 1)?, order))
    }

    /// The rows of `[matrices, m, n]` in an order for each.
    fn in_order(&self, order: &Self) -> Result<Self> {
        let [matrices, m, n] = self.shape().array()?;
        if matrices == 1 {
            return self.index_select(1, &order.reshape_copied([m])?);
        }
        let first = (self.device.iota(matrices)? * m as u32)?.unsqueeze(1)?;
        let rows = (order + &first)?.reshape_copied([matrices * m])?;
        let list = self.reshape_copied([matrices * m, n])?;
        list.index_select(0, &rows)?.reshape([matrices, m, n])
    }
}
