//! Every cast between dtypes that the device has, bit by bit against the oracle.

use wharf::reference::{self, Number};
use wharf::{Adapter, DType};

use super::faults::fails;
use super::pair::{Pair, bits, bits_of, carries, count, value};
use super::probe::Random;
use super::views::{Move, TARGETS, probe_bits};
use crate::ctx::{Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, matters, show};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    let code = |d: &&Downgrade| matches!(d.name, "native" | "no_f16");
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)).filter(code) {
        for from in DType::ALL.iter().copied() {
            let name = format!("casts::from_{from}::{}", downgrade.name);
            cases.push(
                case!(name, |ctx| from_one(ctx, downgrade, from)).needs(adapter, downgrade, from),
            );
            let name = format!("casts::checked_from_{from}::{}", downgrade.name);
            cases.push(
                case!(name, |ctx| checked(ctx, downgrade, from)).needs(adapter, downgrade, from),
            );
        }
    }
    for (from, through, to) in [
        (DType::F32, DType::F16, DType::F32),
        (DType::F32, DType::Bf16, DType::F32),
        (DType::F32, DType::I8, DType::F32),
        (DType::I32, DType::U8, DType::I16),
        (DType::F16, DType::Bf16, DType::F16),
        (DType::U32, DType::F32, DType::U32),
        (DType::I32, DType::Bool, DType::F16),
    ] {
        let name = format!("casts::{from}_through_{through}_to_{to}");
        cases.push(case!(name, |ctx| through_another(ctx, from, through, to)));
    }
    cases
}

/// Bits from everywhere in the dtype, and whole numbers around the ends of the others.
pub(crate) async fn spread(dtype: DType, n: usize) -> Vec<u64> {
    let mut all = probe_bits(dtype, n / 3, 5).await;
    let mut random = Random::new(77 + dtype as u64);
    for width in [7, 8, 10, 11, 15, 16, 23, 24, 31, 32, 53, 63, 64] {
        for near in [-2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5] {
            let whole = (1_i128 << width) + near as i128;
            for sign in [1, -1] {
                let number = match dtype.class() {
                    wharf::dtype::Class::Float => {
                        Number::Float(sign as f64 * (2f64.powi(width) + near))
                    }
                    wharf::dtype::Class::Bool => Number::Bool(near > 0.0),
                    _ => Number::Int(sign * whole),
                };
                all.push(bits(dtype, number));
            }
        }
    }
    match dtype.class() {
        wharf::dtype::Class::Float => {
            all.extend(ties().map(|x| bits(dtype, Number::Float(x))));
        }
        wharf::dtype::Class::Bool => {}
        _ => all.extend(whole_ties().map(|x| bits(dtype, Number::Int(x)))),
    }
    while all.len() < n {
        // Evenly spread over all magnitudes.
        let magnitude = 2f64.powf(random.below(4000) as f64 / 20.0 - 60.0);
        let x = if random.below(2) == 0 { magnitude } else { -magnitude };
        all.push(match dtype.class() {
            wharf::dtype::Class::Float => bits(dtype, Number::Float(x)),
            wharf::dtype::Class::Bool => random.bits() & 1,
            _ => bits(dtype, Number::Int(i128::from(random.bits() >> random.below(64)))),
        });
    }
    all
}

/// Numbers at a quarter of a step of f32 from where narrow floats round up or down: rounded twice,
/// some of them go the wrong way. Then the same among the subnormal numbers, and where those of 8
/// bits end.
fn ties() -> impl Iterator<Item = f64> {
    let step = 2f64.powi(-23);
    let normal = [1.0 + 2f64.powi(-11), 1.0 + 2f64.powi(-10) * 1.5, 1.0 + 2f64.powi(-8)];
    let normal = normal.into_iter().chain([1.0 + 2f64.powi(-7) * 1.5]);
    let eight =
        [4, 3].into_iter().flat_map(|bits| [1.0, 3.0].map(|odd| 1.0 + odd / f64::from(1 << bits)));
    let normal = normal.chain(eight);
    let ends = [464.0, 480.0, 512.0, 61_440.0, 65_536.0].into_iter();
    let ends = ends.flat_map(move |end| [-1.0, 0.0, 1.0].map(|by| end * (1.0 + by * step)));
    let least = [(-149, 8), (-133, 17), (-24, 40), (-9, 20), (-16, 20)];
    let least = least.into_iter().flat_map(|(log2, bits)| {
        let halves = (0..4).map(|whole| f64::from(whole) + 0.5);
        let around = move |half: f64| {
            [-1.0, 0.0, 1.0].map(|by| (half + by * 2f64.powi(-bits)) * 2f64.powi(log2))
        };
        halves.flat_map(around)
    });
    let around =
        move |tie: f64| (-9..=9).map(move |quarters| tie + f64::from(quarters) * step / 4.0);
    normal.flat_map(around).chain(least).chain(ends)
}

/// Whole numbers that f32 cannot hold, where bf16 rounds up or down.
fn whole_ties() -> impl Iterator<Item = i128> {
    [24, 27, 30, 33, 40, 55, 62].into_iter().flat_map(|width| {
        let half = 1_i128 << (width - 8);
        let around = |tie: i128| [-1, 0, 1, 2, 0x80, 0x100].map(|by| tie + by);
        [1, 3].into_iter().flat_map(move |odd| around((1 << width) + odd * half))
    })
}

async fn from_one(ctx: &Ctx, downgrade: Downgrade, from: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let data = spread(from, 1023).await;
    let changes = |to| downgrade.name == "native" || from == DType::F16 || to == DType::F16;
    let mut failures = Vec::new();
    for (target, moves) in TARGETS.into_iter().zip([vec![], vec![Move::Flip(0)]]) {
        let here = device.with_target(target);
        for to in DType::ALL.iter().copied().filter(|&to| carries(&device, to) && changes(to)) {
            let x = Pair::new(&here, from, data.clone(), &[1023]).await?.view(&moves)?;
            let got = bits_of(&x.tensor.cast(to).map_err(show)?).await?;
            count();
            if let Some(text) = wrong(from, &[to], &x.expected(), &got) {
                failures.push(format!("{from} to {to} for {target:?}: {text}"));
            }
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

/// A checked cast passes values that survive, and counts those that do not. The view is reversed,
/// so that the first element in memory is not the first of the view.
async fn checked(ctx: &Ctx, downgrade: Downgrade, from: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut data = spread(from, 1023).await;
    data.iter_mut().filter(|x| vanishes(from, **x)).for_each(|x| *x = 0);
    let changes = |to| downgrade.name == "native" || from == DType::F16 || to == DType::F16;
    for to in DType::ALL.iter().copied().filter(|&to| carries(&device, to) && changes(to)) {
        let (survivors, lost): (Vec<u64>, Vec<u64>) =
            data.iter().partition(|&&x| survives(from, to, x));
        count();
        let n = survivors.len();
        let x = Pair::new(&device, from, survivors, &[n]).await?.view(&[Move::Flip(0)])?;
        let cast = x.tensor.cast_checked(to).map_err(show)?;
        let got = bits_of(&cast).await.map_err(|e| format!("{from} to {to}: {e}"))?;
        if let Some(text) = wrong(from, &[to], &x.expected(), &got) {
            return Err(format!("{from} to {to}: {text}"));
        }
        if lost.is_empty() {
            continue;
        }
        let x = Pair::new(&device, from, data.clone(), &[3, 341]).await?.view(&[Move::Flip(1)])?;
        let first = x.expected().iter().position(|&x| !survives(from, to, x)).unwrap_or_default();
        let error = fails(&x.tensor.cast_checked(to).map_err(show)?).await?.to_string();
        let (count, place) = (lost.len(), [first / 341, first % 341]);
        let want = format!(": {count} of 1023 values would change, the first at {place:?}");
        if !error.ends_with(&want) {
            return Err(format!("{from} to {to}: {error}, not {want}"));
        }
    }
    Ok(())
}

/// Subnormal numbers of f64 may count as zero where they are compared.
fn vanishes(from: DType, bits_from: u64) -> bool {
    from == DType::F64 && f64::from_bits(bits_from).is_subnormal()
}

/// Whether a value is the same in another dtype.
fn survives(from: DType, to: DType, bits_from: u64) -> bool {
    let x = value(from, bits_from);
    let there = value(to, bits(to, reference::cast(x, to)));
    let back = value(from, bits(from, reference::cast(there, from)));
    let nan = |v| matches!(v, Number::Float(x) if x.is_nan());
    // The highest integer may round up and saturate on the way back; it is lost anyway.
    let (whole, float) = match (x, there) {
        (Number::Int(whole), Number::Float(float)) | (Number::Float(float), Number::Int(whole)) => {
            (whole, float)
        }
        _ => (0, 0.0),
    };
    let same = float.is_finite() && float as i128 == whole;
    (back == x && same) || (nan(x) && nan(there))
}

/// Fused or not, a cast rounds.
async fn through_another(ctx: &Ctx, from: DType, through: DType, to: DType) -> Outcome {
    let device = ctx.native().await?;
    let x = Pair::new(&device, from, spread(from, 1023).await, &[1023]).await?;
    let there = x.tensor.cast(through).map_err(show)?;
    let got = bits_of(&there.cast(to).map_err(show)?).await?;
    count();
    wrong(from, &[through, to], &x.expected(), &got).map_or(Ok(()), Err)
}

/// The first result that is not what the chain of casts makes of its operand.
fn wrong(from: DType, chain: &[DType], operands: &[u64], got: &[u64]) -> Option<String> {
    let to = *chain.last()?;
    let mut all = Vec::new();
    for (i, (&x, &got)) in operands.iter().zip(got).enumerate() {
        let want = chain.iter().fold((from, x), |(dtype, x), &next| {
            (next, bits(next, reference::cast(value(dtype, x), next)))
        });
        let (got, want) = (value(to, got), value(to, want.1));
        let nan = |v| matches!(v, Number::Float(x) if x.is_nan());
        let zero = to == DType::Bool && got == Number::Bool(false) && vanishes(from, x);
        if got != want && !(nan(got) && nan(want)) && !zero {
            all.push(format!("index {i}: {:?} gives {got:?}, not {want:?}", value(from, x)));
        }
    }
    let first = all.iter().take(4).cloned().collect::<Vec<_>>().join("; ");
    (!all.is_empty()).then(|| format!("{} of {}: {first}", all.len(), got.len()))
}
