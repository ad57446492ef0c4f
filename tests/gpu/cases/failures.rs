//! Stories drawn by a seed, with a failure at each of their calls in turn: results are bit for bit
//! those of a story without one. Not in a browser: it has no threads, and tells of losses later.

use wharf::Device;
use wharf::shadow::ShadowPolicy;
use wharf::testing::Inside;

use crate::cases::pair::count;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};
use crate::search::Search;
use crate::story::{Player, Seen, draw};

/// Stories, all but the first of which found a mistake once.
const SEEDS: [u64; 8] = [1, 28, 30, 53, 66, 78, 81, 86];
/// Steps of each with all its failures, at the least: of all together ten thousand.
const SHARE: u64 = 10_000 / SEEDS.len() as u64;

pub(crate) fn cases() -> Vec<Case> {
    let one = |seed| {
        let name = format!("failures::at_every_call::{seed}");
        case!(name, |ctx| story(ctx, seed))
    };
    let mut cases: Vec<Case> = SEEDS.map(one).into();
    cases.push(case!("failures::stories_under_a_shadow", |ctx| shadowed(ctx)));
    cases.push(case!("failures::what_did_not_run_is_not_read", |ctx| unrun(ctx)));
    cases
}

/// Where wgpu takes commands that failed for done.
async fn unrun(ctx: &Ctx) -> Outcome {
    for in_place in [false, true] {
        let device = ctx.fresh(DOWNGRADES[0]).await?;
        device.count_what_runs(false);
        let values = vec![1.0f32; if in_place { 1 << 21 } else { 100 }];
        let (x, _) = device.upload(&values, values.len()).map_err(show)?;
        let y = (&x + 1.0).map_err(show)?.read::<f32>().await.map_err(show)?;
        count();
        ensure!(y.iter().all(|y| *y == 2.0), "{} is not 2", y[0]);
        device.synchronize_now().map_err(show)?;
        device.synchronize().await.map_err(show)?;
        device.count_what_runs(true);
        let y = (&x + 2.0).map_err(show)?;
        let read = if in_place { y.read_now::<f32>() } else { y.read::<f32>().await };
        let error = read.map(|y| y[0]).err().ok_or("commands that failed are read")?;
        ensure!(error.is_device_lost(), "{error:?}");
        ensure!(error.to_string().contains(" command buffers ran"), "{error}");
        ensure!(x.read::<f32>().await.is_err() && device.synchronize_now().is_err(), "it lives on");
        ensure!(device.synchronize().await.is_err(), "it is done");
    }
    Ok(())
}

async fn story(ctx: &Ctx, seed: u64) -> Outcome {
    let search = Search { seed, length: 20, steps: 1, computes: true };
    let found = search.run(async || ctx.fresh(DOWNGRADES[0]).await).await?;
    ensure!(found.met > 20 && found.said > 10, "few failures were met: {found}");
    ensure!(found.dropped > 2, "few reads were dropped: {found}");
    ensure!(found.steps >= SHARE, "{} steps are less than {SHARE}: {found}", found.steps);
    Ok(())
}

/// Of a story in which nothing fails.
const STEPS: usize = 100;

async fn played(device: &Device, seed: u64) -> Vec<Seen> {
    let mut player = Player::new(device);
    let mut all = Vec::new();
    for step in draw(seed, STEPS) {
        all.push(player.step(step).await);
    }
    all
}

/// Stories in which nothing fails, while all that they compute is computed once more: the same
/// values and refusals, and nothing wrong.
async fn shadowed(ctx: &Ctx) -> Outcome {
    let (mut operations, mut told) = (0, String::new());
    for seed in SEEDS {
        let device = ctx.fresh(DOWNGRADES[0]).await?;
        let alone = played(&device, seed).await;
        let shadow = device.shadow(ShadowPolicy::all());
        ensure_eq!(played(&device, seed).await, alone, "story {seed} while it is looked at");
        let report = shadow.report().await.map_err(show)?;
        ensure!(report.wrong.is_none(), "story {seed}: {report}");
        operations += report.operations;
        told += &format!("\n{report}");
    }
    ensure!(operations > 90, "few operations were judged:{told}");
    Ok(())
}
