//! What a program that is carried over from another library types first: each against its values,
//! which the host computes another way.

use wharf::{DType, Result, Tensor};

use super::pair::{bits_of, count, difference};
use crate::ctx::{Case, Ctx, Outcome, case, ensure_eq, show};

pub(crate) fn cases() -> Vec<Case> {
    vec![case!("hand::operators", |ctx| operators(ctx))]
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
    twin("not", |x, _| !x, |x, _| x.bit_not(), |x, _| !x),
    twin("add", |x, y| x + y, |x, y| x.add(y), |x, y| x + y),
    twin("sub", |x, y| x - y, |x, y| x.sub(y), |x, y| x - y),
    twin("mul", |x, y| x * y, |x, y| x.mul(y), |x, y| x * y),
    twin("div", |x, y| x / y, |x, y| x.div(y), |x, y| x / y),
    twin("rem", |x, y| x % y, |x, y| x.rem(y), |x, y| x % y),
    twin("and", |x, y| x & y, |x, y| x.bit_and(y), |x, y| x & y),
    twin("or", |x, y| x | y, |x, y| x.bit_or(y), |x, y| x | y),
    twin("xor", |x, y| x ^ y, |x, y| x.bit_xor(y), |x, y| x ^ y),
    twin("shl", |x, y| x << y, |x, y| x.shl(y), |x, y| if y < 0 { 0 } else { x << y }),
    twin("shr", |x, y| x >> y, |x, y| x.shr(y), |x, y| if y < 0 { x >> 31 } else { x >> y }),
];

/// Operators are the methods of their names: of integers, of bools, and with numbers on either
/// side, of any type and borrowed.
async fn operators(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
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
    for sum in [&x % three, &x % wide, &x % 3i64, x.rem(&wide)] {
        let got = sum.map_err(show)?.read::<i32>().await.map_err(show)?;
        ensure_eq!(got, left.map(|x| x % 3), "a number of any type");
    }
    let got = (wide - &x).map_err(show)?.read::<i32>().await.map_err(show)?;
    ensure_eq!(got, left.map(|x| 3 - x), "on the left");
    bools(ctx).await
}

async fn bools(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (left, right) = ([false, false, true, true], [false, true, false, true]);
    let (x, _) = device.upload(&left, 4).map_err(show)?;
    let (y, _) = device.upload(&right, 4).map_err(show)?;
    let rows: [(&str, [Result<Tensor>; 2], [bool; 4]); 5] = [
        ("not", [!&x, x.not()], left.map(|x| !x)),
        ("and", [&x & &y, x.and(&y)], [false, false, false, true]),
        ("or", [&x | &y, x.or(&y)], [false, true, true, true]),
        ("xor", [&x ^ &y, x.xor(&y)], [false, true, true, false]),
        ("a number", [true ^ &x, &x ^ &true], left.map(|x| !x)),
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
