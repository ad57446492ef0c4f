//! More groups than one row of a grid has.

use wharf::tensor::Order;
use wharf::{DType, Element, Tensor};

use super::TARGETS;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure_eq, show};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("hunt::folded_grids", |ctx| of_rows(ctx)),
        case!("hunt::folded_moves", |ctx| of_moves(ctx)),
        case!("hunt::folded_sorts", |ctx| of_sorts(ctx)),
        case!("hunt::folded_matrices", |ctx| of_matrices(ctx)),
    ]
}

/// What is made of many rows is what is made of the first seven, again and again.
pub(super) async fn repeats<T: Element + PartialEq>(
    [few, all]: [wharf::Result<Tensor>; 2],
    rows: usize,
    what: &str,
) -> Outcome {
    let want = few.map_err(show)?.read::<T>().await.map_err(show)?;
    let got = all.map_err(show)?.read::<T>().await.map_err(show)?;
    ensure_eq!(got.len() * 7, want.len() * rows, "{what}, of {rows}");
    let odd = got.iter().zip(want.iter().cycle()).position(|(got, want)| got != want);
    ensure_eq!(odd, None, "{what}, of {rows}");
    Ok(())
}

/// Of what moves elements: counting, picking by index, writing into a part, joining. In one
/// binding, and in several, of which the last is short.
async fn of_moves(ctx: &Ctx) -> Outcome {
    const N: usize = 70_001;
    let native = ctx.native().await?;
    let backwards: Vec<u32> = (0..N as u32).rev().collect();
    let mut devices = TARGETS.map(|target| native.with_target(target)).to_vec();
    devices.push(ctx.device(DOWNGRADES[4]).await?);
    for device in devices {
        let read =
            async |x: wharf::Result<Tensor>| x.map_err(show)?.read::<u32>().await.map_err(show);
        let counted = device.arange(0, N, 1, DType::U32).map_err(show)?;
        let odd = read(Ok(counted.clone())).await?.iter().zip(0..).position(|(&x, i)| x != i);
        ensure_eq!(odd, None, "counted, {:?}", device.target());
        let (index, _) = device.upload(&backwards, [N]).map_err(show)?;
        let picked = read(counted.index_select(0, &index)).await?;
        ensure_eq!(picked == backwards, true, "picked, {:?}", device.target());
        // An odd place, so that quads of the source and of the part do not meet.
        let mut part = device.zeros([N + 5], DType::U32).map_err(show)?;
        part.assign_slice(0, 3..N + 3, &index).map_err(show)?;
        let joined = read(Tensor::concat(&[&counted, &index, &counted], 0)).await?;
        let part = read(Ok(part)).await?;
        let whole = [&[0; 3], &backwards[..], &[0; 2]].concat();
        ensure_eq!(part == whole, true, "written, {:?}", device.target());
        let odd = (joined.iter().zip((0..N as u32).chain(backwards.iter().copied()).chain(0..)))
            .position(|(&x, y)| x != y);
        ensure_eq!(odd, None, "joined, {:?}", device.target());
    }
    Ok(())
}

/// Of rows: each is as its equal among the first seven.
async fn of_rows(ctx: &Ctx) -> Outcome {
    type Make = fn(&Tensor) -> wharf::Result<Tensor>;
    const MAKE: [Make; 5] = [
        |x| x.softmax(1),
        |x| x.layer_norm(1, None, None, 1e-5),
        |x| x.cumsum(1),
        |x| x.sum(1),
        |x| x.reshape([x.shape().dims()[0], 2, x.shape().dims()[1] / 2])?.sum(1),
    ];
    let native = ctx.native().await?;
    for (target, rows, length) in [(TARGETS[0], 5_301, 4), (TARGETS[1], 657, 34)] {
        let device = native.with_target(target);
        let at = |i: usize| ((i / length % 7 * 5 + i % length * 3) % 11) as f32;
        let data: Vec<f32> = (0..rows * length).map(at).collect();
        let (few, _) = device.upload(&data[..7 * length], [7, length]).map_err(show)?;
        let (all, _) = device.upload(&data, [rows, length]).map_err(show)?;
        for (n, make) in MAKE.iter().enumerate() {
            repeats::<f32>([make(&few), make(&all)], rows, &format!("{n} for {target:?}")).await?;
        }
    }
    Ok(())
}

/// Of the steps of a sort, and of the sums over what they count, of which there must be more: each
/// row is as its equal among the first seven.
async fn of_sorts(ctx: &Ctx) -> Outcome {
    type Make = fn(&Tensor) -> wharf::Result<Tensor>;
    const MAKE: [Make; 2] = [|x| x.argsort(1, Order::Ascending), |x| Ok(x.top_k(1, 9)?.1)];
    let native = ctx.native().await?;
    for (rows, length, makes) in [(600, 1000, &MAKE[..]), (4400, 130, &MAKE[..1])] {
        let at = |i: usize| ((i / length % 7 * 5 + i % length * 37) % 251) as u8;
        let data: Vec<u8> = (0..rows * length).map(at).collect();
        for device in TARGETS.map(|target| native.with_target(target)) {
            let (few, _) = device.upload(&data[..7 * length], [7, length]).map_err(show)?;
            let (all, _) = device.upload(&data, [rows, length]).map_err(show)?;
            for (n, make) in makes.iter().enumerate() {
                let what = format!("{n} for {:?}", device.target());
                repeats::<u32>([make(&few), make(&all)], rows, &what).await?;
            }
        }
    }
    Ok(())
}

/// Of the blocks of matrices, and the columns of what they solve: each is as its equal among the
/// first seven.
async fn of_matrices(ctx: &Ctx) -> Outcome {
    type Make = fn(&Tensor) -> wharf::Result<Tensor>;
    const MAKE: [Make; 3] = [|x| x.cholesky(), |x| Ok(x.lu()?.factors), |x| x.inv()];
    let native = ctx.native().await?;
    let at = |i: usize| {
        let (m, row, column) = (i / 9 % 7, i / 3 % 3, i % 3);
        if row == column { (4 + m) as f32 } else { (row + column) as f32 / 4.0 }
    };
    let data: Vec<f32> = (0..700 * 9).map(at).collect();
    for device in TARGETS.map(|target| native.with_target(target)) {
        let (few, _) = device.upload(&data[..7 * 9], [7, 3, 3]).map_err(show)?;
        let (all, _) = device.upload(&data, [700, 3, 3]).map_err(show)?;
        for (n, make) in MAKE.iter().enumerate() {
            let what = format!("{n} for {:?}", device.target());
            repeats::<f32>([make(&few), make(&all)], 700, &what).await?;
        }
    }
    Ok(())
}
