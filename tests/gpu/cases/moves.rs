//! From device to device: the same bits or what the target's plan says, and never more bytes than
//! needed.

use wharf::caps::Feature;
use wharf::half::f16;
use wharf::ledger::Crossings;
use wharf::plan::How;
use wharf::testing::{Call, Inside};
use wharf::{Adapter, DType, Device, ErrorKind, Policy};

use super::probe::{Probe, first_difference, of_dtype, values};
use super::sets::held;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show,
};

/// Ragged sizes; the last takes several chunks, and several segments under small bindings.
const SIZES: [usize; 5] = [0, 1, 7, 1027, 300_001];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    let native = DOWNGRADES[0];
    for &lower in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        for dtype in DType::ALL.iter().copied() {
            let ways = [(native, lower), (lower, native)];
            let ways = &ways[..1 + usize::from(lower.name != native.name)];
            for &(from, to) in ways {
                let name = format!("moves::{dtype}::{}_to_{}", from.name, to.name);
                let case =
                    case!(
                        name,
                        |ctx| async move { of_dtype!(dtype, there_and_back(ctx, from, to)) }
                    );
                cases.push(case.needs(adapter, from, dtype));
            }
        }
    }
    cases.extend([
        case!("moves::every_f16_is_bit_exact_where_there_is_none", |ctx| every_f16(ctx)),
        case!("moves::to_the_same_device_nothing_crosses", |ctx| same_device(ctx)),
        case!("moves::both_ledgers_and_the_line", |ctx| ledgers(ctx)),
        case!("moves::both_guards_are_asked", |ctx| guards(ctx)),
        case!("moves::views_move_their_own_elements", |ctx| views(ctx)),
        case!("moves::what_is_deferred_is_computed_and_moves", |ctx| deferred(ctx)),
        case!("moves::every_failing_allocation_is_all_or_nothing", |ctx| allocations(ctx)),
        case!("moves::a_lost_device_on_either_side_answers_so", |ctx| lost(ctx)),
    ]);
    // Without f64 on the adapter there is nothing wide to move.
    if adapter.caps().has(Feature::ShaderF64) {
        cases.extend([
            case!("moves::f64_obeys_the_targets_policy", |ctx| f64_by_policy(ctx)),
            case!("moves::a_refused_value_is_named_by_its_index", |ctx| refused_value(ctx)),
        ]);
    }
    cases
}

/// Devices that nobody shares, so that their ledgers are the case's own.
async fn pair(ctx: &Ctx, from: Downgrade, to: Downgrade) -> Result<(Device, Device), String> {
    Ok((ctx.fresh(from).await?, ctx.fresh(to).await?))
}

async fn there_and_back<T: Probe>(ctx: &Ctx, from: Downgrade, to: Downgrade) -> Outcome {
    let (here, there) = pair(ctx, from, to).await?;
    for size in SIZES {
        let data = values::<T>(size, 11 + size as u64);
        let (tensor, _) = here.upload(&data, [size]).map_err(show)?;
        if there.plan().carriage(T::DTYPE).how == How::Rejected {
            let error = tensor.to(&there).await.err().ok_or("a rejected dtype moved")?;
            ensure_eq!(error.kind(), ErrorKind::Rejected, "{error}");
            ensure_eq!(here.ledger().down.count, 0, "crossings");
            continue;
        }
        let (moved, receipt) = tensor.to(&there).await.map_err(show)?;
        ensure!(moved.device().same_device(&there) && moved.dtype() == T::DTYPE, "{moved:?}");
        ensure_eq!(receipt.tally.exact, size as u64, "exact, NaNs too: {receipt}");
        ensure_eq!(receipt.how, there.plan().carriage(T::DTYPE).how, "by the target's plan");
        let bytes = (size * T::DTYPE.width()) as u64;
        ensure_eq!((receipt.bytes_host, receipt.bytes_staged), (bytes, bytes), "{receipt:#}");
        let back = moved.read::<T>().await.map_err(show)?;
        first_difference(&data, &back).map_or(Ok(()), |e| Err(format!("{size}: {e}")))?;
        let (home, _) = moved.to(&here).await.map_err(show)?;
        let back = home.read::<T>().await.map_err(show)?;
        first_difference(&data, &back).map_or(Ok(()), |e| Err(format!("{size} home: {e}")))?;
    }
    Ok(())
}

async fn every_f16(ctx: &Ctx) -> Outcome {
    let (here, there) = pair(ctx, DOWNGRADES[0], DOWNGRADES[1]).await?;
    let data: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let (tensor, _) = here.upload(&data, [256, 256]).map_err(show)?;
    let (moved, receipt) = tensor.to(&there).await.map_err(show)?;
    ensure_eq!(receipt.how, How::Packed, "{receipt}");
    ensure_eq!(moved.shape().dims(), [256, 256], "shape");
    let back = moved.read::<f16>().await.map_err(show)?;
    first_difference(&data, &back).map_or(Ok(()), Err)
}

async fn same_device(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (tensor, _) = device.upload(&[1i32, 2, 3, 4], [2, 2]).map_err(show)?;
    let view = tensor.t().map_err(show)?;
    let (before, memory) = (device.ledger(), device.memory());
    let _guard = device.guard(Crossings::Deny);
    let (same, receipt) = view.to(&device.with_policy(&Policy::lossless())).await.map_err(show)?;
    ensure_eq!((same.layout(), receipt.layout_to), (view.layout(), *view.layout()), "layout");
    ensure_eq!(receipt.tally.exact, 4, "{receipt}");
    ensure_eq!((receipt.bytes_staged, receipt.bytes_device), (0, 0), "{receipt}");
    let after = device.ledger();
    ensure_eq!((after.up, after.down), (before.up, before.down), "the ledger");
    ensure_eq!(device.memory().bytes_live, memory.bytes_live, "memory");
    Ok(())
}

async fn ledgers(ctx: &Ctx) -> Outcome {
    let (here, there) = pair(ctx, DOWNGRADES[0], DOWNGRADES[1]).await?;
    let (tensor, _) = here.upload(&[7u16; 1001], [1001]).map_err(show)?;
    let line = line!() + 1;
    let _ = tensor.to(&there).await.map_err(show)?;
    let (down, up) = (here.ledger().down, there.ledger().up);
    ensure_eq!((down.count, down.bytes, up.count, up.bytes), (1, 2002, 1, 2002), "totals");
    ensure_eq!((here.ledger().up.count, there.ledger().down.count), (1, 0), "the other way");
    for device in [&here, &there] {
        let ledger = device.ledger();
        let told = ledger.largest.iter().any(|crossing| {
            let at = crossing.line;
            crossing.call == "to" && at.file().ends_with("moves.rs") && at.line() == line
        });
        ensure!(told, "no line {line}:\n{ledger}");
    }
    Ok(())
}

async fn guards(ctx: &Ctx) -> Outcome {
    let (here, there) = pair(ctx, DOWNGRADES[0], DOWNGRADES[1]).await?;
    let (tensor, _) = here.upload(&[7u16; 1001], [1001]).map_err(show)?;
    for (device, direction) in [(&here, "down"), (&there, "up")] {
        let _guard = device.guard(Crossings::Deny);
        let error = tensor.to(&there).await.err().ok_or("a denied move happened")?;
        ensure_eq!(error.kind(), ErrorKind::Denied, "{error}");
        let text = error.to_string();
        ensure!(text.starts_with(&format!("crossing {direction} denied: to at ")), "{text}");
        ensure!(text.contains("moves.rs:"), "{text}");
        let crossed = (here.ledger().down.count, there.ledger().up.count);
        ensure_eq!(crossed, (0, 0), "crossings, {direction} denied");
        ensure_eq!(there.memory().bytes_live, 0, "live on the target, {direction} denied");
    }
    tensor.to(&there).await.map(drop).map_err(show)
}

/// Views whose first byte is not at a word, over several segments, and with a conversion where
/// there is one.
async fn views(ctx: &Ctx) -> Outcome {
    let (here, there) = pair(ctx, DOWNGRADES[4], DOWNGRADES[0]).await?;
    let data: Vec<u8> = values(900_001, 3);
    let (tensor, _) = here.upload(&data, [data.len()]).map_err(show)?;
    for range in [0..900_001, 1..900_001, 3..5, 31..262_147, 899_999..900_001] {
        let before = here.ledger().down.bytes;
        let view = tensor.slice(0, range.clone()).map_err(show)?;
        let (moved, receipt) = view.to(&there).await.map_err(show)?;
        let read = moved.read::<u8>().await.map_err(show)?;
        let different = first_difference(&data[range.clone()], &read);
        different.map_or(Ok(()), |e| Err(format!("{range:?}: {e}")))?;
        ensure_eq!(here.ledger().down.bytes - before, range.len() as u64, "{range:?} crosses");
        ensure_eq!(receipt.layout_to, *moved.layout(), "{receipt:#}");
    }
    let grid = tensor.slice(0, 0..600_000).and_then(|t| t.reshape([600, 1000])).map_err(show)?;
    let view = grid.t().and_then(|t| t.flip(0)).map_err(show)?;
    let (moved, _) = view.to(&there).await.map_err(show)?;
    ensure!(moved.layout().is_dense(), "arrives row-major: {moved:?}");
    let read = moved.read::<u8>().await.map_err(show)?;
    let want: Vec<u8> = view.layout().places().map(|place| data[place]).collect();
    first_difference(&want, &read).map_or(Ok(()), Err)
}

async fn deferred(ctx: &Ctx) -> Outcome {
    let (here, there) = pair(ctx, DOWNGRADES[0], DOWNGRADES[1]).await?;
    let (x, _) = here.upload(&[1.0f32, 2.0, 3.0], [3]).map_err(show)?;
    let (y, _) = there.upload(&[10.0f32, 20.0, 30.0], [3]).map_err(show)?;
    let sum = (&x + 1.0).map_err(show)?;
    let error = (&sum + &y).err().ok_or("two devices added")?;
    ensure!(error.help().is_some_and(|h| h.contains("to(&device)")), "{error:?}");
    let (moved, _) = sum.to(&there).await.map_err(show)?;
    let both = (&moved + &y).map_err(show)?;
    ensure_eq!(both.read::<f32>().await.map_err(show)?, [12.0, 23.0, 34.0], "values");
    Ok(())
}

async fn allocations(ctx: &Ctx) -> Outcome {
    let (here, there) = pair(ctx, DOWNGRADES[0], DOWNGRADES[4]).await?;
    let data: Vec<i16> = values(400_000, 5);
    let (tensor, _) = here.upload(&data, [2, 200_000]).map_err(show)?;
    let view = tensor.t().map_err(show)?;
    let (source, target) = (held(&here)?, held(&there)?);
    let mut failures = 0;
    for faulty in [&here, &there] {
        for n in 0..64 {
            faulty.fail(Call::Allocation, n..u64::MAX);
            let result = view.to(&there).await;
            faulty.fail(Call::Allocation, 0..0);
            match result {
                Ok((moved, _)) => {
                    let want: Vec<i16> = view.layout().places().map(|p| data[p]).collect();
                    let read = moved.read::<i16>().await.map_err(show)?;
                    first_difference(&want, &read).map_or(Ok(()), Err)?;
                    break;
                }
                Err(error) => {
                    failures += 1;
                    ensure!(error.is_out_of_memory(), "at {n}: {error:?}");
                    ensure_eq!(held(&there)?, target, "the target's memory after {n}");
                    ensure_eq!(held(&here)?, source, "the source's memory after {n}");
                }
            }
        }
    }
    ensure!((2..128).contains(&failures), "{failures} failures");
    Ok(())
}

async fn lost(ctx: &Ctx) -> Outcome {
    for source in [true, false] {
        let (here, there) = pair(ctx, DOWNGRADES[0], DOWNGRADES[1]).await?;
        let (tensor, _) = here.upload(&[1i32; 5000], [5000]).map_err(show)?;
        if source { &here } else { &there }.wgpu_device().destroy();
        let error = tensor.to(&there).await.err().ok_or("a lost device took part")?;
        ensure!(error.is_device_lost(), "source {source}: {error:?}");
        ensure_eq!(there.memory().bytes_live, 0, "live on the target, source {source}");
        if !source {
            ensure_eq!(tensor.read::<i32>().await.map_err(show)?, [1i32; 5000], "the source");
        }
    }
    Ok(())
}

async fn f64_by_policy(ctx: &Ctx) -> Outcome {
    let (here, there) = pair(ctx, DOWNGRADES[0], DOWNGRADES[2]).await?;
    // Several chunks, the worst value in the second.
    let mut data: Vec<f64> = (0..700_003).map(|i| f64::from(i) / 4.0).collect();
    (data[600_001], data[700_002]) = (1e300, 1e9 + 0.3);
    let (tensor, _) = here.upload(&data, [data.len()]).map_err(show)?;
    let error = tensor.to(&there).await.err().ok_or("f64 moved without a policy")?;
    ensure_eq!(error.kind(), ErrorKind::Rejected, "{error}");
    for to in [DType::F32, DType::F16] {
        let loose = there.with_policy(&Policy::exact().allow(DType::F64, to));
        let (moved, receipt) = tensor.to(&loose).await.map_err(show)?;
        let (direct, want) = loose.upload(&data, [data.len()]).map_err(show)?;
        ensure_eq!(receipt.tally, want.tally, "the tally of f64 -> {to}");
        ensure_eq!((receipt.from, receipt.to, receipt.how), (want.from, want.to, want.how), "{to}");
        ensure!(receipt.tally.first_changed.is_some(), "{receipt}");
        let (moved, _) = moved.read_as::<f64>().await.map_err(show)?;
        let (direct, _) = direct.read_as::<f64>().await.map_err(show)?;
        first_difference(&direct, &moved).map_or(Ok(()), Err)?;
    }
    Ok(())
}

async fn refused_value(ctx: &Ctx) -> Outcome {
    let (here, there) = pair(ctx, DOWNGRADES[0], DOWNGRADES[2]).await?;
    let before = held(&there)?;
    let mut data = vec![0.5f64; 700_003];
    data[600_001] = 0.1;
    let (tensor, _) = here.upload(&data, [data.len()]).map_err(show)?;
    let strict = there.with_policy(&Policy::lossless());
    let error = tensor.to(&strict).await.err().ok_or("0.1 has no exact f32")?;
    ensure!(error.to_string().contains("0.1 at index 600001"), "{error}");
    ensure_eq!(error.kind(), ErrorKind::Conversion, "{error}");
    ensure_eq!(held(&there)?, before, "memory of the target");
    let (down, up) = (here.ledger().down, there.ledger().up);
    ensure!(down.bytes > 0 && down.bytes <= 700_003 * 8, "down {down:?}");
    ensure!(up.bytes > 600_001 * 4 && up.bytes * 2 <= down.bytes, "up {up:?} of {down:?}");
    Ok(())
}
