//! Activations that are said by others: of every float dtype, of odd sizes and of views.
//! What is elementwise does not depend on what the adapter lacks, so all of it goes at once.

use wharf::reference::places;
use wharf::{DType, Device, Result, Tensor};

use super::{FLOATS, Random, Shown, carried, near, room, show, tried};
use crate::cases::views::Move::{self, Flip, Permute, Slice, Transpose};
use crate::cases::views::TARGETS;
use crate::ctx::{Case, Ctx, LOWEST, Outcome, case, ensure, ensure_eq};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("vocabulary::gates::alone", |ctx| alone(ctx)),
        case!("vocabulary::gates::halves_and_channels", |ctx| beside(ctx)),
        case!("vocabulary::gates::of_integers", |ctx| whole(ctx)),
    ]
}

/// As it is, by either target, and with everything taken away.
async fn both(ctx: &Ctx) -> core::result::Result<[Device; 3], String> {
    let native = ctx.native().await?;
    let [first, second] = TARGETS.map(|target| native.with_target(target));
    Ok([first, second, ctx.device(LOWEST).await?])
}

/// What walks memory in another way is the same whatever the dtype.
const DTYPES: [&[DType]; 3] = [FLOATS, &[DType::F32], FLOATS];

type Row = (&'static str, fn(&Tensor) -> Result<Tensor>, fn(f64) -> f64);

const ROWS: [Row; 3] = [
    ("selu", Tensor::selu, |x| {
        let (alpha, scale) = (1.673_263_242_354_377_2, 1.050_700_987_355_480_5);
        scale * if x > 0.0 { x } else { alpha * x.exp_m1() }
    }),
    ("hard_sigmoid", Tensor::hard_sigmoid, |x| ((x + 3.0) / 6.0).clamp(0.0, 1.0)),
    ("softsign", Tensor::softsign, |x| x / (1.0 + x.abs())),
];

fn forms() -> Vec<(&'static [usize], Vec<Move>)> {
    vec![
        (&[7], vec![]),
        (&[5, 3], vec![Transpose]),
        (&[3, 4, 7], vec![Permute(vec![2, 0, 1]), Slice(0, 1..6, 1)]),
        (&[1], vec![]),
        (&[0, 3], vec![]),
        (&[67], vec![Slice(0, 2..65, -3)]),
    ]
}

async fn alone(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(51);
    for (device, dtypes) in both(ctx).await?.into_iter().zip(DTYPES) {
        for dtype in carried(&device, dtypes) {
            for (dims, moves) in tried(ctx, &device, forms(), dtype) {
                // Beyond both ends of what is clamped.
                let x = Shown::new(&device, &mut random, dtype, (dims, &moves)).await?;
                let (four, values) = (&x.tensor * 4, x.values.iter().map(|x| x * 4.0));
                let (four, values) = (four.map_err(show)?, values.collect::<Vec<_>>());
                for (what, of, want) in ROWS {
                    let name = format!("{what} {dtype} {dims:?} for {:?}", device.target());
                    let got = of(&four).map_err(show)?;
                    ensure_eq!(got.dtype(), dtype, "{name}: the dtype");
                    let want: Vec<f64> = values.iter().map(|&x| want(x)).collect();
                    near(&name, &got, &x.dims, &want, room(dtype)).await?;
                }
            }
        }
    }
    Ok(())
}

/// The first half of an axis by the sigmoid of the second, and slopes of channels.
async fn beside(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(52);
    for (device, dtypes) in both(ctx).await?.into_iter().zip(DTYPES) {
        for dtype in carried(&device, dtypes) {
            for (dims, moves, axis) in [
                (&[3, 5, 6][..], vec![], 2),
                (&[6, 5], vec![Flip(1)], 0),
                (&[3, 7, 4], vec![Permute(vec![0, 2, 1])], 1),
            ] {
                let name = format!("{dtype} {dims:?} {axis} for {:?}", device.target());
                let x = Shown::new(&device, &mut random, dtype, (dims, &moves)).await?;
                let mut kept = x.dims.clone();
                kept[axis] /= 2;
                let want: Vec<f64> = places(&kept)
                    .map(|place| {
                        let mut gate = place.clone();
                        gate[axis] += kept[axis];
                        x.at(&place) / (1.0 + (-x.at(&gate)).exp())
                    })
                    .collect();
                let got = x.tensor.glu(axis).map_err(show)?;
                ensure_eq!(got.dtype(), dtype, "glu {name}: the dtype");
                near(&format!("glu {name}"), &got, &kept, &want, 2.0 * room(dtype)).await?;
                let channels = [x.dims[1] * 2];
                let slopes = Shown::new(
                    &device,
                    &mut random,
                    dtype,
                    (&channels, &[Slice(0, 0..channels[0], 2)]),
                )
                .await?;
                let slope = |x: f64, slope: f64| if x > 0.0 { x } else { slope * x };
                let want: Vec<f64> = places(&x.dims)
                    .map(|place| slope(x.at(&place), slopes.values[place[1]]))
                    .collect();
                let got = x.tensor.prelu(&slopes.tensor).map_err(show)?;
                ensure_eq!(got.dtype(), dtype, "prelu {name}: the dtype");
                near(&format!("prelu {name}"), &got, &x.dims, &want, room(dtype)).await?;
            }
        }
    }
    Ok(())
}

/// What is of floats only says so.
async fn whole(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for dtype in [DType::I32, DType::U8] {
        let x = device.ones([4, 2], dtype).map_err(show)?;
        for (what, made) in [
            ("selu", x.selu()),
            ("softsign", x.softsign()),
            ("hard_sigmoid", x.hard_sigmoid()),
            ("glu", x.glu(0)),
            ("prelu", x.prelu(&x.slice(0, ..2).and_then(|x| x.select(1, 0)).map_err(show)?)),
        ] {
            let text = made.err().map(|error| error.to_string()).unwrap_or_default();
            let says = text.starts_with(&format!("{what}: ")) && text.contains(dtype.name());
            ensure!(says, "{what} of {dtype}: {text:?}");
        }
    }
    Ok(())
}
