//! Running sums, products and extremes along every axis of views, with rows long enough for every
//! way of cutting them, against the oracle.

use wharf::op::{Joint, Reduction};
use wharf::reference::{Number, scan};
use wharf::{Adapter, DType, Device, Layout, Target, Tensor};

use super::pair::{Pair, bits, bits_of, count, value};
use super::probe::Random;
use super::views::Move;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, Size, case, ensure, ensure_eq, is_slow, matters,
    show,
};

use Move::{Flip, Transpose};

type Form = (&'static [usize], &'static [Move], usize);

const FORMS: &[Form] = &[
    (&[5], &[], 0),
    (&[9, 33], &[], 1),
    (&[33, 6], &[], 0),
    (&[1021], &[Flip(0)], 0),
    (&[7, 90], &[], 1),
];

const MORE: &[Form] = &[
    (&[1], &[], 0),
    (&[0, 3], &[], 1),
    (&[3, 0], &[], 1),
    (&[63], &[], 0),
    (&[64], &[], 0),
    (&[65], &[], 0),
    (&[255], &[], 0),
    (&[256], &[], 0),
    (&[257], &[], 0),
    (&[5, 128], &[], 1),
    (&[3, 512], &[], 1),
    (&[3, 513], &[], 1),
    (&[40, 129], &[Transpose], 1),
    (&[3, 4, 5], &[], 1),
    (&[65_535], &[], 0),
    (&[65_536], &[], 0),
    (&[65_537], &[], 0),
    (&[2, 70_000], &[], 1),
];

const SCANS: [Reduction; 4] = [Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    let quick = !is_slow(adapter.caps());
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        for reduction in SCANS {
            for dtype in DType::ALL.iter().copied().filter(|&d| reduction.takes(d)) {
                let runs = match downgrade.name {
                    "native" => true,
                    "small_bindings" => matches!(
                        (reduction, dtype),
                        (Reduction::Sum, DType::F32 | DType::I64) | (Reduction::Max, DType::F32)
                    ),
                    _ => false,
                };
                if runs {
                    let name = format!("scan::{reduction}::{dtype}::{}", downgrade.name);
                    let case = case!(name, |ctx| run(ctx, downgrade, reduction, dtype))
                        .needs(adapter, downgrade, dtype);
                    let size = if quick || dtype.width() >= 4 { Size::Usual } else { Size::Huge };
                    cases.push(Case { size, ..case });
                }
            }
        }
    }
    cases.push(case!("scan::sixteen_million_ones_are_counted", |ctx| ones(ctx)));
    cases
}

fn apply(reduction: Reduction, x: &Tensor, axis: usize) -> wharf::Result<Tensor> {
    match reduction {
        Reduction::Sum => x.cumsum(axis),
        Reduction::Prod => x.cumprod(axis),
        Reduction::Max => x.cummax(axis),
        _ => x.cummin(axis),
    }
}

async fn run(ctx: &Ctx, downgrade: Downgrade, reduction: Reduction, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let other = if device.target() == Target::Gpu { Target::Cpu } else { Target::Gpu };
    let other = device.with_target(other);
    let mut random = Random::new(4);
    let more = if matches!(dtype, DType::F32 | DType::I64) { MORE } else { &[] };
    for form in FORMS.iter().chain(more) {
        one(&device, &mut random, reduction, dtype, *form).await?;
    }
    for form in FORMS.iter().skip(3).chain(more.iter().skip(3)) {
        one(&other, &mut random, reduction, dtype, *form).await?;
    }
    if downgrade.name == "small_bindings" {
        // Slabs of rows, and rows of slabs; one exactly as large as the result's last segment.
        for dims in [&[300, 400][..], &[2, 90_000], &[4000, 30], &[1, 73_728]] {
            one(&device, &mut random, reduction, dtype, (dims, &[], 1)).await?;
        }
    }
    Ok(())
}

async fn one(
    device: &Device,
    random: &mut Random,
    reduction: Reduction,
    dtype: DType,
    (dims, moves, axis): (&[usize], &[Move], usize),
) -> Outcome {
    let place = format!("{dims:?} {moves:?} along {axis} for {:?}", device.target());
    let number = |random: &mut Random| {
        let draw = random.below(1000);
        match (dtype, reduction) {
            (DType::Bool, _) => Number::Bool(draw.is_multiple_of(3)),
            (d, Reduction::Prod) if d.is_float() => {
                Number::Float(1.0 + (draw as f64 - 500.0) / 100_000.0)
            }
            (d, _) if d.is_float() => Number::Float(draw as f64 / 100.0 - 5.0),
            (_, Reduction::Prod) => Number::Int([1, 3, -1, 7][draw % 4]),
            _ => Number::Int(draw as i128 - 500),
        }
    };
    let stored = (0..dims.iter().product()).map(|_| bits(dtype, number(random)));
    let pair = Pair::new(device, dtype, stored.collect(), dims).await?.view(moves)?;
    let result = apply(reduction, &pair.tensor, axis).map_err(|e| format!("{place}: {e:?}"))?;
    ensure_eq!(result.shape(), pair.tensor.shape(), "{place}: the shape");
    let into = reduction.yields(dtype);
    ensure_eq!(result.dtype(), into, "{place}: the dtype");
    let got = bits_of(&result).await.map_err(|e| format!("{place}: {e}"))?;
    count();
    let rank = pair.layout.shape().rank();
    let order: Vec<usize> = (0..rank).filter(|&a| a != axis).chain([axis]).collect();
    let length = pair.layout.shape().dims()[axis].max(1);
    let x = pair.layout.permute(&order).map_err(show)?;
    let y = Layout::dense(*pair.layout.shape()).permute(&order).map_err(show)?;
    let x: Vec<Number> = x.places().map(|p| value(dtype, pair.bits[p])).collect();
    let y: Vec<u64> = y.places().map(|p| got[p]).collect();
    let bound = match reduction {
        Reduction::Sum => Joint::CumSum.bound(),
        Reduction::Prod => Joint::CumProd.bound(),
        other => other.bound(dtype),
    };
    for (n, (row, got)) in x.chunks(length).zip(y.chunks(length)).enumerate() {
        for (i, (exact, &bits)) in scan(reduction, dtype, row).iter().zip(got).enumerate() {
            let got = value(into, bits);
            let kept = bound.within(into, *exact, got);
            ensure!(kept, "{place}, row {n}: {i} is {got:?}, not {exact:?}");
        }
    }
    Ok(())
}

async fn ones(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let n = 1usize << 24;
    let ones = device.ones(n, DType::U8).map_err(show)?;
    let counted = ones.cumsum(0).map_err(show)?.read::<u32>().await.map_err(show)?;
    let wrong = counted.iter().zip(1u32..).position(|(&got, want)| got != want);
    ensure_eq!(wrong, None, "the first count that is wrong");
    Ok(())
}
