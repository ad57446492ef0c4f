//! Operations that are made of others: each against what the host computes by its definition, in
//! f64, on every class of target and at every lowered capability.

mod attending;
mod bounds;
mod complex;
mod extremes;
mod finding;
mod gates;
mod images;
mod many;
mod norms;
mod products;
mod ranks;
mod selecting;
mod taps;

pub(crate) use bounds::{exact, kept};

use wharf::caps::Feature;
use wharf::{Adapter, DType, Device, Target, Tensor};

use super::pair::{Pair, bits, carries, count, value};
use super::probe::Random;
use super::views::{Move, TARGETS};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, LOWEST, Outcome, ensure, ensure_eq, is_slow, matters, show,
};
use wharf::reference::Number;

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let families = [
        norms::cases(),
        selecting::cases(adapter),
        finding::cases(),
        ranks::cases(),
        products::cases(),
        images::cases(),
        attending::cases(),
        extremes::cases(),
        gates::cases(),
        bounds::cases(),
        complex::cases(),
        many::cases(),
    ];
    families.into_iter().flatten().collect()
}

/// Both classes of target at native capabilities, and every downgrade that matters; kernels for
/// GPUs without anything, where compilers are quick.
async fn devices(ctx: &Ctx) -> Result<Vec<Device>, String> {
    let native = ctx.native().await?;
    let mut all = TARGETS.map(|target| native.with_target(target)).to_vec();
    for &downgrade in
        DOWNGRADES.iter().skip(1).filter(|downgrade| matters(&ctx.adapter, **downgrade))
    {
        all.push(ctx.device(downgrade).await?);
    }
    if !is_slow(ctx.adapter.caps()) {
        all.push(ctx.device(LOWEST).await?.with_target(Target::Gpu));
    }
    Ok(all)
}

/// Of these dtypes, those that a device computes in.
fn carried<'a>(device: &'a Device, dtypes: &'a [DType]) -> impl Iterator<Item = DType> + 'a {
    dtypes.iter().copied().filter(|&dtype| carries(device, dtype))
}

/// The forms that a dtype is tried in: f32 in all of them with everything that the adapter has and
/// with nothing of it, what is computed alike in every third.
fn tried<T>(
    ctx: &Ctx,
    device: &Device,
    forms: Vec<T>,
    dtype: DType,
) -> impl Iterator<Item = T> + use<T> {
    let (caps, all) = (device.caps(), ctx.adapter.caps());
    let is_whole = caps == all || !caps.has(Feature::Subgroup);
    forms.into_iter().step_by(if is_whole && dtype == DType::F32 { 1 } else { 3 })
}

const FLOATS: &[DType] = &[DType::F32, DType::F16, DType::Bf16, DType::F64];

/// How far a float result of this dtype may be off, of its magnitude or of 1.
const fn room(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 1e-12,
        DType::F16 => 2e-3,
        DType::Bf16 => 1.6e-2,
        _ => 1e-5,
    }
}

/// A tensor as a view shows it, and its values.
struct Shown {
    tensor: Tensor,
    values: Vec<f64>,
    dims: Vec<usize>,
}

impl Shown {
    /// Eighths from -2 to 2 (or small integers), which every dtype has.
    async fn new(
        device: &Device,
        random: &mut Random,
        dtype: DType,
        (dims, moves): (&[usize], &[Move]),
    ) -> Result<Self, String> {
        let one = |random: &mut Random| match dtype {
            DType::Bool => f64::from(random.below(2) as u8),
            dtype if dtype.is_float() => random.below(33) as f64 / 8.0 - 2.0,
            dtype if dtype.name().starts_with('u') => random.below(5) as f64,
            _ => random.below(9) as f64 - 4.0,
        };
        let values = (0..dims.iter().product()).map(|_| one(random)).collect();
        Self::of(device, dtype, values, (dims, moves)).await
    }

    async fn of(
        device: &Device,
        dtype: DType,
        values: Vec<f64>,
        (dims, moves): (&[usize], &[Move]),
    ) -> Result<Self, String> {
        let number = |x: f64| match dtype {
            DType::Bool => Number::Bool(x != 0.0),
            dtype if dtype.is_float() => Number::Float(x),
            _ => Number::Int(x as i128),
        };
        let words = values.into_iter().map(|x| bits(dtype, number(x))).collect();
        let pair = Pair::new(device, dtype, words, dims).await?.view(moves)?;
        let values = pair.expected().into_iter().map(|word| float(value(dtype, word))).collect();
        Ok(Self { tensor: pair.tensor, values, dims: pair.layout.shape().dims().to_vec() })
    }

    fn at(&self, place: &[usize]) -> f64 {
        self.values[flat(&self.dims, place)]
    }
}

fn float(number: Number) -> f64 {
    match number {
        Number::Float(x) => x,
        Number::Int(n) => n as f64,
        Number::Bool(b) => f64::from(u8::from(b)),
    }
}

/// Where coordinates lie in row-major order.
fn flat(dims: &[usize], place: &[usize]) -> usize {
    place.iter().zip(dims).fold(0, |n, (i, dim)| n * dim + i)
}

/// Compares a result with what the host made; NaN is NaN.
async fn near(name: &str, got: &Tensor, dims: &[usize], want: &[f64], bound: f64) -> Outcome {
    count();
    ensure_eq!(got.shape().dims(), dims, "{name}: the shape");
    let wide =
        if got.dtype() == DType::Bool { got.cast(DType::U8).map_err(show)? } else { got.clone() };
    let got: Vec<f64> = wide.read_as().await.map_err(show)?.0;
    ensure_eq!(got.len(), want.len(), "{name}");
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        let same = got == want || got.is_nan() && want.is_nan();
        // Of an infinity everything finite would be near.
        let close = want.is_finite() && (got - want).abs() <= bound * want.abs().max(1.0);
        ensure!(same || close, "{name}: {got}, not {want} at {i}");
    }
    Ok(())
}
