//! Tuning: the fastest candidate with a right result wins, a wrong one never does, and the winner
//! is used.

use wharf::tensor::Blocks;
use wharf::testing::Inside;
use wharf::tune::{AttentionSize, Outcome as Found, Problem, ProductSize, RowsSize};
use wharf::tune::{SortSize, SumSize, Tuned, WeightsSize};
use wharf::{DType, Device, Target};

use super::pair::carries;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case!("tuned::a_wrong_candidate_cannot_win", |ctx| spoiled(ctx)),
        case!("tuned::products_of_every_lie_and_dtype", |ctx| lies(ctx)),
        case!("tuned::a_sample_of_a_large_product", |ctx| sampled(ctx)),
        case!("tuned::attention_rows_and_weights", |ctx| every(ctx, cores())),
        case!("tuned::sums_and_sorts", |ctx| every(ctx, orders())),
        case!("tuned::cores_are_timed", |ctx| timed(ctx)),
        case!("tuned::few_cores_compute_the_same", |ctx| few(ctx)),
        case!("tuned::a_handle_without_choice_still_tunes", |ctx| invariant(ctx)),
        case!("tuned::what_is_timed_is_waited_for", |ctx| awaited(ctx)),
    ]
}

/// Makes one candidate after the other wrong, and faster than all others.
async fn spoiled(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for problem in [
        ProductSize::new(24, 40, 36, DType::F32).into(),
        SumSize::rows(3, 5000).into(),
        WeightsSize::new(3, 40, 64, Blocks::Q4).into(),
    ] {
        let problem: [Problem; 1] = [problem];
        let mut kernels = Vec::new();
        let honest = device.tune_spoiled(
            &problem,
            |_| false,
            |trial| {
                kernels.push((trial.kernel.clone(), trial.outcome.clone()));
            },
        );
        let honest = honest.await.map_err(show)?;
        let Some((_, Found::Won(_))) = kernels.pop() else { return Err("nobody won".into()) };
        ensure!(kernels.len() > 2, "{} candidates", kernels.len());
        for (kernel, outcome) in &kernels {
            ensure!(matches!(outcome, Found::Right(_)), "{kernel}: {outcome:?}");
        }
        ensure_eq!(honest.iter().len(), 1, "an entry for the problem");
        for (spoiled, _) in kernels.iter().skip(1).step_by(4) {
            let mut said = Vec::new();
            let tuned = device.tune_spoiled(
                &problem,
                |kernel| kernel == spoiled,
                |trial| {
                    said.push(trial.clone());
                },
            );
            let tuned = tuned.await.map_err(show)?;
            for trial in &said {
                let wrong = matches!(trial.outcome, Found::Wrong(_));
                ensure!(wrong == (trial.kernel == *spoiled), "{trial}");
            }
            for (_, kernel) in tuned.iter() {
                ensure!(kernel != *spoiled, "{kernel} has won");
            }
        }
    }
    Ok(())
}

/// Each candidate is a kernel of its own, also where the handle that asks would choose none.
async fn invariant(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?.with_batch_invariance();
    let problem: [Problem; 1] = [ProductSize::new(24, 40, 36, DType::F32).into()];
    let (before, mut kernels) = (device.pipelines(), Vec::new());
    let honest = |_: &str| false;
    let tuned = device.tune_spoiled(&problem, honest, |trial| kernels.push(trial.kernel.clone()));
    tuned.await.map_err(show)?;
    kernels.sort();
    kernels.dedup();
    let made = device.pipelines() - before;
    // The built-in one is another's as well.
    ensure!(kernels.len() > 2 && made + 1 >= kernels.len(), "{made} made for {kernels:?}");
    Ok(())
}

/// Of each that is right there is a read of its result, and one at the end of every measurement,
/// of which there are two at least: recording alone takes no time.
async fn awaited(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let problem: [Problem; 1] = [ProductSize::new(24, 40, 36, DType::F32).into()];
    let (before, mut right) = (device.ledger().down.count, 0);
    let tuned = device.tune_spoiled(
        &problem,
        |_| false,
        |trial| right += u64::from(matches!(trial.outcome, Found::Right(_))),
    );
    tuned.await.map_err(show)?;
    let reads = device.ledger().down.count - before;
    ensure!(right > 2 && reads >= 3 * right, "{reads} reads of {right} candidates");
    Ok(())
}

/// Tunes, and says what was not right; the table's text says what it is.
async fn right(device: &Device, problem: Problem) -> Result<Tuned, String> {
    let mut wrong = Vec::new();
    let problems = [problem];
    let honest = |_: &str| false;
    let tuned = device.tune_spoiled(&problems, honest, |trial| {
        if !matches!(trial.outcome, Found::Right(_) | Found::Won(_)) {
            wrong.push(trial.to_string());
        }
    });
    let tuned = tuned.await.map_err(show)?;
    ensure!(wrong.is_empty(), "{wrong:?}");
    let again = Tuned::from_text(&tuned.to_string(), device).map_err(show)?;
    ensure_eq!(again.to_string(), tuned.to_string(), "its text");
    Ok(again)
}

/// Right sides of both lies, batches, narrow floats and integers, by both classes of kernels.
async fn lies(ctx: &Ctx) -> Outcome {
    let native = ctx.native().await?;
    let size = |dtype| ProductSize::new(5, 33, 70, dtype);
    let all = [
        (native.target(), size(DType::F32).transposed()),
        (Target::Gpu, size(DType::F32).batched(3)),
        (Target::Gpu, size(DType::F16)),
        (Target::Gpu, size(DType::I8).transposed()),
    ];
    for (target, size) in all {
        let device = native.with_target(target);
        if !carries(&device, size.dtype) {
            continue;
        }
        let tuned = right(&device, size.into()).await?;
        // A choice other than the built-in one is used, and `explain` says so.
        let (_, kernel) = tuned.iter().next().ok_or("no entry")?;
        let used = device.with_tuned(&tuned);
        let ProductSize { batch, m, n, k, dtype, transposed, .. } = size;
        let a = used.zeros([batch, m, k], dtype).map_err(show)?;
        let right = if transposed { [batch, n, k] } else { [batch, k, n] };
        let b = used.zeros(right, dtype).map_err(show)?;
        let b = if transposed { b.t().map_err(show)? } else { b };
        let plan = a.matmul(&b).map_err(show)?.explain().to_string();
        ensure!(plan.contains(": tuned") == (kernel != "built-in"), "{kernel}: {plan}");
    }
    Ok(())
}

/// A product too large to be compared as a whole.
async fn sampled(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let problem = [ProductSize::new(65, 260, 257, DType::F32).into()];
    let mut spoiled = 0;
    let tuned = device.tune_spoiled(
        &problem,
        |kernel| kernel.contains("sums 4x"),
        |trial| {
            spoiled += usize::from(matches!(trial.outcome, Found::Wrong(_)));
        },
    );
    let tuned = tuned.await.map_err(show)?;
    ensure!(spoiled > 0, "a wrong sample is seen");
    ensure!(tuned.iter().all(|(_, kernel)| !kernel.contains("sums 4x")), "{tuned}");
    Ok(())
}

fn cores() -> Vec<Problem> {
    let attention = AttentionSize::new(6, 10, 300, 20, DType::F32);
    let mut step = attention;
    (step.queries, step.width, step.dtype) = (1, 36, DType::F16);
    vec![
        attention.into(),
        attention.sharing(2).batched(2).causal().into(),
        step.into(),
        RowsSize::softmax(5, 1100).into(),
        RowsSize::norm(70, 333).into(),
        WeightsSize::new(1, 40, 256, Blocks::Q8).into(),
        WeightsSize::new(19, 36, 96, Blocks::Q4).into(),
        WeightsSize::new(3, 20, 512, Blocks::Q4K).into(),
        WeightsSize::new(2, 8, 96, Blocks::Q5_1).into(),
    ]
}

fn orders() -> Vec<Problem> {
    let mut middle = SumSize::rows(3, 130);
    middle.inner = 5;
    vec![
        SumSize::rows(3, 40_001).into(),
        SumSize::columns(900, 70).into(),
        middle.into(),
        SortSize::new(3, 5000).into(),
        SortSize::new(100, 30).into(),
    ]
}

/// Every candidate of both classes of kernels is right.
async fn every(ctx: &Ctx, problems: Vec<Problem>) -> Outcome {
    let native = ctx.native().await?;
    for problem in problems {
        if let Problem::Attention(size) = problem
            && !carries(&native, size.dtype)
        {
            continue;
        }
        for target in [native.target(), Target::Gpu] {
            let device = native.with_target(target);
            right(&device, problem).await.map_err(|why| format!("{problem}, {target:?}: {why}"))?;
        }
    }
    Ok(())
}

/// Of a GPU there are some; a browser has no clock, and nothing is timed there.
async fn timed(ctx: &Ctx) -> Outcome {
    let native = ctx.native().await?;
    let problem: [Problem; 1] = [SumSize::rows(3, 5000).into()];
    for target in [native.target(), Target::Gpu] {
        let device = native.with_target(target);
        let tuned = device.tune(&problem, |_| ()).await;
        if cfg!(target_family = "wasm") {
            let error = tuned.err().ok_or("it was timed without a clock")?;
            ensure!(error.to_string().contains("takes a clock"), "{error}");
            continue;
        }
        let tuned = tuned.map_err(show)?;
        ensure_eq!(tuned.cores().is_some(), target == Target::Gpu, "{tuned}");
        let again = Tuned::from_text(&tuned.to_string(), &device).map_err(show)?;
        ensure_eq!(again.cores(), tuned.cores(), "{tuned}");
    }
    Ok(())
}

/// Chunks, passes and tiles as few cores want them, of whole numbers that are exact in any order.
async fn few(ctx: &Ctx) -> Outcome {
    const ROWS: usize = 23;
    const LENGTH: usize = 8200;
    let plain = ctx.native().await?.with_target(Target::Gpu);
    let text = plain.tune_spoiled(&[], |_| false, |_| ()).await.map_err(show)?.to_string();
    let text = text.replace("end 0", "cores 4\nend 0");
    let tuned = Tuned::from_text(&text, &plain).map_err(show)?;
    ensure_eq!(tuned.cores(), Some(4), "{text}");
    let values: Vec<f32> = (0..ROWS * LENGTH).map(|i| (i * i % 7) as f32 - 3.0).collect();
    let rows = || values.chunks(LENGTH);
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let product: Vec<f32> = rows().flat_map(|a| rows().map(move |b| dot(a, b))).collect();
    let running = values.iter().scan(0.0, |sum, value| {
        *sum += value;
        Some(*sum)
    });
    let running: Vec<f32> = running.collect();
    let sums: Vec<f32> = rows().map(|row| row.iter().sum()).collect();
    let mut kernels = Vec::new();
    for device in [&plain, &plain.with_tuned(&tuned)] {
        let (x, _) = device.upload(&values, [ROWS, LENGTH]).map_err(show)?;
        let results = || {
            let line = x.reshape([1, ROWS * LENGTH])?;
            Ok([x.matmul(&x.t()?)?, x.sum([1])?, line.cumsum(1)?, line.sum([1])?])
        };
        let results: [_; 4] = results().map_err(|error: wharf::Error| show(error))?;
        let wants = [&product[..], &sums, &running, &running[running.len() - 1..]];
        for (result, want) in results.iter().zip(wants) {
            kernels.push(result.explain().to_string());
            let (got, _) = result.read_as::<f32>().await.map_err(show)?;
            ensure!(got == want, "{} elements are others", want.len());
        }
    }
    let (usual, few) = kernels.split_at(4);
    let alike: Vec<usize> = (0..4).filter(|&i| usual[i] == few[i]).collect();
    ensure!(alike.is_empty(), "few cores are nothing to {alike:?}");
    Ok(())
}
