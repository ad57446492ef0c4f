//! Tuning: the fastest candidate with a right result wins, a wrong one never does, and the winner
//! is used.

use wharf::testing::Inside;
use wharf::tune::{Outcome as Found, Problem, Tuned};
use wharf::{DType, Target};

use super::pair::carries;
use crate::ctx::{Case, Ctx, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case!("tuned::a_wrong_candidate_cannot_win", |ctx| spoiled(ctx)),
        case!("tuned::every_lie_and_dtype", |ctx| lies(ctx)),
        case!("tuned::a_sample_of_a_large_product", |ctx| sampled(ctx)),
    ]
}

/// Makes one candidate after the other wrong, and faster than all others.
async fn spoiled(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let problem = [Problem::new(24, 40, 36, DType::F32)];
    let mut kernels = Vec::new();
    let honest = device.tune(&problem, |trial| {
        kernels.push((trial.kernel.clone(), trial.outcome.clone()));
    });
    let honest = honest.await.map_err(show)?;
    let Some((_, Found::Won(_))) = kernels.pop() else { return Err("nobody won".into()) };
    ensure!(kernels.len() > 4, "{} candidates", kernels.len());
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
    Ok(())
}

/// Right sides of both lies, batches, narrow floats and integers, by both classes of kernels.
async fn lies(ctx: &Ctx) -> Outcome {
    let native = ctx.native().await?;
    let problem = |dtype| Problem::new(5, 33, 70, dtype);
    let all = [
        (native.target(), problem(DType::F32).transposed()),
        (Target::Gpu, problem(DType::F32).batched(3)),
        (Target::Gpu, problem(DType::F16)),
        (Target::Gpu, problem(DType::I8).transposed()),
    ];
    for (target, problem) in all {
        let device = native.with_target(target);
        if !carries(&device, problem.dtype) {
            continue;
        }
        let mut wrong = Vec::new();
        let problems = [problem];
        let tuned = device.tune(&problems, |trial| {
            if !matches!(trial.outcome, Found::Right(_) | Found::Won(_)) {
                wrong.push(trial.to_string());
            }
        });
        let tuned = tuned.await.map_err(show)?;
        ensure!(wrong.is_empty(), "{wrong:?}");
        let again = Tuned::parse(&tuned.to_string(), &device);
        ensure_eq!(again.ignored(), None, "{tuned}");
        ensure_eq!(again.to_string(), tuned.to_string(), "its text");
        // A choice other than the built-in one is used, and `explain` says so.
        let (_, kernel) = tuned.iter().next().ok_or("no entry")?;
        let used = device.with_tuned(&again);
        let Problem { batch, m, n, k, dtype, transposed } = problem;
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
    let problem = [Problem::new(65, 260, 257, DType::F32)];
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
