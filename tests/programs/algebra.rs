//! Matrices, their systems of equations, and geometry.

use wharf::tensor::Triangle;
use wharf::{DType, Device, Result, Tensor};

use super::support::{check, numbers};

/// A symmetric matrix whose eigenvalues are above 0.
fn definite(device: &Device, size: usize, seed: usize) -> Result<Tensor> {
    let x = numbers(device, [size, size], seed)?.square()?;
    x.matmul(&x.t()?)? + device.eye(size, size, DType::F32)?
}

#[test]
fn gram_schmidt() {
    check("gram_schmidt", async |device| {
        let x = numbers(device, [5, 3], 1)?;
        let mut q: Vec<Tensor> = Vec::new();
        for column in 0..3 {
            let mut left = x.at((.., column))?;
            for before in &q {
                left -= (before * before.dot(&left)?)?;
            }
            q.push(left.unit(..)?);
        }
        let q = Tensor::stack(&q, 1)?;
        let r = q.t()?.matmul(&x)?.triu(0)?;
        let back = q.matmul(&r)?;
        Tensor::concat(&[q.flatten(..)?, r.flatten(..)?, back.flatten(..)?], 0)
    });
}

#[test]
fn relaxation() {
    check("relaxation", async |device| {
        let a = (numbers(device, [4, 4], 2)? + (device.eye(4, 4, DType::F32)? * 5.0)?)?;
        let b = numbers(device, 4, 3)?;
        let scale = a.diag(0)?;
        let rest = a.masked_fill(&device.eye(4, 4, DType::Bool)?, 0.0)?;
        let mut jacobi = device.zeros(4, DType::F32)?;
        for _ in 0..6 {
            jacobi = ((&b - rest.matmul(&jacobi)?)? / &scale)?;
        }
        let mut seidel = device.zeros(4, DType::F32)?;
        for _ in 0..3 {
            for i in 0..4 {
                let next = ((b.at(i)? - rest.at(i)?.dot(&seidel)?)? / scale.at(i)?)?;
                seidel.assign_at(i, &next)?;
            }
        }
        Tensor::stack(&[jacobi, seidel], 0)
    });
}

#[test]
fn conjugate_gradients() {
    check("conjugate_gradients", async |device| {
        let (a, b) = (definite(device, 5, 4)?, numbers(device, 5, 5)?);
        let mut x = device.zeros(5, DType::F32)?;
        let (mut off, mut way) = (b.clone(), b);
        let mut square = off.dot(&off)?;
        let mut lengths = Vec::new();
        for _ in 0..3 {
            let bent = a.matmul(&way)?;
            let step = (&square / way.dot(&bent)?)?;
            x += (&way * &step)?;
            off -= (bent * step)?;
            let next = off.dot(&off)?;
            way = (&off + (way * (&next / square)?)?)?;
            square = next;
            lengths.push(square.sqrt()?);
        }
        Tensor::concat(&[x, Tensor::stack(&lengths, 0)?], 0)
    });
}

#[test]
fn matrix_exponential() {
    check("matrix_exponential", async |device| {
        let a = numbers(device, [2, 4, 4], 6)?;
        let small = (&a / 16.0)?; // and squared four times
        let mut term = device.eye(4, 4, DType::F32)?.broadcast_to([2, 4, 4])?;
        let mut sum = term.clone();
        for n in 1..8 {
            term = (term.matmul(&small)? / n as f32)?;
            sum += &term;
        }
        for _ in 0..4 {
            sum = sum.matmul(&sum)?;
        }
        Ok(sum)
    });
}

#[test]
fn newton_inverse() {
    check("newton_inverse", async |device| {
        let a = definite(device, 4, 7)?;
        let two = (device.eye(4, 4, DType::F32)? * 2.0)?;
        let most = |axis: i32| a.abs()?.sum(axis)?.amax(..);
        let mut inverse = (a.t()? / (most(0)? * most(1)?)?)?;
        for _ in 0..14 {
            inverse = inverse.matmul(&(&two - a.matmul(&inverse)?)?)?;
        }
        Ok(inverse)
    });
}

#[test]
fn elimination() {
    check("elimination", async |device| {
        let mut rows = Tensor::concat(
            &[
                (numbers(device, [4, 4], 10)? + device.eye(4, 4, DType::F32)?.flip(0)?)?,
                numbers(device, [4, 2], 9)?,
            ],
            1,
        )?;
        let mut size = device.ones((), DType::F32)?;
        let place = device.arange(0, 4, 1, DType::U32)?;
        for i in 0..4u32 {
            let column = rows.at((i.., i))?.abs()?;
            let best = (column.argmax(0)? + i)?;
            let swapped = place.eq(i)?.choose(&best, place.eq(&best)?.choose(i, &place)?)?;
            rows = rows.index_select(0, &swapped)?;
            size *= best.eq(i)?.choose(1.0, -1.0)?;
            let pivot = rows.at((i, i))?;
            let own = (rows.at(i)? / &pivot)?;
            size *= pivot;
            let others = rows.at((.., i))?.masked_fill(&place.eq(i)?, 0.0)?;
            rows -= others.outer(&own)?;
            rows.assign_at(i, &own)?;
        }
        Tensor::concat(&[rows.at((.., 4..))?.flatten(..)?, size.flatten(..)?], 0)
    });
}

#[test]
fn cholesky() {
    check("cholesky", async |device| {
        let a = definite(device, 4, 10)?;
        let mut lower = device.zeros([4, 4], DType::F32)?;
        for i in 0..4 {
            let known = lower.at((i.., ..i))?;
            let column = (a.at((i.., i))? - known.matmul(&lower.at((i, ..i))?)?)?;
            let column = column.div(column.at(0)?.sqrt()?)?;
            lower.assign_at((i.., i), &column)?;
        }
        let mut y = numbers(device, 4, 11)?;
        for i in 0..4 {
            let known = lower.at((i, ..i))?.dot(&y.slice(0, ..i)?)?;
            let next = ((y.at(i)? - known)? / lower.at((i, i))?)?;
            y.assign_at(i, &next)?;
        }
        let size = (lower.diag(0)?.ln()?.sum(..)? * 2.0)?;
        Tensor::concat(&[lower.flatten(..)?, y, size.flatten(..)?], 0)
    });
}

#[test]
fn gaussian_process() {
    check("gaussian_process", async |device| {
        let near = |a: &Tensor, b: &Tensor| ((a.unsqueeze(1)? - b)?.square()? * -2.0)?.exp();
        let (x, asked) = (numbers(device, 12, 20)?, device.linspace(-1.0, 1.0, 5, DType::F32)?);
        let y = (&x * 3.0)?.sin()?;
        let noise = (device.eye(12, 12, DType::F32)? * 0.1)?;
        let factor = (near(&x, &x)? + noise)?.cholesky()?;
        let half = factor.solve_triangular(&y, &Triangle::lower())?;
        let weights = factor.solve_triangular(&half, &Triangle::lower().transposed())?;
        let beside = near(&x, &asked)?;
        let mean = weights.matmul(&beside)?;
        let known = factor.solve_triangular(&beside, &Triangle::lower())?;
        let variance = known.square()?.sum(0)?.neg()?.add(1.0)?;
        let fit = (half.square()?.sum(..)? * -0.5)? - factor.diag(0)?.ln()?.sum(..)?;
        Tensor::concat(&[mean, variance, fit?.flatten(..)?], 0)
    });
}

#[test]
fn power_spectrum() {
    check("power_spectrum", async |device| {
        let time = device.arange(0, 32, 1, DType::F32)?;
        let signal = (numbers(device, 32, 12)? + ((&time * 1.3)?.sin()? * 2.0)?)?;
        let window = ((((&time * (core::f32::consts::TAU / 31.0))?.cos()?) * -0.46)? + 0.54)?;
        let whole = device.arange(0, 32, 1, DType::I32)?;
        let turns = (device.arange(0, 17, 1, DType::I32)?.outer(&whole)? % 32)?;
        let angle = (turns.cast(DType::F32)? * (core::f32::consts::TAU / 32.0))?;
        let heard = (signal * window)?;
        let (even, odd) = (angle.cos()?.matmul(&heard)?, angle.sin()?.matmul(&heard)?);
        let power = (even.square()? + odd.square()?)?;
        let phase = odd.neg()?.atan2(&even)?;
        let loud = power.argmax(0)?;
        let decibels = ((&power / power.amax(0)?)?.log10()? * 10.0)?;
        Tensor::concat(
            &[decibels, phase.take(&loud.flatten(..)?)?, loud.flatten(..)?.cast(DType::F32)?],
            0,
        )
    });
}

#[test]
fn cubic_spline() {
    check("cubic_spline", async |device| {
        let height = numbers(device, 7, 13)?; // at 0, 1, .. 6, and straight at both ends
        let inner = (((height.slice(0, 2..)? - (height.slice(0, 1..-1)? * 2.0)?)?
            + height.slice(0, ..-2)?)?
            * 6.0)?;
        let beside = device.ones(4, DType::F32)?;
        let system =
            ((device.eye(5, 5, DType::F32)? * 4.0)? + (beside.diag(1)? + beside.diag(-1)?)?)?;
        let mut bend = device.zeros(5, DType::F32)?;
        for _ in 0..24 {
            bend += ((&inner - system.matmul(&bend)?)? / 4.0)?;
        }
        let bend = bend.pad(&[(1, 1)], 0.0)?;
        let x = device.linspace(0.0, 6.0, 13, DType::F32)?;
        let left = x.floor()?.minimum(5.0)?;
        let (far, left) = ((&x - &left)?, left.cast(DType::I32)?);
        let near = (1.0f32 - &far)?;
        let right = (&left + 1)?;
        let of = |x: &Tensor, share: &Tensor, at: &Tensor| share * x.take(at)?;
        let straight = (of(&height, &near, &left)? + of(&height, &far, &right)?)?;
        let cube = |x: &Tensor| x.pow(3.0)? - x;
        let bent = (of(&bend, &cube(&near)?, &left)? + of(&bend, &cube(&far)?, &right)?)?;
        straight + (bent / 6.0)?
    });
}

#[test]
fn polynomial_fit() {
    check("polynomial_fit", async |device| {
        let x = device.linspace(-1.0, 1.0, 15, DType::F32)?;
        let y = ((numbers(device, 15, 14)? * 0.2)? + (&x * 2.0)?.sin()?)?;
        // Chebyshev's polynomials, which are next to orthogonal.
        let mut columns = vec![device.ones(15, DType::F32)?, x.clone()];
        for n in 2..5 {
            columns.push((((&x * &columns[n - 1])? * 2.0)? - &columns[n - 2])?);
        }
        let basis = Tensor::stack(&columns, 1)?;
        let (gram, mut off) = (basis.t()?.matmul(&basis)?, basis.t()?.matmul(&y)?);
        let mut fit = device.zeros(5, DType::F32)?;
        let mut way = off.clone();
        for _ in 0..5 {
            let (bent, square) = (gram.matmul(&way)?, off.dot(&off)?);
            let step = (&square / way.dot(&bent)?)?;
            fit += (&way * &step)?;
            off -= (bent * step)?;
            way = (&off + (way * (off.dot(&off)? / square)?)?)?;
        }
        let miss = (y - basis.matmul(&fit)?)?.norm(..)?;
        Tensor::concat(&[fit, miss.flatten(..)?], 0)
    });
}

#[test]
fn quaternions() {
    check("quaternions", async |device| {
        let turn = numbers(device, [4, 4], 15)?.unit(-1)?;
        let [w, x, y, z] = turn.unstack(-1)?;
        let both = |a: &Tensor, b: &Tensor, c: &Tensor, d: &Tensor| ((a * b)? + (c * d)?)? * 2.0;
        let less = |a: &Tensor, b: &Tensor, c: &Tensor, d: &Tensor| ((a * b)? - (c * d)?)? * 2.0;
        let one = |a: &Tensor, b: &Tensor| 1.0 - ((a.square()? + b.square()?)? * 2.0)?;
        let rows = [
            [one(&y, &z)?, less(&x, &y, &w, &z)?, both(&x, &z, &w, &y)?],
            [both(&x, &y, &w, &z)?, one(&x, &z)?, less(&y, &z, &w, &x)?],
            [less(&x, &z, &w, &y)?, both(&y, &z, &w, &x)?, one(&x, &y)?],
        ];
        let rows = rows.map(|row| Tensor::stack(&row, -1));
        let [a, b, c] = rows;
        let matrices = Tensor::stack(&[a?, b?, c?], 1)?;
        let points = numbers(device, [5, 3], 16)?;
        Tensor::einsum("tij,pj->tpi", &[&matrices, &points])
    });
}

#[test]
fn mesh_normals() {
    check("mesh_normals", async |device| {
        let corners = numbers(device, [6, 3], 17)?;
        let (faces, _) = device.tensor([[0, 1, 2], [2, 1, 3], [3, 4, 2], [5, 4, 3], [0, 2, 5]])?;
        let corner = |n: usize| corners.index_select(0, &faces.at((.., n))?);
        let (a, b, c) = (corner(0)?, corner(1)?, corner(2)?);
        let (u, v) = ((b - &a)?, (c - &a)?);
        let normal = u.cross(-1, &v)?;
        let area = (normal.norm(-1)? / 2.0)?;
        let each = normal.unsqueeze(1)?.broadcast_to([5, 3, 3])?.flatten(..2)?;
        let at = device.zeros([6, 3], DType::F32)?.index_add(0, &faces.flatten(..)?, &each)?;
        Tensor::concat(&[at.unit(-1)?.flatten(..)?, area], 0)
    });
}

#[test]
fn ray_tracing() {
    check("ray_tracing", async |device| {
        let side = device.linspace(-0.5, 0.5, 6, DType::F32)?;
        let grid = Tensor::meshgrid(&[&side, &side])?;
        let ahead = device.ones([6, 6], DType::F32)?;
        let ray = Tensor::stack(&[&grid[1], &grid[0], &ahead], -1)?.unit(-1)?.unsqueeze(2)?;
        let (centre, _) =
            device.tensor([[0.1f32, 0.2, 3.0], [-0.7, 0.3, 2.5], [0.9, -0.8, 4.0]])?;
        let (radius, _) = device.upload(&[0.7f32, 0.5, 1.1], 3)?;
        let along = (&ray * &centre)?.sum(-1)?; // rays by spheres
        let inside = ((along.square()? - centre.square()?.sum(-1)?)? + radius.square()?)?;
        let far = (&along - inside.maximum(0.0)?.sqrt()?)?;
        let far = inside.gt(0.0)?.choose(&far, f32::INFINITY)?;
        let (nearest, sphere) = (far.amin(-1)?, far.argmin(-1)?);
        let hit = nearest.is_finite()?;
        let place = (ray.squeeze(2)? * hit.choose(&nearest, 0.0)?.unsqueeze(-1)?)?;
        let normal = (place - centre.embedding(&sphere)?)?.unit(-1)?;
        let (light, _) = device.upload(&[-0.5f32, -1.0, -0.8], 3)?;
        let bright = normal.matmul(&light.unit(0)?)?.maximum(0.05)?;
        Tensor::stack(&[hit.choose(&bright, 0.0)?, hit.choose(&nearest, -1.0)?], 0)
    });
}

#[test]
fn normal_densities() {
    check("normal_densities", async |device| {
        let spread = [21, 22, 23].map(|seed| definite(device, 4, seed));
        let spread = Tensor::stack(&spread.into_iter().collect::<Result<Vec<_>>>()?, 0)?;
        let off = numbers(device, [3, 4], 24)?;
        let far = (&off * spread.solve(&off)?)?.sum(-1)?;
        let (sign, size) = spread.slogdet()?;
        let density = (((far + size)? + 4.0 * core::f32::consts::TAU.ln())? * -0.5)?;
        let large = (definite(device, 60, 25)? * 100.0)?;
        let rows = [large.slice(0, 1..2)?, large.slice(0, ..1)?, large.slice(0, 2..)?];
        let (turned, largest) = Tensor::concat(&rows, 0)?.slogdet()?;
        Tensor::concat(&[density, sign, Tensor::stack(&[turned, largest], 0)?], 0)
    });
}
