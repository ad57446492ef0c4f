//! Errors that only the data can cause: everything computed from such a result carries them, the
//! first read tells, and later reads repeat it.

use wharf::{Adapter, DType, Device, ErrorKind, Tensor};

use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show,
};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = vec![
        case!("faults::a_hit_is_carried_by_everything_computed_from_it", |ctx| carried(ctx)),
        case!("faults::a_hit_goes_through_every_kind_of_kernel", |ctx| every_kind(ctx)),
        case!("faults::innocent_neighbours_stay_innocent", |ctx| innocent(ctx)),
        case!("faults::slots_come_back_clean", |ctx| slots_come_back(ctx)),
        case!("faults::a_read_brings_the_slots_along_once", |ctx| once(ctx)),
        case!("faults::the_first_of_several_wins", |ctx| several(ctx)),
        case!("faults::many_slots_and_much_data", |ctx| many(ctx)),
    ];
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        let name = format!("faults::the_first_position_is_right::{}", downgrade.name);
        cases.push(case!(name, |ctx| first_position(ctx, downgrade)));
    }
    cases
}

fn upload(device: &Device, data: &[f32], shape: &[usize]) -> Result<Tensor, String> {
    device.upload(data, shape).map(|(tensor, _)| tensor).map_err(show)
}

/// The message of a read that has to fail.
pub(crate) async fn fails(tensor: &Tensor) -> Result<wharf::Error, String> {
    match super::pair::bits_of_or_error(tensor).await {
        Err(error) => Ok(error),
        Ok(bits) => Err(format!("{tensor:?} was read: {} values", bits.len())),
    }
}

async fn carried(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let x = upload(&device, &[1.0, 2.5, -3.0, 1e10, 4.0, 0.5], &[2, 3])?;
    let bad = x.cast_checked(DType::I32).map_err(show)?;
    let sum = (&bad + 1i32).map_err(show)?;
    let view = sum.t().and_then(|t| t.contiguous()).map_err(show)?;
    let later = view.cast(DType::F32).and_then(|t| t.gelu()).map_err(show)?;
    let error = fails(&later).await?;
    let want = "cast_checked f32 [2, 3] to i32: 3 of 6 values would change, the first at [0, 1]";
    ensure_eq!(error.to_string(), want, "the message");
    ensure_eq!(error.kind(), ErrorKind::Conversion, "the kind");
    ensure!(error.help().is_some(), "no help");
    for tensor in [&later, &bad, &sum, &view] {
        ensure_eq!(fails(tensor).await?.to_string(), want, "read again");
    }
    // A result made after the error is known fails as well.
    let after = (&bad * 2i32).map_err(show)?;
    ensure_eq!(fails(&after).await?.to_string(), want, "computed afterwards");
    // A part without a bad element carries the slot too.
    ensure_eq!(fails(&bad.slice(0, 1..2).map_err(show)?).await?.to_string(), want, "a view");
    ensure_eq!(x.read::<f32>().await.map_err(show)?[3], 1e10, "the operand");
    Ok(())
}

/// Reductions, products, rows, joins, picks and assignments carry the error as well.
async fn every_kind(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let x = upload(&device, &[0.5, 1.0, 2.0, 3.0], &[2, 2])?;
    let tainted = || x.cast_checked(DType::I32).and_then(|t| t.cast(DType::F32));
    let (index, _) = device.upload(&[1u32, 0], [2]).map_err(show)?;
    let mut cache = device.zeros([4, 2], DType::F32).map_err(show)?;
    cache.assign_slice(0, 1..3, &tainted().map_err(show)?).map_err(show)?;
    // Into one that carries it, too, whatever becomes of the bad elements.
    let mut onto = tainted().map_err(show)?;
    onto.assign_slice(0, .., &x).map_err(show)?;
    let results = [
        ("sum", tainted().and_then(|t| t.sum(1))),
        ("matmul", tainted().and_then(|t| x.matmul(&t))),
        ("softmax", tainted().and_then(|t| t.softmax(1))),
        ("cumsum", tainted().and_then(|t| t.cumsum(0))),
        ("concat", tainted().and_then(|t| Tensor::concat(&[x.clone(), t], 0))),
        ("embedding", tainted().and_then(|t| t.embedding(&index))),
        ("scatter_add", tainted().and_then(|t| x.scatter_add(0, &index.unsqueeze(1)?, &t))),
        ("tril", tainted().and_then(|t| t.tril(0))),
        ("assign", Ok(cache)),
        ("assigned to", Ok(onto)),
    ];
    for (what, result) in results {
        let error =
            fails(&result.map_err(show)?).await.map_err(|text| format!("{what}: {text}"))?;
        ensure!(error.to_string().contains("1 of 4 values would change"), "{what}: {error}");
    }
    Ok(())
}

async fn innocent(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let x = upload(&device, &[1.0, 2.0, 3.0], &[3])?;
    let y = upload(&device, &[1.0, f32::NAN, 3.0], &[3])?;
    let good = x.cast_checked(DType::U8).map_err(show)?;
    let bad = y.cast_checked(DType::U8).map_err(show)?;
    let both = (&good + &bad).map_err(show)?;
    let error = fails(&both).await?;
    ensure!(error.to_string().contains("1 of 3 values would change, the first at [1]"), "{error}");
    ensure_eq!(good.read::<u8>().await.map_err(show)?, [1, 2, 3], "the innocent");
    // As each help says: 300 and 1e6 are beyond, and 2 is no truth.
    let far = upload(&device, &[2.0, 300.0, 1e6], &[3])?;
    for (to, help, becomes) in [
        (DType::U8, "`cast(DType::U8)` rounds and saturates", [2.0, 255.0, 255.0]),
        (DType::F16, "`cast_saturating(DType::F16)` rounds and saturates", [2.0, 300.0, 65504.0]),
        (DType::Bool, "`cast(DType::Bool)` is whether `x != 0`", [1.0; 3]),
    ] {
        let error = fails(&far.cast_checked(to).map_err(show)?).await?;
        ensure!(error.help().is_some_and(|told| told.starts_with(help)), "{to}: {error:?}");
        let cast = if to.is_float() { far.cast_saturating(to) } else { far.cast(to) };
        let cast = cast.and_then(|x| x.cast(DType::F32)).map_err(show)?;
        ensure_eq!(cast.read::<f32>().await.map_err(show)?, becomes, "{to}");
    }
    let wide = y.cast_checked(DType::F16).map_err(show)?;
    let wide = wide.cast(DType::F32).map_err(show)?.read::<f32>().await.map_err(show)?;
    ensure!(wide[1].is_nan(), "NaN is kept between floats");
    Ok(())
}

/// More slots than one buffer has, dropped unread, read, hit and handed out again.
async fn slots_come_back(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let bad = upload(&device, &[0.5; 5], &[5])?;
    let good = upload(&device, &[7.0; 5], &[5])?;
    for round in 0..3 {
        let mut held = Vec::new();
        for i in 0..700 {
            let x = if i % 3 == 0 { &bad } else { &good };
            held.push(x.cast_checked(DType::I32).map_err(show)?);
        }
        for (i, tensor) in held.iter().enumerate().skip(round).step_by(100) {
            match (i % 3, tensor.read::<i32>().await) {
                (0, Err(error)) => {
                    ensure!(error.to_string().contains("5 of 5 values"), "{i}: {error}");
                }
                (0, Ok(_)) => return Err(format!("round {round}: number {i} was read")),
                (_, Err(error)) => return Err(format!("round {round}, number {i}: {error}")),
                (_, Ok(values)) => ensure_eq!(values, [7; 5], "number {i}"),
            }
        }
        drop(held);
        device.flush().map_err(show)?;
    }
    Ok(())
}

async fn once(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let x = upload(&device, &[3.0; 4], &[4])?;
    let control = || device.ledger().control;
    let plain = (&x + 1.0f32).map_err(show)?;
    plain.read::<f32>().await.map_err(show)?;
    let before = control();
    plain.read::<f32>().await.map_err(show)?;
    ensure_eq!(control(), before, "a read without slots");
    let checked = x.cast_checked(DType::U16).map_err(show)?;
    checked.compute().map_err(show)?;
    device.flush().map_err(show)?;
    let before = control();
    checked.read::<u16>().await.map_err(show)?;
    let after = control();
    ensure_eq!(after.bytes - before.bytes, 8, "the bytes of one slot");
    checked.read::<u16>().await.map_err(show)?;
    ensure_eq!(control(), after, "a second read");
    Ok(())
}

/// More slots than fit behind the data of a read; with data in one part, in several, and read where
/// it lies.
async fn many(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    for n in [5, 2_500_001] {
        let mut values = vec![1.0f32; n];
        let good = upload(&device, &values, &[n])?;
        values[n - 2] = 0.5;
        let bad = upload(&device, &values, &[n])?;
        for count in [1, 2, 31, 32, 70] {
            let sum = |last: &Tensor| {
                let first = (1..count).map(|_| &good);
                let mut all = first.chain([last]).map(|x| x.cast_checked(DType::I32));
                all.try_fold(device.zeros([n], DType::I32)?, |sum, next| &sum + &next?)
            };
            let whole = sum(&good).map_err(show)?;
            let read = whole.read::<i32>().await.map_err(show)?;
            ensure!(read == vec![count; n], "{count} slots, {n} values");
            let error = fails(&sum(&bad).map_err(show)?).await?;
            let want = format!("1 of {n} values would change, the first at [{}]", n - 2);
            ensure!(error.to_string().contains(&want), "{count} slots: {error}");
            #[cfg(not(target_arch = "wasm32"))]
            {
                let read = sum(&good).and_then(|sum| sum.read_now::<i32>()).map_err(show)?;
                ensure!(read == vec![count; n], "{count} slots, {n} values, blocking");
                let error = sum(&bad).map_err(show)?.read_now::<i32>().err();
                let said = error.is_some_and(|error| error.to_string().contains(&want));
                ensure!(said, "{count} slots, {n} values, blocking: was read");
            }
        }
    }
    Ok(())
}

async fn several(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let x = upload(&device, &[0.5, 1.0], &[2])?;
    let first = x.cast_checked(DType::I32).map_err(show)?;
    let second = (&first + 400i32).and_then(|t| t.cast_checked(DType::U8)).map_err(show)?;
    let error = fails(&second).await?;
    ensure!(error.to_string().contains("f32 [2] to i32: 1 of 2"), "the root cause: {error}");
    Ok(())
}

async fn first_position(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    for (n, places) in [
        (1usize, vec![0usize]),
        (1, vec![]),
        (5, vec![4]),
        (8, vec![4]),
        (8, vec![5]),
        (8, vec![6]),
        (8, vec![7]),
        (257, vec![256, 3, 77]),
        (65_537, vec![65_536]),
        (200_003, vec![150_001, 200_002]),
        (200_003, vec![]),
    ] {
        let mut data = vec![2.0f32; n];
        places.iter().for_each(|&i| data[i] = 300.0);
        let x = upload(&device, &data, &[n])?;
        let cast = x.cast_checked(DType::U8).map_err(show)?;
        if places.is_empty() {
            ensure!(cast.read::<u8>().await.map_err(show)? == vec![2; n], "{n} values");
            continue;
        }
        let (count, first) = (places.len(), places.iter().min().copied().unwrap_or_default());
        let want = format!("{count} of {n} values would change, the first at [{first}]");
        let error = fails(&cast).await?;
        ensure!(error.to_string().ends_with(&want), "{error}, not {want}");
    }
    Ok(())
}
