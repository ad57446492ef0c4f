//! Factors of matrices and what is solved by them: multiplied back in f64 and held to the contract,
//! element by element; whatever the size, the batch and the view; and what has no result.

mod views;

use wharf::op::{Exact, Reduction, matrix_room};
use wharf::reference::Number;
use wharf::tensor::{Lu, Triangle};
use wharf::{Adapter, DType, Device, ErrorKind, Policy, Tensor};

use super::accuracy::met;
use super::pair::count;
use super::probe::Random;
use super::views::TARGETS;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, LOWEST, Outcome, case, ensure, ensure_eq, matters, show,
};

/// Matrices `[batch, n, n]`, where blocks and panels end and where they do not.
const SIZES: [[usize; 2]; 11] =
    [[1, 1], [5, 2], [3, 3], [2, 8], [1, 9], [2, 17], [1, 31], [2, 32], [1, 33], [2, 70], [1, 131]];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|downgrade| matters(adapter, **downgrade)) {
        let name = format!("linalg::factors::{}", downgrade.name);
        cases.push(case!(name, |ctx| factors(ctx, downgrade)));
    }
    cases.push(case!("linalg::triangles", |ctx| triangles(ctx, DOWNGRADES[0])));
    cases.push(case!("linalg::triangles::lowest", |ctx| triangles(ctx, LOWEST)));
    cases.push(case!("linalg::views", |ctx| views::run(ctx)));
    cases.push(case!("linalg::hard", |ctx| hard(ctx)));
    cases.push(case!("linalg::empty", |ctx| empty(ctx)));
    cases.push(case!("linalg::singular", |ctx| singular(ctx)));
    cases.push(case!("linalg::huge_pivots_and_none", |ctx| huge_and_zero(ctx)));
    cases.push(case!("linalg::beside_many", |ctx| beside_many(ctx)));
    for (name, downgrade) in [("native", DOWNGRADES[0]), ("lowest", LOWEST)] {
        let name = format!("linalg::factored_once::{name}");
        cases.push(case!(name, |ctx| factored_once(ctx, downgrade)));
    }
    cases.push(case!("linalg::many_panels", |ctx| many_panels(ctx)));
    cases.push(case!("linalg::converted", |ctx| converted(ctx)));
    cases
}

/// Numbers of f64, `[batch, rows, columns]`.
#[derive(Clone, Debug)]
struct Dense {
    dims: [usize; 3],
    numbers: Vec<f64>,
}

impl Dense {
    fn new(dims: [usize; 3], at: impl Fn(usize, usize, usize) -> f64) -> Self {
        let [batch, rows, columns] = dims;
        let mut numbers = Vec::new();
        for b in 0..batch {
            for i in 0..rows {
                numbers.extend((0..columns).map(|j| at(b, i, j)));
            }
        }
        Self { dims, numbers }
    }

    async fn of(x: &Tensor, dims: [usize; 3]) -> Result<Self, String> {
        ensure_eq!(x.shape().elements(), dims.iter().product::<usize>(), "the elements");
        let numbers = x.read::<f32>().await.map_err(show)?;
        Ok(Self { dims, numbers: numbers.into_iter().map(f64::from).collect() })
    }

    fn drawn(random: &mut Random, dims: [usize; 3]) -> Self {
        let count = dims.iter().product();
        let one = |_| random.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0;
        Self { dims, numbers: (0..count).map(one).collect() }
    }

    fn at(&self, b: usize, i: usize, j: usize) -> f64 {
        // A single one is that of each.
        let b = if self.dims[0] == 1 { 0 } else { b };
        self.numbers[(b * self.dims[1] + i) * self.dims[2] + j]
    }

    fn map(&self, at: impl Fn(usize, usize, f64) -> f64) -> Self {
        Self::new(self.dims, |b, i, j| at(i, j, self.at(b, i, j)))
    }

    fn t(&self) -> Self {
        let [batch, rows, columns] = self.dims;
        Self::new([batch, columns, rows], |b, i, j| self.at(b, j, i))
    }

    fn times(&self, right: &Self) -> Self {
        let dims = [self.dims[0].max(right.dims[0]), self.dims[1], right.dims[2]];
        Self::new(dims, |b, i, j| {
            (0..self.dims[2]).map(|k| self.at(b, i, k) * right.at(b, k, j)).sum()
        })
    }

    fn abs(&self) -> Self {
        self.map(|_, _, x| x.abs())
    }

    fn plus(&self, other: &Self) -> Self {
        Self::new(self.dims, |b, i, j| self.at(b, i, j) + other.at(b, i, j))
    }

    fn ordered(&self, order: &[u32]) -> Self {
        let n = self.dims[1];
        Self::new(self.dims, |b, i, j| self.at(b, order[b * n + i] as usize, j))
    }

    /// On a device, as a view whose rows come last.
    fn upload(&self, device: &Device) -> Result<Tensor, String> {
        let turned: Vec<f32> = self.t().numbers.into_iter().map(|x| x as f32).collect();
        let [batch, rows, columns] = self.dims;
        let (x, _) = device.upload(&turned, [batch, columns, rows]).map_err(show)?;
        x.t().map_err(show)
    }
}

/// Every element of a difference within what its operation is allowed.
fn near(name: &str, n: usize, got: &Dense, want: &Dense, of: &Dense) -> Outcome {
    count();
    let room = matrix_room(name, n).ok_or("no contract")?;
    for (i, ((got, want), of)) in got.numbers.iter().zip(&want.numbers).zip(&of.numbers).enumerate()
    {
        let off = (got - want).abs();
        ensure!(off <= room * of, "{name} of {n}: {i} is {got}, not {want}, of {of}");
        met(name, off / (room * of), &format!("{n} x {n}"));
    }
    ensure_eq!(got.dims, want.dims, "the shape of {name}");
    Ok(())
}

fn lower(x: &Dense, unit: bool) -> Dense {
    x.map(|i, j, x| match i.cmp(&j) {
        core::cmp::Ordering::Equal if unit => 1.0,
        core::cmp::Ordering::Less => 0.0,
        _ => x,
    })
}

fn upper(x: &Dense, unit: bool) -> Dense {
    lower(&x.t(), unit).t()
}

/// By Cholesky, if it is positive definite; by LU, and what that solves.
async fn one(device: &Device, a: &Dense, positive: bool) -> Outcome {
    let [batch, n, _] = a.dims;
    let x = a.upload(device)?;
    if positive {
        let l = Dense::of(&x.cholesky().map_err(show)?, a.dims).await?;
        ensure!(l.numbers == lower(&l, false).numbers, "something above the diagonal");
        near("cholesky", n, &l.times(&l.t()), a, &l.abs().times(&l.abs().t()))?;
    }
    let Lu { factors, order, .. } = x.lu().map_err(show)?;
    let (factors, order) =
        (Dense::of(&factors, a.dims).await?, order.read::<u32>().await.map_err(show)?);
    for list in order.chunks(n) {
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        ensure!(sorted.iter().copied().eq(0..n as u32), "{list:?} is no order");
    }
    let (l, u) = (lower(&factors, true), upper(&factors, false));
    ensure!(l.numbers.iter().all(|x| x.abs() <= 1.000_001), "a pivot that is not the largest");
    let magnitude = l.abs().times(&u.abs());
    near("lu", n, &l.times(&u), &a.ordered(&order), &magnitude)?;
    let b = Dense::new([1, n, 3], |_, i, j| ((i * 7 + j * 3) % 11) as f64 - 5.0);
    let solved = x.solve(&b.upload(device)?).map_err(show)?;
    let solved = Dense::of(&solved, [batch, n, 3]).await?;
    let b = Dense::new([batch, n, 3], |_, i, j| b.at(0, i, j)).ordered(&order);
    let of = magnitude.times(&solved.abs()).plus(&b.abs());
    near("solve", n, &a.ordered(&order).times(&solved), &b, &of)?;
    let inverse = Dense::of(&x.inv().map_err(show)?, a.dims).await?;
    let ones = Dense::new(a.dims, |_, i, j| f64::from(i == j)).ordered(&order);
    let of = magnitude.times(&inverse.abs()).plus(&ones);
    near("inv", n, &a.ordered(&order).times(&inverse), &ones, &of)?;
    determined(&x, &u, &order).await
}

/// By the product of the pivots and a sign for the order; and by the sum of their logarithms.
async fn determined(x: &Tensor, u: &Dense, order: &[u32]) -> Outcome {
    let n = u.dims[1];
    let dets = x.det().and_then(|d| d.flatten(..)).map_err(show)?.read::<f32>().await;
    let (sign, size) = x.slogdet().map_err(show)?;
    ensure_eq!([sign.shape().elements(), size.shape().elements()], [u.dims[0]; 2], "of each one");
    let signs = sign.read::<f32>().await.map_err(show)?;
    let mut logs = Vec::new();
    for (m, &got) in dets.map_err(show)?.iter().enumerate() {
        let mut order = order[m * n..][..n].to_vec();
        let pivots = || (0..n).map(|i| u.at(m, i, i));
        let mut turned = 1.0;
        for i in 0..n {
            while order[i] as usize != i {
                let to = order[i] as usize;
                order.swap(i, to);
                turned = -turned;
            }
        }
        let want = turned * pivots().product::<f64>();
        let exact = Exact { value: Number::Float(want), scale: n as f64 * want.abs() };
        let kept =
            Reduction::Prod.bound(DType::F32).within(DType::F32, exact, Number::Float(got.into()));
        let out = want.abs() > 1e30 || want.abs() < 1e-30;
        ensure!(kept || out, "the determinant is {got}, not {want}");
        let want: f64 = turned * pivots().map(f64::signum).product::<f64>();
        ensure_eq!(f64::from(signs[m]), want, "the sign of {m}");
        let parts = || pivots().map(|p| p.abs().ln());
        let (value, scale) = (Number::Float(parts().sum()), parts().map(f64::abs).sum());
        logs.push(Exact { value, scale });
    }
    super::vocabulary::kept(("slogdet", 1), &format!("{n}"), &size, &logs).await
}

async fn factors(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(81);
    for device in TARGETS.map(|target| device.with_target(target)) {
        let step = if downgrade.name == "native" { 1 } else { 3 };
        for [batch, n] in SIZES.into_iter().step_by(step) {
            let place = |e| format!("{batch} of {n} for {:?}: {e}", device.target());
            let a = Dense::drawn(&mut random, [batch, n, n]);
            one(&device, &a, false).await.map_err(place)?;
            let s = a.times(&a.t());
            let s = s.map(|i, j, x| f64::from((x + f64::from(i == j)) as f32));
            one(&device, &s, true).await.map_err(place)?;
        }
    }
    Ok(())
}

/// Either triangle, transposed or not, of ones or not; what is in the other one does not count.
async fn triangles(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(82);
    for device in TARGETS.map(|target| device.with_target(target)) {
        for (n, m) in [(1, 1), (4, 3), (32, 5), (33, 40), (75, 2)] {
            for which in 0..8 {
                let [is_upper, transposed, unit] = [1, 2, 4].map(|bit| which & bit > 0);
                let a = Dense::drawn(&mut random, [2, n, n]);
                let a = a.map(|i, j, x| if i == j { x + 2.0_f64.copysign(x) } else { x / 4.0 });
                let b = Dense::drawn(&mut random, [2, n, m]);
                let how = if is_upper { Triangle::upper() } else { Triangle::lower() };
                let how = if transposed { how.transposed() } else { how };
                let how = if unit { how.unit() } else { how };
                let (x, right) = (a.upload(&device)?, b.upload(&device)?);
                let solved = x.solve_triangular(&right, &how).map_err(show)?;
                let solved = Dense::of(&solved, [2, n, m]).await?;
                let a = a.map(|_, _, x| f64::from(x as f32));
                let t = if is_upper { upper(&a, unit) } else { lower(&a, unit) };
                let t = if transposed { t.t() } else { t };
                let of = t.abs().times(&solved.abs()).plus(&b.abs());
                near("solve_triangular", n, &t.times(&solved), &b, &of)
                    .map_err(|e| format!("{how:?} for {:?}: {e}", device.target()))?;
            }
        }
    }
    Ok(())
}

/// Nearly singular ones, of few and of huge numbers, and one where every pivot is swapped.
async fn hard(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let hilbert =
        |n: usize| Dense::new([1, n, n], |_, i, j| f64::from((1.0 / (i + j + 1) as f64) as f32));
    one(&device, &hilbert(4), true).await?;
    one(&device, &hilbert(12), false).await?;
    let turned = Dense::new([1, 40, 40], |_, i, j| f64::from(u8::from(i + j == 39)));
    one(&device, &turned, false).await?;
    // Of equals the first is a pivot, also where an invocation has several of them.
    let ones = device.ones([131, 131], DType::F32).map_err(show)?;
    let order = ones.lu().map_err(show)?.order.read::<u32>().await.map_err(show)?;
    ensure!(order.iter().copied().eq(0..131), "the order of equals is {order:?}");
    let graded = Dense::new([1, 20, 20], |_, i, j| {
        let x = if i == j { 3.0 } else { 1.0 / (i + j) as f64 };
        f64::from((x * 2f64.powi(-(i as i32 + j as i32))) as f32)
    });
    one(&device, &graded, true).await?;
    // Pivots whose reciprocals are subnormal.
    let (a, _) = device.upload(&[2e38f32, 0.0, 1e38, 1e38], [2, 2]).map_err(show)?;
    let Lu { factors, .. } = a.lu().map_err(show)?;
    let got = factors.read::<f32>().await.map_err(show)?;
    ensure_eq!(got, [2e38, 0.0, 0.5, 1e38], "factors of large numbers");
    let (b, _) = device.upload(&[1e38f32, 1e38], [2, 1]).map_err(show)?;
    let x = a.solve_triangular(&b, &Triangle::lower()).map_err(show)?;
    ensure_eq!(x.read::<f32>().await.map_err(show)?, [0.5, 0.5], "by large pivots");
    Ok(())
}

async fn empty(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let zeros = |dims: &[usize]| device.zeros(dims, DType::F32).map_err(show);
    for dims in [&[0, 3, 3][..], &[2, 0, 0], &[0, 0]] {
        let x = zeros(dims)?;
        let Lu { factors, order, .. } = x.lu().map_err(show)?;
        ensure_eq!(factors.shape().dims(), dims, "the factors");
        ensure_eq!(order.shape().dims(), &dims[..dims.len() - 1], "the order");
        ensure_eq!(x.cholesky().map_err(show)?.shape().dims(), dims, "the factor");
        ensure_eq!(x.inv().map_err(show)?.shape().dims(), dims, "the inverse");
        let dets = x.det().map_err(show)?;
        ensure_eq!(dets.shape().dims(), &dims[..dims.len() - 2], "the determinants");
        let ones = dets.read::<f32>().await.map_err(show)?;
        ensure!(ones.iter().all(|&x| x == 1.0), "the determinant of nothing is {ones:?}");
        let (sign, size) = x.slogdet().map_err(show)?;
        let (sign, size) = (sign.read::<f32>().await, size.read::<f32>().await);
        ensure_eq!(sign.map_err(show)?, ones, "its sign");
        ensure!(size.map_err(show)?.iter().all(|&x| x == 0.0), "its logarithm is not 0");
        count();
    }
    let none = zeros(&[3, 3])?.solve(&zeros(&[3, 0])?).map_err(show)?;
    ensure_eq!(none.read::<f32>().await.map_err(show)?, [0.0f32; 0], "no right side");
    Ok(())
}

/// What the first read says, of what has no result; and that others have theirs.
async fn singular(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for device in TARGETS.map(|target| device.with_target(target)) {
        for n in [3, 40] {
            let spoiled = |at: usize, with: f64| {
                let x = Dense::new([3, n, n], |b, i, j| {
                    let x = if i == j { 4.0 } else { 1.0 / (1 + i + j) as f64 };
                    if b > 0 && i == at && j == at { with } else { x }
                });
                x.upload(&device)
            };
            let last = n - 1;
            for with in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
                let error = spoiled(last, with)?.cholesky().map_err(show)?.read::<f32>().await;
                let text = format!(
                    "cholesky of [3, {n}, {n}]: matrix 1 is not positive definite: at pivot {last} \
                     of {n}"
                );
                told(error, &text)?;
            }
            // Rows and columns of zeros.
            let x = Dense::new([2, n, n], |b, i, j| {
                if b == 1 && (i == 1 || j == 1) { 0.0 } else { f64::from(u8::from(i == j)) + 0.5 }
            });
            let x = x.upload(&device)?;
            for (name, made) in [("inv", x.inv()), ("solve", x.solve(&x))] {
                let error = made.map_err(show)?.read::<f32>().await;
                let text =
                    format!("{name} of [2, {n}, {n}]: matrix 1 is singular: at pivot 1 of {n}");
                told(error, &text)?;
            }
            let error = x.solve_triangular(&x, &Triangle::lower()).map_err(show)?;
            let text = format!(
                "solve_triangular of [2, {n}, {n}]: matrix 1 is singular: at pivot 1 of {n}"
            );
            told(error.read::<f32>().await, &text)?;
            let unit = x.solve_triangular(&x, &Triangle::lower().unit()).map_err(show)?;
            unit.read::<f32>().await.map_err(show)?;
            let dets = x.det().map_err(show)?.read::<f32>().await.map_err(show)?;
            ensure!(dets[0] != 0.0 && dets[1] == 0.0, "determinants of {dets:?}");
            let (sign, size) = x.slogdet().map_err(show)?;
            ensure_eq!(sign.read::<f32>().await.map_err(show)?[1], 0.0, "a singular one's sign");
            let size = size.read::<f32>().await.map_err(show)?;
            ensure!(size[0].is_finite() && size[1] == f32::NEG_INFINITY, "logarithms of {size:?}");
            let lu = x.lu().map_err(show)?;
            lu.factors.read::<f32>().await.map_err(show)?;
            let text = format!("solve of [2, {n}, {n}]: matrix 1 is singular: at pivot 1 of {n}");
            told(lu.solve(&x).map_err(show)?.read::<f32>().await, &text)?;
        }
    }
    Ok(())
}

/// A product of pivots that leaves the range on the way to 0, and one that is no number.
async fn huge_and_zero(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let rows =
        [[1e20, 0.0, 1e20], [1e20, f32::NAN, 0.0], [2.0, 3.0, 4.0], [f32::INFINITY, 0.0, 1.0]];
    let rows = device.upload(rows.as_flattened(), [4, 3, 1]).map_err(show)?.0;
    let x = (device.eye(3, 3, DType::F32).and_then(|eye| eye * &rows)).map_err(show)?;
    let dets = x.det().map_err(show)?.read::<f32>().await.map_err(show)?;
    count();
    let right = dets[0] == 0.0 && dets[1].is_nan() && dets[2] == 24.0 && dets[3].is_nan();
    ensure!(right, "determinants of {dets:?}");
    Ok(())
}

/// One matrix beside many right sides is factored once, and solves each as it would alone; of
/// several, an error says which one of those that were solved.
async fn beside_many(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(83);
    for n in [3, 20] {
        let a =
            Dense::drawn(&mut random, [1, n, n]).map(|i, j, x| if i == j { x + 3.0 } else { x });
        let a = a.upload(&device)?.squeeze(0).map_err(show)?;
        let b = Dense::drawn(&mut random, [5, n, 2]).upload(&device)?;
        for how in [None, Some(Triangle::lower()), Some(Triangle::upper().transposed())] {
            let solve = |b: &Tensor| match &how {
                Some(how) => a.solve_triangular(b, how),
                None => a.solve(b),
            };
            let all = solve(&b).map_err(show)?;
            ensure_eq!(all.shape().dims(), [5, n, 2], "the result of {n}");
            let all = all.read::<f32>().await.map_err(show)?;
            for (i, got) in all.chunks(2 * n).enumerate() {
                let alone = b.select(0, i).and_then(|b| solve(&b)).map_err(show)?;
                let alone = alone.read::<f32>().await.map_err(show)?;
                ensure_eq!(got, alone, "right side {i} of {n}, {how:?}");
                count();
            }
        }
    }
    let two = Dense::new([2, 3, 3], |b, i, j| f64::from(u8::from(i == j && b == 0)));
    let two = two.upload(&device)?.unsqueeze(1).map_err(show)?;
    let sides = device.ones([1, 4, 3, 1], DType::F32).map_err(show)?;
    let error = two.solve(&sides).map_err(show)?.read::<f32>().await;
    told(error, "solve of [2, 4, 3, 3]: matrix 4 is singular: at pivot 0 of 3")
}

/// Factors solve as their matrix does, to the bit, whatever the right side is: a vector for each
/// matrix, one for all, matrices, and such as broadcast.
async fn factored_once(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(86);
    for device in TARGETS.map(|target| device.with_target(target)) {
        for n in [3, 20] {
            let a = Dense::drawn(&mut random, [3, n, n]);
            let a = a.map(|i, j, x| if i == j { x - 3.0 } else { x }).upload(&device)?;
            let b = Dense::drawn(&mut random, [3, n, 2]).upload(&device)?;
            let lu = a.lu().map_err(show)?;
            let whole = a.solve(&b).map_err(show)?;
            let read = async |x: wharf::Result<Tensor>| {
                let x = x.map_err(show)?;
                Ok::<_, String>((x.shape().dims().to_vec(), x.read::<f32>().await.map_err(show)?))
            };
            ensure_eq!(read(lu.solve(&b)).await?, read(Ok(whole.clone())).await?, "matrices");
            // A column of a matrix, as a view, is a vector.
            let column = b.select(2, 1).map_err(show)?;
            let want = read(whole.select(2, 1)).await?;
            ensure_eq!(want.0, [3, n], "a vector for each");
            for got in [a.solve(&column), lu.solve(&column)] {
                ensure_eq!(read(got).await?, want, "vectors of {n}");
                count();
            }
            let first = column.select(0, 0).map_err(show)?;
            let want = first.broadcast_to([3, n]).and_then(|b| a.solve(&b));
            ensure_eq!(read(lu.solve(&first)).await?, read(want).await?, "one for all");
            let alike = column.broadcast_to([2, 3, n]).and_then(|b| b.unsqueeze(-1));
            let got = alike.and_then(|b| lu.solve(&b)).and_then(|x| x.select(0, 1)?.squeeze(-1));
            ensure_eq!(read(got).await?, read(a.solve(&column)).await?, "twice as many");
            let how = Triangle::upper();
            let got = a.solve_triangular(&column, &how).map_err(show)?;
            let want = a.solve_triangular(&b, &how).and_then(|x| x.select(2, 1));
            ensure_eq!(read(Ok(got)).await?, read(want).await?, "vectors behind a triangle");
        }
        // As many matrices as rows: the rank says that these are vectors, for each another one.
        let scales = device.arange(1, 4, 1, DType::F32).and_then(|x| x.reshape([3, 1, 1]));
        let a = scales.and_then(|x| x * device.eye(3, 3, DType::F32)?).map_err(show)?;
        let ones = device.ones([3, 3], DType::F32).map_err(show)?;
        let solved = a.solve(&ones).map_err(show)?.read::<f32>().await.map_err(show)?;
        let want: Vec<f32> = [1.0f32, 2.0, 3.0].iter().flat_map(|x| [1.0 / x; 3]).collect();
        ensure!(solved.iter().zip(&want).all(|(x, y)| (x - y).abs() < 1e-6), "{solved:?}");
        count();
    }
    Ok(())
}

/// More panels than one segment holds are factored as each would be.
async fn many_panels(ctx: &Ctx) -> Outcome {
    let small = DOWNGRADES.iter().find(|downgrade| downgrade.name == "small_bindings");
    let device = ctx.device(*small.ok_or("no such device")?).await?;
    let a = Dense::drawn(&mut Random::new(84), [1, 8, 8]).upload(&device)?;
    let bytes = device.caps().limits.binding_bytes_max as usize;
    let many = bytes / (8 * 9 * 4) + 3;
    let all = a.broadcast_to([many, 8, 8]).and_then(|all| all.lu()).map_err(show)?;
    let one = a.lu().map_err(show)?;
    let want = one.factors.read::<f32>().await.map_err(show)?;
    let order = one.order.read::<u32>().await.map_err(show)?;
    let got = all.factors.read::<f32>().await.map_err(show)?;
    ensure!(got.chunks(64).all(|got| got == want), "factors of {many} differ from those of one");
    let got = all.order.read::<u32>().await.map_err(show)?;
    ensure!(got.chunks(8).all(|got| got == order), "orders of {many} differ from that of one");
    count();
    Ok(())
}

fn told(result: wharf::Result<Vec<f32>>, text: &str) -> Outcome {
    count();
    let Err(error) = result else { return Err(format!("it was done: {text}")) };
    ensure_eq!(error.kind(), ErrorKind::Singular, "{error}");
    ensure!(error.to_string().contains(text), "{error}, not {text}");
    Ok(())
}

/// f64 where the plan has it stored as f32.
async fn converted(ctx: &Ctx) -> Outcome {
    let no_64 = DOWNGRADES.iter().find(|downgrade| downgrade.name == "no_64");
    let device = ctx.device(*no_64.ok_or("no such device")?).await?;
    let device = device.with_policy(&Policy::exact().allow(DType::F64, DType::F32));
    let (x, _) = device.upload(&[4.0f64, 2.0, 2.0, 5.0], [2, 2]).map_err(show)?;
    ensure_eq!(x.dtype(), DType::F32, "the dtype");
    let l = x.cholesky().map_err(show)?.read::<f32>().await.map_err(show)?;
    ensure_eq!(l, [2.0f32, 0.0, 1.0, 2.0], "the factor");
    count();
    Ok(())
}
