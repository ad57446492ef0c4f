//! Passes of the caller's own and operations on the same memory, on several threads, while memory
//! is moved and given back. Not in a browser, where GPU objects belong to one thread, nor on GL,
//! which bears only one.

use std::sync::atomic::{AtomicBool, Ordering};

use wharf::caps::Backend;
use wharf::{Adapter, DType, Device, Layout, Shape, Tensor};

use super::super::probe::{Random, first_difference};
use super::{Pass, only, own};
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let one = adapter.caps().identity.backend == Backend::Gl;
    vec![
        case!("lent::under_load", |ctx| load(ctx)).unless(one, "threads"),
        case!("lent::beside_reads_in_place", |ctx| in_place(ctx)).unless(one, "threads"),
    ]
}

const THREADS: u64 = 4;
const ROUNDS: usize = 25;

async fn load(ctx: &Ctx) -> Outcome {
    let device = &ctx.fresh(DOWNGRADES[0]).await?;
    let done = &AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        let mover = scope.spawn(move || -> Outcome {
            while !done.load(Ordering::SeqCst) {
                device.compact().map_err(show)?;
                device.trim().map_err(show)?;
            }
            Ok(())
        });
        let workers: Vec<_> = (1..=THREADS).map(|s| scope.spawn(move || work(device, s))).collect();
        let outcomes: Vec<_> =
            workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::SeqCst);
        let all = outcomes.into_iter().chain([mover.join()]);
        all.into_iter().try_for_each(|outcome| outcome.map_err(|_| "a thread panicked")?)
    });
    outcome?;
    device.trim().map_err(show)?;
    let memory = device.memory();
    ensure_eq!((memory.bytes_live, memory.bytes_reserved), (0, 0), "memory is back to the start");
    Ok(())
}

/// Rounds of: an operation, a pass, an operation, a copy out, a wrapped buffer.
fn work(device: &Device, seed: u64) -> Outcome {
    let (pass, mut random) = (Pass::new(device), Random::new(seed));
    // Many small ones, of which every second goes: there is always something to be moved.
    let mut around: Vec<(Vec<f32>, Tensor)> = Vec::new();
    for round in 0..ROUNDS {
        let size = if round % 8 == 7 { 80_000 } else { (random.below(400) + 1) * 8 };
        let data: Vec<f32> = (0..size).map(|_| random.below(1000) as f32).collect();
        let (x, _) = device.upload(&data, [size]).map_err(show)?;
        let y = (&x + 1.0f32).map_err(show)?;
        let mut out = device.zeros([size], DType::F32).map_err(show)?;
        let from = y.lend().map_err(show)?;
        let to = out.lend_mut().map_err(show)?;
        pass.submit(only(from.ranges())?, only(to.ranges())?);
        let want: Vec<f32> = data.iter().map(|x| (2.0 * (x + 1.0) + 1.0) * 0.5).collect();
        // Meanwhile others move what may be moved: this must lie where it lay.
        let read = y.read_now::<f32>().map_err(show)?;
        ensure!(read.iter().zip(&data).all(|(y, x)| *y == x + 1.0), "what is lent, {seed}.{round}");
        let (was, now) = (only(from.ranges())?, y.lend().map_err(show)?);
        let now = only(now.ranges())?;
        ensure!((&was.buffer, was.offset) == (&now.buffer, now.offset), "it moved, {seed}.{round}");
        // Nobody has it any more but the guard: what is computed from it may not take its place.
        let next = (y - 1.0f32).map_err(show)?;
        next.compute().map_err(show)?;
        let mut second = device.zeros([size], DType::F32).map_err(show)?;
        let too = second.lend_mut().map_err(show)?;
        pass.submit(only(from.ranges())?, only(too.ranges())?);
        // In any order.
        let mut guards: Vec<Box<dyn FnOnce() + '_>> = vec![
            Box::new(|| drop(from)),
            Box::new(|| drop(to)),
            Box::new(|| drop(too)),
            Box::new(|| drop(next)),
        ];
        guards.rotate_left(random.below(4));
        guards.swap(0, random.below(3));
        guards.into_iter().for_each(|release| release());
        let z = (&out * 0.5f32).map_err(show)?;
        let got = (&second * 0.5f32).and_then(|x| x.read_now::<f32>()).map_err(show)?;
        ensure_eq!(first_difference(&got, &want), None, "what was lent alone, {seed}.{round}");
        let mine = own(device, &vec![0; size * 4]);
        z.copy_to_buffer(&mine, 0).map_err(show)?;
        let layout = Layout::dense(Shape::new([size]).map_err(show)?);
        let wrapped = device.wrap_buffer(&mine, layout, DType::F32).map_err(show)?;
        let got = (&wrapped + 0.0f32).and_then(|x| x.read_now::<f32>()).map_err(show)?;
        ensure_eq!(first_difference(&got, &want), None, "the results, {seed}.{round}");
        around.push((want, z));
        around.push((data, x));
        if around.len() > 6 {
            around.remove(random.below(3));
        }
        for (want, tensor) in &around {
            let got = tensor.read_now::<f32>().map_err(show)?;
            ensure_eq!(first_difference(&got, want), None, "bystanders, {seed}.{round}");
        }
    }
    Ok(())
}

/// A blocking read maps a large tensor where it lies, if that is host memory; not while it is lent.
async fn in_place(ctx: &Ctx) -> Outcome {
    let device = &ctx.fresh(DOWNGRADES[0]).await?;
    const SIZE: usize = 2 << 20;
    let data: Vec<f32> = (0..SIZE).map(|i| (i % 4096) as f32).collect();
    let (x, _) = device.upload(&data, [SIZE]).map_err(show)?;
    let pass = Pass::new(device);
    let mut out = device.zeros([64], DType::F32).map_err(show)?;
    std::thread::scope(|scope| -> Outcome {
        let reads = scope.spawn(|| -> Outcome {
            for _ in 0..12 {
                let got = x.read_now::<f32>().map_err(show)?;
                ensure_eq!(first_difference(&got, &data), None, "read");
            }
            Ok(())
        });
        while !reads.is_finished() {
            let (from, to) = (x.lend().map_err(show)?, out.lend_mut().map_err(show)?);
            let mut part = only(from.ranges())?.clone();
            part.bytes = 256;
            (0..5).for_each(|_| pass.submit(&part, &to.ranges()[0]));
            drop((from, to));
            let want: Vec<f32> = data[..64].iter().map(|x| 2.0 * x + 1.0).collect();
            ensure_eq!(out.read_now::<f32>().map_err(show)?, want, "of a pass");
        }
        reads.join().map_err(|_| "a thread panicked")?
    })
}
