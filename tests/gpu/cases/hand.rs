//! What a program that is carried over from another library types first: each against its values,
//! which the host computes another way.

mod sugar;

use wharf::shape::Axis;
use wharf::{Axes, DType, Result, Tensor, s};

use super::pair::{Pair, bits_of, carries, count, difference};
use super::views::{Move, probe_bits};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, LOWEST, Outcome, case, ensure, ensure_eq, show,
};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![
        case!("hand::operators", |ctx| operators(ctx, DOWNGRADES[0])),
        case!("hand::operators_that_assign", |ctx| assigning(ctx, DOWNGRADES[0])),
        case!("hand::axes_from_the_end", |ctx| axes(ctx, DOWNGRADES[0])),
        case!("hand::bytes", |ctx| bytes(ctx, DOWNGRADES[0])),
        case!("hand::two_numbers_of_a_dtype", |ctx| two_numbers(ctx, DOWNGRADES[0])),
        case!("hand::a_copy_where_no_view_will_do", |ctx| copied(ctx)),
    ];
    let lowest = [
        case!("hand::operators::lowest", |ctx| operators(ctx, LOWEST)),
        case!("hand::operators_that_assign::lowest", |ctx| assigning(ctx, LOWEST)),
        case!("hand::axes_from_the_end::lowest", |ctx| axes(ctx, LOWEST)),
        case!("hand::bytes::lowest", |ctx| bytes(ctx, LOWEST)),
        case!("hand::two_numbers_of_a_dtype::lowest", |ctx| two_numbers(ctx, LOWEST)),
    ];
    cases.extend(lowest);
    cases.extend(sugar::cases());
    cases
}

/// An operator, and the method that it is.
struct Twin {
    name: &'static str,
    operator: fn(&Tensor, &Tensor) -> Result<Tensor>,
    method: fn(&Tensor, &Tensor) -> Result<Tensor>,
    /// Of each pair of elements.
    want: fn(i32, i32) -> i32,
}

const fn twin(
    name: &'static str,
    operator: fn(&Tensor, &Tensor) -> Result<Tensor>,
    method: fn(&Tensor, &Tensor) -> Result<Tensor>,
    want: fn(i32, i32) -> i32,
) -> Twin {
    Twin { name, operator, method, want }
}

const TWINS: [Twin; 12] = [
    twin("neg", |x, _| -x, |x, _| x.neg(), |x, _| -x),
    twin("not", |x, _| !x, |x, _| x.not(), |x, _| !x),
    twin("add", |x, y| x + y, |x, y| x.add(y), |x, y| x + y),
    twin("sub", |x, y| x - y, |x, y| x.sub(y), |x, y| x - y),
    twin("mul", |x, y| x * y, |x, y| x.mul(y), |x, y| x * y),
    twin("div", |x, y| x / y, |x, y| x.div(y), |x, y| x / y),
    twin("rem", |x, y| x % y, |x, y| x.rem(y), |x, y| x % y),
    twin("and", |x, y| x & y, |x, y| x.and(y), |x, y| x & y),
    twin("or", |x, y| x | y, |x, y| x.or(y), |x, y| x | y),
    twin("xor", |x, y| x ^ y, |x, y| x.xor(y), |x, y| x ^ y),
    twin("shl", |x, y| x << y, |x, y| x.shl(y), |x, y| if y < 0 { 0 } else { x << y }),
    twin("shr", |x, y| x >> y, |x, y| x.shr(y), |x, y| if y < 0 { x >> 31 } else { x >> y }),
];

/// Operators are the methods of their names: of integers, of bools, and with numbers on either
/// side, of any type and borrowed.
async fn operators(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let (left, right) = ([7, -7, 0, 6, -1, 1000], [2, 2, 3, -4, 5, -7]);
    let (x, _) = device.upload(&left, 6).map_err(show)?;
    let (y, _) = device.upload(&right, 6).map_err(show)?;
    for Twin { name, operator, method, want } in TWINS {
        let want: Vec<u64> =
            (left.iter().zip(right)).map(|(&x, y)| u64::from(want(x, y).cast_unsigned())).collect();
        for got in [operator(&x, &y), method(&x, &y)] {
            count();
            let got = bits_of(&got.map_err(show)?).await?;
            difference(DType::I32, &got, &want).map_or(Ok(()), |e| Err(format!("{name}: {e}")))?;
        }
    }
    let (three, wide) = (&3u8, 3usize);
    for sum in [&x % three, &x % wide, &x % 3i64, x.rem(wide)] {
        let got = sum.map_err(show)?.read::<i32>().await.map_err(show)?;
        ensure_eq!(got, left.map(|x| x % 3), "a number of any type");
    }
    let got = (wide - &x).map_err(show)?.read::<i32>().await.map_err(show)?;
    ensure_eq!(got, left.map(|x| 3 - x), "on the left");
    bools(ctx, downgrade).await
}

/// The operator that assigns, by the method that it is.
type Assign = fn(&mut Tensor, &Tensor);

const ASSIGNS: [(&str, Assign); 10] = [
    ("add", |x, y| *x += y),
    ("sub", |x, y| *x -= y),
    ("mul", |x, y| *x *= y),
    ("div", |x, y| *x /= y),
    ("rem", |x, y| *x %= y),
    ("and", |x, y| *x &= y),
    ("or", |x, y| *x |= y),
    ("xor", |x, y| *x ^= y),
    ("shl", |x, y| *x <<= y),
    ("shr", |x, y| *x >>= y),
];

/// Operators that assign, by a tensor, a row of it and a number: what is held elsewhere stays.
async fn assigning(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let (left, right) = ([7, -7, 0, 6, -1, 1000], [2, 2, 3, -4, 5, -7]);
    let (x, _) = device.upload(&left, [2, 3]).map_err(show)?;
    let (y, _) = device.upload(&right, [2, 3]).map_err(show)?;
    let row = y.at(1).map_err(show)?;
    for (name, assign) in ASSIGNS {
        count();
        let Some(Twin { want, .. }) = TWINS.iter().find(|twin| twin.name == name) else {
            return Err(format!("no operator is {name}"));
        };
        let (mut own, mut by_row) = (x.clone(), x.clone());
        assign(&mut own, &y);
        assign(&mut by_row, &row);
        let want = |right: [i32; 6]| -> Vec<i32> {
            left.iter().zip(right).map(|(&x, y)| want(x, y)).collect()
        };
        ensure_eq!(own.read::<i32>().await.map_err(show)?, want(right), "{name}");
        let rows = [right[3], right[4], right[5], right[3], right[4], right[5]];
        ensure_eq!(by_row.read::<i32>().await.map_err(show)?, want(rows), "{name} by a row");
        ensure_eq!(x.read::<i32>().await.map_err(show)?, left, "{name}: what was assigned to");
    }
    let mut numbers = x.at(s![.., ..;-2]).map_err(show)?;
    numbers *= 3u8;
    numbers -= &1i64;
    let got = numbers.read::<i32>().await.map_err(show)?;
    ensure_eq!(got, [-1, 20, 2999, 17], "by numbers");
    Ok(())
}

async fn bools(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let (left, right) = ([false, false, true, true], [false, true, false, true]);
    let (x, _) = device.upload(&left, 4).map_err(show)?;
    let (y, _) = device.upload(&right, 4).map_err(show)?;
    type Twins = [Result<Tensor>; 2];
    let rows: [(&str, Twins, [bool; 4]); 5] = [
        ("not", [!&x, x.not()], left.map(|x| !x)),
        ("and", [&x & &y, x.and(&y)], [false, false, false, true]),
        ("or", [&x | &y, x.or(&y)], [false, true, true, true]),
        ("xor", [&x ^ &y, x.xor(&y)], [false, true, true, false]),
        ("a number", [true ^ &x, &x ^ true], left.map(|x| !x)),
    ];
    for (name, twins, want) in rows {
        for got in twins {
            count();
            let got = got.map_err(show)?.read::<bool>().await.map_err(show)?;
            ensure_eq!(got, want, "{name}");
        }
    }
    Ok(())
}

/// What takes an axis, of a tensor `[2, 3, 4]`, an index and one more of its shape.
type Along = fn([&Tensor; 3], Axis) -> Result<Tensor>;

const ALONG: &[(&str, Along)] = &[
    ("sum", |[x, ..], axis| x.sum(axis)),
    ("argmax", |[x, ..], axis| x.argmax(Axes::keep(axis))),
    ("softmax", |[x, ..], axis| x.softmax(axis)),
    ("layer_norm", |[x, ..], axis| x.layer_norm(axis, None, None, 1e-6)),
    ("cumsum", |[x, ..], axis| x.cumsum(axis)),
    ("slice", |[x, ..], axis| x.slice(axis, 1..)),
    ("slice_step", |[x, ..], axis| x.slice_step(axis, .., -1)),
    ("select", |[x, ..], axis| x.select(axis, 1)),
    ("windows", |[x, ..], axis| x.windows(axis, 2, 1)),
    ("split", |[x, ..], axis| Ok(x.slice(axis, ..2)?.split(axis, &[1, 1])?.swap_remove(1))),
    ("roll", |[x, ..], axis| x.roll(axis, 1)),
    ("concat", |[x, _, y], axis| Tensor::concat(&[x, y], axis)),
    ("stack", |[x, _, y], axis| Tensor::stack(&[x, y], axis)),
    ("gather", |[x, index, _], axis| x.gather(axis, index)),
    ("index_select", |[x, index, _], axis| x.index_select(axis, &index.at((0, 0))?)),
    ("scatter", |[x, index, y], axis| x.scatter(axis, index, y)),
    ("scatter_add", |[x, index, y], axis| x.scatter_add(axis, index, y)),
    ("cross_entropy", |[x, index, _], axis| x.cross_entropy(axis, &index.select(axis, 0)?)),
    ("assign_slice", |[x, _, y], axis| {
        let mut x = x.clone();
        x.assign_slice(axis, -1.., &y.slice(axis, ..1)?).map(|()| x)
    }),
];

/// Counted from the end, an axis is the one that it is from the start, to the bit.
async fn axes(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let numbers: Vec<f32> = (0..24).map(|i| (i * 7 % 11) as f32 - 4.0).collect();
    let (x, _) = device.upload(&numbers, [2, 3, 4]).map_err(show)?;
    let index: Vec<u32> = (0..24).map(|i| i / 3 % 2).collect();
    let (index, _) = device.upload(&index, [2, 3, 4]).map_err(show)?;
    let y = (&x + 0.5).map_err(show)?;
    for (name, along) in ALONG {
        count();
        // A stack has one axis more.
        let back = if *name == "stack" { -3 } else { -2 };
        let all = [&x, &index, &y];
        let want = along(all, 1.into()).map_err(|e| format!("{name}: {e:?}"))?;
        let got = along(all, back.into()).map_err(show)?;
        ensure_eq!(got.shape(), want.shape(), "{name}");
        ensure_eq!(bits_of(&got).await?, bits_of(&want).await?, "{name}");
    }
    Ok(())
}

/// What cannot be viewed is copied, what can is not.
async fn copied(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (x, _) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3]).map_err(show)?;
    let copies = |y: &Tensor| y.explain().dispatches();
    let rows = x.reshape_copied([3, -1]).map_err(show)?;
    ensure_eq!(copies(&rows), 0, "dispatches of a view");
    ensure_eq!(rows.read::<i32>().await.map_err(show)?, [1, 2, 3, 4, 5, 6], "a view");
    let turned = x.t().and_then(|x| x.reshape_copied(-1)).map_err(show)?;
    ensure_eq!(copies(&turned), 1, "dispatches of a copy");
    ensure_eq!(turned.read::<i32>().await.map_err(show)?, [1, 4, 2, 5, 3, 6], "a copy");
    let error = x.reshape_copied(7).err().ok_or("six elements are not seven")?;
    ensure_eq!(error.to_string(), "[2, 3] has 6 elements, [7] has 7", "no copy helps");
    Ok(())
}

/// The bytes of every dtype that is computed in, of a view that is copied and of one that is not.
async fn bytes(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    for dtype in DType::ALL.iter().copied().filter(|&dtype| carries(&device, dtype)) {
        count();
        let data = probe_bits(dtype, 20, 5).await;
        let x = Pair::new(&device, dtype, data, &[4, 5]).await?;
        for moves in [vec![], vec![Move::Slice(0, 1..3, 1)], vec![Move::Transpose]] {
            let view = x.view(&moves)?;
            let want: Vec<u8> = (view.expected().iter())
                .flat_map(|bits| bits.to_le_bytes().into_iter().take(dtype.width()))
                .collect();
            let got = view.tensor.read_bytes().await.map_err(show)?;
            ensure_eq!(got, want, "{dtype} {moves:?}");
        }
    }
    // In several chunks.
    let data: Vec<u16> = (0..3_000_001u32).map(|i| (i * 31) as u16).collect();
    let got = device.upload(&data, data.len()).map_err(show)?.0.read_bytes().await;
    let want: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
    ensure!(got.map_err(show)? == want, "a long one");
    Ok(())
}

async fn two_numbers(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let (mask, _) = device.upload(&[true, false, true], 3).map_err(show)?;
    let some = [DType::Bool, DType::U8, DType::F16, DType::I32, DType::I64];
    for dtype in some.into_iter().filter(|&dtype| carries(&device, dtype)) {
        count();
        let chosen = match dtype {
            DType::Bool => mask.choose_as(true, false, dtype),
            _ => mask.choose_as(1, 0, dtype),
        };
        let (chosen, want) = (chosen.map_err(show)?, mask.cast(dtype).map_err(show)?);
        ensure_eq!(chosen.dtype(), dtype, "the dtype");
        ensure_eq!(bits_of(&chosen).await?, bits_of(&want).await?, "{dtype}");
    }
    Ok(())
}
