//! Everything that makes a tensor of a dtype that is named, under policies that convert: as an
//! upload of the same values, in dtype, bits and refusal.

use wharf::caps::Feature;
use wharf::plan::negotiate;
use wharf::reference::{Number, random};
use wharf::tensor::{Key, Quantized};
use wharf::{DType, Device, ErrorKind, Layout, Policy, Result, Shape, Tensor, half};

use super::lent::own;
use super::pair::{bits, bits_of_or_error, count, difference};
use super::probe::{Probe, of_dtype};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, LOWEST, Outcome, case, ensure, ensure_eq, show,
};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for downgrade in [DOWNGRADES[0], DOWNGRADES[2]] {
        for (i, (policy, _)) in (0..).zip(POLICIES) {
            let name = format!("makers::as_uploads::{policy}::{}", downgrade.name);
            cases.push(case!(name, |ctx| async move {
                as_uploads(&ctx.device(downgrade).await?.with_policy(&POLICIES[i].1())).await
            }));
        }
    }
    for (name, downgrade) in [("native", DOWNGRADES[0]), ("lowest", LOWEST)] {
        cases.push(case!(format!("makers::likes::{name}"), |ctx| likes(ctx, downgrade)));
    }
    cases.push(case!("makers::random_numbers", |ctx| random_numbers(ctx)));
    #[cfg(not(target_family = "wasm"))]
    cases.push(case!("makers::without_values", |ctx| without_values(ctx)));
    cases.push(case!("makers::buffers_are_never_converted", |ctx| buffers(ctx)));
    cases.push(case!("makers::a_refused_cast_says_where_and_what_to_do", |ctx| refused(ctx)));
    cases
}

type Table<T> = &'static [(&'static str, T)];

const POLICIES: Table<fn() -> Policy> = &[
    ("exact", Policy::exact),
    ("lossless", Policy::lossless),
    ("narrow", narrow),
    ("narrow_finite", || narrow().overflow_is_error()),
    ("odd", odd),
    ("odd_finite", || odd().overflow_is_error()),
];

fn narrow() -> Policy {
    let policy = Policy::exact().allow(DType::F64, DType::F32);
    policy.allow(DType::I64, DType::I32).allow(DType::U64, DType::U32)
}

fn odd() -> Policy {
    let policy = Policy::exact().allow(DType::F64, DType::F16);
    policy.allow(DType::I64, DType::I16).allow(DType::U64, DType::F32)
}

/// How a tensor is made, of which dtypes, and what it holds where the device has them.
struct Row {
    maker: &'static str,
    dtypes: &'static [DType],
    make: fn(&Device, DType) -> Result<Tensor>,
    values: &'static [f64],
}

const ALL: &[DType] = &[DType::F64, DType::I64, DType::U64];
const FLOAT: &[DType] = &[DType::F64];
const SIGNED: &[DType] = &[DType::F64, DType::I64];
const INTEGERS: &[DType] = &[DType::I64, DType::U64];
const UNSIGNED: &[DType] = &[DType::U64];
const I64: &[DType] = &[DType::I64];

const LARGE: i64 = 1 << 33;

const fn row(
    maker: &'static str,
    dtypes: &'static [DType],
    make: fn(&Device, DType) -> Result<Tensor>,
    values: &'static [f64],
) -> Row {
    Row { maker, dtypes, make, values }
}

/// Every public function that takes a dtype has a row, or a story below: `tests/tidy` looks.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("full", ALL, |d, t| d.full([3], 7, t), &[7.0; 3]),
    row("full", ALL, |d, t| d.full([3], 1i64 << 40, t), &[(1u64 << 40) as f64; 3]),
    row("full", SIGNED, |d, t| d.full([1], -(1i64 << 31) - 1, t), &[-2_147_483_649.0]),
    row("full", FLOAT, |d, t| d.full([2], 0.1, t), &[0.1; 2]),
    row("full", FLOAT, |d, t| d.full([2], -1e300, t), &[-1e300; 2]),
    row("full", FLOAT, |d, t| d.full([1], f64::INFINITY, t), &[f64::INFINITY]),
    row("zeros", ALL, |d, t| d.zeros([2], t), &[0.0; 2]),
    row("ones", ALL, |d, t| d.ones([2], t), &[1.0; 2]),
    row("arange", ALL, |d, t| d.arange(0, 5, 1, t), &[0.0, 1.0, 2.0, 3.0, 4.0]),
    row("arange", ALL, |d, t| d.arange(5, 0, -2, t), &[5.0, 3.0, 1.0]),
    row("arange", ALL, |d, t| d.arange(5, 5, 1, t), &[]),
    row("arange", SIGNED, |d, t| d.arange(-300, 301, 300, t), &[-300.0, 0.0, 300.0]),
    row("arange", INTEGERS, |d, t| d.arange(LARGE, LARGE + 2, 1, t),
        &[8_589_934_592.0, 8_589_934_593.0]),
    row("arange", INTEGERS, |d, t| d.arange(0, LARGE + 1, LARGE, t), &[0.0, 8_589_934_592.0]),
    row("arange", INTEGERS, |d, t| d.arange(30_000, 40_000, 2_000, t),
        &[30_000.0, 32_000.0, 34_000.0, 36_000.0, 38_000.0]),
    row("arange", I64, |d, t| d.arange(-32_000, -34_000, -500, t),
        &[-32_000.0, -32_500.0, -33_000.0, -33_500.0]),
    row("arange", FLOAT, |d, t| d.arange(0, 1, 0.25, t), &[0.0, 0.25, 0.5, 0.75]),
    row("arange", FLOAT, |d, t| d.arange(0, 0.3, 0.1, t), &[0.0, 0.1, 0.2]),
    row("arange", FLOAT, |d, t| d.arange(0, 4, 1 << 25, t), &[0.0]),
    row("linspace", FLOAT, |d, t| d.linspace(0, 1, 5, t), &[0.0, 0.25, 0.5, 0.75, 1.0]),
    row("linspace", FLOAT, |d, t| d.linspace(0.1, 0.7, 2, t), &[0.1, 0.7]),
    row("linspace", FLOAT, |d, t| d.linspace(-3e38, 3e38, 2, t), &[-3e38, 3e38]),
    row("linspace", FLOAT, |d, t| d.linspace(-70_000, 70_000, 5, t),
        &[-70_000.0, -35_000.0, 0.0, 35_000.0, 70_000.0]),
    row("eye", ALL, |d, t| d.eye(2, 2, t), &[1.0, 0.0, 0.0, 1.0]),
    row("one_hot", ALL, |d, t| up(d, &[1u32, 0])?.one_hot(2, t), &[0.0, 1.0, 1.0, 0.0]),
    row("integers", INTEGERS, |d, t| d.integers(Key::new(3), [4], 7..8, t), &[7.0; 4]),
    row("integers", I64, |d, t| d.integers(Key::new(3), [2], -7..-6, t), &[-7.0; 2]),
    row("integers", INTEGERS, |d, t| d.integers(Key::new(3), [2], LARGE..LARGE + 1, t),
        &[8_589_934_592.0; 2]),
    row("cast", ALL, |d, t| up(d, &[1.0f32, 300.0])?.cast(t), &[1.0, 300.0]),
    row("cast", INTEGERS, |d, t| up(d, &[1.6f32, f32::NAN])?.cast(t), &[1.0, 0.0]),
    row("cast", UNSIGNED, |d, t| up(d, &[-5i32, 5])?.cast(t), &[0.0, 5.0]),
    row("cast", UNSIGNED, |d, t| up(d, &[-5.5f32, f32::NEG_INFINITY])?.cast(t), &[0.0, 0.0]),
    row("cast", I64, |d, t| up(d, &[-5i32, -32768])?.cast(t), &[-5.0, -32768.0]),
    row("cast", ALL, |d, t| up(d, &[1.0f32, 8_589_934_592.0])?.cast(t), &[1.0, 8_589_934_592.0]),
    row("cast", ALL, |d, t| up(d, &[0u32, u32::MAX])?.cast(t), &[0.0, 4_294_967_295.0]),
    row("cast", ALL, |d, t| up(d, &[1 << 24, (1 << 24) + 1])?.cast(t),
        &[16_777_216.0, 16_777_217.0]),
    row("cast", ALL, |d, t| up(d, &[false, true])?.cast(t), &[0.0, 1.0]),
    row("cast", FLOAT, |d, t| up(d, &[0.1f32, 1e30])?.cast(t), &[0.1f32 as f64, 1e30f32 as f64]),
    row("cast", FLOAT, |d, t| up(d, &[f32::INFINITY])?.cast(t), &[f64::INFINITY]),
    row("cast_saturating", ALL, |d, t| up(d, &[1.0f32, 300.0])?.cast_saturating(t), &[1.0, 300.0]),
    row("cast_checked", ALL, |d, t| up(d, &[1.0f32, 300.0])?.cast_checked(t), &[1.0, 300.0]),
    row("cast_checked", I64, |d, t| up(d, &[0u32, u32::MAX])?.cast_checked(t),
        &[0.0, 4_294_967_295.0]),
    row("choose_as", ALL, |d, t| up(d, &[true, false])?.choose_as(7, 300, t), &[7.0, 300.0]),
    row("choose_as", INTEGERS, |d, t| up(d, &[true, false])?.choose_as(LARGE, 0, t),
        &[8_589_934_592.0, 0.0]),
    row("choose_as", FLOAT, |d, t| up(d, &[true, false])?.choose_as(0.1, -1e300, t),
        &[0.1, -1e300]),
    row("dequantize", FLOAT, |d, t| blocks(d)?.dequantize(t), &[1.5; 32]),
];

/// What lies in a buffer of the caller's is taken as it is, or refused.
async fn buffers(ctx: &Ctx) -> Outcome {
    for (name, policy) in POLICIES {
        let device = ctx.device(DOWNGRADES[2]).await?.with_policy(&policy());
        let (mine, layout) =
            (own(&device, &[1; 32]), Layout::dense(Shape::new([4]).map_err(show)?));
        for &dtype in ALL {
            let error = device.wrap_buffer(&mine, layout, dtype).err();
            let error = error.ok_or_else(|| format!("{dtype} was taken, {name}"))?;
            ensure_eq!(error.kind(), ErrorKind::Rejected, "{dtype}, {name}: {error:?}");
        }
        ensure!(device.wrap_buffer(&mine, layout, DType::U32).is_ok(), "u32, {name}");
    }
    Ok(())
}

/// What an upload leaves there is what a tensor without values has on paper, or it is refused.
#[cfg(not(target_family = "wasm"))]
async fn without_values(ctx: &Ctx) -> Outcome {
    let there = ctx.device(DOWNGRADES[2]).await?;
    let paper = Device::on_paper(there.caps(), &Policy::exact()).map_err(show)?;
    for (name, policy) in POLICIES {
        let [there, paper] = [&there, &paper].map(|device| device.with_policy(&policy()));
        for dtype in DType::ALL.iter().copied() {
            let want = of_dtype!(dtype, upload(&there, &[0]));
            match (paper.blank([1], dtype), want) {
                (Ok(made), Ok(want)) => ensure_eq!(made.dtype(), want.dtype(), "{dtype}, {name}"),
                (Err(made), Err(want)) => {
                    ensure_eq!(made.to_string(), want.to_string(), "{dtype}, {name}");
                }
                (made, want) => return Err(format!("{dtype}, {name}: {made:?}, not {want:?}")),
            }
        }
    }
    count();
    Ok(())
}

/// Of the shape and the dtype of a tensor, whatever view of whatever values it is: dense.
async fn likes(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    for policy in [Policy::exact(), narrow(), odd()] {
        let device = device.with_policy(&policy);
        for dtype in DType::ALL.iter().copied() {
            if device.plan().carriage(dtype).stored.is_none() {
                continue;
            }
            let x: Tensor = of_dtype!(dtype, upload(&device, &[1; 6])).map_err(show)?;
            let x = x.reshape([2, 3]).map_err(show)?;
            let views = [x.t(), x.flip(1), x.slice(1, 2..), x.slice(0, 1..1), x.select(0, 0)];
            for x in views.into_iter().chain([x.broadcast_to([4, 2, 3])]) {
                let x = x.map_err(show)?;
                let seven = if dtype == DType::Bool { x.full_like(true) } else { x.full_like(7) };
                for (got, n) in [(x.zeros_like(), 0), (x.ones_like(), 1), (seven, 7)] {
                    let got = got.map_err(show)?;
                    ensure_eq!(got.shape(), x.shape(), "the shape");
                    ensure_eq!(got.dtype(), x.dtype(), "the dtype");
                    ensure!(got.layout().is_dense(), "{dtype}: {:?}", got.layout());
                    let number = match x.dtype() {
                        DType::Bool => Number::Bool(n > 0),
                        dtype if dtype.is_float() => Number::Float(n.into()),
                        _ => Number::Int(n.into()),
                    };
                    let want = vec![bits(x.dtype(), number); x.shape().elements()];
                    let got = bits_of_or_error(&got).await.map_err(show)?;
                    ensure_eq!(difference(x.dtype(), &got, &want), None, "{dtype}: {n}");
                    count();
                }
            }
        }
    }
    // Of what has no values there is the shape.
    let (x, places) = (up(&device, &[1.0f32, 2.0]), up(&device, &[5u32, 6]));
    let none = x.and_then(|x| x.take(&places?)).map_err(show)?;
    ensure!(none.read::<f32>().await.is_err(), "places that do not exist were taken");
    let zeros = none.zeros_like().map_err(show)?.read::<f32>().await.map_err(show)?;
    ensure_eq!(zeros, [0.0f32; 2], "zeros like what has no values");
    count();
    Ok(())
}

fn up<T: wharf::Element>(device: &Device, data: &[T]) -> Result<Tensor> {
    device.upload(data, [data.len()]).map(|(tensor, _)| tensor)
}

/// 32 weights of 3 times a half.
fn blocks(device: &Device) -> Result<Quantized> {
    let (values, scales) = (up(device, &[3i8; 32])?, up(device, &[half::f16::from_f32(0.5)])?);
    Quantized::of(&values.reshape([1, 32])?, &scales.reshape([1, 1])?)
}

async fn upload<T: Probe>(device: &Device, bits: &[u64]) -> Result<Tensor> {
    up(device, &bits.iter().map(|&b| T::from_bits(b)).collect::<Vec<_>>())
}

async fn as_uploads(device: &Device) -> Outcome {
    let mut failures = Vec::new();
    for Row { maker, dtypes, make, values } in ROWS {
        for &dtype in *dtypes {
            count();
            let number = |&x: &f64| match dtype.is_float() {
                true => Number::Float(x),
                false => Number::Int(x as i128),
            };
            let host: Vec<u64> = values.iter().map(|x| bits(dtype, number(x))).collect();
            let want = of_dtype!(dtype, upload(device, &host));
            if let Err(text) = alike(make(device, dtype), want).await {
                failures.push(format!("{maker} of {values:?} in {dtype}: {text}"));
            }
        }
    }
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

/// Compares what was made with what was uploaded.
async fn alike(made: Result<Tensor>, want: Result<Tensor>) -> Outcome {
    let made = match made {
        Ok(made) => bits_of_or_error(&made).await.map(|bits| (made, bits)),
        Err(error) => Err(error),
    };
    let ((made, got), want) = match (made, want) {
        (Ok(made), Ok(want)) => (made, want),
        (Err(made), Err(want)) => {
            ensure_eq!(made.kind(), want.kind(), "the kinds of {made} and {want}");
            return Ok(());
        }
        (Ok((made, bits)), Err(want)) => {
            return Err(format!("{bits:?} in {}, where an upload says {want}", made.dtype()));
        }
        (Err(made), Ok(want)) => return Err(format!("{made}, where an upload is {want:?}")),
    };
    ensure_eq!(made.dtype(), want.dtype(), "dtypes");
    let host = bits_of_or_error(&want).await.map_err(show)?;
    if let Some(text) = difference(made.dtype(), &got, &host) {
        return Err(text);
    }
    let flat = made.reshape([host.len()]).map_err(show)?;
    let sum = (&flat + &want).map_err(show)?;
    bits_of_or_error(&sum).await.map(drop).map_err(show)
}

/// The error of a tensor: of what made it, or of its first read.
async fn error_of(made: Result<Tensor>) -> Result<wharf::Error, String> {
    let read = match made {
        Ok(made) => bits_of_or_error(&made).await.map(|bits| format!("{bits:?} in {made:?}")),
        Err(error) => Err(error),
    };
    read.map_or_else(Ok, Err)
}

/// Of `uniform` numbers of the dtype that is stored are drawn; a lossless policy refuses those that
/// it would refuse to upload. `normal` numbers of f64 there are nowhere.
async fn random_numbers(ctx: &Ctx) -> Outcome {
    let (key, device) = (Key::new(3), ctx.device(DOWNGRADES[2]).await?);
    let under = |policy: Policy| device.with_policy(&policy);
    let drawn = under(narrow()).uniform(key, [9], DType::F64).map_err(show)?;
    ensure_eq!(drawn.dtype(), DType::F32, "the dtype");
    let want = (0..9).map(|i| random::uniform(key.words(), DType::F32, i) as f32);
    ensure!(want.eq(drawn.read::<f32>().await.map_err(show)?), "the numbers of f32");
    let want: Vec<f64> = (0..9).map(|i| random::uniform(key.words(), DType::F64, i)).collect();
    let lossless = under(Policy::lossless());
    let upload = error_of(up(&lossless, &want)).await?;
    let made = error_of(lossless.uniform(key, [9], DType::F64)).await?;
    ensure_eq!(made.to_string(), format!("uniform: {upload}"), "the refusal");
    let exact = error_of(under(Policy::exact()).uniform(key, [9], DType::F64)).await?;
    ensure_eq!(exact.kind(), ErrorKind::Rejected, "{exact}");
    for policy in [Policy::exact(), narrow()] {
        let error = error_of(under(policy).normal(key, [2], DType::F64)).await?;
        ensure_eq!(error.to_string(), "normal: f64, not f32, f16 or bf16", "the message");
    }
    let caps = ctx.adapter.caps().clone().without(Feature::ShaderInt64);
    if caps.has(Feature::ShaderF64) {
        let device = ctx.adapter.open(negotiate(&caps, &Policy::exact())).await.map_err(show)?;
        let error = error_of(device.uniform(key, [2], DType::F64)).await?;
        let text = "uniform: f64 is drawn by 64-bit integers, the device lacks shader-int64";
        ensure_eq!((error.to_string().as_str(), error.kind()), (text, ErrorKind::Rejected), "f64");
        let help = "draw f32, and `cast(DType::F64)`";
        ensure_eq!(error.help().as_deref(), Some(help), "the help");
        let drawn = device.uniform(key, [2], DType::F32).and_then(|x| x.cast(DType::F64));
        ensure_eq!(drawn.map_err(show)?.read::<f64>().await.map_err(show)?.len(), 2, "as it says");
    }
    Ok(())
}

async fn refused(ctx: &Ctx) -> Outcome {
    let device = ctx.device(DOWNGRADES[2]).await?;
    let x = up(&device.with_policy(&narrow()), &[1.6f32, 3e9]).map_err(show)?;
    for (made, doing, lost) in [
        (x.cast(DType::I64), "cast", "1 of 2 values would change, the first at [1]"),
        (
            x.cast_checked(DType::I64),
            "cast_checked",
            "2 of 2 values would change, the first at [0]",
        ),
    ] {
        let error = error_of(made).await?;
        let text = format!("{doing} f32 [2] to i64, stored as i32: {lost}");
        ensure_eq!(error.to_string(), text, "the message");
        ensure!(error.help().is_some_and(|help| help.starts_with("`cast(DType::I32)`")), "help");
    }
    let cut = x.cast(DType::I32).map_err(show)?.read::<i32>().await.map_err(show)?;
    ensure_eq!(cut, [1, i32::MAX], "as the help says");
    // Both numbers have an f32, but not the step between them.
    let lossless = device.with_policy(&Policy::lossless());
    let (low, step) = (-(1 << 24), (1 << 24) + 1);
    let error = error_of(lossless.arange(low, 2, step, DType::F64)).await?;
    ensure_eq!(error.kind(), ErrorKind::Conversion, "{error}");
    Ok(())
}
