//! Complex numbers against products and magnitudes in f64, in views whose parts lie anywhere.

use wharf::op::Exact;
use wharf::reference::places;
use wharf::{DType, Tensor};

use super::{FLOATS, Random, Shown, carried, devices, exact, kept, near, show, tried};
use crate::cases::pair::count;
use crate::cases::views::Move::{self, Broadcast, Flip, Permute, Slice, Transpose};
use crate::ctx::{Case, Ctx, Outcome, case, ensure_eq};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("vocabulary::complex::views", |ctx| views(ctx)),
        case!("vocabulary::complex::fused", |ctx| fused(ctx)),
        case!("vocabulary::complex::refuses", |ctx| refuses(ctx)),
    ]
}

type View = (&'static [usize], Vec<Move>);

/// `[3, 4, 2]`, and the shape of what it is multiplied by.
fn forms() -> Vec<(View, &'static [usize])> {
    vec![
        ((&[3, 4, 2], vec![]), &[3, 4, 2]),
        ((&[2, 3, 4], vec![Permute(vec![1, 2, 0])]), &[2]),
        ((&[3, 2, 4], vec![Transpose, Flip(2)]), &[3, 1, 2]),
        ((&[6, 9, 3], vec![Slice(0, 1..6, 2), Slice(1, 0..8, 2), Slice(2, 1..3, 1)]), &[4, 2]),
        ((&[4, 2], vec![Broadcast(vec![3, 4, 2]), Flip(1)]), &[3, 4, 2]),
    ]
}

async fn views(ctx: &Ctx) -> Outcome {
    const DIMS: [usize; 3] = [3, 4, 2];
    let mut random = Random::new(35);
    for device in devices(ctx).await? {
        for dtype in carried(&device, FLOATS) {
            for ((dims, moves), other) in tried(ctx, &device, forms(), dtype) {
                let x = Shown::new(&device, &mut random, dtype, (dims, &moves)).await?;
                let y = Shown::new(&device, &mut random, dtype, (other, &[])).await?;
                let name = format!("{dims:?} {moves:?} {dtype} for {:?}", device.target());
                let number = |of: &Shown, place: &[usize]| {
                    let place = &place[3 - of.dims.len()..];
                    let mut at: Vec<usize> =
                        place.iter().zip(&of.dims).map(|(&at, &dim)| at.min(dim - 1)).collect();
                    let last = at.len() - 1;
                    [0, 1].map(|part| {
                        at[last] = part;
                        of.at(&at)
                    })
                };
                let product = |place: Vec<usize>| {
                    let ([a, b], [c, d]) = (number(&x, &place), number(&y, &place));
                    let (one, other) = if place[2] == 0 { (a * c, -b * d) } else { (a * d, b * c) };
                    exact(one + other, one.abs() + other.abs())
                };
                let want: Vec<Exact> = places(&DIMS).map(product).collect();
                for got in [x.tensor.complex_mul(&y.tensor), y.tensor.complex_mul(&x.tensor)] {
                    let got = got.map_err(show)?;
                    ensure_eq!((got.dtype(), got.shape().dims()), (dtype, &DIMS[..]), "{name}");
                    kept(("complex_mul", 1), &name, &got, &want).await?;
                }
                let size = |place: Vec<usize>| {
                    let [a, b] = number(&x, &[&place[..], &[0]].concat());
                    exact(a.hypot(b), 0.0)
                };
                let want: Vec<Exact> = places(&DIMS[..2]).map(size).collect();
                let got = x.tensor.complex_abs().map_err(show)?;
                ensure_eq!((got.dtype(), got.shape().dims()), (dtype, &DIMS[..2]), "{name}");
                kept(("complex_abs", 1), &name, &got, &want).await?;
                let turned = |place: Vec<usize>| number(&x, &place)[place[2]];
                let sign = |place: &Vec<usize>| if place[2] == 0 { 1.0 } else { -1.0 };
                let want: Vec<f64> =
                    places(&DIMS).map(|place| sign(&place) * turned(place)).collect();
                let got = x.tensor.complex_conj().map_err(show)?;
                ensure_eq!(got.dtype(), dtype, "{name}");
                near(&name, &got, &DIMS, &want, 0.0).await?;
            }
        }
    }
    Ok(())
}

/// Each is one kernel, with what follows; and of a conjugate one bit is another.
async fn fused(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let numbers = [f32::NAN, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-40, 1e-40];
    let (x, _) = device.upload(&numbers, [4, 2]).map_err(show)?;
    let bits = x.complex_conj().map_err(show)?.read::<f32>().await.map_err(show)?;
    let want: Vec<u32> =
        (0..8).map(|i| numbers[i].to_bits() ^ if i % 2 == 1 { 1 << 31 } else { 0 }).collect();
    ensure_eq!(bits.into_iter().map(f32::to_bits).collect::<Vec<_>>(), want, "the conjugates");
    count();
    let y = x.flip(0).map_err(show)?;
    for made in [x.complex_conj(), x.complex_mul(&y), x.complex_abs()] {
        let kernels = made.and_then(|x| x + 1.0).map_err(show)?.explain().kernels;
        let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name()).collect();
        let own = names.iter().filter(|name| **name != "iota").count();
        ensure_eq!(own, 1, "{names:?}");
        count();
    }
    Ok(())
}

async fn refuses(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let ones = |dims: &[usize], dtype| device.ones(dims, dtype).map_err(show);
    let (x, three) = (ones(&[4, 2], DType::F32)?, ones(&[4, 3], DType::F32)?);
    let lacks = "complex numbers in [4, 3], whose last axis is not 2";
    let whole = ones(&[4, 2], DType::I32)?;
    let pairs: [(wharf::Result<Tensor>, String); 7] = [
        (x.complex_mul(&three), format!("complex_mul: {lacks}")),
        (three.complex_mul(&x), format!("complex_mul: {lacks}")),
        (three.complex_conj(), format!("complex_conj: {lacks}")),
        (three.complex_abs(), format!("complex_abs: {lacks}")),
        (whole.complex_abs(), "complex_abs: input: i32, not a float".into()),
        (
            x.slice(1, ..1).and_then(|one| x.complex_mul(&one)),
            "complex_mul: complex numbers in [4, 1], whose last axis is not 2".into(),
        ),
        (
            x.complex_mul(&ones(&[3, 2], DType::F32)?),
            "complex_mul: [3, 2] and [4, 1] do not broadcast".into(),
        ),
    ];
    for (made, text) in pairs {
        let error = made.err().ok_or_else(|| format!("{text}: it was done"))?.to_string();
        ensure_eq!(&error[..text.len().min(error.len())], text, "the error");
        count();
    }
    Ok(())
}
