//! One device and many threads. Not in a browser, where GPU objects belong to one thread.

use wharf::shadow::ShadowPolicy;
use wharf::tensor::Blocks;
use wharf::testing::Inside;
use wharf::{DType, Device, ErrorKind, Target};

use super::probe::{Random, first_difference, values};
use super::shadow::{PLANTS, mutant};
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case!("threads::sixteen_on_one_device", |ctx| sixteen(ctx)),
        case!("threads::compaction_beside_writes", |ctx| moved_meanwhile(ctx)),
        case!("threads::compaction_beside_sums", |ctx| moved_before_written(ctx)),
        case!("threads::compaction_beside_products", |ctx| moved_operands(ctx)),
        case!("threads::a_shadow_judges_for_every_read", |ctx| under_a_shadow(ctx)),
    ]
}

/// What a shadow holds is judged before any read ends, though another read is at it.
async fn under_a_shadow(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?.with_target(Target::Cpu);
    let shadow = device.shadow(ShadowPolicy::all());
    let plant = &PLANTS[0];
    device.plant(Some(mutant(plant)?));
    // What the oracle takes longest for comes first.
    let long = device.ones([256, 256], DType::F32).and_then(|x| x.matmul(&x)).map_err(show)?;
    let (x, _) = device.upload(&[0.5f32; 72], [8, 9]).map_err(show)?;
    let wrong = (plant.run)(&x).map_err(show)?;
    let right = (&x + 1.0).map_err(show)?;
    for one in [&long, &wrong, &right] {
        one.compute().map_err(show)?;
    }
    let told = || right.read_now::<f32>().is_err_and(|error| error.kind() == ErrorKind::Wrong);
    std::thread::scope(|scope| {
        let first = scope.spawn(told);
        while !first.is_finished() {
            ensure!(told(), "unnoticed beside another read");
        }
        let first = first.join().map_err(|_| "a thread panicked")?;
        ensure!(first, "unnoticed by the first read");
        Ok(())
    })?;
    let report = shadow.report().await.map_err(show)?;
    ensure_eq!(report.operations, 3, "each judged once: {report}");
    Ok(())
}

async fn sixteen(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let work = |seed: u64| -> Outcome {
        let mut random = Random::new(seed);
        for _ in 0..6 {
            let size = random.below(60_000) + 1;
            let data: Vec<i32> = values(size, random.bits());
            let (tensor, _) = device.upload(&data, [size]).map_err(show)?;
            let twice = (&tensor + &tensor).and_then(|sum| sum.flip(0)).map_err(show)?;
            let back = pollster::block_on(twice.read::<i32>()).map_err(show)?;
            let want: Vec<i32> = data.iter().rev().map(|x| x.wrapping_mul(2)).collect();
            ensure!(
                back == want,
                "thread {seed}, {size} values: {:?}",
                first_difference(&want, &back)
            );
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=16).map(|seed| scope.spawn(move || work(seed))).collect();
        threads
            .into_iter()
            .try_for_each(|t| t.join().map_err(|_| "a thread panicked".to_owned())?)
    })?;
    let _ = device.trim().map_err(show)?;
    let memory = device.memory();
    ensure_eq!((memory.bytes_live, memory.bytes_reserved), (0, 0), "memory is back to the start");
    Ok(())
}

/// One thread compacts memory while others write into their tensors.
async fn moved_meanwhile(ctx: &Ctx) -> Outcome {
    let device = &ctx.fresh(DOWNGRADES[0]).await?;
    let write = |id: f32| -> wharf::Result<bool> {
        let mut mine = device.zeros([2000], DType::F32)?;
        for i in 0..60 {
            mine.assign_slice(0, i..i + 1, id)?;
            drop(device.zeros([2000], DType::F32)?);
        }
        let got = mine.read_now::<f32>()?;
        Ok(got.iter().enumerate().all(|(i, &x)| x == if i < 60 { id } else { 0.0 }))
    };
    let done: Vec<wharf::Result<bool>> = std::thread::scope(|scope| {
        let moves = scope.spawn(|| (0..40).try_for_each(|_| device.compact().map(drop)));
        let writes: Vec<_> = (1..4u8).map(|id| scope.spawn(move || write(id.into()))).collect();
        let writes = writes.into_iter().map(|thread| thread.join().unwrap_or(Ok(false)));
        let moves = std::iter::once(moves.join().map_or(Ok(false), |m| m.map(|()| true)));
        writes.chain(moves).collect()
    });
    for done in done {
        ensure!(done.map_err(show)?, "a write was lost");
    }
    Ok(())
}

/// One thread compacts memory while others compute: before a result is written, it must not move
/// into a buffer of its operands.
async fn moved_before_written(ctx: &Ctx) -> Outcome {
    let device = &ctx.fresh(DOWNGRADES[0]).await?;
    let sums = &|id: f32| -> wharf::Result<bool> {
        let mine = device.full([2000], id, DType::F32)?;
        let mut sum = device.zeros([2000], DType::F32)?;
        for _ in 0..200 {
            // The old sum is held, so that the new one has memory of its own.
            let next = (&sum + &mine)?;
            next.compute()?;
            sum = next;
        }
        Ok(sum.read_now::<f32>()?.iter().all(|&x| x == 200.0 * id))
    };
    beside_compaction(device, [1u8, 2, 3].map(|id| move || sums(id.into())), "a sum is wrong")
}

/// Nor may an operand move to where the result lies, before a product of both is recorded.
async fn moved_operands(ctx: &Ctx) -> Outcome {
    let device = &ctx.fresh(DOWNGRADES[0]).await?;
    let products = || -> wharf::Result<bool> {
        let mut right = true;
        for _ in 0..150 {
            let x = device.full([2, 64], 0.5, DType::F32)?;
            let (weights, _) = x.quantize_now(Blocks::Q8)?;
            let y = x.linear(&weights, None)?.read_now::<f32>()?;
            right &= y.iter().all(|y| (y - 16.0).abs() < 0.2);
        }
        Ok(right)
    };
    beside_compaction(device, [products; 3], "a product is wrong")
}

/// Work on threads of its own, while this one compacts memory until all of it is done.
fn beside_compaction(
    device: &Device,
    works: [impl Fn() -> wharf::Result<bool> + Send; 3],
    wrong: &str,
) -> Outcome {
    let done: Vec<wharf::Result<bool>> = std::thread::scope(|scope| {
        let works = works.map(|work| scope.spawn(work));
        while !works.iter().all(|thread| thread.is_finished()) {
            if let Err(error) = device.compact() {
                return vec![Err(error)];
            }
        }
        works.into_iter().map(|thread| thread.join().unwrap_or(Ok(false))).collect()
    });
    for done in done {
        ensure!(done.map_err(show)?, "{wrong}");
    }
    Ok(())
}
