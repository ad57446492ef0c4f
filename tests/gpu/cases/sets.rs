//! Sets move as one act: negotiated first, all or nothing, one receipt.

use wharf::TensorSet;
use wharf::half::f16;
use wharf::ledger::Crossings;
use wharf::memory::Memory;
use wharf::testing::{Call, Inside};
use wharf::{Adapter, DType, Device, ErrorKind, HostView, Policy, Shipment};

use super::probe::{first_difference, values};
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases(_: &Adapter) -> Vec<Case> {
    vec![
        case!("sets::mixed_dtypes_and_layouts_arrive_in_order", |ctx| mixed(ctx)),
        case!("sets::a_name_is_taken_once", |ctx| duplicate(ctx)),
        case!("sets::every_refusal_is_listed_and_nothing_moves", |ctx| refusals(ctx)),
        case!("sets::one_refusal_keeps_its_cause", |ctx| refusal(ctx)),
        case!("sets::a_refused_value_takes_the_whole_set_back", |ctx| value(ctx)),
        case!("sets::conversions_are_counted_per_tensor", |ctx| converted(ctx)),
        case!("sets::every_failing_allocation_is_all_or_nothing", |ctx| allocations(ctx)),
        case!("sets::one_failing_allocation_is_overcome", |ctx| one_allocation(ctx)),
        case!("sets::the_cap_is_all_or_nothing", |ctx| cap(ctx)),
        case!("sets::a_guard_denies_before_anything_moves", |ctx| guard(ctx)),
        case!("sets::progress_is_monotone_and_complete", |ctx| progress(ctx)),
        case!("sets::a_device_lost_midway_answers_so", |ctx| lost(ctx)),
        case!("sets::an_empty_set_is_a_set", |ctx| empty(ctx)),
        case!("sets::a_set_moves_between_devices", |ctx| moved(ctx)),
        case!("sets::a_failing_move_takes_the_whole_set_back", |ctx| failing_move(ctx)),
        case!("sets::a_set_is_uploaded_again_after_a_loss", |ctx| reopened(ctx)),
    ]
}

/// The data of a small model.
struct Model {
    weights: Vec<f32>,
    table: Vec<f16>,
    mask: Vec<bool>,
    codes: Vec<u8>,
    bias: Vec<i16>,
}

impl Model {
    fn new() -> Self {
        Self {
            weights: values(3 * 70_001, 1),
            table: values(1027, 2),
            mask: values(33, 3),
            codes: values(5, 4),
            bias: values(24, 5),
        }
    }

    /// A set of everything, some of it not row-major, one tensor empty, one a scalar.
    fn shipment(&self) -> wharf::Result<Shipment<'_>> {
        let mut shipment = Shipment::new();
        shipment
            .add("weights", HostView::column_major(&self.weights, [3, 70_001])?)?
            .add("table", HostView::new(&self.table, [1027])?)?
            .add("mask", HostView::new(&self.mask, [3, 11])?)?
            .add("codes", HostView::strided(&self.codes, [5], &[-1], 4)?)?
            .add("bias", HostView::strided(&self.bias, [3, 4], &[8, 2], 1)?)?
            .add("nothing", HostView::new(&self.bias[..0], [0, 4])?)?
            .add("scalar", HostView::new(&self.weights[..1], ())?)?;
        Ok(shipment)
    }

    /// Whether a set holds it, bit by bit.
    async fn check(&self, set: &TensorSet) -> Outcome {
        let names: Vec<&str> = set.iter().map(|(name, _)| name).collect();
        let want = ["weights", "table", "mask", "codes", "bias", "nothing", "scalar"];
        ensure_eq!(names, want, "the order");
        let get = |name: &str| set.get(name).ok_or(format!("no {name}"));
        let weights = get("weights")?.read::<f32>().await.map_err(show)?;
        let column = HostView::column_major(&self.weights, [3, 70_001]).map_err(show)?;
        let want: Vec<f32> = column.iter().collect();
        first_difference(&want, &weights).map_or(Ok(()), Err)?;
        let table = get("table")?.read::<f16>().await.map_err(show)?;
        first_difference(&self.table, &table).map_or(Ok(()), Err)?;
        ensure_eq!(get("mask")?.read::<bool>().await.map_err(show)?, self.mask, "mask");
        let codes: Vec<u8> = self.codes.iter().rev().copied().collect();
        ensure_eq!(get("codes")?.read::<u8>().await.map_err(show)?, codes, "codes");
        let bias = HostView::strided(&self.bias, [3, 4], &[8, 2], 1).map_err(show)?;
        let read = get("bias")?.read::<i16>().await.map_err(show)?;
        ensure!(bias.iter().eq(read), "bias");
        ensure_eq!(get("nothing")?.shape().dims(), [0, 4], "nothing");
        let scalar = get("scalar")?.read::<f32>().await.map_err(show)?;
        first_difference(&self.weights[..1], &scalar).map_or(Ok(()), Err)
    }
}

/// Bytes of the model on a device.
const MODEL_BYTES: u64 = 3 * 70_001 * 4 + 1027 * 2 + 33 + 5 + 12 * 2 + 4;

/// The memory statistics that must be as before once a failed act has been cleaned up.
pub(super) fn held(device: &Device) -> Result<(u64, u64, u64), String> {
    device.trim().map_err(show)?;
    let Memory { tensors, bytes_live, bytes_reserved, .. } = device.memory();
    Ok((tensors, bytes_live, bytes_reserved))
}

async fn mixed(ctx: &Ctx) -> Outcome {
    let model = Model::new();
    for downgrade in [DOWNGRADES[0], DOWNGRADES[1], DOWNGRADES[4]] {
        let device = ctx.fresh(downgrade).await?;
        let shipment = model.shipment().map_err(show)?;
        ensure_eq!((shipment.len(), shipment.names().len()), (7, 7), "the shipment");
        let (set, receipt) = device.upload_set(&shipment).map_err(show)?;
        model.check(&set).await.map_err(|e| format!("{}: {e}", downgrade.name))?;
        ensure!(receipt.is_exact() && receipt.changed() == 0, "not exact: {receipt:#}");
        ensure_eq!(receipt.bytes_staged(), MODEL_BYTES, "staged");
        ensure_eq!(receipt.iter().len(), 7, "receipts");
        let memory = device.memory();
        ensure_eq!((memory.tensors, memory.bytes_live), (7, MODEL_BYTES), "memory");
        let up = device.ledger().up;
        ensure_eq!((up.count, up.bytes), (6, MODEL_BYTES), "the ledger: nothing of `nothing`");
        let here = device.ledger().largest.iter().all(|c| c.line.file().ends_with("sets.rs"));
        ensure!(here, "a crossing is blamed on another file:\n{}", device.ledger());
        let line = receipt.to_string();
        ensure!(line.starts_with("7 tensors: 211081 values, all exact; staged "), "{line}");
        let table = format!("{receipt:#}");
        ensure_eq!(table.lines().count(), 10, "a line, titles, a row each, totals:\n{table}");
    }
    Ok(())
}

async fn duplicate(_: &Ctx) -> Outcome {
    let mut shipment = Shipment::new();
    let view = HostView::new(&[1.0f32], [1]).map_err(show)?;
    shipment.add("w", view).map_err(show)?;
    let error = shipment.add("w", view).err().ok_or("a name was taken twice")?;
    ensure_eq!(error.to_string(), "the name \"w\" is taken in this set", "message");
    ensure_eq!(shipment.len(), 1, "the first stays");
    Ok(())
}

async fn refusals(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[2]).await?;
    let before = held(&device)?;
    let (floats, longs, fine) = ([0.5f64; 4], [1i64; 4], [1.0f32; 4]);
    let mut shipment = Shipment::new();
    for name in ["a", "b"] {
        shipment.add(name, HostView::new(&floats, [4]).map_err(show)?).map_err(show)?;
    }
    shipment.add("fine", HostView::new(&fine, [4]).map_err(show)?).map_err(show)?;
    shipment.add("n", HostView::new(&longs, [4]).map_err(show)?).map_err(show)?;
    let error = device.upload_set(&shipment).err().ok_or("f64 and i64 went up")?;
    ensure_eq!(error.kind(), ErrorKind::Rejected, "{error:?}");
    let text = error.to_string();
    ensure!(text.starts_with("3 of 4 tensors are refused: \"a\", \"b\" (f64 cannot"), "{text}");
    ensure!(text.contains("; \"n\" (i64 cannot be stored") && !text.contains("fine"), "{text}");
    let help = error.help().unwrap_or_default();
    ensure!(help.contains("DType::F64, DType::F32") && help.contains("DType::I64"), "{help}");
    ensure_eq!(device.ledger().up.count, 0, "crossings");
    ensure_eq!(held(&device)?, before, "memory");
    Ok(())
}

async fn refusal(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[2]).await?;
    let (floats, fine) = ([0.5f64; 4], [1.0f32; 4]);
    let mut shipment = Shipment::new();
    shipment.add("fine", HostView::new(&fine, [4]).map_err(show)?).map_err(show)?;
    shipment.add("w", HostView::new(&floats, [4]).map_err(show)?).map_err(show)?;
    let alone = device.upload(&floats, [4]).err().ok_or("f64 went up")?;
    let error = device.upload_set(&shipment).err().ok_or("f64 went up in a set")?;
    ensure_eq!(error.to_string(), format!("tensor \"w\": {alone}"), "message");
    ensure_eq!((error.kind(), error.help()), (alone.kind(), alone.help()), "kind and help");
    Ok(())
}

async fn value(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[2]).await?.with_policy(&Policy::lossless());
    let before = held(&device)?;
    let (fine, mut late) = (vec![1.0f32; 300_000], vec![0.5f64; 10_000]);
    late[7777] = 0.1;
    let mut shipment = Shipment::new();
    shipment.add("fine", HostView::new(&fine, [300_000]).map_err(show)?).map_err(show)?;
    shipment.add("late", HostView::new(&late, [100, 100]).map_err(show)?).map_err(show)?;
    shipment.add("never", HostView::new(&fine, [300_000]).map_err(show)?).map_err(show)?;
    let error = device.upload_set(&shipment).err().ok_or("0.1 has no exact f32")?;
    ensure_eq!(error.kind(), ErrorKind::Conversion, "{error}");
    let text = error.to_string();
    ensure!(text.starts_with("tensor \"late\": ") && text.contains("0.1 at index 7777"), "{text}");
    ensure_eq!(held(&device)?, before, "memory");
    let up = device.ledger().up;
    ensure_eq!((up.count, up.bytes), (2, 1_200_000 + 40_000), "what crossed by then is counted");
    Ok(())
}

async fn converted(ctx: &Ctx) -> Outcome {
    let policy = Policy::exact().allow(DType::F64, DType::F32).allow(DType::I64, DType::I16);
    let device = ctx.device(DOWNGRADES[2]).await?.with_policy(&policy);
    let (a, b, c) = ([0.5, 0.1, 1e300], [7i64, -3], [1.0f32; 5]);
    let mut shipment = Shipment::new();
    shipment.add("a", HostView::new(&a, [3]).map_err(show)?).map_err(show)?;
    shipment.add("b", HostView::new(&b, [2]).map_err(show)?).map_err(show)?;
    shipment.add("c", HostView::new(&c, [5]).map_err(show)?).map_err(show)?;
    let (set, receipt) = device.upload_set(&shipment).map_err(show)?;
    let (_, alone) = device.upload(&a, [3]).map_err(show)?;
    let in_set = receipt.get("a").ok_or("no receipt for a")?;
    ensure_eq!(in_set.tally, alone.tally, "the tally of a");
    ensure_eq!((receipt.values(), receipt.changed()), (10, 2), "totals");
    ensure!(!receipt.is_exact(), "{receipt}");
    ensure_eq!((receipt.bytes_host(), receipt.bytes_staged()), (60, 36), "bytes");
    let line = receipt.to_string();
    let want = "3 tensors (2 converted): 10 values, 1 rounded, 1 overflowed, max error ";
    ensure!(line.starts_with(want) && line.contains("in \"a\"; staged 36 B"), "{line}");
    let dtypes: Vec<DType> = set.into_iter().map(|(_, tensor)| tensor.dtype()).collect();
    ensure_eq!(dtypes, [DType::F32, DType::I16, DType::F32], "dtypes");
    Ok(())
}

async fn allocations(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[4]).await?;
    let model = Model::new();
    let shipment = model.shipment().map_err(show)?;
    let before = held(&device)?;
    for n in 0..64 {
        device.fail(Call::Allocation, n..u64::MAX);
        let result = device.upload_set(&shipment);
        device.fail(Call::Allocation, 0..0);
        match result {
            Ok((set, _)) => {
                ensure!(n > 0, "no allocation is needed");
                return model.check(&set).await;
            }
            Err(error) => {
                ensure!(error.is_out_of_memory(), "at {n}: {error:?}");
                ensure!(error.to_string().starts_with("tensor \""), "at {n}: {error}");
                ensure_eq!(held(&device)?, before, "memory after a failure at {n}");
                ensure_eq!(device.ledger().up.count, 0, "at {n}: something moved");
            }
        }
    }
    Err("64 allocations are not enough".into())
}

async fn one_allocation(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[4]).await?;
    let model = Model::new();
    let shipment = model.shipment().map_err(show)?;
    for n in 1..8 {
        device.fail(Call::Allocation, n - 1..n);
        let (set, _) = device.upload_set(&shipment).map_err(show)?;
        device.fail(Call::Allocation, 0..0);
        model.check(&set).await.map_err(|e| format!("at {n}: {e}"))?;
    }
    Ok(())
}

async fn cap(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let before = held(&device)?;
    let model = Model::new();
    let shipment = model.shipment().map_err(show)?;
    for cap in (1..64).map(|n| n << 17) {
        device.set_cap(Some(cap));
        match device.upload_set(&shipment) {
            Ok((set, _)) => return model.check(&set).await,
            Err(error) => {
                ensure!(error.is_out_of_memory(), "under {cap}: {error:?}");
                ensure_eq!(held(&device)?, before, "memory under {cap}");
            }
        }
    }
    Err("a cap of 8 MiB is not enough".into())
}

async fn guard(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let before = held(&device)?;
    let model = Model::new();
    let shipment = model.shipment().map_err(show)?;
    let _guard = device.guard(Crossings::Deny);
    let (line, error) = (line!(), device.upload_set(&shipment).err());
    let error = error.ok_or("a denied set went up")?;
    ensure_eq!(error.kind(), ErrorKind::Denied, "{error}");
    let text = error.to_string();
    ensure!(text.contains(&format!("upload_set at tests/gpu/cases/sets.rs:{line}")), "{text}");
    ensure_eq!((held(&device)?, device.ledger().up.count), (before, 0), "memory, crossings");
    Ok(())
}

async fn progress(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    // More than two chunks, also where a buffer is written in place.
    let large = vec![7u8; (72 << 20) + 5];
    let mut shipment = Shipment::new();
    shipment.add("first", HostView::new(&large, [large.len()]).map_err(show)?).map_err(show)?;
    shipment.add("second", HostView::new(&large[..9], [9]).map_err(show)?).map_err(show)?;
    let mut seen = Vec::new();
    let total = large.len() as u64 + 9;
    let (set, _) = device
        .upload_set_with(&shipment, |p| {
            // The callback runs without a lock: the device answers.
            let known = device.memory().tensors;
            seen.push((p.name.to_owned(), p.bytes_done, p.bytes_total, known));
        })
        .map_err(show)?;
    ensure!(seen.len() >= 4, "a call per chunk: {seen:?}");
    ensure!(seen.windows(2).all(|w| w[0].1 < w[1].1), "monotone: {seen:?}");
    ensure!(seen.iter().all(|s| s.2 == total), "one total: {seen:?}");
    ensure_eq!(seen.last().map(|s| (s.0.as_str(), s.1)), Some(("second", total)), "the last");
    ensure_eq!(seen[0].3, 2, "memory for all before a byte moves");
    let target = ctx.fresh(DOWNGRADES[4]).await?;
    let mut done = Vec::new();
    let moved = set.to_with(&target, |p| done.push((p.bytes_done, p.bytes_total))).await;
    let (there, _) = moved.map_err(show)?;
    ensure!(done.windows(2).all(|w| w[0].0 < w[1].0), "monotone: {done:?}");
    ensure_eq!(done.last(), Some(&(total, total)), "the last of the move");
    let first = there.get("first").ok_or("no first")?;
    ensure!(first.read::<u8>().await.map_err(show)? == large, "values");
    Ok(())
}

async fn lost(ctx: &Ctx) -> Outcome {
    let model = Model::new();
    for at in 1..=6 {
        let device = ctx.fresh(DOWNGRADES[0]).await?;
        let shipment = model.shipment().map_err(show)?;
        let mut calls = 0;
        let result = device.upload_set_with(&shipment, |_| {
            calls += 1;
            if calls == at {
                device.wgpu_device().destroy();
            }
        });
        match result {
            // Lost with the last chunk: the first read says so.
            Ok((set, _)) => {
                let weights = set.get("weights").ok_or("no weights")?;
                let error = weights.read::<f32>().await.err().ok_or("a lost device answered")?;
                ensure!(error.is_device_lost(), "at {at}: {error:?}");
            }
            Err(error) => ensure!(error.is_device_lost(), "at {at}: {error:?}"),
        }
        ensure!(calls >= at, "not lost at {at}");
        ensure_eq!(device.memory().bytes_live, 0, "live after a loss at {at}");
    }
    Ok(())
}

async fn empty(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (set, receipt) = device.upload_set(&Shipment::new()).map_err(show)?;
    ensure!(set.is_empty() && set.iter().len() == 0, "{set:?}");
    ensure_eq!(receipt.to_string(), "0 tensors: 0 values, all exact; staged 0 B", "the receipt");
    let (there, _) = set.to(&device).await.map_err(show)?;
    ensure!(there.is_empty(), "{there:?}");
    Ok(())
}

async fn moved(ctx: &Ctx) -> Outcome {
    let model = Model::new();
    let (here, there) = (ctx.fresh(DOWNGRADES[0]).await?, ctx.fresh(DOWNGRADES[1]).await?);
    let (set, _) = here.upload_set(&model.shipment().map_err(show)?).map_err(show)?;
    let (other, receipt) = set.to(&there).await.map_err(show)?;
    model.check(&other).await?;
    model.check(&set).await?;
    ensure!(other.iter().all(|(_, tensor)| tensor.device().same_device(&there)), "{other:?}");
    ensure_eq!(receipt.bytes_staged(), MODEL_BYTES, "staged");
    ensure!(receipt.is_exact(), "{receipt:#}");
    // Half of the set is on the device already.
    let mut both = TensorSet::new();
    for (i, (name, tensor)) in set.iter().enumerate() {
        let there = other.get(name).ok_or(format!("no {name}"))?;
        let tensor = if i % 2 == 0 { there } else { tensor };
        both.insert(name, tensor.clone()).map_err(show)?;
    }
    let twice = both.insert("table", other.get("table").ok_or("no table")?.clone()).err();
    ensure!(twice.is_some(), "a name was taken twice");
    let before = there.ledger().up;
    let (whole, receipt) = both.to(&there).await.map_err(show)?;
    model.check(&whole).await?;
    let moved = 1027 * 2 + 5;
    ensure_eq!(receipt.bytes_staged(), moved, "only what was not there");
    ensure_eq!(there.ledger().up.bytes - before.bytes, moved, "in the ledger");
    Ok(())
}

async fn failing_move(ctx: &Ctx) -> Outcome {
    let model = Model::new();
    let (here, there) = (ctx.fresh(DOWNGRADES[0]).await?, ctx.fresh(DOWNGRADES[4]).await?);
    let (set, _) = here.upload_set(&model.shipment().map_err(show)?).map_err(show)?;
    let (source, target) = (held(&here)?, held(&there)?);
    for n in 0..64 {
        there.fail(Call::Allocation, n..u64::MAX);
        let result = set.to(&there).await;
        there.fail(Call::Allocation, 0..0);
        match result {
            Ok((other, _)) => {
                ensure!(n > 0, "no allocation is needed");
                return model.check(&other).await;
            }
            Err(error) => {
                ensure!(error.is_out_of_memory(), "at {n}: {error:?}");
                ensure!(error.to_string().contains(": moving to "), "at {n}: {error}");
                ensure_eq!(held(&there)?, target, "the target's memory after {n}");
                ensure_eq!(held(&here)?, source, "the source's memory after {n}");
                ensure_eq!(there.ledger().up.count, 0, "at {n}: something moved");
            }
        }
    }
    Err("64 allocations are not enough".into())
}

async fn reopened(ctx: &Ctx) -> Outcome {
    let model = Model::new();
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let shipment = model.shipment().map_err(show)?;
    let (set, _) = device.upload_set(&shipment).map_err(show)?;
    let other = ctx.fresh(DOWNGRADES[1]).await?;
    device.wgpu_device().destroy();
    let error = set.to(&other).await.err().ok_or("a set moved from a lost device")?;
    ensure!(error.is_device_lost(), "{error:?}");
    let again = device.reopen().await.map_err(show)?;
    let (set, _) = again.upload_set(&shipment).map_err(show)?;
    model.check(&set).await
}
