//! Profiles: where the driver has timestamps every dispatch has a time, the times fit into what the
//! host's clock saw, and nothing that is computed depends on being watched.

use wharf::caps::{Backend, Feature};
use wharf::profile::Report;
#[cfg(not(target_arch = "wasm32"))]
use wharf::profile::Row;
use wharf::tensor::Blocks;
use wharf::testing::Inside;
use wharf::{Adapter, DType, Device};

use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let lacks = !adapter.caps().has(Feature::TimestampQuery);
    let all = [
        case!("profile::every_dispatch_has_a_time", |ctx| every_dispatch(ctx)),
        case!("profile::a_batch_beyond_one_query_set", |ctx| many(ctx)),
        case!("profile::passes_of_their_own_time_the_same", |ctx| by_passes(ctx)),
        case!("profile::a_saturated_queue_is_busy_all_the_time", |ctx| saturated(ctx)),
        case!("profile::work_of_the_caller_is_not_timed", |ctx| behind_the_caller(ctx)),
        case!("profile::rates_are_held_to_the_ceilings", |ctx| ceilings(ctx)),
    ];
    let mut cases: Vec<Case> =
        all.into_iter().map(|case| case.unless(lacks, "timestamps")).collect();
    cases.push(case!("profile::without_timestamps_the_wall_is_told", |ctx| without(ctx)));
    cases.push(case!("profile::products_with_blocks_are_counted", |ctx| blocks(ctx)));
    #[cfg(not(target_family = "wasm"))]
    cases.push(
        case!("profile::a_trace_has_all_of_it", |ctx| traced(ctx)).unless(lacks, "timestamps"),
    );
    cases
}

/// In a browser the host's clock stands still.
fn in_browser(device: &Device) -> bool {
    device.caps().identity.backend == Backend::Browser
}

/// All dispatches have a time, which fit into the wall time.
fn is_sane(device: &Device, report: &Report) -> Outcome {
    ensure!(report.untimed.is_empty(), "without a time: {report}");
    ensure!(report.rows.iter().all(|row| row.timed == row.calls), "not all: {report}");
    ensure!(in_browser(device) || report.device <= report.wall, "longer than it took: {report}");
    Ok(())
}

/// Reductions, rows, products and a chain, after which the host has waited.
async fn work(device: &Device) -> wharf::Result<Vec<f32>> {
    let numbers: Vec<f32> = (0..256 * 256).map(|i| (i % 97) as f32 / 97.0).collect();
    let (x, _) = device.upload(&numbers, [256, 256])?;
    let y = (x.matmul(&x.t()?)?.softmax(1)? + &x)?;
    y.sum(0)?.sort(0, wharf::tensor::Order::Ascending)?.read::<f32>().await
}

async fn every_dispatch(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let unwatched = work(&device).await.map_err(show)?;
    let (watch, profile) = (device.watch(), device.profile());
    let watched = work(&device).await.map_err(show)?;
    ensure_eq!(watched, unwatched, "watching changes what is computed");
    let report = profile.report().map_err(show)?;
    ensure_eq!(report.dispatches, watch.explanation().dispatches() as u64, "dispatches");
    is_sane(&device, &report)?;
    let product = report.rows.iter().find(|row| row.flops > 0);
    let Some(product) = product else { return Err(format!("no product: {report}")) };
    ensure_eq!(product.flops, 2 * 256 * 256 * 256, "multiplications and additions");
    ensure!(in_browser(&device) || !product.time.is_zero(), "a product in no time: {report}");
    ensure_eq!((report.up.count, report.down.count), (1, 1), "crossings");
    Ok(())
}

/// One more than a batch has, of several kernels in turns.
async fn many(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let one = device.ones([64, 64], DType::F32).map_err(show)?;
    let profile = device.profile();
    let mut y = one.clone();
    for i in 0..600 {
        y = if i % 2 == 0 { &y + &one } else { &y - &one }.map_err(show)?;
        y.compute().map_err(show)?;
    }
    let got = y.at(0).and_then(|row| row.at(..1)).map_err(show)?.read::<f32>().await;
    ensure_eq!(got.map_err(show)?, [1.0], "as many up as down");
    let report = profile.report().map_err(show)?;
    is_sane(&device, &report)?;
    let mut calls: Vec<u64> = report.rows.iter().map(|row| row.calls).collect();
    calls.retain(|&calls| calls >= 300);
    ensure_eq!(calls, [300, 300], "{report}");
    Ok(())
}

/// As where timestamps are written at the edges of passes only.
async fn by_passes(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let unwatched = work(&device).await.map_err(show)?;
    device.time_by_passes();
    let profile = device.profile();
    ensure_eq!(work(&device).await.map_err(show)?, unwatched, "the same bits");
    let report = profile.report().map_err(show)?;
    is_sane(&device, &report)?;
    ensure!(in_browser(&device) || !report.device.is_zero(), "no time at all: {report}");
    Ok(())
}

/// Products one after the other: the device does nothing else, and the host waits. Nearly all of
/// the wall time on a quiet machine; one product's time in place of all would be a tenth. A busy
/// machine leaves this process out for a while, which only the wall shows: the best of a few runs
/// counts.
async fn saturated(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    // A GPU is done with the smaller one before the next is recorded.
    let side = if device.caps().identity.is_software() { 384 } else { 2048_usize };
    let x = device.full([side, side], 1.0 / side as f64, DType::F32).map_err(show)?;
    let chain = |n: usize| (0..n).try_fold(x.clone(), |y, _| y.matmul(&x));
    chain(1).map_err(show)?.read::<f32>().await.map_err(show)?;
    let mut seen = String::new();
    for _ in 0..5 {
        let y = chain(24).map_err(show)?;
        let profile = device.profile();
        y.at((0, ..1)).map_err(show)?.read::<f32>().await.map_err(show)?;
        let report = profile.report().map_err(show)?;
        is_sane(&device, &report)?;
        let share = report.device.as_secs_f64() / report.wall.as_secs_f64();
        if in_browser(&device) || share > 0.5 {
            return Ok(());
        }
        seen += &format!("{share:.2} of the wall time: {report}");
    }
    Err(seen)
}

/// An encoder of the caller's goes first, and its commands belong to nobody.
async fn behind_the_caller(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let x = device.ones([256], DType::F32).map_err(show)?;
    x.read::<f32>().await.map_err(show)?;
    let profile = device.profile();
    let y = (&x + 1.0).map_err(show)?;
    y.compute().map_err(show)?;
    let encoder = device.wgpu_device().create_command_encoder(&Default::default());
    device.submit(encoder).map_err(show)?;
    ensure_eq!(y.read::<f32>().await.map_err(show)?, vec![2.0; 256], "values");
    let report = profile.report().map_err(show)?;
    ensure_eq!((report.dispatches, report.submissions.count), (1, 1), "{report}");
    is_sane(&device, &report)
}

/// Measured once for an adapter, by nothing that anybody sees.
async fn ceilings(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (watch, before) = (device.watch(), device.memory());
    let profile = device.profile();
    ensure_eq!(device.memory().bytes_reserved, before.bytes_reserved, "its memory is its own");
    work(&device).await.map_err(show)?;
    let report = profile.report().map_err(show)?;
    ensure_eq!(report.dispatches, watch.explanation().dispatches() as u64, "dispatches");
    ensure_eq!((report.up.count, report.down.count), (1, 1), "crossings");
    let Some(most) = report.ceilings else {
        ensure!(in_browser(&device), "no ceilings: {report}");
        return Ok(());
    };
    let [bytes, flops] = [most.bytes_per_second, most.flops_per_second];
    ensure!(bytes > 1e7 && bytes < 1e14 && flops > 1e7 && flops < 1e16, "{most:?}");
    for row in &report.rows {
        let of = |rate: Option<f64>, most: f64| rate.map_or(0.0, |rate| rate / most);
        let share = of(row.bytes_per_second(), bytes).max(of(row.flops_per_second(), flops));
        ensure_eq!(row.ceiling_share().unwrap_or(0.0), share, "{row:?}");
    }
    let product = report.rows.iter().find(|row| row.flops > 0).and_then(|row| row.ceiling_share());
    // A ceiling of one unit too few or too many would be out of this by far.
    ensure!(product.is_some_and(|share| share > 1e-3 && share < 20.0), "a product: {report}");
    ensure!(report.to_string().contains(" GFLOP/s of fused f32\n"), "{report}");
    let again = ctx.fresh(DOWNGRADES[0]).await?.profile().report().map_err(show)?.ceilings;
    ensure_eq!(again, Some(most), "kept for the adapter");
    Ok(())
}

async fn without(ctx: &Ctx) -> Outcome {
    let caps = ctx.adapter.caps().clone().without(Feature::TimestampQuery);
    let plan = wharf::plan::negotiate(&caps, &wharf::Policy::exact());
    let device = ctx.adapter.open(plan).await.map_err(show)?;
    let profile = device.profile();
    work(&device).await.map_err(show)?;
    let report = profile.report().map_err(show)?;
    let want = (report.dispatches, "the device has no timestamps");
    let untimed: Vec<_> = report.untimed.iter().map(|some| (some.count, some.why)).collect();
    ensure_eq!(untimed, [want], "untimed");
    ensure!(report.dispatches > 3 && report.device.is_zero(), "{report}");
    ensure!(in_browser(&device) || !report.wall.is_zero(), "{report}");
    Ok(())
}

/// A multiplication and an addition for each weight and row.
async fn blocks(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let x = device.ones([3, 64], DType::F32).map_err(show)?;
    let weights = device.full([40, 64], 127, DType::F32).map_err(show)?;
    let (weights, _) = weights.quantize(Blocks::Q8).await.map_err(show)?;
    let profile = device.profile();
    let y = x.linear(&weights, None).map_err(show)?;
    ensure_eq!(y.read::<f32>().await.map_err(show)?, [64.0 * 127.0; 120], "64 of 127");
    let report = profile.report().map_err(show)?;
    let flops: u64 = report.rows.iter().map(|row| row.flops).sum();
    ensure_eq!(flops, 2 * 3 * 40 * 64, "{report}");
    Ok(())
}

/// On the device's track nothing overlaps, and what is there comes to what the report has.
#[cfg(not(target_family = "wasm"))]
async fn traced(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let one = device.ones([64], DType::F32).map_err(show)?;
    let profile = device.profile();
    work(&device).await.map_err(show)?;
    // Small ones, of which many are one event.
    let mut y = one.clone();
    for _ in 0..100 {
        y = (&y + &one).map_err(show)?;
        y.compute().map_err(show)?;
    }
    ensure_eq!(y.read::<f32>().await.map_err(show)?, [101.0; 64], "a hundred more");
    let name = format!("trace-{}-{:?}", std::process::id(), std::thread::current().id());
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    profile.save_trace(&path).map_err(show)?;
    let report = profile.report().map_err(show)?;
    is_sane(&device, &report)?;
    let text = std::fs::read(&path).map_err(|error| error.to_string())?;
    let _ = std::fs::remove_file(path);
    let trace: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let all = trace["traceEvents"].as_array().ok_or("no events")?.iter();
    let dispatches: Vec<_> = all.filter(|event| event["pid"] == 2 && event["ph"] == "X").collect();
    let nanoseconds = |event: &serde_json::Value, of: &str| {
        event[of].as_f64().map(|us| (us * 1e3).round() as u64)
    };
    let mut times: Vec<_> = dispatches
        .iter()
        .map(|event| Some((nanoseconds(event, "ts")?, nanoseconds(event, "dur")?)))
        .collect::<Option<_>>()
        .ok_or("an event without a time")?;
    times.sort_unstable();
    let apart = times.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0);
    ensure!(apart, "one begins before another's end: {times:?}");
    let sum = |of: &str| -> u64 {
        dispatches.iter().filter_map(|event| event["args"][of].as_u64()).sum()
    };
    let of = |each: fn(&Row) -> u64| -> u64 { report.rows.iter().map(each).sum() };
    let want = [of(|row| row.calls), of(|row| row.bytes), of(|row| row.flops)];
    ensure_eq!(["calls", "bytes", "flops"].map(sum), want, "{report}");
    ensure!((dispatches.len() as u64) < want[0], "none stands for several: {report}");
    Ok(())
}
