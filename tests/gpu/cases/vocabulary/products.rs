//! Products by letters against sums over all letters, and turns of pairs.

use std::collections::BTreeMap;

use wharf::op::Exact;
use wharf::reference::places;
use wharf::{DType, Tensor};

use super::{FLOATS, Random, Shown, carried, devices, exact, flat, kept, near, room, show};
use crate::cases::pair::NUMBERS;
use crate::cases::views::Move::{Flip, Transpose};
use crate::ctx::{Case, Ctx, Outcome, case, ensure, ensure_eq};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("vocabulary::products::einsum", |ctx| spelled(ctx)),
        case!("vocabulary::products::einsum_is_planned", |ctx| planned(ctx)),
        case!("vocabulary::products::lists", |ctx| lists(ctx)),
        case!("vocabulary::products::rope", |ctx| turned(ctx)),
        case!("vocabulary::products::cross", |ctx| crossed(ctx)),
        case!("vocabulary::products::cross_wraps", |ctx| wraps(ctx)),
    ]
}

/// Letters without ellipses, and the shapes of the operands.
const ROWS: &[(&str, &[&[usize]])] = &[
    ("ij,jk->ik", &[&[3, 4], &[4, 5]]),
    ("ij,jk", &[&[3, 4], &[4, 5]]),
    ("ji,kj->ki", &[&[3, 4], &[5, 3]]),
    ("bij,bjk->bik", &[&[2, 3, 4], &[2, 4, 5]]),
    ("bhqd,bhkd->bhqk", &[&[2, 2, 3, 4], &[2, 2, 5, 4]]),
    ("ijb,kbj->kbi", &[&[3, 4, 2], &[5, 2, 4]]),
    ("i,i->", &[&[7], &[7]]),
    ("i,i", &[&[7], &[7]]),
    ("i,j->ij", &[&[3], &[4]]),
    ("i,j->ji", &[&[3], &[4]]),
    ("ij,ij->ij", &[&[3, 4], &[3, 4]]),
    ("ij,ij->i", &[&[3, 4], &[3, 4]]),
    ("ij,j->j", &[&[3, 4], &[4]]),
    ("ii->i", &[&[4, 4]]),
    ("ii", &[&[4, 4]]),
    ("iji->j", &[&[3, 4, 3]]),
    ("ij->", &[&[3, 4]]),
    ("ba", &[&[3, 4]]),
    ("ijk->kj", &[&[3, 4, 2]]),
    ("ij,jk,kl->il", &[&[3, 4], &[4, 5], &[5, 2]]),
    ("ij,kj,ik->", &[&[3, 4], &[5, 4], &[3, 5]]),
    ("ab,cd->adcb", &[&[2, 3], &[4, 2]]),
    ("ab,bcd,cde->ae", &[&[2, 3], &[3, 4, 2], &[4, 2, 5]]),
    ("ij,jk->ik", &[&[3, 1], &[4, 5]]),
    ("ij,ij->ij", &[&[1, 4], &[3, 1]]),
    ("ij,jk->ik", &[&[3, 0], &[0, 5]]),
    (" i j , j -> i ", &[&[3, 4], &[4]]),
];

/// With ellipses, and without.
const DOTTED: &[(&str, &str, &[&[usize]])] = &[
    ("...ij,...jk->...ik", "abij,abjk->abik", &[&[2, 3, 2, 4], &[2, 3, 4, 2]]),
    ("...i,...i->...", "abi,bi->ab", &[&[2, 3, 4], &[3, 4]]),
    ("a...b,b->a...", "axyb,b->axy", &[&[2, 3, 2, 4], &[4]]),
    ("...i->i...", "abi->iab", &[&[2, 3, 4]]),
    ("...,i", "abc,i->abci", &[&[2, 3, 2], &[4]]),
    ("i...->...", "iab->ab", &[&[2, 3, 4]]),
];

/// Of those, what neither sums nor multiplies, so that narrow integers stay as they are.
const MOVED: [&str; 3] = ["ii->i", "ba", "...i->i..."];

/// The sum over every letter that the result has not.
fn summed(letters: &str, operands: &[Shown]) -> (Vec<usize>, Vec<f64>) {
    let text: String = letters.chars().filter(|c| *c != ' ').collect();
    let (inputs, output) = text.split_once("->").map_or_else(
        || {
            let mut once: Vec<char> =
                text.chars().filter(|c| text.matches(*c).count() == 1 && *c != ',').collect();
            once.sort_unstable();
            (text.clone(), once.into_iter().collect())
        },
        |(inputs, output)| (inputs.to_owned(), output.to_owned()),
    );
    let words: Vec<Vec<char>> = inputs.split(',').map(|word| word.chars().collect()).collect();
    let mut lengths: BTreeMap<char, usize> = BTreeMap::new();
    for (c, &dim) in words.iter().zip(operands).flat_map(|(word, x)| word.iter().zip(&x.dims)) {
        let known = lengths.entry(*c).or_insert(1);
        *known = if *known == 1 { dim } else { *known };
    }
    let names: Vec<char> = lengths.keys().copied().collect();
    let all: Vec<usize> = lengths.values().copied().collect();
    let dims: Vec<usize> = output.chars().map(|c| lengths[&c]).collect();
    let mut sums = vec![0.0; dims.iter().product()];
    for place in places(&all) {
        let at = |c: &char| place[names.iter().position(|name| name == c).unwrap_or(0)];
        let factor = |(word, x): (&Vec<char>, &Shown)| {
            let place: Vec<usize> =
                word.iter().zip(&x.dims).map(|(c, &dim)| at(c).min(dim - 1)).collect();
            x.at(&place)
        };
        let to: Vec<usize> = output.chars().map(|c| at(&c)).collect();
        sums[flat(&dims, &to)] += words.iter().zip(operands).map(factor).product::<f64>();
    }
    (dims, sums)
}

async fn spelled(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(31);
    let rows = ROWS.iter().map(|&(letters, dims)| (letters, letters, dims));
    let rows: Vec<_> = rows.chain(DOTTED.iter().copied()).collect();
    for (n, device) in devices(ctx).await?.into_iter().enumerate() {
        for dtype in carried(&device, &[DType::F32, DType::I32, DType::F16, DType::I8, DType::F64])
        {
            // All of them once; dtypes and devices differ in the products, which are tested.
            let step = if dtype == DType::F32 && n < 2 { 1 } else { 5 };
            for &(letters, plain, dims) in rows.iter().skip(n % step).step_by(step) {
                let mut operands = Vec::new();
                for (i, dims) in dims.iter().enumerate() {
                    let moves = if i == 1 && !dims.is_empty() { vec![Flip(0)] } else { vec![] };
                    operands.push(Shown::new(&device, &mut random, dtype, (dims, &moves)).await?);
                }
                let (dims, want) = summed(plain, &operands);
                let given: Vec<&Tensor> = operands.iter().map(|x| &x.tensor).collect();
                let name = format!("{letters} of {dtype} for {:?}", device.target());
                let got = Tensor::einsum(letters, &given).map_err(|e| format!("{name}: {e:?}"))?;
                let moves = MOVED.contains(&letters);
                let wide = if dtype == DType::I8 && !moves { DType::I32 } else { dtype };
                ensure_eq!(got.dtype(), wide, "{name}: the dtype");
                near(&name, &got, &dims, &want, 60.0 * room(dtype)).await?;
            }
        }
    }
    Ok(())
}

/// What it becomes: a product of matrices reads transposed operands in place, and what is not
/// summed is fused; of three the smaller product comes first.
async fn planned(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let ones = |dims: &[usize]| device.ones(dims, DType::F32).map_err(show);
    let names = |letters: &str, operands: &[&Tensor]| -> Result<Vec<String>, String> {
        let kernels = Tensor::einsum(letters, operands).map_err(show)?.explain().kernels;
        Ok(kernels.into_iter().map(|kernel| kernel.name().to_string()).collect())
    };
    let (a, b) = (ones(&[32, 48])?, ones(&[64, 48])?);
    let product = names("ij,kj->ik", &[&a, &b])?;
    ensure_eq!(product.len(), 1, "kernels of a product: {product:?}");
    let alone = names("ij,ij->ij", &[&a, &a])?;
    ensure_eq!(alone.len(), 1, "kernels of an elementwise one: {alone:?}");
    // Read by a copy, as any view is.
    let view = names("ij->ji", &[&a])?;
    ensure_eq!(view, ["transpose"], "kernels of a view");
    // (ab . bc) . cd takes 64 * 2 * 64 * 2 steps, ab . (bc . cd) a few.
    let (x, y, z) = (ones(&[64, 2])?, ones(&[2, 64])?, ones(&[64, 2])?);
    let chain = Tensor::einsum("ab,bc,cd->ad", &[&x, &y, &z]).map_err(show)?;
    let bytes = chain.explain().bytes_allocated;
    ensure!(bytes < 4 * 64 * 64, "{bytes} bytes: {:?}", chain.explain());
    Ok(())
}

async fn lists(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(32);
    for device in devices(ctx).await? {
        for dtype in carried(&device, NUMBERS) {
            let x = Shown::new(&device, &mut random, dtype, (&[33], &[Flip(0)])).await?;
            let y = Shown::new(&device, &mut random, dtype, (&[33], &[])).await?;
            let sum = x.values.iter().zip(&y.values).map(|(x, y)| x * y).sum::<f64>();
            let name = format!("{dtype} for {:?}", device.target());
            let got = x.tensor.dot(&y.tensor).map_err(show)?;
            near(&format!("dot {name}"), &got, &[], &[sum], 4.0 * room(dtype)).await?;
            let y = Shown::new(&device, &mut random, dtype, (&[5], &[])).await?;
            let want: Vec<f64> =
                places(&[33, 5]).map(|at| x.values[at[0]] * y.values[at[1]]).collect();
            let got = x.tensor.outer(&y.tensor).map_err(show)?;
            ensure_eq!(got.dtype(), dtype, "{name}: the dtype");
            near(&format!("outer {name}"), &got, &[33, 5], &want, room(dtype)).await?;
        }
    }
    Ok(())
}

async fn turned(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(33);
    for device in devices(ctx).await? {
        for dtype in carried(&device, FLOATS) {
            for (dims, moves, rows) in [
                (&[2, 3, 5, 8][..], vec![], 5),
                (&[6, 4], vec![Transpose], 4),
                (&[2, 5, 8], vec![Flip(2)], 1),
            ] {
                let x = Shown::new(&device, &mut random, dtype, (dims, &moves)).await?;
                let half = x.dims[x.dims.len() - 1] / 2;
                let mut angles =
                    async || Shown::new(&device, &mut random, dtype, (&[rows, half], &[])).await;
                let (cos, sin) = (angles().await?, angles().await?);
                for interleaved in [false, true] {
                    let want: Vec<Exact> = places(&x.dims)
                        .map(|place| {
                            let (&i, before) = place.split_last().unwrap_or((&0, &[]));
                            let (n, second) =
                                if interleaved { (i / 2, i % 2) } else { (i % half, i / half) };
                            let other = if interleaved { i ^ 1 } else { (i + half) % (2 * half) };
                            let row = before.last().map_or(0, |&row| row.min(rows - 1));
                            let (cos, sin) = (cos.at(&[row, n]), sin.at(&[row, n]));
                            let other = x.at(&[before, &[other]].concat());
                            let other = other * if second == 1 { sin } else { -sin };
                            let own = x.at(&place) * cos;
                            exact(own + other, own.abs() + other.abs())
                        })
                        .collect();
                    let got = match interleaved {
                        false => x.tensor.rope(&cos.tensor, &sin.tensor),
                        true => x.tensor.rope_interleaved(&cos.tensor, &sin.tensor),
                    };
                    let got = got.map_err(show)?;
                    ensure_eq!(got.dtype(), dtype, "the dtype");
                    let kernels = got.explain().kernels.len();
                    // The signs, the sines, and all elements at once.
                    let few = kernels <= 3 || dtype != DType::F32 || !moves.is_empty();
                    ensure!(few, "{kernels} kernels: {:?}", got.explain());
                    let name = format!("{dtype} {dims:?} {interleaved} for {:?}", device.target());
                    ensure_eq!(got.shape().dims(), x.dims, "{name}: the shape");
                    let turns = if interleaved { "rope_interleaved" } else { "rope" };
                    kept((turns, 1), &name, &got, &want).await?;
                }
            }
        }
    }
    Ok(())
}

/// Against the determinant of a matrix whose first row says which part it is, by all orders of its
/// columns.
async fn crossed(ctx: &Ctx) -> Outcome {
    const ORDERS: [([usize; 3], f64); 6] = [
        ([0, 1, 2], 1.0),
        ([1, 2, 0], 1.0),
        ([2, 0, 1], 1.0),
        ([0, 2, 1], -1.0),
        ([1, 0, 2], -1.0),
        ([2, 1, 0], -1.0),
    ];
    let mut random = Random::new(34);
    for device in devices(ctx).await? {
        for dtype in carried(&device, &[DType::F32, DType::I32, DType::I8, DType::F16, DType::F64])
        {
            for (axis, dims, moves, other) in [
                (1, &[5, 3][..], vec![], &[3][..]),
                (-2, &[4, 3, 2], vec![Flip(1)], &[3, 1]),
                (0, &[3, 4], vec![Transpose, Transpose], &[3, 4]),
            ] {
                let x = Shown::new(&device, &mut random, dtype, (dims, &moves)).await?;
                let y = Shown::new(&device, &mut random, dtype, (other, &[])).await?;
                let along = if axis < 0 { dims.len() - 2 } else { axis as usize };
                let part = |place: Vec<usize>| {
                    let with = |n: usize| [&place[..along], &[n], &place[along + 1..]].concat();
                    let of_y = |n: usize| {
                        let at = &with(n)[dims.len() - other.len()..];
                        let places = at.iter().zip(other);
                        y.at(&places.map(|(&at, &dim)| at.min(dim - 1)).collect::<Vec<_>>())
                    };
                    let term = |&([first, a, b], sign): &([usize; 3], f64)| {
                        let here = first == place[along];
                        if here { sign * x.at(&with(a)) * of_y(b) } else { 0.0 }
                    };
                    let terms = ORDERS.iter().map(term);
                    terms.fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()))
                };
                let want: Vec<(f64, f64)> = places(dims).map(part).collect();
                let name = format!("cross of {dims:?} {dtype} for {:?}", device.target());
                let got = x.tensor.cross(axis, &y.tensor).map_err(show)?;
                ensure_eq!(got.dtype(), dtype, "{name}: the dtype");
                if dtype.is_float() {
                    ensure_eq!(got.shape().dims(), dims, "{name}: the shape");
                    let want: Vec<Exact> = want.iter().map(|&(x, all)| exact(x, all)).collect();
                    kept(("cross", 1), &name, &got, &want).await?;
                } else {
                    let want: Vec<f64> = want.iter().map(|(x, _)| *x).collect();
                    near(&name, &got, dims, &want, 0.0).await?;
                }
            }
        }
    }
    let device = ctx.native().await?;
    let [x, pairs] = [[4, 3], [4, 2]].map(|dims| device.ones(dims, DType::F32));
    let (x, pairs) = (x.map_err(show)?, pairs.map_err(show)?);
    let lone = x.slice(1, ..1).map_err(show)?;
    for (result, numbers) in [(pairs.cross(1, &pairs), 2), (x.cross(1, &lone), 1)] {
        let error = result.err().ok_or("vectors that are none were taken")?;
        let told = format!("cross: {numbers} numbers along the axis of [4, {numbers}], not 3");
        ensure_eq!(error.to_string(), told, "the error");
    }
    Ok(())
}

/// Integers of every width wrap to it, whatever they are computed as.
async fn wraps(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (x, _) = device.upload(&[100i8, -128, 127], [3]).map_err(show)?;
    let y = x.flip(0).map_err(show)?;
    let got = x.cross(0, &y).map_err(show)?.read::<i8>().await.map_err(show)?;
    let [a, b, c] = [100i8, -128, 127];
    let part = |p: i8, q: i8, r: i8, s: i8| p.wrapping_mul(q).wrapping_sub(r.wrapping_mul(s));
    ensure_eq!(got, [part(b, a, c, b), part(c, c, a, a), part(a, b, b, c)], "of i8");
    let (x, _) = device.upload(&[0u16, 0, 1], [3]).map_err(show)?;
    let (y, _) = device.upload(&[0u16, 65_535, 0], [3]).map_err(show)?;
    let got = x.cross(0, &y).map_err(show)?.read::<u16>().await.map_err(show)?;
    ensure_eq!(got, [1, 0, 0], "of u16");
    Ok(())
}
