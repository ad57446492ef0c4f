//! Stories of the contract of carriage: receipts, refusals, the ledger, guards, loss.

use wharf::ledger::Crossings;
use wharf::{DType, ErrorKind, HostView, Policy, half};

use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case!("carriage::f64_is_converted_with_a_receipt", |ctx| f64_is_converted(ctx)),
        case!("carriage::i64_is_range_checked", |ctx| i64_is_range_checked(ctx)),
        case!("carriage::lossless_names_the_first_that_changes", |ctx| lossless(ctx)),
        case!("carriage::any_host_layout_arrives_row_major", |ctx| any_layout(ctx)),
        case!("carriage::the_ledger_names_the_line", |ctx| ledger(ctx)),
        case!("carriage::a_guard_denies_and_names_the_line", |ctx| guard(ctx)),
        case!("carriage::reading_another_dtype_is_an_error", |ctx| wrong_dtype(ctx)),
        case!("carriage::two_devices_at_once", |ctx| two_devices(ctx)),
        case!("carriage::a_lost_device_answers_so", |ctx| lost(ctx)),
        case!("carriage::constants_are_no_crossings", |ctx| constants(ctx)),
        case!("carriage::memory_comes_back", |ctx| memory_comes_back(ctx)),
        case!("carriage::the_cap_is_a_value", |ctx| cap(ctx)),
    ]
}

/// The adapter without 64-bit types, whether it has them or not.
async fn narrow(ctx: &Ctx, policy: &Policy) -> Result<wharf::Device, String> {
    Ok(ctx.device(DOWNGRADES[2]).await?.with_policy(policy))
}

async fn f64_is_converted(ctx: &Ctx) -> Outcome {
    let data = [0.5, 0.1, 1e300, 1e-300, -0.0, f64::NAN];
    let refused = narrow(ctx, &Policy::exact()).await?.upload(&data, [6]).err();
    let refused = refused.ok_or("f64 went up without a policy")?;
    ensure!(
        refused.help().is_some_and(|h| h.contains("allow(DType::F64, DType::F32)")),
        "{refused:?}"
    );
    let device = narrow(ctx, &Policy::exact().allow(DType::F64, DType::F32)).await?;
    let (tensor, receipt) = device.upload(&data, [6]).map_err(show)?;
    let t = receipt.tally;
    ensure_eq!(
        (t.exact, t.rounded, t.overflowed, t.flushed, t.nan),
        (2, 1, 1, 1, 1),
        "the tally of {data:?}"
    );
    let back = tensor.read::<f32>().await.map_err(show)?;
    ensure_eq!(back[..5], [0.5f32, 0.1, f32::INFINITY, 0.0, -0.0], "values");
    ensure!(back[4].is_sign_negative() && back[5].is_nan(), "signs and NaN: {back:?}");
    Ok(())
}

async fn i64_is_range_checked(ctx: &Ctx) -> Outcome {
    let device = narrow(ctx, &Policy::exact().allow(DType::I64, DType::I32)).await?;
    let (tensor, receipt) = device.upload(&[1i64, -7, i64::from(i32::MIN)], [3]).map_err(show)?;
    ensure!(receipt.is_exact(), "{receipt}");
    ensure_eq!(tensor.read::<i32>().await.map_err(show)?, [1, -7, i32::MIN], "values");
    let error = device.upload(&[0i64, 3, 1 << 40], [3]).err().ok_or("2^40 went up as i32")?;
    ensure_eq!(error.kind(), ErrorKind::Conversion, "{error}");
    let text = error.to_string();
    ensure!(text.contains("index 2") && text.contains("1099511627776"), "{text}");
    Ok(())
}

async fn lossless(ctx: &Ctx) -> Outcome {
    let device = narrow(ctx, &Policy::lossless()).await?;
    let (_, receipt) = device.upload(&[0.5f64, -2.0], [2]).map_err(show)?;
    ensure!(receipt.is_exact(), "{receipt}");
    let error = device.upload(&[0.5f64, 0.1], [2]).err().ok_or("0.1 has no exact f32")?;
    ensure!(error.to_string().contains("0.1 at index 1"), "{error}");
    Ok(())
}

async fn any_layout(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let data: Vec<i16> = (0..24).collect();
    let views = [
        HostView::new(&data, [4, 6]),
        HostView::column_major(&data, [4, 6]),
        HostView::strided(&data, [3, 5], &[-6, 1], 18),
        HostView::strided(&data, [5, 2, 3], &[0, 3, 1], 2),
    ];
    for view in views {
        let view = view.map_err(show)?;
        let (tensor, _) = device.upload_view(view).map_err(show)?;
        let back = tensor.read::<i16>().await.map_err(show)?;
        ensure!(view.iter().eq(back), "{}", view.layout());
    }
    Ok(())
}

async fn ledger(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (tensor, _) = device.upload(&[1u8; 100], [100]).map_err(show)?;
    let _ = tensor.read::<u8>().await.map_err(show)?;
    let ledger = device.ledger();
    ensure_eq!((ledger.up.count, ledger.up.bytes), (1, 100), "up");
    ensure_eq!((ledger.down.count, ledger.down.bytes), (1, 100), "down");
    let here = ledger.largest.iter().all(|c| c.line.file().ends_with("carriage.rs"));
    ensure!(here, "a crossing is blamed on another file:\n{ledger}");
    Ok(())
}

async fn guard(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (tensor, _) = device.upload(&[1.0f32], [1]).map_err(show)?;
    {
        let _guard = device.guard(Crossings::Deny);
        let (line, error) = (line!(), tensor.read::<f32>().await.err());
        let error = error.ok_or("a denied read happened")?;
        ensure_eq!(error.kind(), ErrorKind::Denied, "{error}");
        ensure!(error.to_string().contains(&format!("carriage.rs:{line}")), "{error}");
        ensure!(device.upload(&[1.0f32], [1]).is_err(), "a denied upload happened");
    }
    tensor.read::<f32>().await.map(drop).map_err(show)
}

async fn wrong_dtype(ctx: &Ctx) -> Outcome {
    let (tensor, _) = ctx.native().await?.upload(&[1.0f32], [1]).map_err(show)?;
    let error = tensor.read::<i32>().await.err().ok_or("f32 was read as i32")?;
    ensure_eq!(error.to_string(), "tensor is f32, read asks for i32", "message");
    Ok(())
}

async fn two_devices(ctx: &Ctx) -> Outcome {
    let (a, b) = (ctx.fresh(DOWNGRADES[0]).await?, ctx.fresh(DOWNGRADES[0]).await?);
    ensure!(
        !a.same_device(&b) && a.same_device(&a.with_policy(&Policy::lossless())),
        "identity of devices"
    );
    let (x, _) = a.upload(&[1i32, 2], [2]).map_err(show)?;
    let (y, _) = b.upload(&[3i32, 4], [2]).map_err(show)?;
    ensure_eq!(x.read::<i32>().await.map_err(show)?, [1, 2], "first");
    ensure_eq!(y.read::<i32>().await.map_err(show)?, [3, 4], "second");
    Ok(())
}

async fn constants(ctx: &Ctx) -> Outcome {
    for downgrade in [DOWNGRADES[0], DOWNGRADES[4]] {
        let device = ctx.fresh(downgrade).await?;
        let _guard = device.guard(Crossings::Deny);
        let ones = device.ones([700, 500], DType::U8).map_err(show)?;
        let halves = device.full([3, 5], 0.5, DType::F16).map_err(show)?;
        let empty = device.zeros([0, 3], DType::Bool).map_err(show)?;
        ensure_eq!(device.ledger().up.count, 0, "a constant crossed");
        drop(_guard);
        ensure_eq!(ones.read::<u8>().await.map_err(show)?, vec![1; 350_000], "ones");
        let half = half::f16::from_f32(0.5);
        ensure_eq!(halves.read::<half::f16>().await.map_err(show)?, [half; 15], "halves");
        ensure!(empty.read::<bool>().await.map_err(show)?.is_empty(), "an empty tensor");
        let error = device.full([1], 300, DType::U8).err().ok_or("300 is a u8")?;
        ensure_eq!(error.to_string(), "full: scalar 300 is not a value of u8", "message");
    }
    Ok(())
}

async fn lost(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (tensor, _) = device.upload(&[1i32, 2], [2]).map_err(show)?;
    device.wgpu_device().destroy();
    let error = tensor.read::<i32>().await.err().ok_or("a lost device answered")?;
    ensure!(error.is_device_lost(), "not a loss: {error:?}");
    let error = device.upload(&[1i32], [1]).err().ok_or("a lost device took data")?;
    ensure!(error.is_device_lost(), "not a loss: {error:?}");
    let again = device.reopen().await.map_err(show)?;
    let (tensor, _) = again.upload(&[5i32], [1]).map_err(show)?;
    ensure_eq!(tensor.read::<i32>().await.map_err(show)?, [5], "after reopening");
    Ok(())
}

async fn memory_comes_back(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let before = device.memory();
    {
        let data = vec![1u32; 300_000];
        let held: Vec<_> =
            (1..20).map(|i| device.upload(&data[..i * 15_000], [i * 15_000])).collect();
        ensure!(held.iter().all(Result::is_ok), "uploads fail");
        let memory = device.memory();
        ensure_eq!((memory.tensors, memory.bytes_live), (19, 190 * 15_000 * 4), "while held");
    }
    let _ = device.trim().map_err(show)?;
    let after = device.memory();
    ensure_eq!(
        (after.bytes_live, after.bytes_reserved),
        (0, before.bytes_reserved),
        "after the trim"
    );
    Ok(())
}

async fn cap(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    device.set_cap(Some(8 << 20));
    let data = vec![0u8; 6 << 20];
    let (first, _) = device.upload(&data, [data.len()]).map_err(show)?;
    let fit = device.fit([data.len()], DType::U8).map_err(show)?;
    ensure!(!fit.fits, "6 MiB more under a cap of 8: {fit}");
    let error = device.upload(&data, [data.len()]).err().ok_or("the cap was exceeded")?;
    ensure!(error.is_out_of_memory(), "{error:?}");
    let (small, _) = device.upload(&[7u8], [1]).map_err(show)?;
    ensure_eq!(small.read::<u8>().await.map_err(show)?, [7], "smaller tensors still work");
    drop(first);
    device.upload(&data, [data.len()]).map(drop).map_err(show)
}
