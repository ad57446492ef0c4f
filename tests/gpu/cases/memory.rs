//! Memory and failure on a real driver: faults at every allocation, loss after every submission,
//! fragmentation, tensors beyond every limit, and memory that really runs out.

use wharf::caps::Backend;
use wharf::testing::{Call, Inside};
use wharf::{Adapter, DType, Device, ErrorKind, Tensor, wgpu};

use super::probe::{Random, first_difference, values};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, Size, case, ensure, ensure_eq, matters, show,
};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = vec![
        case!("memory::every_allocation_fails_once", |ctx| fails_once(ctx)),
        case!("memory::every_allocation_fails_for_good", |ctx| fails_for_good(ctx)),
        case!("memory::the_device_is_lost_after_every_submission", |ctx| lost_everywhere(ctx)),
        case!("memory::a_large_tensor_arrives_in_fragmented_memory", |ctx| fragmented(ctx)),
        case!("memory::compaction_moves_tensors_unchanged", |ctx| compaction(ctx)),
        case!("memory::compaction_moves_one_of_two_segments_of_a_slab", |ctx| half_moved(ctx)),
        case!("memory::a_tensor_as_large_as_the_cap", |ctx| to_the_brim(ctx)),
        case!("memory::what_found_no_room_reads_once_there_is_some", |ctx| room_is_made(ctx)),
    ];
    let whole_or_cut = |d: &&Downgrade| ["native", "small_bindings"].contains(&d.name);
    for &downgrade in DOWNGRADES.iter().filter(whole_or_cut).filter(|d| matters(adapter, **d)) {
        let name = format!("memory::what_found_no_memory_is_computed_later::{}", downgrade.name);
        cases.push(case!(name, |ctx| tried_again(ctx, downgrade)));
    }
    cases.push(Case {
        size: Size::Large,
        ..case!("large::200_MiB_added_to_itself", |ctx| doubled(ctx, 200 << 20))
    });
    let beyond = adapter.caps().limits.buffer_bytes_max < 5 << 29;
    if beyond {
        let name = "large::2_5_GiB_added_to_itself";
        cases.push(Case { size: Size::Huge, ..case!(name, |ctx| doubled(ctx, 5 << 29)) });
    }
    #[cfg(not(target_family = "wasm"))]
    if crate::child::applies(adapter) {
        cases.push(case!("memory::an_address_space_runs_out", |ctx| crate::child::case(ctx)));
    }
    cases.push(case!("memory::what_is_refused_late_is_told_at_the_next_read", |ctx| late(ctx)));
    let caps = adapter.caps();
    #[cfg(not(target_family = "wasm"))]
    cases.push({
        let tells = matches!(caps.identity.backend, Backend::Vulkan | Backend::Dx12);
        let case = case!("memory::a_trim_reaches_the_driver", |ctx| trimmed(ctx));
        case.unless(!tells, "an allocator's report")
    });
    // A browser grants such a buffer, and only looks for memory when it is used.
    let browser = caps.identity.backend == Backend::Browser;
    if caps.limits.buffer_bytes_max <= 1 << 30 && !browser {
        cases.push(case!("memory::the_driver_runs_out_and_says_so", |ctx| driver_runs_out(ctx)));
    }
    cases
}

/// Uploads, a fused chain with views of two widths, a copy, and reads: some bring the commands that
/// they need along, some come after a submission. Some tensors are dropped on the way.
async fn story(device: &Device) -> wharf::Result<()> {
    let numbers: Vec<f32> = (0..90_000u32).map(|i| (i % 1000) as f32).collect();
    let (a, _) = device.upload(&numbers, [300, 300])?;
    let (b, _) = device.upload(&[2.0f32; 300], [300])?;
    let sum = ((a.t()? * &b)? + 1.0f32)?;
    drop(b);
    let row = sum.slice(0, 7..8)?.read::<f32>().await?;
    let expected: Vec<f32> = (0..300).map(|i| numbers[i * 300 + 7] * 2.0 + 1.0).collect();
    assert_eq!(row, expected, "a row of the sum");
    let (c, _) = device.upload(&vec![3u8; 400_000], [400_000])?;
    let flipped = c.flip(0)?.contiguous()?;
    flipped.compute()?;
    device.flush()?;
    assert_eq!(flipped.read::<u8>().await?, vec![3u8; 400_000], "the flipped bytes");
    let above = sum.gt(1500.0f32)?;
    above.compute()?;
    device.flush()?;
    let all = above.read::<bool>().await?;
    let count = numbers.iter().filter(|&&x| x * 2.0 + 1.0 > 1500.0).count();
    assert_eq!(all.into_iter().filter(|&t| t).count(), count, "the comparison");
    Ok(())
}

/// Sweeps until the story has run undisturbed twice, because it is not known how many buffers it
/// creates.
async fn sweep(
    ctx: &Ctx,
    arm: impl Fn(&Device, u64),
    right: impl Fn(&wharf::Error) -> bool,
    lost: bool,
) -> Result<u64, String> {
    let (mut failures, mut passed) = (0, 0);
    for n in 0..60 {
        let device = ctx.fresh(DOWNGRADES[0]).await?;
        arm(&device, n);
        match story(&device).await {
            Ok(()) => passed += 1,
            Err(error) => {
                failures += 1;
                ensure!(right(&error), "fault {n}: {error:?}");
            }
        }
        let device = if lost { device.reopen().await.map_err(show)? } else { device };
        device.fail(Call::Allocation, 0..0);
        story(&device).await.map_err(|error| format!("after fault {n}: {error:?}"))?;
        let _ = device.trim().map_err(show)?;
        let memory = device.memory();
        ensure_eq!((memory.bytes_live, memory.bytes_reserved), (0, 0), "a leak after fault {n}");
        if passed >= 2 && n > 4 && failures > 0 {
            break;
        }
    }
    Ok(failures)
}

async fn fails_once(ctx: &Ctx) -> Outcome {
    // The store tries again after a trim; staging and parameters do not, and return an error.
    let arm = |device: &Device, n| device.fail(Call::Allocation, n..n + 1);
    sweep(ctx, arm, wharf::Error::is_out_of_memory, false).await.map(drop)
}

async fn fails_for_good(ctx: &Ctx) -> Outcome {
    let arm = |device: &Device, n| device.fail(Call::Allocation, n..u64::MAX);
    let failures = sweep(ctx, arm, wharf::Error::is_out_of_memory, false).await?;
    ensure!(failures >= 5, "only {failures} faults were met");
    Ok(())
}

async fn lost_everywhere(ctx: &Ctx) -> Outcome {
    let arm = |device: &Device, n| device.lose_after(n + 1);
    let failures = sweep(ctx, arm, wharf::Error::is_device_lost, true).await?;
    ensure!(failures >= 5, "only {failures} losses were met");
    Ok(())
}

/// Tensors of mixed small sizes with their data.
fn mixed(device: &Device, count: usize, max: usize) -> Result<Vec<(Tensor, Vec<u16>)>, String> {
    let mut random = Random::new(5);
    let one = |_| {
        let data: Vec<u16> = values(random.below(max) + 1, random.bits());
        let (tensor, _) = device.upload(&data, [data.len()]).map_err(show)?;
        Ok((tensor, data))
    };
    (0..count).map(one).collect()
}

/// Drops every second one.
fn thinned<T>(all: Vec<T>) -> Vec<T> {
    all.into_iter().step_by(2).collect()
}

async fn unchanged(held: &[(Tensor, Vec<u16>)]) -> Outcome {
    for (tensor, data) in held {
        let back = tensor.read::<u16>().await.map_err(show)?;
        first_difference(data, &back).map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// An upload reserves what `fit` said, even where there is no room to stagger segments.
async fn to_the_brim(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let data: Vec<u8> = values(8 << 20, 12);
    for spare in [1 << 20, 0] {
        let before = device.memory().bytes_reserved;
        device.set_cap(Some(before + data.len() as u64 + spare));
        let fit = device.fit([data.len()], DType::U8).map_err(show)?;
        ensure!(fit.fits, "{spare} bytes to spare: {fit}");
        let (tensor, _) = device.upload(&data, [data.len()]).map_err(show)?;
        let reserved = device.memory().bytes_reserved - before;
        ensure_eq!(reserved, fit.bytes_reserve, "{spare} bytes to spare: {fit}");
        let back = tensor.read::<u8>().await.map_err(show)?;
        first_difference(&data, &back).map_or(Ok(()), Err)?;
        drop(tensor);
        device.trim().map_err(show)?;
    }
    Ok(())
}

/// What is dropped and trimmed is the driver's again, of large and small tensors alike, and so are
/// the slots of what could fail.
#[cfg(not(target_family = "wasm"))]
async fn trimmed(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let driver = || device.memory().driver.ok_or("an allocator that tells nothing");
    let (index, _) = device.upload(&[2u32, 0], [2]).map_err(show)?;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let large = device.upload(&vec![1.0f32; 5 << 20], [5 << 20]).map_err(show)?;
        drop((large, mixed(&device, 200, 3000)?));
        for _ in 0..1500 {
            let picked = index.index_select(0, &(&index / 2u32).map_err(show)?);
            picked.and_then(|picked| picked.compute()).map_err(show)?;
        }
        device.synchronize_now().map_err(show)?;
        device.trim().map_err(show)?;
        device.synchronize_now().map_err(show)?;
        seen.push(driver()?.allocated);
    }
    ensure!(seen[2] <= seen[0], "bytes of the driver after each round: {seen:?}");
    Ok(())
}

async fn fragmented(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let all = mixed(&device, 500, 8000)?;
    device.set_cap(Some(device.memory().bytes_reserved));
    let held = thinned(all);
    let before = device.memory();
    let size = usize::try_from(before.bytes_pooled / 3).unwrap_or(0);
    ensure!(before.bytes_largest_free < size as u64, "one free range is enough:\n{before}");
    let data: Vec<u8> = values(size, 11);
    let (large, _) = device.upload(&data, [size]).map_err(show)?;
    let after = device.memory();
    ensure!(after.bytes_pooled < before.bytes_pooled, "nothing was given back:\n{before}\n{after}");
    let back = large.read::<u8>().await.map_err(show)?;
    first_difference(&data, &back).map_or(Ok(()), Err)?;
    unchanged(&held).await
}

async fn compaction(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let held = thinned(mixed(&device, 1000, 3000)?);
    // A deferred operation on one of them is computed after the move.
    let sum = (&held[3].0 + &held[3].0).map_err(show)?;
    let freed = device.compact().map_err(show)?;
    ensure!(freed > 0, "nothing was given back:\n{}", device.memory());
    unchanged(&held).await?;
    let want: Vec<u16> = held[3].1.iter().map(|x| x.wrapping_mul(2)).collect();
    let back = sum.read::<u16>().await.map_err(show)?;
    first_difference(&want, &back).map_or(Ok(()), Err)
}

/// Both segments of a tensor lie in one slab, the first after the second, and another slab has room
/// for one of them.
async fn half_moved(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[4]).await?;
    const SEGMENT: usize = (192 << 10) / size_of::<f32>();
    let one = |x: f32| device.full([SEGMENT], x, DType::F32);
    let slots: Vec<Tensor> =
        (0..5).map(|_| one(1.0)).collect::<wharf::Result<_>>().map_err(show)?;
    let more: Vec<Tensor> = (0..4).map(|_| one(2.0)).collect::<wharf::Result<_>>().map_err(show)?;
    // The slot given back last is taken first.
    let mut slots = slots.into_iter();
    let first = [slots.next(), slots.next()];
    drop(slots);
    drop(first);
    let values = values(2 * SEGMENT, 5);
    let (tensor, _) = device.upload(&values, [2 * SEGMENT]).map_err(show)?;
    device.compact().map_err(show)?;
    let after: Vec<Tensor> =
        (0..5).map(|_| one(3.0)).collect::<wharf::Result<_>>().map_err(show)?;
    let got = tensor.read::<f32>().await.map_err(show)?;
    ensure_eq!(first_difference(&got, &values), None, "what was moved");
    drop((more, after));
    Ok(())
}

/// What a cap left no room for: the same handle reads once there is some, and so does what was
/// computed from it, which has failed in between.
async fn room_is_made(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let hundred = || device.upload(&vec![1.0f32; 100_000], [100_000]).map(|(tensor, _)| tensor);
    let (a, in_the_way) = (hundred().map_err(show)?, hundred().map_err(show)?);
    let sum = (&a + 1.0f32).map_err(show)?;
    let twice = (&sum * 2.0f32).map_err(show)?;
    device.set_cap(Some(device.memory().bytes_reserved));
    for tensor in [&sum, &twice, &sum] {
        let error = tensor.read::<f32>().await.err().ok_or("it was computed without memory")?;
        let said = error.to_string().contains("f32 [100000]: out of memory: the cap refuses");
        ensure!(error.is_out_of_memory() && said, "{error:?}");
    }
    drop(in_the_way);
    ensure_eq!(sum.read::<f32>().await.map_err(show)?, vec![2.0; 100_000], "the sum");
    drop((a, sum));
    ensure_eq!(twice.read::<f32>().await.map_err(show)?, vec![4.0; 100_000], "what is made of it");
    Ok(())
}

/// Every allocation fails, from each on: what could not be computed is computed afterwards, from
/// operands that are as they were - also those whose memory a result was to take.
async fn tried_again(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    const COUNT: usize = 300_000;
    let x: Vec<f32> = (0..COUNT).map(|i| (i % 1000) as f32).collect();
    let mut failures = 0;
    for n in 0..25 {
        let device = ctx.fresh(downgrade).await?;
        let made = || {
            let (tensor, _) = device.upload(&x, [COUNT / 100, 100])?;
            let sum = (&tensor + 1.0f32)?;
            sum.compute()?;
            // Nobody else holds the sum.
            let twice = (&sum * 2.0f32)?;
            let (even, all) = (twice.sum(0)?, (&twice - 3.0f32)?);
            Ok((even, all))
        };
        let (even, all) = made().map_err(show)?;
        device.fail(Call::Allocation, n..u64::MAX);
        for tensor in [&all, &even, &all] {
            if let Err(error) = tensor.read::<f32>().await {
                failures += 1;
                ensure!(error.is_out_of_memory(), "{n}: {error:?}");
            }
        }
        device.fail(Call::Allocation, 0..0);
        let got = all.read::<f32>().await.map_err(|error| format!("{n}: {error:?}"))?;
        let want: Vec<f32> = x.iter().map(|x| (x + 1.0) * 2.0 - 3.0).collect();
        ensure_eq!(first_difference(&got, &want), None, "{n}: all of it");
        let got = even.read::<f32>().await.map_err(|error| format!("{n}: {error:?}"))?;
        let sum = |column| (0..COUNT / 100).map(move |row| (row * 100 + column) % 1000);
        let want: Vec<f32> =
            (0..100).map(|c| sum(c).map(|x| (x as f32 + 1.0) * 2.0).sum()).collect();
        ensure_eq!(got, want, "{n}: the sums");
    }
    ensure!(failures > 20, "only {failures} failures were met");
    Ok(())
}

/// Natively an error comes from the call itself. In a browser it comes later, but before any data
/// that is read from then on.
async fn late(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (tensor, _) = device.upload(&[1.0f32, 2.0], [2]).map_err(show)?;
    let sum = (&tensor + 1.0f32).map_err(show)?;
    let beyond = device.caps().limits.buffer_bytes_max + 1;
    let Err(at_once) = device.ask_driver_for(beyond.next_multiple_of(4)) else {
        let read = sum.read::<f32>().await;
        let error = read.err().ok_or("a refusal was never told")?;
        ensure!(error.to_string().contains("an earlier call failed: "), "{error:?}");
        let again = device.upload(&[1.0f32], [1]).err().ok_or("the device goes on")?;
        ensure!(error.to_string().ends_with(&again.to_string()), "{error:?}, then {again:?}");
        let device = device.reopen().await.map_err(show)?;
        return story(&device).await.map_err(|error| format!("after reopening: {error:?}"));
    };
    ensure_eq!(sum.read::<f32>().await.map_err(show)?, [2.0, 3.0], "after {at_once:?}");
    Ok(())
}

async fn doubled(ctx: &Ctx, bytes: usize) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let data: Vec<f32> = (0..bytes / 4).map(|i| (i % 8_000_000) as f32).collect();
    let (tensor, receipt) = device.upload(&data, [data.len()]).map_err(show)?;
    ensure!(receipt.is_exact(), "{receipt}");
    let twice = (&tensor + &tensor).map_err(show)?;
    drop(tensor);
    // Read in parts, so that the test needs no second copy in memory.
    let part = 1 << 24;
    for first in (0..data.len()).step_by(part) {
        let last = (first + part).min(data.len());
        let back = twice.slice(0, first..last).map_err(show)?.read::<f32>().await.map_err(show)?;
        let wrong = back.iter().zip(&data[first..last]).position(|(b, d)| *b != d * 2.0);
        ensure!(wrong.is_none(), "element {} of {}", first + wrong.unwrap_or(0), data.len());
    }
    // A view that crosses every segment in an awkward way.
    let columns = data.len() / 1000;
    let crossed = twice.slice(0, 0..columns * 1000).and_then(|t| t.reshape([1000, columns]));
    let column = crossed.and_then(|t| t.t()?.slice(0, columns - 3..columns - 2)).map_err(show)?;
    let back = column.read::<f32>().await.map_err(show)?;
    let want: Vec<f32> = (0..1000).map(|r| data[r * columns + columns - 3] * 2.0).collect();
    ensure!(back == want, "a column across all segments: {:?}", first_difference(&want, &back));
    Ok(())
}

async fn driver_runs_out(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let bytes = device.caps().limits.buffer_bytes_max;
    let error =
        device.ask_driver_for(bytes).err().ok_or("the driver found a buffer of its maximum")?;
    ensure!(error.is_out_of_memory(), "not out of memory: {error:?}");
    story(&device).await.map_err(|error| format!("the device did not survive: {error:?}"))?;
    // Told to nobody: no call of ours knows that it may be tried again with less.
    let (usage, label) = (wgpu::BufferUsages::STORAGE, Some("theirs"));
    let descriptor =
        wgpu::BufferDescriptor { label, size: bytes, usage, mapped_at_creation: false };
    let _ = device.wgpu_device().create_buffer(&descriptor);
    let error = story(&device).await.err().ok_or("the device goes on")?;
    ensure!(error.kind() == ErrorKind::Driver, "{error:?}");
    Ok(())
}
