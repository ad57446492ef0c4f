//! Work that takes longer than somebody waits for it. Not in a browser, where nothing waits.

use std::panic::resume_unwind;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use wharf::caps::Backend;
use wharf::custom::Kernel;
use wharf::shadow::ShadowPolicy;
use wharf::{Adapter, DType, Device, ErrorKind, Tensor, wgpu};

use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};
use crate::drivers::METAL_TEXTS;

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    // They compute whatever is submitted before they go on.
    let id = &adapter.caps().identity;
    let at_once = id.backend == Backend::Gl && id.is_software() || id.name == METAL_TEXTS;
    vec![
        case!("patience::what_does_not_come_back_is_named", |ctx| named(ctx))
            .unless(at_once, "a queue"),
        case!("patience::every_line_that_asked_is_named", |ctx| both(ctx))
            .unless(at_once, "a queue"),
        case!("patience::a_shadow_goes_on_waiting", |ctx| shadowed(ctx)).unless(at_once, "a queue"),
        case!("patience::a_callback_that_panics_keeps_nobody_waiting", |ctx| panicked(ctx))
            .unless(at_once, "a queue"),
        case!("patience::what_is_still_read_is_not_written_over", |ctx| still_read(ctx)),
    ]
}

/// As many trips as every driver makes.
const TRIPS: u32 = 60_000;

const LONG: &str = "
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) at: vec3<u32>) {
    var x = at.x;
    for (var i = 0u; i < 60000u; i++) { x = 1664525u * x + 1013904223u; }
    y[at.x] = x;
}";

/// What the kernel computes.
fn long(at: u32) -> u32 {
    (0..TRIPS).fold(at, |x, _| x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
}

/// The line below that records.
const RECORDED: u32 = line!() + 4;

fn run(device: &Device, kernel: &Kernel, groups: u32) -> Result<Tensor, String> {
    let run = device.run(kernel).create("y", [groups as usize], DType::U32);
    let [y] = run.groups([groups, 1, 1]).record().map_err(show)?;
    Ok(y)
}

/// So many groups take longer than one waits so long.
fn too_long(device: &Device) -> (u32, Duration) {
    let software = device.caps().identity.is_software();
    let groups = if software { 4096 } else { 1 << 15 };
    // A GPU takes a thousandth of a software driver's time.
    (groups, Duration::from_micros(if software { 10_000 } else { 50 }))
}

/// The same kernel, asked for by two lines before one read.
async fn both(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let kernel = Kernel::from_wgsl("long", LONG).map_err(show)?;
    // Both together take as long, in one submission: neither asks for memory, which may be spoiled
    // first.
    let (groups, patience) = too_long(&device);
    let groups = groups / 2;
    let made = || device.zeros([groups as usize], DType::U32).map_err(show);
    let (mut one, mut other) = (made()?, made()?);
    one.compute().and_then(|()| other.compute()).map_err(show)?;
    device.synchronize().await.map_err(show)?;
    let run = || device.run(&kernel).groups([groups, 1, 1]);
    let recorded = line!() + 1;
    let [] = run().update("y", &mut one).record::<0>().map_err(show)?;
    let [] = run().update("y", &mut other).record::<0>().map_err(show)?;
    device.set_patience(Some(patience));
    let error = other.read::<u32>().await.err().ok_or("it was done")?;
    ensure_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
    let shown = error.to_string();
    for line in [recorded, recorded + 1] {
        let part = format!("long (asked for at {}:{line}:", file!());
        ensure!(shown.contains(&part), "not {part}: {shown}");
    }
    Ok(())
}

async fn named(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let kernel = Kernel::from_wgsl("long", LONG).map_err(show)?;
    let (groups, patience) = too_long(&device);
    for how in ["a future", "a call", "everything", "awaited", "an encoder of the caller's"] {
        let y = run(&device, &kernel, groups)?;
        // In no submission but one: a driver may wait in the next for this one.
        device.set_patience(Some(patience));
        let waited = match how {
            "a future" => y.read::<u32>().await.map(drop),
            "a call" => y.read_now::<u32>().map(drop),
            "everything" => y.compute().and_then(|()| device.synchronize_now()),
            "awaited" => {
                y.compute().map_err(show)?;
                device.synchronize().await
            }
            _ => {
                let encoder = device.wgpu_device().create_command_encoder(&Default::default());
                let sent = y.compute().and_then(|()| device.submit(encoder));
                sent.and_then(|_| device.synchronize_now())
            }
        };
        let error = waited.err().ok_or_else(|| format!("{how} was done within {patience:?}"))?;
        ensure_eq!(error.kind(), ErrorKind::TimedOut, "{how}: {error}");
        let (shown, adapter) = (error.to_string(), &device.caps().identity.name);
        let parts = [
            format!("{adapter} ("),
            format!("was not done after {patience:?} with submission "),
            ": long (asked for at tests/".into(),
            format!("patience.rs:{RECORDED}:"),
        ];
        let all = parts.iter().all(|part| shown.contains(part));
        ensure!(all && error.help().is_some(), "{how}: {shown}");
        // Nothing was lost.
        device.set_patience(None);
        let values = y.read::<u32>().await.map_err(show)?;
        for at in [0, 1, 77, groups - 1] {
            ensure_eq!(values[at as usize], long(at), "of {at}");
        }
        device.set_patience(Some(Duration::from_secs(600)));
        ensure_eq!(y.read::<u32>().await.map_err(show)?[3], long(3), "with more patience");
    }
    Ok(())
}

/// What does not come in time is judged by whoever waits for it longer.
async fn shadowed(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let kernel = Kernel::from_wgsl("long", LONG).map_err(show)?;
    let (groups, patience) = too_long(&device);
    let y = run(&device, &kernel, groups)?;
    y.compute().and_then(|()| device.flush()).map_err(show)?;
    let shadow = device.shadow(ShadowPolicy::all());
    let mut sum = y;
    for _ in 0..3 {
        sum = (&sum + 1u32).map_err(show)?;
        sum.compute().map_err(show)?;
    }
    device.set_patience(Some(patience));
    // Where a submission waits for the one before, nothing else does.
    if let Err(error) = sum.read::<u32>().await {
        ensure_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
    }
    device.set_patience(None);
    let values = sum.read::<u32>().await.map_err(show)?;
    ensure_eq!(values[1], long(1).wrapping_add(3), "the sum");
    let report = shadow.report().await.map_err(show)?;
    ensure!(report.operations == 3 && report.left_out.is_empty(), "{report}");
    Ok(())
}

/// Where a callback of the caller's panics, whoever reads gets the values or an error, and reads
/// them again: a panic is over, on the waiting thread as well.
async fn panicked(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let kernel = Kernel::from_wgsl("long", LONG).map_err(show)?;
    let groups = too_long(&device).0 / 16;
    let read = |y: &Tensor| {
        let (y, (sender, receiver)) = (y.clone(), mpsc::channel());
        std::thread::spawn(move || sender.send(pollster::block_on(y.read::<u32>())));
        receiver.recv_timeout(Duration::from_secs(60))
    };
    for mapping in [false, true] {
        let y = run(&device, &kernel, groups)?;
        y.compute().map_err(show)?;
        let (gpu, queue) = (device.wgpu_device(), device.wgpu_queue());
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let (label, mapped_at_creation) = (Some("mine"), false);
        let descriptor = wgpu::BufferDescriptor { label, size: 4, usage, mapped_at_creation };
        let mine = gpu.create_buffer(&descriptor);
        let mut encoder = gpu.create_command_encoder(&Default::default());
        encoder.clear_buffer(&mine, 0, None);
        device.submit(encoder).map_err(show)?;
        // wgpu forgets what it was to call back behind a mapping.
        if mapping {
            let done = |_| resume_unwind(Box::new("a callback"));
            mine.map_async(wgpu::MapMode::Read, .., done);
        } else {
            queue.on_submitted_work_done(|| resume_unwind(Box::new("a callback")));
        }
        match read(&y) {
            Err(mpsc::RecvTimeoutError::Timeout) => return Err("a read hangs".into()),
            Ok(Err(error)) => ensure_eq!(error.kind(), ErrorKind::Foreign, "{error}"),
            // It may panic on the thread that reads.
            Ok(Ok(_)) | Err(mpsc::RecvTimeoutError::Disconnected) => {}
        }
        let values = read(&y).map_err(|error| format!("the next read: {error}"))?.map_err(show)?;
        ensure_eq!(values[3], long(3), "after the panic");
    }
    Ok(())
}

/// As long as [`LONG`], and reads only then.
const LATE: &str = "
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) at: vec3<u32>) {
    var z = at.x;
    for (var i = 0u; i < 60000u; i++) { z = 1664525u * z + 1013904223u; }
    y[at.x] = z ^ x[at.x];
}";

/// Memory that two submissions read, one after the other, and a third upload gets while the second
/// one reads. Where uploads write in place, the one before found the memory in use.
async fn still_read(ctx: &Ctx) -> Outcome {
    // A buffer of its own.
    const WORDS: usize = 1 << 17;
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let kernel = Kernel::from_wgsl("late", LATE).map_err(show)?;
    let groups = too_long(&device).0 / 16;
    let upload = |word: u32| device.upload(&vec![word; WORDS], [WORDS]).map_err(show);
    let run = |word: u32| -> Result<Tensor, String> {
        let (x, _) = upload(word)?;
        let run = device.run(&kernel).read("x", &x).create("y", [groups as usize], DType::U32);
        let [y] = run.groups([groups, 1, 1]).record().map_err(show)?;
        y.compute().and_then(|()| device.flush()).map_err(show)?;
        Ok(y)
    };
    run(0)?;
    device.synchronize_now().map_err(show)?;
    let clock = Instant::now();
    run(0)?;
    device.synchronize_now().map_err(show)?;
    let each = clock.elapsed();
    let (one, other) = (run(1)?, run(2)?);
    // Nobody asks wgpu meanwhile, which would forget that the memory was asked for.
    std::thread::sleep(each + each / 2);
    let (third, _) = upload(3)?;
    for (y, word) in [(one, 1), (other, 2)] {
        let values = y.read::<u32>().await.map_err(show)?;
        for at in [0, 1, 77, groups / 2, groups - 1] {
            ensure_eq!(values[at as usize], long(at) ^ word, "at {at} of what read {word}");
        }
    }
    ensure!(third.read::<u32>().await.map_err(show)? == [3; WORDS], "the third is not there");
    Ok(())
}
