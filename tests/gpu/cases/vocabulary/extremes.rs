//! Extremes with their places, and the last of equals.

use wharf::{Axes, DType, Tensor};

use super::{Random, Shown, TARGETS, carried, flat, near, show, tried};
use crate::cases::views::Move::{self, Flip, Permute, Slice};
use crate::ctx::{Case, Ctx, Outcome, case};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case!("vocabulary::extremes::last_of_equals", |ctx| last_of_equals(ctx)),
        case!("vocabulary::extremes::with_index", |ctx| with_index(ctx)),
    ]
}

const DTYPES: [DType; 6] = [DType::F32, DType::F16, DType::F64, DType::U8, DType::I32, DType::I64];

/// Whether the first is more extreme than the second.
fn beats(a: f64, b: f64, largest: bool) -> bool {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => {
            if largest {
                a > b
            } else {
                a < b
            }
        }
        (nan, other) => nan && !other,
    }
}

/// The places of extremes over some axes: the first of equals or the last.
fn places(x: &Shown, over: &[usize], largest: bool, last: bool) -> (Vec<usize>, Vec<f64>) {
    let kept: Vec<usize> = (0..x.dims.len()).filter(|axis| !over.contains(axis)).collect();
    let of = |axes: &[usize]| axes.iter().map(|&axis| x.dims[axis]).collect::<Vec<_>>();
    let (outer, inner) = (of(&kept), of(over));
    let mut best: Vec<Option<(f64, f64)>> = vec![None; outer.iter().product()];
    for (i, &value) in x.values.iter().enumerate() {
        let mut rest = i;
        let mut place = vec![0; x.dims.len()];
        for axis in (0..x.dims.len()).rev() {
            place[axis] = rest % x.dims[axis];
            rest /= x.dims[axis];
        }
        let among = |axes: &[usize]| axes.iter().map(|&axis| place[axis]).collect::<Vec<_>>();
        let (to, at) = (flat(&outer, &among(&kept)), flat(&inner, &among(over)));
        let better = best[to].is_none_or(|(most, known)| {
            let equal = !beats(most, value, largest) && !beats(value, most, largest);
            let later = at as f64 > known;
            beats(value, most, largest) || equal && later == last && at as f64 != known
        });
        if better {
            best[to] = Some((value, at as f64));
        }
    }
    (outer, best.into_iter().map(|best| best.map_or(f64::NAN, |(_, at)| at)).collect())
}

/// Few different values, so that most extremes have equals; and some are NaN.
async fn inputs(ctx: &Ctx) -> Result<Vec<(String, Shown)>, String> {
    let (mut random, mut all) = (Random::new(61), Vec::new());
    let shapes: [(&[usize], Move); 3] =
        [(&[9], Flip(0)), (&[4, 19], Slice(1, 1..17, 2)), (&[3, 6, 5], Permute(vec![2, 0, 1]))];
    let native = ctx.native().await?;
    for device in TARGETS.map(|target| native.with_target(target)) {
        for dtype in carried(&device, &DTYPES) {
            for (dims, moved) in tried(ctx, &device, shapes.iter().collect(), dtype) {
                let nans: &[usize] = if dtype.is_float() { &[0, 12] } else { &[0] };
                for &nans in nans {
                    let count = dims.iter().product();
                    let values = (0..count).map(|_| match random.below(100) {
                        n if n < nans => f64::NAN,
                        n => (n % 4) as f64,
                    });
                    let x = Shown::of(
                        &device,
                        dtype,
                        values.collect(),
                        (dims, std::slice::from_ref(moved)),
                    )
                    .await?;
                    all.push((format!("{dtype} {dims:?} for {:?}", device.target()), x));
                }
            }
        }
    }
    Ok(all)
}

type Arg = fn(&Tensor, Axes) -> wharf::Result<Tensor>;

const ARGS: [(bool, bool, Arg); 4] = [
    (true, true, |x, axes| x.argmax_last(axes)),
    (false, true, |x, axes| x.argmin_last(axes)),
    (true, false, |x, axes| x.argmax(axes)),
    (false, false, |x, axes| x.argmin(axes)),
];

async fn last_of_equals(ctx: &Ctx) -> Outcome {
    for (name, x) in inputs(ctx).await? {
        let rank = x.dims.len();
        let mut sets = vec![vec![rank - 1], (0..rank).collect()];
        sets.extend((rank > 2).then(|| vec![0, 2]));
        for (over, (largest, last, arg)) in
            sets.iter().flat_map(|over| ARGS.iter().map(move |arg| (over, *arg)))
        {
            let (dims, want) = places(&x, over, largest, last);
            let axes: Vec<isize> = over.iter().map(|&axis| axis.cast_signed()).collect();
            let got = arg(&x.tensor, Axes::from(&axes[..])).map_err(show)?;
            let name = format!("{name} over {over:?}, largest {largest}, last {last}");
            near(&name, &got, &dims, &want, 0.0).await?;
        }
    }
    Ok(())
}

async fn with_index(ctx: &Ctx) -> Outcome {
    for (name, x) in inputs(ctx).await? {
        for axis in [0, x.dims.len() - 1] {
            for largest in [true, false] {
                let (dims, place) = places(&x, &[axis], largest, false);
                let both = if largest {
                    x.tensor.max_with_index(axis)
                } else {
                    x.tensor.min_with_index(axis)
                };
                let (value, index) = both.map_err(show)?;
                let name = format!("{name} axis {axis}, largest {largest}");
                near(&name, &index, &dims, &place, 0.0).await?;
                let reduced = if largest { x.tensor.amax(axis) } else { x.tensor.amin(axis) };
                let want: Vec<f64> = reduced.map_err(show)?.read_as().await.map_err(show)?.0;
                near(&name, &value, &dims, &want, 0.0).await?;
            }
        }
    }
    Ok(())
}
