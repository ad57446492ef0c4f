//! Every reduction of every dtype it takes, over every set of axes, of every kind of view, against
//! the oracle and its bounds; and cases that other libraries' reductions have failed.

use wharf::caps::Feature;
use wharf::op::Reduction;
use wharf::reference::{Exact, Number, reduce};
use wharf::{Adapter, Axes, DType, Device, Layout, Target};

use super::pair::{Pair, bits, bits_of, count, value};
use super::probe::Random;
use super::views::Move;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, Size, case, ensure_eq, is_slow, matters, show,
};

mod stories;

/// A stored shape, what is done to it, and the axes that are reduced then.
type Form = (&'static [usize], &'static [Move], &'static [usize]);

use Move::{Flip, Transpose};

/// For every reduction and dtype.
const FORMS: &[Form] = &[
    (&[1], &[], &[0]),
    (&[5], &[], &[0]),
    (&[31, 33], &[], &[0]),
    (&[31, 33], &[], &[1]),
    (&[1021], &[], &[0]),
    (&[33, 5], &[Flip(0)], &[1]),
    (&[6, 32], &[], &[0]),
];

/// For a few reductions: more lengths, more axes, more views.
const MORE: &[Form] = &[
    (&[2], &[], &[0]),
    (&[3], &[], &[0]),
    (&[33], &[Flip(0)], &[0]),
    (&[33, 5], &[Transpose], &[1]),
    (&[4], &[], &[0]),
    (&[31], &[], &[0]),
    (&[63], &[], &[0]),
    (&[64], &[], &[0]),
    (&[65], &[], &[0]),
    (&[3, 63], &[], &[1]),
    (&[3, 64], &[], &[1]),
    (&[3, 65], &[], &[1]),
    (&[63, 3], &[], &[0]),
    (&[65, 3], &[], &[0]),
    (&[255], &[], &[0]),
    (&[256], &[], &[0]),
    (&[257], &[], &[0]),
    (&[65_535], &[], &[0]),
    (&[65_536], &[], &[0]),
    (&[65_537], &[], &[0]),
    (&[70_001], &[Move::Slice(0, 1..70_000, 1)], &[0]),
    (&[0], &[], &[0]),
    (&[0, 4], &[], &[0]),
    (&[0, 4], &[], &[1]),
    (&[4, 0], &[], &[1]),
    (&[5], &[], &[]),
    (&[1, 7], &[], &[0]),
    (&[7, 1], &[], &[1]),
    (&[8, 32], &[], &[0, 1]),
    (&[257, 3], &[], &[0]),
    (&[3, 257], &[], &[1]),
    (&[2, 3000], &[], &[1]),
    (&[3000, 2], &[], &[0]),
    (&[300, 64], &[], &[0]),
    (&[64, 300], &[Transpose], &[1]),
    (&[51, 40], &[Flip(1), Flip(0)], &[0]),
    (&[51, 40], &[Flip(1), Flip(0)], &[1]),
    (&[9, 44], &[Move::Slice(1, 1..42, 2)], &[1]),
    (&[5, 7, 9], &[], &[0]),
    (&[5, 7, 9], &[], &[1]),
    (&[5, 7, 9], &[], &[2]),
    (&[5, 7, 9], &[], &[0, 2]),
    (&[5, 7, 9], &[], &[0, 1]),
    (&[4, 6, 8], &[], &[1, 2]),
    (&[4, 6, 8], &[], &[1]),
    (&[4, 6, 8], &[], &[0, 2]),
    (&[3, 4, 5, 8], &[], &[1, 3]),
    (&[3, 4, 5, 8], &[], &[0, 2]),
];

/// The reductions that get the whole range.
const THOROUGH: &[Reduction] = &[Reduction::Sum, Reduction::ArgMax, Reduction::Var];

/// The dtypes for the whole range: others only add a cast at the load.
const KINDS: &[DType] = &[DType::F32, DType::I64];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        for reduction in Reduction::ALL.iter().copied() {
            for dtype in DType::ALL.iter().copied().filter(|&d| reduction.takes(d)) {
                if changes(downgrade, reduction, dtype) {
                    let name = format!("reduce::{reduction}::{dtype}::{}", downgrade.name);
                    let case = case!(name, |ctx| run(ctx, downgrade, reduction, dtype))
                        .needs(adapter, downgrade, dtype);
                    cases.push(Case { size: size(adapter, reduction, dtype), ..case });
                }
            }
        }
    }
    let trees = if matters(adapter, NO_SUBGROUPS) { TREES } else { &[] };
    for &(reduction, dtype) in trees {
        let name = format!("reduce::{reduction}::{dtype}::{}", NO_SUBGROUPS.name);
        cases.push(case!(name, |ctx| run(ctx, NO_SUBGROUPS, reduction, dtype)).needs(
            adapter,
            NO_SUBGROUPS,
            dtype,
        ));
    }
    cases.extend(stories::cases());
    cases
}

/// Without subgroups, workgroups of a GPU combine their lanes in workgroup memory alone.
pub(super) const NO_SUBGROUPS: Downgrade =
    Downgrade { name: "no_subgroups", lower: |caps| caps.without(Feature::Subgroup) };

/// One reduction for each way in which subgroups combine lanes.
const TREES: &[(Reduction, DType)] = &[
    (Reduction::Sum, DType::F32),
    (Reduction::Prod, DType::I32),
    (Reduction::Max, DType::F32),
    (Reduction::ArgMax, DType::F32),
];

/// Drivers that compile slowly run the narrow dtypes, which are cast and reduced as the wide ones,
/// for the thorough reductions only.
fn size(adapter: &Adapter, reduction: Reduction, dtype: DType) -> Size {
    let quick = !is_slow(adapter.caps());
    let wide = dtype.width() >= 4 || dtype == DType::Bool;
    if quick || wide || THOROUGH.contains(&reduction) { Size::Usual } else { Size::Huge }
}

fn changes(downgrade: Downgrade, reduction: Reduction, dtype: DType) -> bool {
    match downgrade.name {
        "native" => true,
        "no_f16" => dtype == DType::F16 && THOROUGH.contains(&reduction),
        "baseline" => (reduction, dtype) == (Reduction::Sum, DType::F32),
        "small_bindings" => matches!(
            (reduction, dtype),
            (Reduction::Sum, DType::F32 | DType::F16 | DType::I64)
                | (Reduction::ArgMax, DType::F32 | DType::I64)
                | (Reduction::Max, DType::F32)
                | (Reduction::Var, DType::F32)
                | (Reduction::All, DType::Bool)
        ),
        _ => false,
    }
}

async fn run(ctx: &Ctx, downgrade: Downgrade, reduction: Reduction, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let other = if device.target() == Target::Gpu { Target::Cpu } else { Target::Gpu };
    let other = device.with_target(other);
    let mut source = Source { reduction, dtype, random: Random::new(11) };
    let thorough = THOROUGH.contains(&reduction) && KINDS.contains(&dtype);
    let thorough = thorough && downgrade.name != NO_SUBGROUPS.name;
    // Drivers that compile slowly run every third.
    let step = if is_slow(ctx.adapter.caps()) { 3 } else { 1 };
    let more = || if thorough { MORE } else { &[] }.iter().step_by(step);
    for form in FORMS.iter().skip(step / 2).step_by(step).chain(more()) {
        one(&device, &mut source, *form).await?;
    }
    for form in FORMS.iter().skip(4).step_by(2).take(2 / step).chain(more()) {
        one(&other, &mut source, *form).await?;
    }
    if downgrade.name == "small_bindings" {
        // Segments of some hundred KB: rows across them, rows longer than them, columns too.
        let n = 450_000 / dtype.width();
        let forms: [(Vec<usize>, &[usize]); 7] = [
            (vec![n], &[0]),
            (vec![n / 255, 255], &[0]),
            (vec![n / 255, 255], &[1]),
            (vec![n / 256, 256], &[0]),
            (vec![2, n / 2], &[0]),
            (vec![3, n / 3], &[1]),
            (vec![3, n / 60, 20], &[1]),
        ];
        for (dims, axes) in forms {
            shaped(&device, &mut source, &dims, &[], axes).await?;
            shaped(&other, &mut source, &dims, &[], axes).await?;
        }
    }
    Ok(())
}

/// Where values come from.
struct Source {
    reduction: Reduction,
    dtype: DType,
    random: Random,
}

impl Source {
    /// Values whose reduction is not simply one of them; sometimes with NaN and infinities.
    fn bits(&mut self, n: usize) -> Vec<u64> {
        let odd = self.random.below(3) == 0;
        let dtype = self.dtype;
        (0..n).map(|_| bits(dtype, self.value(odd))).collect()
    }

    fn value(&mut self, odd: bool) -> Number {
        let draw = self.random.below(4096);
        let x = draw as f64 / 512.0 - 4.0;
        match (self.dtype, self.reduction) {
            (DType::Bool, Reduction::All) => Number::Bool(draw != 0),
            (DType::Bool, Reduction::Any) => Number::Bool(draw == 0),
            (DType::Bool, _) => Number::Bool(draw.is_multiple_of(3)),
            (d, Reduction::Prod) if d.is_float() => Number::Float(1.0 + x / 16384.0),
            (d, Reduction::All) if d.is_float() => {
                Number::Float(if draw == 0 { 0.0 } else { x + 5.0 })
            }
            (d, _) if d.is_float() && odd && draw < 3 => {
                Number::Float([f64::NAN, f64::INFINITY, f64::NEG_INFINITY][draw])
            }
            (d, _) if d.is_float() => Number::Float(x),
            (_, Reduction::All) => Number::Int(i128::from(draw != 0)),
            (_, Reduction::Any) => Number::Int(i128::from(draw == 0)),
            (_, Reduction::Prod) => Number::Int([1, 3, 5, -1][draw % 4]),
            _ if odd => Number::Int(i128::from(self.random.bits() as i64)),
            _ => Number::Int(draw as i128 - 2048),
        }
    }
}

async fn one(device: &Device, source: &mut Source, (dims, moves, axes): Form) -> Outcome {
    shaped(device, source, dims, moves, axes).await
}

async fn shaped(
    device: &Device,
    source: &mut Source,
    dims: &[usize],
    moves: &[Move],
    axes: &[usize],
) -> Outcome {
    let (reduction, dtype) = (source.reduction, source.dtype);
    let place = format!("{dims:?} {moves:?} over {axes:?} for {:?}", device.target());
    let bits = source.bits(dims.iter().product());
    let pair = Pair::new(device, dtype, bits, dims).await?.view(moves)?;
    let groups = groups(&pair, axes)?;
    let exact: Option<Vec<Exact>> =
        groups.iter().map(|group| reduce(reduction, dtype, group, 0)).collect();
    let result = pair.tensor.reduce(reduction, Axes::keep(axes));
    count();
    let Some(exact) = exact else {
        return match result {
            Err(error) if error.to_string().contains("of no elements") => Ok(()),
            other => Err(format!("{place}: {other:?}, where there is nothing to reduce")),
        };
    };
    let result = result.map_err(|e| format!("{place}: {e:?}"))?;
    let mut kept = pair.tensor.shape().dims().to_vec();
    axes.iter().for_each(|&axis| kept[axis] = 1);
    ensure_eq!(result.shape().dims(), &kept[..], "{place}: the shape");
    let into = reduction.yields(dtype);
    ensure_eq!(result.dtype(), into, "{place}: the dtype");
    let got = bits_of(&result).await.map_err(|e| format!("{place}: {e}"))?;
    judge(reduction, dtype, &exact, &got).map_err(|e| format!("{place}: {e}"))
}

/// Every result against the contract.
fn judge(reduction: Reduction, dtype: DType, exact: &[Exact], got: &[u64]) -> Outcome {
    ensure_eq!(exact.len(), got.len(), "how many");
    let (bound, into) = (reduction.bound(dtype), reduction.yields(dtype));
    for (i, (exact, &bits)) in exact.iter().zip(got).enumerate() {
        let got = value(into, bits);
        if !bound.within(into, *exact, got) {
            return Err(format!("result {i} is {got:?}, not {exact:?}"));
        }
    }
    Ok(())
}

/// The groups of elements that are reduced to one, in the order of the kept axes; each in the
/// row-major order of the reduced axes.
fn groups(pair: &Pair, axes: &[usize]) -> Result<Vec<Vec<Number>>, String> {
    let layout = pair.layout;
    let rank = layout.shape().rank();
    let is_kept = |axis: &usize| !axes.contains(axis);
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    let kept: Vec<usize> = (0..rank).filter(is_kept).collect();
    let results = kept.iter().map(|&axis| layout.shape().dims()[axis]).product();
    let ordered: Layout = layout.permute([kept, sorted].concat()).map_err(show)?;
    let values: Vec<Number> =
        ordered.places().map(|p| value(pair.tensor.dtype(), pair.bits[p])).collect();
    if values.is_empty() {
        return Ok(vec![Vec::new(); results]);
    }
    Ok(values.chunks(values.len() / results).map(<[Number]>::to_vec).collect())
}
